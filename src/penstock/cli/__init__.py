"""The command line: `table` lists the commands, `commands` has one file for each, `parts` what they share.

`group` puts them together. `main` is what `penstock` calls; it alone is loaded at once, and `quick_run` for
`penstock run`. Start reading with `table`, then `commands.simulate`.
"""

from __future__ import annotations

import errno
import gc
import io
import os
import re
import sys

from penstock.cli.quick_run import quick_arguments
from penstock.errors import PenstockError


def main() -> None:
    """Run a command; what the user can mend becomes one sentence and exit code 2."""
    gc.set_threshold(100_000, 50, 50)  # importing makes many objects and no garbage: a tenth of the start-up
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as the error stream does: é must not end a run
    try:
        try:
            _called(sys.argv[1:])
        finally:
            # Not left to Python's exit, where a failure is a complaint that nobody can handle.
            print(end="", flush=True)
    except KeyboardInterrupt:  # before a command is ready for one
        sys.exit(130)
    except PenstockError as error:
        print(f"penstock: {_one_line(str(error))}", file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        if error.errno not in (errno.EPIPE, errno.ENOSPC):
            raise
        # What is left in the buffer must not be tried again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if error.errno == errno.EPIPE:  # the reader has left, as `head` does
            sys.exit(1)
        print(f"penstock: standard output cannot be written: {error.strerror}", file=sys.stderr)
        sys.exit(2)


def _called(words: list[str]) -> None:
    asked = quick_arguments(words[1:]) if words[:1] == ["run"] else None
    if asked is None:
        from penstock.cli.group import call  # noqa: PLC0415 - Typer, which the other way does without

        sys.exit(call(words))
    else:
        from penstock.cli.parts.turn import run_in_turn  # noqa: PLC0415 - what a job needs, and no other command

        run_in_turn(**asked)


def _one_line(text: str) -> str:
    """Without the line breaks and colours that other people's messages and file names may have."""
    return " ".join(re.sub(r"\x1b\[[0-9;]*m", "", text).split())
