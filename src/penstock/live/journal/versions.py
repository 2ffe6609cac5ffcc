"""Which code took a controller's decision: hashes in its journal, so that a replay can say what has changed since."""

from __future__ import annotations

import hashlib
import inspect
from pathlib import Path

from penstock import live
from penstock.policies.sharing import Sharing


def policy_code(policy: Sharing) -> str:
    """What tells one version of a policy's function from another."""
    try:
        source = inspect.getsource(policy.plain)
    except (OSError, TypeError):
        source = repr(policy.plain)
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def core_code() -> str:
    """What tells one version of the core from another."""
    folder = Path(live.__path__[0]) / "core"
    text = b"".join(path.read_bytes() for path in sorted(folder.glob("*.py")))
    return hashlib.sha256(text).hexdigest()[:16]
