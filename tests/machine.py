"""A plain machine for the tests, whatever its user, its site or its CI has set up for other programs.

Variables that change what a program prints, where it looks or whom it asks are taken away before anything reads them;
tests that are about one of them set it. A folder for temporary files is chosen whose path leaves room for that of a
socket: a UNIX socket's may have 107 bytes.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, MutableMapping
from functools import cache
from pathlib import Path

# Of the site's penstock; of what a terminal can do; of how Python runs; of proxies; of an enclosing batch job.
_PREFIXES = ("PENSTOCK", "PYTHON", "LC_", "SLURM_", "OMPI_", "PMI_", "PMIX_", "MPI_LOCALNRANKS", "NUMBA_", "XDG_")
_NAMES = {
    *("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "COLORTERM"),
    *("COLUMNS", "LINES", "LANG", "LANGUAGE", "MPLBACKEND", "MATPLOTLIBRC", "MUNGE_SOCKET", "POSIXLY_CORRECT"),
    *("http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "no_proxy"),
}
_KEPT = {
    "PYTHONPATH",
    "PYTHONHASHSEED",
    "PYTHONPYCACHEPREFIX",
    "NUMBA_CACHE_DIR",
    "NUMBA_DISABLE_JIT",
    "XDG_CACHE_HOME",
}
_LONGEST = 50  # bytes of the folder for temporary files; pytest's folders and a test's own name come on top


def make_plain(environ: MutableMapping[str, str] = os.environ) -> None:
    """Do it, for this process and all that it starts."""
    for name in odd(environ):
        del environ[name]
    environ["LANG"] = "C.UTF-8"
    os.umask(0o022)
    if len(os.fsencode(tempfile.gettempdir())) > _LONGEST and os.access("/tmp", os.W_OK | os.X_OK):
        environ["TMPDIR"] = tempfile.tempdir = "/tmp"


def odd(names: Iterable[str]) -> list[str]:
    """Those that a plain machine has not set."""
    return [name for name in names if name not in _KEPT and _is_odd(name)]


def _is_odd(name: str) -> bool:
    return name.startswith(_PREFIXES) or name in _NAMES or name.lower() in _NAMES


def open_to_all(folder: Path) -> None:
    """Let other users into a test's folder, and into those around it that pytest made; never into what is not ours."""
    for each in (folder, *folder.parents):
        if "pytest-of-" in str(each):
            each.chmod(0o755)


# In a container, and in a namespace with one user, root may not do all that root does.


@cache
def can_be_others() -> bool:
    """Whether tests may become another user and give files away."""
    return os.geteuid() == 0 and _works("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "true")


@cache
def can_mount() -> bool:
    """Whether tests may mount something that only they see."""
    return os.geteuid() == 0 and _works("unshare", "--mount", "true")


def _works(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False
