"""How a name becomes a policy, for every decision alike: our own table, installed entry points, or a Python file."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from penstock.errors import PolicyError, UnknownPolicy, nearest
from penstock.policies.parameters import check_known


class Policy(Protocol):
    """What policies of all decisions have in common."""

    @property
    def plain(self) -> Callable[..., Any]:
        """The function that the user wrote."""


P = TypeVar("P", bound=Policy)


@dataclass(frozen=True)
class Catalogue(Generic[P]):
    """The policies for one decision, such as "sharing": ours, and those that others install.

    `ours` has the module of each name, in which the policy has the module's name. Modules are imported when asked for,
    and so is what `kind` gives: names are looked up and refused without Numba.
    """

    decision: str
    ours: Mapping[str, str]
    kind: Callable[[], type[P]]
    from_function: Callable[[Callable[..., Any]], P]
    arguments: str  # of a policy's function, for users
    options: tuple[str, ...] = ()  # of the decorator that makes a policy, beside the parameters of that policy

    def names(self) -> tuple[str, ...]:
        """Our own policies, then what is installed."""
        return (*self.ours, *sorted(self._installed()))

    def named(self, name: str) -> P:
        """The policy for a name, `file.py` or `file.py:function`."""
        if name in self.ours:  # what most ask for, without a look at all that is installed
            module = importlib.import_module(f"penstock.policies.{self.decision}.{self.ours[name]}")
            return getattr(module, self.ours[name])  # type: ignore[no-any-return]
        if re.search(r"\.py(:|$)", name):  # before a look at all that is installed, which takes longer than a short run
            return self._from_file(name)
        if name in (installed := self._installed()):
            return self._from_entry_point(installed[name])
        raise UnknownPolicy(self._unknown(name))

    def check(self, name: str) -> None:
        """Refuse a name that finds nothing, and load nothing for one that does."""
        if name in self.ours or name in self._installed():
            return
        if not re.search(r"\.py(:|$)", name):
            raise UnknownPolicy(self._unknown(name))
        path, _, attribute = name.partition(":")
        self._check_file(path)
        _check_function(path, attribute)

    def check_settings(self, name: str, given: Mapping[str, float]) -> None:
        """Refuse a parameter that our policy of that name does not have, as its file says without being run."""
        known = self.declared(name) if given else None
        if known is not None:
            check_known(f"{self.decision} policy {name!r}", dict.fromkeys(known, 0.0), given)

    def declared(self, name: str) -> list[str] | None:
        """The parameters in the decorator of one of our policies; None where there is none to be read."""
        if name not in self.ours:
            return None
        text = (Path(__file__).parent / self.decision / f"{self.ours[name]}.py").read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == self.decision:
                return [keyword.arg for keyword in node.keywords if keyword.arg and keyword.arg not in self.options]
        return None

    def find(self, asked: str | P | Callable[..., Any]) -> P:
        """The policy for a name, `file.py`, `file.py:function`, or a function itself."""
        return self.named(asked.strip()) if isinstance(asked, str) else self.policy_of(asked, "what was given")

    def policies(self) -> list[P]:
        """All policies that a name finds: ours, then installed ones."""
        return [self.find(name) for name in self.names()]

    def policy_of(self, thing: Any, where: str) -> P:
        """The policy that `thing` is, or that is made of it."""
        if isinstance(thing, self.kind()):
            return thing
        if callable(thing):
            return self.from_function(thing)
        raise PolicyError(f"{where} is a {type(thing).__name__}; a policy is a function ({self.arguments})")

    def _unknown(self, name: str) -> str:
        known = self.names()
        near = nearest(name, known, cutoff=0.5)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        listed = ", ".join(known)
        return f"no {self.decision} policy named {name!r}.{hint} Known: {listed}; or a file: my_policy.py:function"

    def _installed(self) -> dict[str, EntryPoint]:
        group = entry_points(group=f"penstock.{self.decision}")
        return {point.name: point for point in group if point.name not in self.ours}

    def _from_entry_point(self, point: EntryPoint) -> P:
        try:
            loaded = point.load()
        except Exception as error:
            raise PolicyError(f"the installed policy {point.name!r} ({point.value}) does not load: {error}") from error
        return self.policy_of(loaded, f"the installed policy {point.name!r}")

    def _check_file(self, path: str) -> None:
        if not Path(path).is_file():
            raise UnknownPolicy(f"{path}: there is no such file to take a {self.decision} policy from")

    def _from_file(self, text: str) -> P:
        path, _, attribute = text.partition(":")
        self._check_file(path)
        module = _executed(path)
        if attribute:
            if not hasattr(module, attribute):
                raise UnknownPolicy(f"{path} has no function {attribute!r}")
            return self.policy_of(getattr(module, attribute), text)
        found = [thing for thing in vars(module).values() if isinstance(thing, self.kind())]
        own = [thing for thing in found if thing.plain.__module__ == module.__name__]
        if len(own) != 1:
            raise PolicyError(
                f"{path} has {len(own)} functions marked @{self.decision}; name the one to use: {path}:function"
            )
        return own[0]


def _check_function(path: str, name: str) -> None:
    """Refuse what a file cannot have by its text alone: running it would load Numba first."""
    try:
        tree = ast.parse(Path(path).read_bytes(), path)
    except (SyntaxError, ValueError) as error:
        raise PolicyError(f"{path} does not run as Python: {type(error).__name__}: {error}") from None
    except OSError:
        return  # whoever runs it says why
    words = {word for node in ast.walk(tree) for word in _words(node)}
    if name and not words & {name, "*", "__getattr__", "globals", "exec", "setattr"}:
        raise UnknownPolicy(f"{path} has no function {name!r}")


def _words(node: ast.AST) -> Iterator[str]:
    """The names that a piece of Python may bring into a module; `*` is all of another's."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]


class _Fresh(SourceFileLoader):
    """Reads the file itself: Python's own copy of it counts as good if size and second of the change are the same."""

    def get_code(self, fullname: str) -> Any:
        """As every loader has it."""
        return self.source_to_code(self.get_data(self.path), self.path)


def _executed(path: str) -> Any:
    """A Python file as a module; Numba needs an importable one to compile what is in it."""
    name = f"penstock_policy_{Path(path).stem}"
    spec = importlib.util.spec_from_file_location(name, path, loader=_Fresh(name, str(Path(path).absolute())))
    if spec is None or spec.loader is None:
        raise PolicyError(f"{path} is no Python file; a policy file ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except PolicyError:
        raise
    except Exception as error:
        raise PolicyError(f"{path} does not run as Python: {type(error).__name__}: {error}") from error
    return module
