"""Commands that run a user's own policy: it may print and even leave Python without spoiling our output."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from penstock.errors import PolicyError


@contextlib.contextmanager
def user_code() -> Iterator[None]:
    """What is printed meanwhile goes to the error stream, so that standard output carries the result alone."""
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except SystemExit as leaving:
        raise PolicyError(f"a policy called exit({leaving.code!r}); it must return to its caller") from None
