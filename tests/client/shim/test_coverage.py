"""What programs write is what is counted, whatever way they write in. Nobody waits here: the rate is out of reach."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from client.controller import until
from client.shim.job import PATIENCE, Job, compiled, needs
from machine import can_mount
from penstock.client.segment import Counts

MIB = 1 << 20
VOLUME = 4 * MIB
NOTHING = Counts(0, 0, 0.0, 0.0, 0.0, False, 0.0, 0, 0, 0, 0, 0, 0, 0, 0)


def written(job: Job, before: Counts, path: Path, size: int = VOLUME) -> None:
    """A file has its size, and as much was counted, within 2 %."""
    assert path.stat().st_size == size
    assert job.moved_since(before)[0] == pytest.approx(size, rel=0.02)


WAYS = (
    *("one_call", "vectors", "streams", "formats", "printed", "at_exit", "reused", "duplicated", "threads", "forks"),
    *("execs", "sends", "spliced", "errors", "appended", "quits", "quits_fast", "becomes", "wide"),
)


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in_c(job: Job, built: Path, way: str) -> None:
    size = 4_096_000
    flags = ("-O2", "-w", "-pthread", "-D_FORTIFY_SOURCE=2")
    job.run(compiled(built, "gcc", "moves.c", flags), way, job.folder / "out", str(size))
    assert (job.folder / "out").stat().st_size == job.counts.written == size


@pytest.mark.parametrize("way", ["fscanf", "scanf", "getchar", "fgetwc", "fgetws", "fwscanf"])
def test_text_that_is_read(job: Job, built: Path, way: str) -> None:
    lines = 100_000
    (job.folder / "text").write_text("12345678\n" * lines)
    program = compiled(built, "gcc", "takes.c", ("-O2", "-w"))
    assert job.run(program, way, job.folder / "text").stdout == f"{lines}\n".encode()
    assert job.counts.read == pytest.approx(9 * lines, abs=4096)


@pytest.mark.parametrize("way", ["one_call", "streams", "formats", "threads", "execs", "quits", "becomes", "wide"])
def test_musl(job: Job, built: Path, way: str) -> None:
    program = compiled(built, "musl-gcc", "moves.c", ("-O2", "-w", "-pthread"))
    job.run(program, way, job.folder / "out", "4096000")
    written(job, NOTHING, job.folder / "out", 4_096_000)


def test_large_vectors_go_in_pieces(job: Job, built: Path) -> None:
    """Twice written, twice read, and the same as in one; at rate 0 what an allowance has goes through."""
    size = 5_000_000
    program = compiled(built, "gcc", "moves.c", ("-O2", "-w", "-pthread", "-D_FORTIFY_SOURCE=2"))
    job.run(program, "large_vectors", job.folder / "out", str(size))
    assert (job.counts.written, job.counts.read) == (2 * size, pytest.approx(2 * size, abs=1000))
    job.segment.set_rate(0.0, fallback=0.0)
    job.segment.set_allowance(2 * MIB)
    process = job.start(program, "large_vectors", job.folder / "part", str(size))
    until(job.segment.waiting)
    assert (job.folder / "part").stat().st_size == 2 * MIB
    process.kill()
    process.wait(PATIENCE)


def test_cxx_and_fortran(job: Job, built: Path) -> None:
    job.run(compiled(built, "g++", "stream.cpp", ("-O1",)), job.folder / "out", "4000000")
    written(job, NOTHING, job.folder / "out", 4_000_000)
    before = job.counts
    job.run(compiled(built, "gfortran", "fields.f90", ("-O1",)), job.folder / "fields", "4000000")
    written(job, before, job.folder / "fields", 4_000_000)


def test_tools(job: Job) -> None:
    """dd, cp, cat, tar, rsync; each copies the same file on."""
    source, total = job.folder / "source", job.counts
    job.run("dd", "if=/dev/zero", f"of={source}", f"bs={MIB}", f"count={VOLUME // MIB}")
    written(job, total, source)
    ways = ("-p", "--reflink=never", "--sparse=never")
    for number, way in enumerate(ways):
        before, copy = job.counts, job.folder / f"copy-{number}"
        job.run("cp", way, source, copy)
        written(job, before, copy)
        assert job.moved_since(before)[1] >= VOLUME
    before = job.counts
    job.run("sh", "-c", f"cat {source} > cat")
    written(job, before, job.folder / "cat")
    (tar,) = needs("tar")
    before = job.counts
    job.run(tar, "-cf", "archive", source.name)
    written(job, before, job.folder / "archive", (job.folder / "archive").stat().st_size)
    before = job.counts
    job.run(*needs("rsync"), source, job.folder / "rsync")
    written(job, before, job.folder / "rsync")


def test_python_and_numpy(job: Job) -> None:
    text = (
        "import os, numpy, sys\n"
        f"open('plain', 'wb').write(bytes({VOLUME}))\n"
        f"numpy.zeros({VOLUME // 8}).tofile('array')\n"
        f"numpy.save('saved', numpy.zeros({VOLUME // 8}))\n"
        "os.close(os.open('/dev/null', os.O_RDONLY))\n"
    )
    job.run(sys.executable, "-B", "-c", text)
    assert job.counts.written == pytest.approx(3 * VOLUME, rel=0.02)


def test_hdf5(job: Job, built: Path) -> None:
    job.run(compiled(built, "h5cc", "hdf5.c", ("-w",)), job.folder / "out.h5", str(VOLUME))
    written(job, NOTHING, job.folder / "out.h5", (job.folder / "out.h5").stat().st_size)


@pytest.mark.parametrize(("flavour", "launcher"), [("openmpi", "mpirun.openmpi"), ("mpich", "mpiexec.mpich")])
def test_mpi_io(job: Job, built: Path, flavour: str, launcher: str) -> None:
    program = compiled(built, f"mpicc.{flavour}", "mpi_io.c", ("-w",))
    launch = needs(launcher)
    root = ["--allow-run-as-root", "--oversubscribe"] if flavour == "openmpi" else []
    # Only the file counts: a library of MPI writes others, which are on another device.
    job.segment.set_devices([job.folder.stat().st_dev])
    job.run(*launch, *root, "-n", "2", program, job.folder / "out", str(VOLUME), TMPDIR="/dev/shm")
    assert (job.folder / "out").stat().st_size == VOLUME
    assert job.counts.written == pytest.approx(VOLUME, rel=0.02)


@pytest.mark.parametrize("engine", ["sync", "psync", "vsync", "pvsync", "libaio"])
def test_fio(job: Job, engine: str) -> None:
    (fio,) = needs("fio")
    shape = ["--name=a", "--rw=write", "--bs=64k", f"--size={VOLUME}", "--thread", "--overwrite=0", "--fallocate=none"]
    job.segment.set_devices([job.folder.stat().st_dev])
    job.run(fio, f"--ioengine={engine}", "--directory=.", "--output=/dev/null", *shape)
    assert job.counts.written == pytest.approx(VOLUME, rel=0.02)


def test_only_devices_that_count(job: Job) -> None:
    copy = ("dd", "if=/dev/zero", "of=out", f"bs={MIB}", "count=1")
    job.segment.set_devices([job.folder.stat().st_dev + 1])
    job.run(*copy)
    assert job.counts.moved == job.counts.operations == 0
    job.segment.set_devices([1, job.folder.stat().st_dev])
    job.run(*copy)
    assert job.counts.written >= MIB


def test_one_direction_can_be_left_out(job: Job) -> None:
    (job.folder / "source").write_bytes(bytes(MIB))
    job.segment.set_ways(writes=True, reads=False)
    job.run("cp", "source", "copy")
    assert (job.counts.written, job.counts.read) == (MIB, 0)
    job.segment.set_ways(writes=False, reads=True)
    job.run("cp", "source", "again")
    assert job.counts.written == MIB and job.counts.read >= MIB


def test_operations_on_names_are_counted(job: Job, built: Path) -> None:
    program = compiled(built, "gcc", "moves.c", ("-O2", "-w", "-pthread", "-D_FORTIFY_SOURCE=2"))
    for devices in ((), (job.folder.stat().st_dev,)):
        job.segment.set_devices(devices)
        before = job.counts
        job.run(program, "removed", job.folder / "name", "50")
        after = job.counts
        assert (after.created - before.created, after.unlinked - before.unlinked) == (50, 50)
        assert 50 <= after.opened - before.opened < 60 and 50 <= after.stated - before.stated < 60


def test_operations_that_the_server_refuses_are_counted_and_links_renames_and_questions(job: Job, built: Path) -> None:
    program = compiled(built, "gcc", "moves.c", ("-O2", "-w", "-pthread", "-D_FORTIFY_SOURCE=2"))
    job.segment.set_devices([job.folder.stat().st_dev])
    names, found = ("opened", "stated", "unlinked", "created"), []
    for times in (0, 50):  # the first for what a start takes
        before = job.counts
        job.run(program, "names", job.folder / f"name-{times}", str(times))
        after = job.counts
        found.append([getattr(after, name) - getattr(before, name) for name in names])
    assert [many - none for none, many in zip(*found, strict=True)] == [5 * 50, 6 * 50, 3 * 50, 6 * 50]


@pytest.mark.parametrize("env", [{"PENSTOCK": "off"}, {"PENSTOCK_BUCKET": "/dev/shm/no-such"}, {"PENSTOCK_BUCKET": ""}])
def test_without_a_segment_all_passes(job: Job, env: dict[str, str]) -> None:
    job.run("dd", "if=/dev/zero", "of=out", f"bs={MIB}", "count=1", **env)
    assert (job.folder / "out").stat().st_size == MIB
    assert job.counts.moved == 0


@pytest.mark.parametrize("content", [b"", b"x" * 1024, b"penseg00" + bytes(1016), b"penseg01" + bytes(2000)])
def test_what_is_no_segment_is_left_alone(job: Job, content: bytes) -> None:
    (job.folder / "other").write_bytes(content)
    job.run("dd", "if=/dev/zero", "of=out", f"bs={MIB}", "count=1", PENSTOCK_BUCKET=str(job.folder / "other"))
    assert (job.folder / "other").read_bytes() == content


def test_a_link_to_a_segment_is_not_followed(job: Job) -> None:
    (job.folder / "link").symlink_to(job.segment.path)
    job.run("dd", "if=/dev/zero", "of=out", f"bs={MIB}", "count=1", PENSTOCK_BUCKET=str(job.folder / "link"))
    assert job.counts.moved == 0


SAME = (
    "for i in 1 2 3; do echo $i; done > lines; cat lines; exec 3<>lines; echo hi >&3; read x <&3; echo $x; exec 3>&-",
    "tar -C /usr/include -czf - linux 2>/dev/null | tar -tzf - | sort | md5sum",
    "sort -R /etc/services | sort | md5sum; sed -n 3p /etc/passwd; ls -la /etc | md5sum; find /etc -maxdepth 1 | sort",
    "(sleep 0.1 & wait; echo ok); echo $((ulimit -n 8; cat /etc/passwd) | md5sum)",
    "cat no-such-file; ls no-such-folder; echo $?; mkdir a a; rmdir a; rm a; head -c 10 < /etc/passwd > /dev/full",
)


@pytest.mark.parametrize("script", SAME)
def test_programs_do_and_say_the_same(job: Job, script: str) -> None:
    """What they print, what they complain of, and how they end."""
    words = ["bash", "-c", script]
    plain = {name: value for name, value in job.env.items() if name not in ("LD_PRELOAD", "PENSTOCK_BUCKET")}
    found = []
    for number, env in enumerate((plain, job.env)):
        (folder := job.folder / str(number)).mkdir()
        done = subprocess.run(words, cwd=folder, env=env, capture_output=True, timeout=PATIENCE, check=False)
        found.append((done.returncode, done.stdout, done.stderr))
    assert found[0] == found[1]
    assert job.counts.operations > 0


def test_what_may_be_called_in_a_signal_handler_is_found_before(job: Job) -> None:
    """The loader's own account: nothing is looked for once the program runs."""
    log = job.folder / "loader"
    told = {"LD_BIND_NOW": "1", "LD_DEBUG": "files,symbols", "LD_DEBUG_OUTPUT": str(log)}
    job.run("dd", "if=/dev/zero", "of=out", "bs=10", "count=1", "status=none", **told)
    (path,) = log.parent.glob("loader.*")
    before, _, after = path.read_text().partition("transferring control: ")
    for name in ("read", "write", "close", "dup2"):
        assert f"symbol={name};" in before and f"symbol={name};" not in after


