"""What `docs/measurements/unmodified.md` says of programs that do not ask: rates, counts, sharing, signals, deaths.

Takes a minute, on a machine that has nothing else to do; starts controllers and agents of its own. Needs gcc, with what
it takes for static programs.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from penstock.client.bucket import boottime
from penstock.client.segment import Segment, segment_path
from penstock.client.shim.library import library, preloaded
from penstock.wire.spool import this_boot

MB, PATIENCE = 1_000_000, 60.0
PENSTOCK = (sys.executable, "-m", "penstock")


def until(true: Callable[[], object], every: float = 0.005) -> None:
    """Wait for something."""
    end = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > end:
            sys.exit("waited in vain")
        time.sleep(every)


@contextmanager
def controller(folder: Path, capacity: float) -> Iterator[str]:
    """A controller that shares so much; its address."""
    folder.mkdir()
    config = {"capacity": capacity, "machine_nodes": 4, "journal": {"directory": str(folder / "journal")}}
    (folder / "controller.yaml").write_text(json.dumps(config))
    words = ["serve", "--config", "controller.yaml", "--socket", "socket", "--log", "log", "--json"]
    process = subprocess.Popen([*PENSTOCK, *words], cwd=folder, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    try:
        assert process.stdout is not None and process.stdout.readline()
        yield f"unix:{folder / 'socket'}"
    finally:
        process.kill()
        process.communicate()


def begin(address: str, job: str, *command: str, options: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """A command under `penstock run`."""
    env = {**os.environ, "PENSTOCK_ADDRESS": address, "PENSTOCK_JOB": job}
    words = [*PENSTOCK, "run", "--json", *options, "--", *command]
    return subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def dd(path: Path, megabytes: int) -> list[str]:
    """Writes so much."""
    return ["dd", "if=/dev/zero", f"of={path}", f"bs={MB}", f"count={megabytes}", "status=none"]


def size(path: Path) -> int:
    """Bytes of a file that may not be there yet."""
    return path.stat().st_size if path.exists() else 0


def rate_of(folder: Path, address: str, name: str, command: list[str], options: tuple[str, ...] = ()) -> None:
    """Megabytes a second from the first tenth of a file to its last, and what was counted of it."""
    out = folder / name
    process = begin(address, name.replace(".", "-"), *command, options=options)
    until(lambda: size(out) >= 25 * MB)
    first, began = size(out), time.monotonic()
    until(lambda: size(out) >= 225 * MB)
    rate = (size(out) - first) / (time.monotonic() - began) / MB
    told = json.loads(process.communicate()[1].splitlines()[-1])
    written = size(out)
    print(f"{name:>12}: {rate:5.2f} MB/s of 50, counted/written {told['moved'] / written:.4f}, exit {told['exit']}")
    out.unlink()


def rates(folder: Path) -> None:
    """One program at a time at 50 MB/s."""
    source = folder / "source"
    source.write_bytes(os.urandom(250 * MB))
    static = folder / "static_writer"
    program = Path(__file__).parents[2] / "tests" / "client" / "shim" / "programs" / "static_writer.c"
    subprocess.run(["gcc", "-static", "-O1", "-o", static, program], check=True)
    python = "import sys\nwith open(sys.argv[1], 'wb', 0) as out:\n    for _ in range(250): out.write(bytes(10**6))"
    with controller(folder / "rates", 50.0 * MB) as address:
        for name, command, options in (
            ("dd", dd(folder / "dd", 250), ()),
            ("cp", ["cp", "--reflink=never", str(source), str(folder / "cp")], ()),
            ("tar", ["tar", "-C", str(folder), "-cf", str(folder / "tar"), "source"], ()),
            ("python", [sys.executable, "-c", python, str(folder / "python")], ()),
            ("static", [str(static), str(folder / "static"), "250", str(MB)], ("--strict",)),
        ):
            rate_of(folder, address, name, command, options)
    source.unlink()


def shares(folder: Path) -> None:
    """Three commands of 80, 200 and 440 MB on 60 MB/s: how fast each is while there are three, two, one."""
    files = [folder / f"share-{megabytes}" for megabytes in (80, 200, 440)]
    with controller(folder / "shares", 60.0 * MB) as address:
        runs = [begin(address, file.name, *dd(file, int(file.name[6:]))) for file in files]
        for ended in range(3):
            left = files[ended:]
            until(lambda left=left: all(size(file) > 10 * MB for file in left))  # type: ignore[misc]
            time.sleep(0.5)
            before, began = [size(file) for file in left], time.monotonic()
            time.sleep(2.0)
            seconds = time.monotonic() - began
            found = [(size(file) - start) / seconds / MB for file, start in zip(left, before, strict=True)]
            print(f"  {len(left)} share 60 MB/s: {' / '.join(f'{rate:.1f}' for rate in found)}")
            runs[ended].communicate()
    for file in files:
        file.unlink()


def signals(folder: Path) -> None:
    """How soon a dd that waits at rate 0 is gone."""
    segment = Segment.make(folder / "segment")
    env = {**os.environ, "LD_PRELOAD": preloaded(library(), os.environ), "PENSTOCK_BUCKET": str(segment.path)}
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT):
        took = []
        for _ in range(10):
            segment.set_rate(0.0, fallback=0.0)
            process = subprocess.Popen(dd(folder / "blocked", 1), env=env)
            until(segment.waiting)
            began = time.monotonic()
            process.send_signal(number)
            process.wait()
            took.append(1e3 * (time.monotonic() - began))
            time.sleep(0.25)  # until nobody counts as waiting
        print(f"  {number.name}: {median(took):.1f} ms, at most {max(took):.1f} ms")


def agent(folder: Path, address: str) -> subprocess.Popen[bytes]:
    """`penstock node`, in a folder with a spool."""
    words = ["node", "--node", "n1", "--spool", "spool", "--segments", str(folder), "--state", "node.json", "--json"]
    env = {**os.environ, "PENSTOCK_ADDRESS": address}
    process = subprocess.Popen([*PENSTOCK, *words], cwd=folder, env=env, stdout=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline()
    return process


def deaths(folder: Path) -> None:
    """What kill -9 of the agent does, while its job is idle and in a burst: when programs go by the fallback."""
    for burst in (False, True):
        own = folder / f"agent-{burst}"
        with controller(folder / f"of-agent-{burst}", 20.0 * MB) as address:
            (own / "spool").mkdir(parents=True, mode=0o700)
            lines = ("kind=job_start", "job=7", "restart=0", f"uid={os.getuid()}", f"gid={os.getgid()}", "")
            (own / "new").touch(0o600)
            (own / "new").write_text("\n".join(lines))
            (own / "new").rename(own / "spool" / f"{this_boot()}.1.00.1")
            process = agent(own, address)
            path = segment_path("7", 0, os.getuid(), own)
            until(path.exists)
            segment = Segment(path)
            source, copy = own / "source", own / "copy"
            source.write_bytes(os.urandom(40 * MB))
            env = {**os.environ, "LD_PRELOAD": preloaded(library(), os.environ), "PENSTOCK_BUCKET": str(path)}
            words = ["dd", f"if={source}", f"of={copy}", "bs=64k", "status=none"]
            program = subprocess.Popen(words, env=env) if burst else None
            until(lambda: not burst or size(copy) > 10 * MB)  # noqa: B023
            process.kill()
            process.communicate()
            killed, fallback = boottime(), segment.lane().fallback
            program = program or subprocess.Popen(words, env=env)
            until(lambda: segment.served()[1] == fallback)  # noqa: B023
            seconds, code = boottime() - killed, program.wait()
            same = hashlib.sha256(copy.read_bytes()).digest() == hashlib.sha256(source.read_bytes()).digest()
            when = "in a burst" if burst else "idle"
            print(f"  {when}: fallback after {seconds:.2f} s, exit {code}, same output {same}")


def main() -> None:
    """All of it."""
    with tempfile.TemporaryDirectory(prefix="penstock-") as name:
        folder = Path(name)
        rates(folder)
        shares(folder)
        print("a dd that waits at rate 0, from the signal to its end:")
        signals(folder)
        print("kill -9 of the agent:")
        deaths(folder)


if __name__ == "__main__":
    main()
