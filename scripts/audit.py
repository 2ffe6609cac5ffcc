"""`python -m scripts.audit`: known holes in what penstock depends on, where the tool that knows them can be had.

It asks pip-audit about the locked requirements. Without it, or without a network, it says so in one line
and that is all: a machine that cannot ask has learned nothing about the code. Holes that are known end it with 1.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

LOCKS = ("requirements/run.txt", "requirements/test.txt")
PATIENCE = 60.0  # seconds
FOUND = ("vulnerabilit", "GHSA-", "PYSEC-", "CVE-")  # what the tools say when they know of something


def tool() -> list[str]:
    """The command that asks about a file of requirements; empty if none is installed."""
    beside = Path(sys.executable).with_name("pip-audit")
    if found := shutil.which("pip-audit") or (str(beside) if beside.exists() else None):
        return [found, "--progress-spinner", "off", "--disable-pip", "--no-deps", "--requirement"]
    return []


def audit(command: Sequence[str], lock: Path) -> tuple[int, str]:
    """0 and a line, if there is nothing or nobody could be asked; else 1 and what is known."""
    if not command:
        return 0, "dependencies not audited: pip-audit is not installed"
    try:
        done = subprocess.run([*command, str(lock)], capture_output=True, text=True, timeout=PATIENCE, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return 0, f"dependencies not audited: {Path(command[0]).name} gave no answer ({type(error).__name__})"
    said = (done.stdout + done.stderr).strip()
    if done.returncode == 0:
        return 0, f"dependencies audited, nothing is known: {lock.name}"
    if any(word in done.stdout for word in FOUND):
        return 1, said
    last = said.splitlines()[-1][:200] if said else f"exit code {done.returncode}"
    return 0, f"dependencies not audited: {Path(command[0]).name} could not ask ({last})"


def main() -> int:
    """Audit what is locked."""
    worst = 0
    for lock in filter(Path.exists, map(Path, LOCKS)):
        code, text = audit(tool(), lock)
        worst = max(worst, code)
        print(text)
        if "not installed" in text:
            break
    return worst


if __name__ == "__main__":
    sys.exit(main())