def test_two_preloads(job: Job, built: Path) -> None:
    """Another library that stands in front of write is called, too, in either order."""
    other = compiled(built, "gcc", "other.c", ("-shared", "-fPIC", "-w", "-ldl"), "other.so")
    for order in (f"{other}:{job.library}", f"{job.library}:{other}"):
        before, log = job.counts, job.folder / f"log-{order.index('other')}"
        copy = ("dd", "if=/dev/zero", "of=out", f"bs={MIB}", "count=4", "status=none")
        job.run(*copy, LD_PRELOAD=order, OTHER_LOG=str(log))
        written(job, before, job.folder / "out")
        assert int(log.read_text()) == VOLUME


def test_two_copies_of_the_library_pay_once(job: Job, built: Path) -> None:
    """As a batch system's and a checkout's, whoever put both there."""
    copy = job.folder / "copy" / job.library.name
    copy.parent.mkdir()
    copy.write_bytes(job.library.read_bytes())
    program = compiled(built, "gcc", "moves.c", ("-O2", "-w", "-pthread", "-D_FORTIFY_SOURCE=2"))
    for way in ("one_call", "streams", "printed", "removed"):
        before, size = job.counts, 4_096_000 if way != "removed" else 20
        job.run(program, way, job.folder / way, str(size), LD_PRELOAD=f"{copy}:{job.library}")
        if way == "removed":
            assert (job.counts.created - before.created, job.counts.unlinked - before.unlinked) == (20, 20)
        else:
            written(job, before, job.folder / way, size)


