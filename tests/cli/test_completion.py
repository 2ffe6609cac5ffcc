"""What a shell offers after a press of Tab, in the form in which bash, zsh and fish ask for it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli.user import environment
from penstock.cli import main
from penstock.policies.sharing import NAMES

WAYS = {
    "bash": lambda words: {
        "_PENSTOCK_COMPLETE": "complete_bash",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    },
    "zsh": lambda words: {"_PENSTOCK_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": " ".join(words)},
    "fish": lambda words: {
        "_PENSTOCK_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_ARGS": " ".join(words),
    },
}


@pytest.fixture
def offered(folder, monkeypatch, capsys):
    """What is offered for the last of some words."""

    def run(shell, line):
        for name, value in WAYS[shell](["penstock", *line.split(" ")]).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["penstock"])
        with pytest.raises(SystemExit):
            main()
        return capsys.readouterr().out

    return run


LINES = [
    ("comp", "compare"),
    ("simulate jobs.yaml --sharing loss", "loss-capped-srpt"),
    ("compare jobs.yaml --sharing fcfs,greedy-c", "greedy-com"),
    ("allocate jobs.yaml --placement greedy-n", "greedy-non-clairvoyant"),
    ("pack jobs.yaml --mapping back", "backfill"),
    ("buffer jobs.yaml --strategy block", "blocked-first"),
    ("generate synth", "synthetic"),
    ("reproduce P2.fig3 P5.t", "P5.table2"),
    ("simulate jo", "jobs.yaml"),
    ("decide sta", "state.json"),
    ("compare jobs.yaml --optim", "--optimum"),
]


@pytest.mark.parametrize("shell", WAYS)
@pytest.mark.parametrize(("line", "found"), LINES, ids=[row[0] for row in LINES])
def test_a_word_is_completed(offered, shell, line, found):
    assert found in offered(shell, line)


def test_all_policies_and_no_others(offered):
    assert offered("bash", "simulate jobs.yaml --sharing ").split() == list(NAMES)


def test_files_that_can_be_taken_and_folders(offered, folder):
    (folder / "notes.txt").write_text("")
    (folder / "more").mkdir()
    (folder / "more" / "own.py").write_text("")
    assert offered("bash", "simulate ").split() == ["all.yaml", "jobs.yaml", "more/", "state.json"]
    assert offered("bash", "simulate jobs.yaml --sharing more/o").split() == ["more/own.py"]
    assert offered("bash", "simulate jobs.yaml --sharing mo").split() == ["more/own.py"]


def test_nothing_is_offered_of_a_folder_that_is_not_there(offered):
    assert offered("bash", "simulate nowhere/").split() == []


IN_SHELLS = {
    "bash": """
        eval "$(penstock --show-completion)"
        COMP_WORDS=({line}) COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
        _penstock_completion penstock
        echo "${{COMPREPLY[@]}}"
    """,
    "fish": "penstock --show-completion | source; complete -C '{line}'",
}


@pytest.mark.parametrize("shell", IN_SHELLS)
def test_a_real_shell_completes(folder, shell):
    """As a shell asks with the script that it is told to use (by hand also in zsh)."""
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell}")
    script = IN_SHELLS[shell].format(line="penstock simulate jobs.yaml --sharing loss")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [shell, "-c", script], env=environment(PATH=path), capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "loss-capped-srpt", done.stderr
