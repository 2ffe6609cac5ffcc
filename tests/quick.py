"""Which tests answer soonest whether a change is sound: the paths to give to pytest, those nearest to the change first.

A file of the package is tested by what mirrors it below tests/, and by its own examples. Where nothing changed that
tests mirror, a thousand tests that take milliseconds each.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UPSTREAM = ("origin/main", "main", "HEAD")
FASTEST = (
    "tests/model",
    "tests/metrics",
    "tests/live/core",
    "tests/client/test_member.py",
    "tests/kernels/test_tournament.py",
    "tests/cli/test_contract.py",
    "tests/cli/test_bad_input.py",
)
SLOW = ("docs", "benchmarks", "scripts")
# What has no tests of its own by its name: who uses it, has.
ELSEWHERE = {
    "wire": ("tests/live/server", "tests/client"),
    "errors.py": ("tests/model/test_refusals.py", "tests/cli/test_bad_input.py"),
    "_moved.py": ("tests/test_moved.py",),
    "files.py": ("tests/test_files.py",),
}


def git(*words: str) -> list[str]:
    """The lines that it prints; none where there is no repository."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def changed() -> list[Path]:
    """Files that differ from where this branch left the main one, committed or not; new ones first."""
    base = next((found[0] for name in UPSTREAM if (found := git("merge-base", "HEAD", name))), "HEAD")
    names = git("ls-files", "--others", "--exclude-standard") + git("diff", "--name-only", base)
    return [Path(name) for name in names if (ROOT / name).is_file()]


def tests_of(file: Path) -> Iterator[Path]:
    """The tests of one file, the nearest first."""
    match file.parts:
        case ("tests", *_) if file.name.startswith("test_") and file.suffix == ".py":
            yield file
        case ("tests", *_, _) if file.suffix == ".py":
            yield file.parent
        case ("src", "penstock", room, *_) if room in ELSEWHERE:
            yield from map(Path, ELSEWHERE[room])
        case ("src", "penstock", *below) if file.suffix == ".py":
            yield from _mirrored(Path(*below))
            yield file
        case ("src", "penstock", *below) if len(below) > 1:  # C of the library, scripts of pages
            yield from _mirrored(Path(*below))
        case ("docs" | "benchmarks" | "scripts" as room, *_):
            yield Path("tests", room)


def _mirrored(file: Path) -> Iterator[Path]:
    """The first of tests/a/b/test_c.py, tests/a/test_c.py that there is for a/b/c.py, and of tests/a/b, tests/a."""
    folders = [Path("tests", folder) for folder in file.parents if folder.name]
    same = [each for folder in folders if (ROOT / (each := folder / f"test_{file.name}")).is_file()][:1]
    yield from same or (_callers(file.stem) if file.parts[:2] == ("cli", "commands") else [])
    yield from [folder for folder in folders if (ROOT / folder).is_dir()][:1]


def _callers(command: str) -> list[Path]:
    """The tests of the command line that call a command by its name, those that do most often first."""
    word = f'"{command.replace("_", "-")}"'
    calls = {file.relative_to(ROOT): file.read_text("utf-8").count(word) for file in ROOT.glob("tests/cli/test_*.py")}
    return sorted((file for file in calls if calls[file]), key=lambda file: (-calls[file], file))


def chosen(files: Iterable[Path]) -> list[str]:
    """Each path once, in the order of nearness; a folder that contains all tests stands for none."""
    paths = [path for file in files for path in tests_of(file) if path != Path("tests")]
    return list(dict.fromkeys(map(str, sorted(paths, key=_distance)))) or list(FASTEST)


def _distance(path: Path) -> int:
    """Files before folders; rooms that try everything last, whatever comes first in the list of changes."""
    return (path.name in SLOW) + (path.suffix != ".py")


if __name__ == "__main__":
    print(*chosen(changed()))