def test_darshan(job: Job) -> None:
    """With the library that most sites preload, where it is installed."""
    found = [*Path("/usr/lib").glob("*/libdarshan.so"), *Path("/usr/local/lib").glob("libdarshan.so")]
    if not found:
        pytest.skip("Darshan's runtime library is not installed")
    job.run(
        "dd", "if=/dev/zero", "of=out", f"bs={MIB}", "count=4", LD_PRELOAD=f"{found[0]}:{job.library}",
        DARSHAN_ENABLE_NONMPI="1", DARSHAN_LOGPATH=str(job.folder),
    )  # fmt: skip
    written(job, NOTHING, job.folder / "out")


@pytest.mark.skipif(not can_mount(), reason="only root can make namespaces here")
def test_a_containers_environment(job: Job) -> None:
    """Another root, with the library and the segment bound into it: what an administrator has to do for containers."""
    binds = "mount --bind / box && mount --bind $PWD box/mnt && exec chroot box"
    (job.folder / "box").mkdir()
    inside = {"LD_PRELOAD": "", "PENSTOCK_BUCKET": ""}
    (job.folder / "lib.so").write_bytes(job.library.read_bytes())
    (job.folder / "source").write_bytes(bytes(VOLUME))
    paced = "env LD_PRELOAD=/mnt/lib.so PENSTOCK_BUCKET=/mnt/segment cp /mnt/source /mnt/out"
    job.run("unshare", "--mount", "sh", "-c", f"{binds} {paced}", **inside)
    written(job, NOTHING, job.folder / "out")
