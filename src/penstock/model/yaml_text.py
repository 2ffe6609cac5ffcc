"""YAML text to plain data and back; a key that appears twice is refused, and lines are found for errors.

YAML's compiled parser recurses on the C stack and can crash the process, so nesting is measured on the flat stream of
events before anything is built. Lines are looked up in the parsed tree, only after something was refused; JSON is close
enough to YAML to be looked up the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from penstock.errors import InvalidScenario
from penstock.model.problems import Path
from penstock.model.size import MOST_LEVELS, too_deep
from penstock.model.units import shown

_MERGE = "tag:yaml.org,2002:merge"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node in _own_keys(node):
            key = self.construct_object(key_node)
            if key in seen:
                problem = f"the key {shown(key)} appears twice in one mapping"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            seen.add(key)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    def ignore_aliases(self, data: object) -> bool:
        return True


def parse(text: str, where: str) -> Any:
    """The data of a YAML document."""
    try:
        _check_depth(text, where)
        return yaml.load(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        raise InvalidScenario(f"{where}{line}: not valid YAML: {_reason(error)}") from None
    except ValueError as error:  # dates and numbers that look right and are not
        raise InvalidScenario(f"{where}: not valid YAML: {str(error).split(';')[0]}") from None


def write(document: dict[str, Any]) -> str:
    """YAML text: innermost mappings on one line, everything else as blocks."""
    text: str = yaml.dump(
        document, Dumper=_Dumper, sort_keys=False, default_flow_style=None, allow_unicode=True, width=120
    )
    return text


def line_of(text: str, path: Path) -> int | None:
    """The line of the deepest step of a path that the text has; None if the text cannot be read as YAML."""
    try:
        _check_depth(text, "")
        node = yaml.compose(text, Loader=_Loader)
    except (yaml.YAMLError, InvalidScenario):
        return None
    line = node.start_mark.line
    for step in path:
        found = _child(node, step)
        if found is None:
            break
        mark, node = found
        line = mark.line
    return int(line) + 1


def _reason(error: yaml.YAMLError) -> str:
    """PyYAML's words on one line, without its excerpt of the text."""
    words = [getattr(error, name, None) for name in ("context", "problem")]
    return " ".join(" ".join(filter(None, words)).split() or str(error).split())


def _child(node: yaml.Node, step: str | int) -> tuple[yaml.Mark, yaml.Node] | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step].start_mark, node.value[step]
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(step):
                return key.start_mark, value
    return None


def _check_depth(text: str, where: str) -> None:
    level = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            level += 1
            if level > MOST_LEVELS + 1:
                raise too_deep(lambda _: where)
        elif isinstance(event, yaml.CollectionEndEvent):
            level -= 1


def _own_keys(node: yaml.MappingNode) -> Iterator[yaml.ScalarNode]:
    """Keys written in the mapping itself: those merged in with `<<` may be overridden."""
    for key_node, _ in node.value:
        if isinstance(key_node, yaml.ScalarNode) and key_node.tag != _MERGE:
            yield key_node
