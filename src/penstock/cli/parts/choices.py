"""Names that options take: refused before anything is loaded for them, and completed by the shell."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from penstock.errors import InvalidOption

SCENARIOS = (".yaml", ".yml", ".json")


def policy(decision: str, *, many: bool = False) -> dict[str, Any]:
    """For an option that names a policy for a decision, or several with commas between them."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",") if many else ("", "", incomplete)
        return [
            f"{before}{comma}{name}"
            for name in _starting(last, [*_known(decision).known_names(), *_files(last, ".py")])
        ]

    def check(context: Any, value: str | None) -> str | None:
        if value is not None and not context.resilient_parsing:
            for name in split_names(value) if many else [value]:
                _known(decision).check(name)
        return value

    return {"callback": _with_context(check), "autocompletion": complete}


def policy_option(decision: str, words: str, *flags: str) -> Any:
    """An option that takes the name of a policy for a decision."""
    import typer  # noqa: PLC0415 - whoever calls this has it

    return typer.Option(*flags, metavar="NAME", help=words, **policy(decision))


def file(*suffixes: str) -> dict[str, Any]:
    """For files with one of these endings, which must be there: one or several, or - for standard input."""
    return {**there(), "autocompletion": lambda incomplete: _files(incomplete, *suffixes)}


def there() -> dict[str, Any]:
    """For files or folders that must be there; what is not is refused before anything is loaded to read it."""

    def check(context: Any, value: Any) -> Any:
        if not context.resilient_parsing:
            for path in value if isinstance(value, (list, tuple)) else [value]:
                need_file(path)
        return value

    return {"callback": _with_context(check)}


def need_file(path: Path | None, hint: str = "") -> None:
    """Refuse a file that is not there; a `hint` says where such a file comes from."""
    if path is not None and not is_stdin(path) and _missing(path):
        raise InvalidOption(f"{path}: no such file{hint and '; '}{hint}")


def is_stdin(path: Path) -> bool:
    """Whether the name of a file stands for standard input."""
    return str(path) == "-"


def _missing(path: Path) -> bool:
    """Whether it is plainly not there; other troubles are for whoever reads it."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False
    return False


def needed(missing: str) -> dict[str, Any]:
    """For an option that must be given, with a sentence for those who left it out."""

    def check(context: Any, value: Any) -> Any:
        if value is None and not context.resilient_parsing:
            raise InvalidOption(missing)
        return value

    return {"callback": _with_context(check)}


def read_path(text: str) -> Path:
    """A path as it was typed; Python would take an empty name for the current folder."""
    if not text:
        raise InvalidOption("the name of the file is empty; a variable of the shell may not be set")
    return Path(text)


def one_of(names: Callable[[], Iterable[str]]) -> dict[str, Any]:
    """For an argument that is one of some names."""
    return {"autocompletion": lambda incomplete: _starting(incomplete, names())}


def workloads() -> Iterable[str]:
    """Names that `penstock generate` takes."""
    return tuple(import_module("penstock.workloads.registry").MODULES)


def experiments() -> Iterable[str]:
    """Names that `penstock reproduce` takes."""
    catalogue = import_module("penstock.reproduce.catalogue")
    return (*catalogue.IDS, catalogue.ALL)


def split_names(text: str) -> list[str]:
    """The names in a comma-separated list; an empty one is more likely an unset variable of a script than a wish."""
    if not all(map(str.strip, text.split(","))):
        raise InvalidOption(f"--sharing: {text!r} has an empty name; give names as in fcfs,greedy-yield")
    found: list[str] = _known("sharing").split_names(text)
    return found


def _known(decision: str) -> Any:
    return import_module(f"penstock.policies.{decision}.catalogue")


def _with_context(check: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """As Typer wants it: it finds the context by its type."""
    import typer  # noqa: PLC0415 - whoever calls this has it

    def callback(context: typer.Context, value: Any) -> Any:
        return check(context, value)

    callback.__annotations__ = {"context": typer.Context, "value": Any}
    return callback


def _starting(incomplete: str, names: Iterable[str]) -> list[str]:
    return [name for name in names if name.lower().startswith(incomplete.lower())]


def _files(incomplete: str, *suffixes: str) -> list[str]:
    """Folders, and files with one of the endings, that begin with what was typed."""
    folder, start = os.path.split(incomplete)
    try:
        found = sorted(Path(folder or ".").iterdir())
    except OSError:
        return []
    wanted = [each for each in found if each.name.startswith(start) and (start or not each.name.startswith("."))]
    names = [os.path.join(folder, each.name) + ("/" if each.is_dir() else "") for each in wanted]
    fitting = [name for name in names if name.endswith(("/", *suffixes))]
    # A shell puts a space behind the only answer, and then a folder could not be entered.
    return _files(fitting[0], *suffixes) or fitting if len(fitting) == 1 and fitting[0].endswith("/") else fitting
