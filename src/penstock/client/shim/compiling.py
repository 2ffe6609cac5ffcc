"""How the client's preloaded library is compiled. Needs nothing of penstock: building a wheel needs it before that is.

The library names no version of any C library and needs none but the one of the program that it is loaded into, so what
was built anywhere runs with glibc and with musl, old and new. `libdl.so.2` is named for glibc before 2.34, which has
`dlsym` there; the linker only has to see a file of that name.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parent
MACHINES = ("x86_64", "aarch64")
NAME = "libpenstock.so"
PARTS = ("pay.c", "files.c", "calls.c", "names.c", "streams.c", "text.c", "ends.c", "strict.c")
_FLAGS = (
    *("-std=gnu11", "-O2", "-g0", "-fPIC", "-shared", "-nostdlib", "-ffreestanding", "-fno-builtin"),
    *("-fvisibility=hidden", "-fno-stack-protector", "-fno-strict-aliasing", "-U_FORTIFY_SOURCE", "-Wall", "-Wextra"),
    # A thread that is cancelled in a read unwinds through us.
    *("-fexceptions", "-fasynchronous-unwind-tables"),
    *("-Wl,-z,now", "-Wl,-z,noexecstack", "-Wl,--build-id=none", f"-Wl,-soname,{NAME}", "-s"),
)
_FOR = {"x86_64": (), "aarch64": ("-mno-outline-atomics",)}
LIMIT = 60.0  # seconds for a compiler


class CannotCompile(Exception):
    """Why there is no library; one sentence."""


def compiler_for(machine: str) -> tuple[str, ...] | None:
    """The first compiler that is there: gcc, cc, a cross compiler for another machine, zig."""
    host = os.uname().machine
    names = ("gcc", "cc") if machine == host else (f"{machine}-linux-gnu-gcc",)
    for name in names:
        if found := shutil.which(name):
            return (found,)
    zig = ("-target", f"{machine}-linux-gnu", "-fno-sanitize=all")
    if found := shutil.which("zig"):
        return (found, "cc", *zig)
    if importlib.util.find_spec("ziglang") is not None:
        return (sys.executable, "-m", "ziglang", "cc", *zig)
    return None


def compile_library(machine: str, out: Path, compiler: tuple[str, ...] | None = None) -> tuple[str, ...]:
    """Compile for a machine; what did it. The library appears complete or not at all."""
    if machine not in MACHINES:
        raise CannotCompile(f"the library is written for {' and '.join(MACHINES)}, not for {machine}")
    compiler = compiler or compiler_for(machine)
    if compiler is None:
        raise CannotCompile("there is no gcc, cc or zig to compile the library with")
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".building-") as folder:
        stub, new = Path(folder) / "libdl.so", Path(folder) / NAME
        (Path(folder) / "empty.c").write_text("int penstock_nothing;\n")
        _run(*compiler, "-shared", "-nostdlib", "-Wl,-soname,libdl.so.2", "-o", stub, Path(folder) / "empty.c")
        sources = [SOURCE / name for name in PARTS]
        _run(*compiler, *_FLAGS, *_FOR[machine], "-o", new, *sources, "-Wl,--no-as-needed", stub)
        os.chmod(new, 0o644)
        os.replace(new, out)
    return compiler


def _run(*command: str | Path) -> None:
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=LIMIT, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotCompile(f"{words[0]} could not be run ({error})") from None
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        raise CannotCompile(f"{words[0]} could not compile the library: {lines[0] if lines else done.returncode}")
