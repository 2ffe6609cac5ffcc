"""Several plans for a scenario as one: by decision, and inside a decision by key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from penstock.errors import InvalidScenario
from penstock.model.plain import plain
from penstock.model.plan import DEFAULT, Plan
from penstock.model.units import shown

_Key = tuple[str, ...]
_NAMED = "<name>"  # where a decision is the name of a policy


def merged_plans(first: Plan | None, second: Plan) -> Plan:
    """The decisions of both, key by key; where both decide, those of the second."""
    if first is None:
        return second
    update: dict[str, Any] = {}
    for name in Plan.model_fields:
        old, new = getattr(first, name), getattr(second, name)
        if name == "buffering" and old is not None and new is not None:
            said = {key: getattr(second.buffer, key) for key in type(second.buffer).model_fields}
            given = {key: value for key, value in said.items() if value is not None}
            given |= {"shares": (first.buffer.shares or {}) | given["shares"]} if "shares" in given else {}
            update[name] = first.buffer.model_copy(update=given)
        elif isinstance(old, dict) and isinstance(new, dict):
            update[name] = old | new
        elif new is not None:
            update[name] = new
    return first.model_copy(update=update)


def joined_plans(plans: Sequence[tuple[str, Plan]]) -> Plan:
    """Plans with the names of their files as one; where two of them contradict each other, both are named.

    >>> one, other = Plan(sharing="fcfs"), Plan(sharing={"target": "fair-share"}, mapping={"a": 0})
    >>> joined_plans([("one.yaml", one), ("other.yaml", other)])
    Plan(mapping={'a': 0}, sharing={'default': 'fcfs', 'target': 'fair-share'})
    """
    if len(plans) == 1:
        return plans[0][1]
    said: dict[_Key, tuple[str, Any]] = {}
    for file, plan in plans:
        for key, value in _entries(plan):
            _check_form(key, file, said)
            before, other = said.setdefault(key, (file, value))
            if other != value:
                where = ".".join(each for each in key if each != _NAMED)
                raise InvalidScenario(
                    f"{before} and {file} contradict each other: {where} is {_words(other)} in the one and "
                    f"{_words(value)} in the other; keep one of them"
                )
    files = " and ".join(file for file, _ in plans)
    return Plan.checked(_document({key: value for key, (_, value) in said.items()}), lambda where: files)


def _entries(plan: Plan) -> Iterator[tuple[_Key, Any]]:
    """All that a plan says, one by one; one sharing policy for everything is that of everything else."""
    document = plain(plan)
    document.pop("version", None)
    if isinstance(document.get("sharing"), str):
        document["sharing"] = {DEFAULT: document["sharing"]}
    if isinstance(document.get("buffering"), str):
        document["buffering"] = {"strategy": document["buffering"]}
    for decision, said in document.items():
        if not isinstance(said, dict):
            yield (decision, _NAMED), said
            continue
        for key, value in said.items():
            if decision == "buffering" and isinstance(value, dict):
                yield from (((decision, key, name), share) for name, share in value.items())
            else:
                yield (decision, key), value


def _check_form(key: _Key, file: str, said: dict[_Key, tuple[str, Any]]) -> None:
    """Refuse a table where another plan names a policy, or the other way round."""
    for other, (before, _) in said.items():
        if other[0] == key[0] and before != file and (other[1] == _NAMED) != (key[1] == _NAMED):
            table, name = (before, file) if key[1] == _NAMED else (file, before)
            raise InvalidScenario(
                f"{before} and {file} contradict each other: {key[0]} is a table in {table} and a policy in {name}; "
                "keep one of them"
            )


def _document(said: dict[_Key, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in said.items():
        if key[1] == _NAMED:
            found[key[0]] = value
            continue
        table = found
        for step in key[:-1]:
            table = table.setdefault(step, {})
        table[key[-1]] = value
    return found


def _words(value: Any) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, list | tuple) else shown(value)
