"""Manual pages of all commands, from their help: penstock.1, penstock-compare.1 and so on.

`python scripts/manuals.py DIR` writes them.
The build of a wheel calls it, so the pages are of the version that they are installed with.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def manuals() -> dict[str, str]:
    """Every page by the name of its file."""
    from typer.main import get_command  # noqa: PLC0415 - what comes first must find penstock's own source

    from penstock.cli.group import app  # noqa: PLC0415

    return dict(_pages(["penstock"], get_command(app)))


def _pages(names: list[str], command: Any) -> Iterator[tuple[str, str]]:
    """The page of a command, and those of the commands below it."""
    below = {name: command.get_command(None, name) for name in getattr(command, "commands", {})}
    yield f"{'-'.join(names)}.1", _page(names, command, below)
    for name, part in below.items():
        if not part.hidden:
            yield from _pages([*names, name], part)


def _page(names: list[str], command: Any, below: dict[str, Any]) -> str:
    said = " ".join((command.help or "").split())
    first = said.split(". ")[0].rstrip(".")
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option" and not each.hidden]
    lines = [f'.TH "{"-".join(names).upper()}" 1 "" "penstock"', ".SH NAME", f"{'-'.join(names)} \\- {_text(first)}"]
    lines += [".SH SYNOPSIS", f".B {_text(' '.join(names))}"]
    lines.append(
        _text(" ".join(["[OPTION …]", *(_metavar(each) for each in arguments), *(["COMMAND …"] if below else [])]))
    )
    lines += [".SH DESCRIPTION", _text(said)]
    lines += _listed("ARGUMENTS", [(_metavar(each), each.help) for each in arguments])
    lines += _listed("OPTIONS", [(_option(each), each.help) for each in options])
    shown = {name: part for name, part in below.items() if not part.hidden}
    lines += _listed(
        "COMMANDS", [(name, f"{_short(part)} See {'-'.join([*names, name])}(1).") for name, part in shown.items()]
    )
    if len(names) > 1:
        lines += [".SH SEE ALSO", f".BR {_text('-'.join(names[:-1]))} (1)"]
    return "\n".join(lines) + "\n"


def _short(command: Any) -> str:
    return f"{' '.join((command.help or '').split()).split('. ')[0].rstrip('.')}."


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _option(option: Any) -> str:
    names = ", ".join([*option.opts, *option.secondary_opts])
    return names if option.is_flag else f"{names} {_metavar(option)}"


def _listed(title: str, entries: list[tuple[str, str | None]]) -> list[str]:
    if not entries:
        return []
    found = [f".SH {title}"]
    for name, words in entries:
        found += [".TP", f".B {_text(name)}", _text(" ".join((words or "").split()))]
    return found


def _text(words: str) -> str:
    """Plain words: nothing in them means anything to troff."""
    plain = words.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain


def write_manuals(folder: Path) -> list[Path]:
    """All pages as files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in manuals().items():
        (folder / name).write_text(text, encoding="utf-8")
        written.append(folder / name)
    return written


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT / "src"))
    print(*write_manuals(Path(sys.argv[1])), sep="\n")
