"""The site and the code agree: commands and code on the pages run, and nothing is missing from them."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command
from typer.testing import CliRunner

from forked import Forked
from penstock.cli.group import app
from penstock.policies.sharing import NAMES, find

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
OWN_POLICY = "guide/own-policy.md"
OF_A_JOB = "guide/client.md"
# Their commands need the files they make, or several terminals: test_own_policy_page.py, test_live_page.py.
FOLLOWED_ELSEWHERE = (OWN_POLICY, "guide/own-allocation.md", "guide/own-mapping.md", "guide/live.md")
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (?:\.venv/bin/)?penstock(.*)$", re.MULTILINE)
SMALLEST_PICTURE, LARGEST_PICTURE = 1_000, 150_000
MOST_WORDS = 2_600
OF_ANY_LENGTH = ("develop/decisions.md",)  # it is a log


def on_commands() -> str:
    """The pages of the commands, one after the other."""
    return "\n".join((DOCS / page).read_text() for page in PAGES if page.startswith("reference/commands"))


def blocks(page: str, language: str) -> list[tuple[str, str]]:
    """Title and text of the fenced blocks in one language."""
    return [(title, text) for found, title, text in BLOCK.findall((DOCS / page).read_text()) if found == language]


def commands(page: str) -> list[str]:
    return [command for _, text in blocks(page, "console") for command in COMMAND.findall(text)]


def nav_pages(entry: Any) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    parts = entry.values() if isinstance(entry, dict) else entry
    return [page for part in parts for page in nav_pages(part)]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that looks like the checkout to someone who follows a page."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize("page", [page for page in PAGES if page not in FOLLOWED_ELSEWHERE and commands(page)])
def test_every_command_on_a_page_runs(page: str, desk: Path) -> None:
    for title, text in blocks(page, "yaml"):
        (desk / title).write_text(text)
    for command, shown in shown_by(page):
        result = CliRunner().invoke(app, shlex.split(command), env={"COLUMNS": "130"})
        assert result.exit_code == 0, f"penstock{command}: {result.exception!r}"
        assert not unlike(shown, result.output), f"penstock{command}: `python -m scripts.console` shows it as it is"


def shown_by(page: str) -> list[tuple[str, str]]:
    """The commands of a page, each with what is shown below it."""
    text = "".join(text for _, text in blocks(page, "console"))
    found = [(COMMAND.findall(f"$ {part}"), part.partition("\n")[2]) for part in re.split(r"^\$ ", text, flags=re.M)]
    return [(command, shown) for commands, shown in found for command in commands]


def unlike(shown: str, printed: str) -> set[str]:
    """Words in heads of tables, and keys of JSON, that are shown and not printed; without an ellipsis, or not shown."""
    head = re.compile(r"^(.+)\n─{20,}", re.MULTILINE)
    heads = [{word for line in head.findall(text) for word in line.split()} for text in (shown, printed)]
    keys = [set(re.findall(r'^ *"(\w+)": ', text, re.MULTILINE)) for text in (shown, printed)]
    more = keys[1] - keys[0] if keys[0] and "…" not in shown else set()
    return (heads[0] - heads[1]) | (keys[0] - keys[1]) | more


def test_what_is_shown_and_was_not_printed_is_noticed() -> None:
    table = "title\nname  yield\n────────────────────────\na     0.5\n"
    assert unlike(table, table) == set()
    assert unlike(table, table.replace("yield", "stretch")) == {"yield"}
    assert unlike('{\n  "end": 3\n}', '{\n  "end": 3,\n  "cut": false\n}') == {"cut"}
    assert unlike('{\n  "end": 3\n…', '{\n  "end": 3,\n  "cut": false\n}') == set()


@pytest.mark.parametrize("page", [page for page in PAGES if page not in FOLLOWED_ELSEWHERE and blocks(page, "python")])
def test_all_python_on_a_page_runs(page: str, desk: Path) -> None:
    code = "\n".join(text for _, text in blocks(page, "python"))
    if page == OF_A_JOB:  # it leaves threads behind, which end with their process
        subprocess.run([sys.executable, "-c", code], cwd=desk, check=True)
    else:
        exec(compile(code, page, "exec"), {"__name__": "__main__"})


def test_the_lines_that_made_the_trace_still_make_it(desk: Path) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415

    [(_, code)] = [block for block in blocks("reference/scenario.md", "python") if "long-trace.parquet" in block[1]]
    with Forked([sys.executable, "-c", code], cwd=desk) as reader:
        assert reader.wait() == 0
    assert pq.read_table(desk / "long-trace.parquet") == pq.read_table(ROOT / "examples" / "long-trace.parquet")


@pytest.mark.parametrize("page", PAGES)
def test_tables_on_a_page_are_what_the_commands_print(page: str) -> None:
    """Shown values of policies, on scenarios that anyone can run, are the values of today."""
    for command, rows in shown_tables(page):
        words = shlex.split(command)
        scenario = words[words.index("compare") + 1]
        if not scenario.startswith("examples/"):
            continue
        from penstock import load, simulate  # noqa: PLC0415

        for name, min_yield in rows:
            if name in NAMES:
                result = simulate(load(ROOT / scenario), name)
                assert f"{result.min_yield:.4f}" == min_yield, (command, name)


def shown_tables(page: str) -> list[tuple[str, list[tuple[str, str]]]]:
    found = []
    for _, text in blocks(page, "console"):
        parts = re.split(r"^\$ ", text, flags=re.MULTILINE)
        for part in parts:
            command, _, output = part.partition("\n")
            rows = re.findall(r"^([a-z][\w()=.-]*) +(\d\.\d{4}) ", output, re.MULTILINE)
            if " compare " in f" {command} " and rows:
                found.append((command, rows))
    return found


def test_some_tables_are_shown() -> None:
    assert sum(len(shown_tables(page)) for page in PAGES) >= 4


@pytest.mark.parametrize("name", NAMES)
def test_every_policy_has_a_page_with_its_source_and_picture(name: str) -> None:
    text = (DOCS / "reference" / "policies" / f"{name}.md").read_text()
    assert text.startswith(f"# {name}\n")
    assert all(word.rstrip(",") in text for word in find(name).source.split())
    assert f"../../pictures/{name}.svg" in text
    assert f"({name}.md)" in (DOCS / "reference" / "policies" / "index.md").read_text()


def section_of(text: str, heading: str) -> str:
    """What a page has under a heading, up to the next of the same rank."""
    assert f"\n{heading}\n" in text
    rank = heading.partition(" ")[0]
    return text.split(f"\n{heading}\n")[1].split(f"\n{rank} ", maxsplit=1)[0]


def missing_options(command: Any, section: str) -> list[str]:
    shown = [each for each in command.params if each.param_type_name == "option" and not getattr(each, "hidden", False)]
    return [
        each.name for each in shown if each.name != "help" and not any(f"`{option}" in section for option in each.opts)
    ]


def loaded_commands(group: Any) -> list[tuple[str, Any]]:
    """The commands of a group with their options, which a group has of its rows only."""
    return [(name, group.get_command(None, name)) for name in getattr(group, "commands", {})]


def test_every_command_and_option_is_on_the_page_of_commands() -> None:
    text = on_commands()
    for name, command in loaded_commands(get_command(app)):
        section = section_of(text, f"## {name}")
        assert missing_options(command, section) == [], name
        for below, part in loaded_commands(command):
            own = section if part.hidden else section_of(section, f"### {name} {below}")
            assert missing_options(part, own) == [], (name, below)


def test_every_key_of_a_result_is_on_the_page_of_commands() -> None:
    from penstock import load, simulate  # noqa: PLC0415

    result = simulate(load(ROOT / "examples" / "two-jobs.yaml")).to_dict()
    text = on_commands().split("### JSON of a run")[1].split("\n## ")[0]
    for key in [*result, *result["applications"][0]]:
        assert f"`{key}`" in text


def test_every_key_of_a_scenario_is_on_its_page() -> None:
    from penstock.model import Application, Platform, Scenario, Window  # noqa: PLC0415

    text = (DOCS / "reference" / "scenario.md").read_text()
    for record in (Application, Platform, Scenario, Window):
        for key in record.model_fields:
            assert f"`{key}`" in text, (record.__name__, key)


def test_every_field_of_the_view_is_on_the_page_for_policy_writers() -> None:
    from penstock.policies.sharing import View  # noqa: PLC0415

    text = (DOCS / OWN_POLICY).read_text().split("### What a policy sees")[1].split("\n## ")[0]
    for name in View._fields:
        assert f"`{name}`" in text


def test_the_navigation_has_every_page() -> None:
    listed = nav_pages(yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"])
    assert sorted(listed) == PAGES


def test_pages_can_be_read_in_one_sitting() -> None:
    words = {page: len((DOCS / page).read_text().split()) for page in PAGES if page not in OF_ANY_LENGTH}
    assert {page: count for page, count in words.items() if count > MOST_WORDS} == {}


def test_pictures_are_there_and_small() -> None:
    used = {name for page in PAGES for name in re.findall(r"pictures/([\w.-]+)", (DOCS / page).read_text())}
    files = {picture.name for picture in (DOCS / "pictures").iterdir()}
    assert used == files
    for name in files:
        assert SMALLEST_PICTURE < (DOCS / "pictures" / name).stat().st_size < LARGEST_PICTURE, name
