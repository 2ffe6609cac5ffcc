"""How a command ends that has something to say, and no result."""

from __future__ import annotations

import sys
from typing import NoReturn


def leave(sentence: str, code: int) -> NoReturn:
    """End the command with a sentence and an exit code."""
    print(f"penstock: {sentence}", file=sys.stderr)
    sys.exit(code)
