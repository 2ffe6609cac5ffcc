"""What is handed out: the sdist, the wheel made of it, the pages of the manual, and what the recipe for Spack needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from scripts.manuals import manuals

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that `build` makes of what is in it."""
    folder = tmp_path_factory.mktemp("dist")
    arguments = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    [file] = built.glob("*.whl")
    return zipfile.ZipFile(file)


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    shipped = {name for name in wheel.namelist() if name.startswith("penstock/")}
    tracked = subprocess.run(
        ["git", "ls-files", "src/penstock"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.split()
    if tracked:  # a checkout; an unpacked sdist has no history
        assert {name.removeprefix("src/") for name in tracked} <= shipped
    assert not [name for name in shipped if "__pycache__" in name or name.endswith(".pyc")]
    assert {name.split("/")[0].split("-")[0] for name in wheel.namelist()} == {"penstock"}


def test_what_the_wheel_says_of_itself(wheel: zipfile.ZipFile) -> None:
    [name] = [each for each in wheel.namelist() if each.endswith(".dist-info/METADATA")]
    said = Parser().parsestr(wheel.read(name).decode())
    assert (said["Name"], said["Version"], said["Requires-Python"]) == ("penstock", PROJECT["version"], ">=3.11")
    assert sorted(said.get_all("Provides-Extra") or []) == sorted(PROJECT["optional-dependencies"])
    assert sorted(said.get_all("License-File") or []) == ["LICENSE", "NOTICE"]
    scripts = next(each for each in wheel.namelist() if each.endswith("entry_points.txt"))
    assert "penstock = penstock.cli:main" in wheel.read(scripts).decode()


def test_the_wheel_runs_where_nothing_of_the_checkout_is(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    wheel.extractall(tmp_path / "site")
    environment = os.environ | {"PYTHONPATH": str(tmp_path / "site"), "PYTHONSAFEPATH": "1"}
    code = "import penstock, penstock.report.parts.page, penstock.cli.group; print(penstock.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(str(tmp_path / "site"))


def test_every_command_has_a_page_of_the_manual(wheel: zipfile.ZipFile) -> None:
    shipped = [name for name in wheel.namelist() if "/share/man/man1/" in name]
    pages = manuals()
    assert {name.rsplit("/", 1)[1] for name in shipped} == set(pages)
    assert {"penstock.1", "penstock-compare.1", "penstock-campaign-rank.1", "penstock-import-darshan.1"} <= set(pages)
    for word in ("\\-\\-sharing A,B,…", ".SH SYNOPSIS", "penstock compare"):
        assert word in pages["penstock-compare.1"]


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_pages_of_the_manual_are_set_without_a_warning() -> None:
    everything = "".join(manuals().values())
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-Kutf8"], input=everything, capture_output=True, text=True, check=True
    )
    warnings = [line for line in done.stderr.splitlines() if "break" not in line and "adjust" not in line]
    assert warnings == []
    assert "PENSTOCK-COMPARE(1)" in done.stdout


def test_the_sdist_can_be_built_and_tested_from(built: Path) -> None:
    [file] = built.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for needed in (
        "pyproject.toml",
        "hatch_build.py",
        "scripts/manuals.py",
        "LICENSE",
        "NOTICE",
        "README.md",
        "Makefile",
    ):
        assert needed in names
    assert {"tests/test_packages.py", "mkdocs.yml", "requirements/test.txt", "examples/two-jobs.yaml"} <= names
    assert not [name for name in names if ".venv" in name or "__pycache__" in name or name.startswith("build/")]


def test_scripts_inside_pages_are_in_the_notice() -> None:
    """A library that somebody inlines one day does not go without its licence."""
    told = set(re.findall(r"src/penstock/\S+\.js", (ROOT / "NOTICE").read_text()))
    assert told == {path.relative_to(ROOT).as_posix() for path in (ROOT / "src" / "penstock").rglob("*.js")}


def test_the_recipe_for_spack_needs_what_the_project_needs() -> None:
    recipe = (ROOT / "packaging/spack/packages/py-penstock/package.py").read_text()
    compile(recipe, "package.py", "exec")
    asked = set(re.findall(r'depends_on\("py-([\w-]+)@([\d.]+):[\d.]*"(?:.*when="\+(\w+)")?', recipe))
    wanted = {(*_parts(each), "") for each in PROJECT["dependencies"]} | {("hatchling", "1.27", "")}
    for extra, needed in PROJECT["optional-dependencies"].items():
        wanted |= {(*_parts(each), extra) for each in needed if not each.startswith("penstock[")}
    assert asked == wanted
    assert f'version("{PROJECT["version"]}")' in recipe


def _parts(requirement: str) -> tuple[str, str]:
    name, _, version = requirement.partition(">=")
    return name.lower(), version.partition(",")[0]  # from which version on
