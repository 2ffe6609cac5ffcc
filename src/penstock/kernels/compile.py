"""Compiling: one decorator for every Numba function, and one place for what was compiled.

Kernels carry explicit signatures, so they are compiled when their module is imported and then loaded from disk by
every later process. Numba's own cache looks only at a function's own file; a kernel that calls a helper elsewhere
would keep a stale copy of it. Ours lies in a folder per module, named after the state of all that it is made of; where
the package lies makes no difference, so that checkouts and environments of one user compile once.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import os
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import cgutils, event
from numba.core.caching import UserProvidedCacheLocator
from numba.core.errors import NumbaError
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from penstock.kernels.arrays import Floats
from penstock.kernels.fingerprint import recipe
from penstock.kernels.pieces import piece
from penstock.kernels.sources import PACKAGE, state_of

F = TypeVar("F", bound=Callable[..., Any])

_MONTH = 30 * 86400.0

# Kernels work on arrays that others own, so they need no reference counts, which would cost ten times the work
# itself (without them Numba refuses to compile an allocation, which keeps allocations out); and x / 0 is infinite.
_OPTIONS: dict[str, Any] = {"_nrt": False, "error_model": "numpy"}

_built: dict[Any, Any] = {}  # policies by recipe and signature; forked processes have their parent's


def _spare_scipy() -> None:
    """Load Numba's array functions while SciPy's linear algebra seems missing.

    They would load it at once if it is installed, a quarter of the time that a command takes to start. Code that needs
    it, as np.dot in a compiled policy, gets it when that is compiled.
    """
    if "scipy.linalg" not in sys.modules:
        sys.modules["scipy.linalg"] = None  # type: ignore[assignment]  # how Python marks what it must not import
        try:
            importlib.import_module("numba.np.arraymath")
        finally:
            del sys.modules["scipy.linalg"]


_spare_scipy()


def _toolchain() -> str:
    """Changes whenever Numba, NumPy or Python does."""
    versions = f"{numba.__version__} {np.__version__} {sys.version}"
    return hashlib.sha256(versions.encode()).hexdigest()[:16]


def _candidates() -> Iterator[Path]:
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(chosen)
    with contextlib.suppress(RuntimeError):  # a user without a home
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "penstock"
    # Compiled code is loaded as code: in a folder that others can write to, only below one that is ours alone.
    if (temporary := _temporary()) is not None:
        yield temporary / f"penstock-{os.getuid()}"


def _temporary() -> Path | None:
    """Where everybody may leave files; None if there is no such place."""
    try:
        return Path(tempfile.gettempdir())
    except OSError:
        return None


def _cache_folder() -> Path | None:
    """The first folder that we own and can write to; None if there is none and every process must compile."""
    for base in _candidates():
        folder = base / f"kernels-{_toolchain()}"
        with contextlib.suppress(OSError):
            base.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not folder.exists():
                folder.mkdir(mode=0o700)
                _clear_out(base)
            if _is_ours(base) and _is_ours(folder) and os.access(folder, os.W_OK):
                return folder
    return None


def _is_ours(folder: Path) -> bool:
    """Whether nobody else can put code there: a folder of ours or root's, no link, and not for others to write.

    A link of another user in a folder that all can write to would have us load that user's code.
    """
    found = folder.lstat() if folder.parent == _temporary() else folder.stat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid in (0, os.getuid()) and not found.st_mode & 0o022


def _clear_out(base: Path) -> None:
    """Remove what nobody has compiled into for a month: modules as they were in earlier versions."""
    for old in base.glob("kernels-*/*"):
        if time.time() - old.stat().st_mtime > _MONTH:
            shutil.rmtree(old, ignore_errors=True)


CACHE = _cache_folder()


@cache
def _folder_of(source: str) -> str:
    """Where the kernels of a module are kept: another place whenever something changes that they are made of."""
    if CACHE is None:
        return ""
    path = Path(source)
    name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
    return str(CACHE / f"{name}-{state_of(path)}")


class KernelLocator(UserProvidedCacheLocator):
    """Puts compiled code straight into `CACHE_DIR`, where Numba would make a folder for each place of the source."""

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """Nothing below it."""
        return ""


class _Announcer(event.Listener):
    """Says once, on the error stream, why the first run takes its time."""

    said = False

    def on_start(self, event: Any) -> None:
        ours = is_ours(event.data["dispatcher"].py_func)
        if ours and not _Announcer.said and not os.environ.get("PENSTOCK_QUIET"):
            _Announcer.said = True
            print("penstock: compiling kernels (once; later runs load them) …", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        pass


@contextlib.contextmanager
def _building(function: Callable[..., Any]) -> Iterator[None]:
    """Our cache folder and our announcement, for as long as one of our kernels is built."""
    config: Any = numba.config
    before = config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES
    config.CACHE_DIR = _folder_of(function.__code__.co_filename) if is_ours(function) else ""
    config.CACHE_LOCATOR_CLASSES = f"{__name__}.{KernelLocator.__name__}"
    try:
        with event.install_listener("numba:compile", _Announcer()):
            yield
    finally:
        config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = before


def is_ours(function: Callable[..., Any]) -> bool:
    """Whether a function is part of this package."""
    return PACKAGE in Path(function.__code__.co_filename).parents


def kernel(signature: Any, **options: Any) -> Callable[[F], F]:
    """Compile a function for `signature` now, or load it if an earlier process has. It keeps `.py_func`."""

    def build(function: F) -> F:
        # Only ours: of a user's file we cannot tell when what it calls has changed, nor under which name it comes.
        keep = CACHE is not None and is_ours(function)
        with _building(function):
            return numba.njit(signature, cache=keep, **{**_OPTIONS, **options})(function)  # type: ignore[no-any-return]

    return build


def compile_policy(function: F, signature: Any) -> F:
    """As a kernel; if it allocates, with the memory management that this takes."""

    def build() -> F:
        try:
            return kernel(signature)(function)
        except (NumbaError, TypeError):
            return kernel(signature, _nrt=True)(function)

    return once(function, signature, build)


def once(function: Any, signature: Any, build: Callable[[], F]) -> F:
    """What `build` compiles of a function, or has compiled of one that would give the same."""
    made_of = recipe(function)
    if made_of is None:
        return build()
    if (made_of, signature) not in _built:
        _built[made_of, signature] = build()
    known: F = _built[made_of, signature]
    return known


def reason(error: Exception) -> str:
    """What Numba found, in one line: its messages are pages."""
    lines = [re.sub(r"\x1b\[\d+m", "", line).strip() for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith("Failed in nopython")] or ["no reason given"]
    first = " ".join(told[:2]) if told[0].endswith(":") else told[0]
    line = getattr(getattr(error, "loc", None), "line", None)
    return re.sub(r"View\(.*\)", "View", first) + (f" (line {line})" if line else "")


def plain(compiled: F) -> F:
    """The Python function that a kernel was made of, for a caller that must not wait for a compiler."""
    found: F = getattr(compiled, "py_func", compiled)  # itself, with NUMBA_DISABLE_JIT=1
    return found


def inlined(function: F) -> F:
    """A helper that becomes part of every kernel that calls it, in every place where it does."""
    return piece(function, forceinline=True, **_OPTIONS)


def inner(function: F) -> F:
    """The same for larger helpers: one that is called in several places may stay code of its own."""
    return piece(function, **_OPTIONS)


@kernel(
    numba.float64(numba.types.Array(numba.float64, 1, "C", readonly=True), numba.int64), fastmath={"reassoc", "nsz"}
)
def total(values: Floats, count: int) -> float:
    """The sum of the first `count` values, added in whatever order is fastest (the same every time)."""
    result = 0.0
    for place in range(count):
        result += values[place]
    return result


def _part(shown: bool) -> Any:
    """`array[start : start + count]` inside its bounds, without the care a slice takes; only inside kernels."""

    def part(typing_context: Any, array: Any, start: Any, count: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            piece = make_array(signature.args[0])(context, builder, arguments[0])
            piece.data = builder.gep(piece.data, [arguments[1]])
            piece.nitems = arguments[2]
            piece.shape = cgutils.pack_array(builder, [arguments[2]])
            return piece._getvalue()

        return (array.copy(readonly=True) if shown else array)(array, numba.int64, numba.int64), generate

    return intrinsic(part)


def _slice(array: Any, start: int, count: int) -> Any:
    """The same for kernels that run as plain Python, with NUMBA_DISABLE_JIT=1."""
    return array[start : start + count]


part = _slice if numba.config.DISABLE_JIT else _part(shown=False)  # type: ignore[attr-defined]
glance = _slice if numba.config.DISABLE_JIT else _part(shown=True)  # type: ignore[attr-defined]  # to be read only
