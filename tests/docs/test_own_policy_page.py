"""The pages that add policies, followed to the letter: their files are written, their commands and code are run."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from typer.testing import CliRunner

import penstock
import reference.policies
from forked import Forked
from penstock import Scenario, simulate
from penstock.cli.group import app
from penstock.policies import sharing
from penstock.policies.sharing import catalogue, find
from reference import simulate as reference_simulate
from strategies import documents

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
BIN = Path(sys.executable).parent


class Block(NamedTuple):
    language: str
    title: str
    code: str


PAGES = [ROOT / "docs" / "guide" / f"{name}.md" for name in ("own-policy", "own-allocation")]
BLOCKS = [Block(*found) for page in PAGES for found in BLOCK.findall(page.read_text())]
CODE = {block.title: block.code for block in BLOCKS}
IN_PENSTOCK = ("src/", "tests/")


def run(command: str | list[str], folder: Path) -> str:
    environment = os.environ | {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": f"{folder}{os.pathsep}{folder / 'site'}{os.pathsep}{ROOT / 'src'}",
        "PENSTOCK_QUIET": "1",
    }
    shell = isinstance(command, str)
    done = subprocess.run(
        command, cwd=folder, env=environment, shell=shell, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def offline(command: str) -> str:
    """The command as shown; an install goes beside the tests and fetches nothing."""
    kept_here = "--quiet --no-index --no-deps --no-build-isolation --target site"
    return command.replace("pip install", f"{sys.executable} -m pip install {kept_here}")


def typed(command: str, folder: Path) -> str:
    """A command of penstock's is run here, where its kernels are loaded; what needs an install, in a new process."""
    words = shlex.split(command)
    if words[0] != "penstock" or ((folder / "site").is_dir() and names_what_is_installed(words)):
        return run(offline(command), folder)
    done = CliRunner().invoke(app, words[1:])
    assert done.exit_code == 0, f"{command}: {done.exception!r}"
    return done.output


def names_what_is_installed(words: list[str]) -> bool:
    """Whether policies of a command include some that are neither a file here nor ours."""
    return any("rescue" in word for word in words)


def run_code(code: str, folder: Path) -> str:
    with Forked([sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, text=True) as reader:
        output, _ = reader.communicate()
    assert reader.returncode == 0, code
    found: str = output
    return found


@pytest.mark.long
def test_a_reader_who_types_what_the_page_says_gets_a_policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    outputs = []
    for block in BLOCKS:
        if block.title.startswith(IN_PENSTOCK):
            continue
        if block.title:
            file = tmp_path / block.title
            file.parent.mkdir(exist_ok=True)
            file.write_text(block.code)
        elif block.language == "console":
            outputs += [typed(line[2:], tmp_path) for line in block.code.splitlines() if line.startswith("$ ")]
        else:
            outputs.append(run_code(block.code, tmp_path))
    assert sum("rescue" in output for output in outputs) >= 5
    assert "rescue" in run("penstock policies", tmp_path), "the entry point is found"


def test_the_example_is_the_one_of_the_page() -> None:
    assert (ROOT / "examples" / "my_policy.py").read_text() == CODE["my_policy.py"]


@pytest.fixture(scope="module")
def rescue_in_penstock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Step 4 done for as long as a test runs: the file, the line in the table, the twin."""
    folder = tmp_path_factory.mktemp("sharing")
    (folder / "rescue.py").write_text(CODE["src/penstock/policies/sharing/rescue.py"])
    line = eval(f"{{{CODE['src/penstock/policies/sharing/catalogue.py']}}}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sharing, "__path__", [*sharing.__path__, str(folder)])
        patch.setitem(catalogue.OURS, *next(iter(line.items())))
        twin = dict(vars(reference.policies))
        exec(CODE["tests/reference/policies.py"], twin)
        patch.setitem(reference.policies.POLICIES, "rescue", twin["rescue"])
        importlib.invalidate_caches()
        yield
    sys.modules.pop("penstock.policies.sharing.rescue", None)


@pytest.mark.usefixtures("rescue_in_penstock")
@settings(max_examples=25)
@given(document=documents())
def test_the_policy_of_the_page_agrees_with_the_twin_of_the_page(document: dict[str, object]) -> None:
    fast, slow = simulate(Scenario.from_document(document), "rescue"), reference_simulate(document, "rescue")
    assert fast.events == slow["events"]
    assert fast.min_yield == pytest.approx(slow["min_yield"], rel=1e-9, abs=1e-12)


@pytest.mark.usefixtures("rescue_in_penstock")
def test_all_versions_of_the_page_decide_alike(tmp_path: Path) -> None:
    scenario = penstock.load(ROOT / "examples" / "four-jobs.yaml")
    (tmp_path / "my.py").write_text(CODE["my.py"])
    plain, compiled = find(f"{tmp_path / 'my.py'}:rescue"), find(str(ROOT / "examples" / "my_policy.py"))
    found = {simulate(scenario, policy).min_yield for policy in (plain, compiled, "rescue")}
    assert len(found) == 1
