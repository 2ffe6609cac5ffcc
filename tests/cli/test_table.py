"""The table of commands and the files of commands agree, and so do the two ways to read `penstock run`."""

import inspect
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from penstock.cli import commands, table
from penstock.cli.group import Commands, app
from penstock.cli.quick_run import FLAGS, NEGATED, VALUES, quick_arguments

FOLDER = Path(commands.__file__).parent
GROUPS = {
    "penstock.cli.commands": table.COMMANDS,
    "penstock.cli.commands.campaign": table.CAMPAIGN,
    "penstock.cli.commands.import_": table.IMPORT,
    "penstock.cli.commands.slurm": table.SLURM,
}
ROWS = [(package, row) for package, rows in GROUPS.items() for row in rows]


def words_of(row, package):
    """What the help of a command begins with."""
    found = getattr(import_module(f"{package}.{row.file or row.function}"), row.function)
    return found.info.help if isinstance(found, typer.Typer) else inspect.getdoc(found)


@pytest.mark.parametrize(("package", "row"), ROWS, ids=lambda each: getattr(each, "name", ""))
def test_a_row_has_the_first_sentence_of_its_command(package, row):
    text = " ".join(words_of(row, package).split("\n\n")[0].split())
    assert text.startswith(row.help)
    assert text == row.help or text[len(row.help)] == " "


@pytest.mark.parametrize("package", GROUPS)
def test_every_file_is_a_command(package):
    folder = FOLDER.joinpath(*package.split(".")[3:])
    files = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    assert files - {"__init__"} == {row.file or row.function for row in GROUPS[package]}


def test_names_are_told_apart():
    for rows in GROUPS.values():
        assert len({row.name for row in rows}) == len(rows)


def test_sections_stand_together():
    sections = [row.section for row in table.COMMANDS]
    assert [name for i, name in enumerate(sections) if name not in sections[:i]] == list(dict.fromkeys(sections))
    assert sections == sorted(sections, key=list(dict.fromkeys(sections)).index)


def test_a_word_that_is_no_command(penstock):
    outcome = penstock("simulat", "jobs.yaml")
    assert outcome.code == 2
    assert (
        outcome.err
        == "penstock: penstock has no command 'simulat'; did you mean 'simulate'? `penstock --help` has them all\n"
    )


def options_of_run():
    commands: Any = get_command(app)
    params = commands.get_command(None, "run").params
    return {option: each for each in params if each.param_type_name == "option" for option in each.opts}


def test_the_quick_way_knows_every_option_of_run():
    own = {option: each.name for option, each in options_of_run().items() if option != "--help"}
    assert own == VALUES | FLAGS
    assert [name for name in FLAGS if not options_of_run()[name].is_flag] == []
    negated = {option: each.name for each in options_of_run().values() for option in each.secondary_opts}
    assert negated == NEGATED


WAYS = [
    "true",
    "-- true",
    "--json true",
    "--volume 10GB true",
    "--volume=10GB true",
    "--volume= true",
    "--volume 1 --volume 2 true",
    "--direction read --targets a,b --job j --json -- ls -l --json",
    "ls -l",
    "ls -- -l",
    "-- -- ls",
    "--job a=b true",
    "--no-shim true",
    "--no-shim --shim -- true",
    "--strict -- true",
]


@pytest.mark.parametrize("text", WAYS)
def test_both_ways_read_the_same(monkeypatch, text):
    told = []
    monkeypatch.setattr("penstock.cli.commands.run.run_in_turn", lambda *words: told.append(words))
    typed = get_command(app)
    typed(["run", *text.split()], standalone_mode=False)
    names = ("command", "volume", "direction", "targets", "job", "json", "shim", "strict")
    defaults = dict.fromkeys(names, None) | {"direction": "write", "json": False, "shim": True, "strict": False}
    quick = quick_arguments(text.split())
    assert quick is not None
    assert defaults | quick == dict(zip(names, told[0], strict=True))


@pytest.mark.parametrize(
    "text", ["", "--", "--help", "--nope true", "--volume", "--json=1 true", "-v true", "--volume --json true"]
)
def test_what_the_quick_way_leaves_to_the_library(text):
    assert quick_arguments(text.split()) is None


def test_a_group_loads_what_is_called_and_nothing_else(monkeypatch):
    for name in [name for name in sys.modules if name.startswith("penstock.cli.commands.")]:
        monkeypatch.delitem(sys.modules, name)
    group = get_command(app)
    assert isinstance(group, Commands)
    assert group.get_command(None, "drain").name == "drain"
    assert group.get_command(None, "nope") is None
    loaded = {name for name in sys.modules if name.startswith("penstock.cli.commands.")}
    assert loaded == {"penstock.cli.commands.drain"}
