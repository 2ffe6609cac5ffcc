"""Jobs under a real controller: commands that wait for their turn, pipes at the granted rate, and a death."""

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from matplotlib.image import imread

from cli.controlled import PATIENCE, RATE, Controller, children, ended, no_controller, patient, stopped, until
from cli.user import command, environment
from machine import can_mount

# Sleeps little at a time: a signal that arrives just before Python falls asleep is handled when it wakes up.
SLEEPER = "import time; print('up', flush=True); any(time.sleep(0.1) for _ in range(6000))"


@pytest.fixture(scope="module")
def controller(tmp_path_factory):
    with Controller(tmp_path_factory.mktemp("controller"), sharing="fcfs") as running:
        yield running


@pytest.fixture
def data(tmp_path) -> Path:
    """A file of 40 MB, two seconds at the granted rate."""
    file = tmp_path / "data"
    file.write_bytes(os.urandom(40_000_000))
    return file


@pytest.fixture
def endless(tmp_path) -> Path:
    """A file of minutes at the granted rate, however late somebody looks."""
    file = tmp_path / "endless"
    with file.open("wb") as stream:
        stream.truncate(20_000_000_000)
    return file


def pipes(**changes):
    return {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | changes


def run(controller, job, *arguments, given=b"", **changes):
    """A job from its beginning to its end: exit code, output, errors."""
    process = controller.begin(job, *arguments, **pipes(stdin=subprocess.PIPE, **changes))
    out, err = process.communicate(given, timeout=PATIENCE)
    return process.returncode, out, err.decode()


# Commands.


@pytest.mark.parametrize("code", [0, 77])
def test_run_passes_the_exit_code_on(controller, code):
    assert run(controller, "codes", "run", "--", "sh", "-c", f"exit {code}") == (code, b"", "")


def test_run_passes_the_streams_on(controller):
    outcome = run(controller, "streams", "run", "--volume", "1kB", "sh", "-c", "cat; echo bad >&2", given=b"in\0\xff")
    assert outcome == (0, b"in\0\xff", "bad\n")


@pytest.mark.parametrize(
    ("name", "code", "words"), [("no-such-command", 127, "no such file"), ("/etc/passwd", 126, "permission denied")]
)
def test_run_of_what_is_no_command(controller, name, code, words):
    for env in (controller.user("none"), no_controller()):
        done = subprocess.run(command("run", "--", name), env=env, capture_output=True, check=False, timeout=PATIENCE)
        assert done.returncode == code
        assert done.stderr.decode() == f"penstock: {name}: {words}{' or directory' if code == 127 else ''}\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--volume", "10 Gb", "true"), "--volume is '10 Gb'"),
        (("--volume", "0", "true"), "a volume above 0"),
        (("--direction", "up", "true"), "--direction is 'up'"),
        (("--targets", "a,,b", "true"), "has an empty name"),
    ],
)
def test_run_of_what_cannot_be_announced(penstock, monkeypatch, arguments, sentence):
    monkeypatch.setenv("PENSTOCK", "off")
    monkeypatch.setattr(os, "execvp", lambda *_: pytest.fail("it was run"))  # in place of these tests
    outcome = penstock("run", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert sentence in outcome.err and outcome.err.count("\n") == 1


def test_an_environment_that_cannot_be_taken_stops_no_job(data):
    env = environment(PENSTOCK_ADDRESS="nonsense")
    for arguments in (("run", "--", "cat", str(data)), ("pace", "--in", str(data))):
        done = subprocess.run(command(*arguments), env=env, capture_output=True, check=False, timeout=PATIENCE)
        assert (done.returncode, done.stdout) == (0, data.read_bytes())
        assert re.fullmatch(
            r"penstock: (the command starts without a turn: )?PENSTOCK_ADDRESS is 'nonsense'; .*\n",
            done.stderr.decode(),
        )


@pytest.mark.skipif(not can_mount(), reason="only root can mount a full disk over shared memory")
def test_run_without_a_place_for_its_bucket_is_the_command(controller):
    full = 'mount -t tmpfs -o size=4k full /dev/shm && head -c 4k /dev/zero > /dev/shm/zeros && exec "$@"'
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", full, "sh", *command("run", "--", "echo", "ran")],
        env=controller.user("full"), capture_output=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"ran\n")
    assert re.fullmatch(
        r"penstock: not paced: the bucket .* cannot be made \(no space left.*\)\n", done.stderr.decode()
    )


def test_any_name_is_good_enough_for_a_job(controller):
    for name in ("x" * 10_000, "two\nlines"):
        assert run(controller, name, "run", "--volume", "1kB", "--", "true") == (0, b"", "")
    assert controller.known("x" * 200) and controller.known("two_lines")


def test_run_is_the_command_where_there_is_no_controller():
    shell = command("run", "--", "sh", "-c", "echo $$; echo ${PENSTOCK_BUCKET:-none}")
    process = subprocess.Popen(shell, env=no_controller(), stdout=subprocess.PIPE, text=True)
    out, _ = process.communicate(timeout=PATIENCE)
    assert out.split() == [str(process.pid), "none"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGUSR1])
def test_run_passes_signals_on(controller, number):
    asked = f"import signal, sys; signal.signal({number}, lambda *_: sys.exit(9)); {SLEEPER}"
    process = controller.begin("signals", "run", "--", sys.executable, "-c", asked, **pipes())
    assert process.stdout.readline() == b"up\n"
    process.send_signal(number)
    assert ended(process) == 9


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_run_ends_as_its_command_was_killed(controller, number):
    kill = f"import os, signal; signal.signal(2, signal.SIG_DFL); os.kill(os.getpid(), {number})"
    assert run(controller, "killed", "run", "--", sys.executable, "-c", kill)[0] == -number


def test_run_stops_and_goes_on_with_its_command(controller):
    # A group of its own, as a shell would make: a group that nobody could wake up again is never stopped by a terminal.
    process = controller.begin("stops", "run", "--", sys.executable, "-c", SLEEPER, **pipes(), process_group=0)
    assert process.stdout.readline() == b"up\n"
    (child,) = children(process.pid)
    process.send_signal(signal.SIGTSTP)
    until(lambda: stopped(child) and stopped(process.pid))
    process.send_signal(signal.SIGCONT)
    until(lambda: not stopped(child) and not stopped(process.pid))
    process.send_signal(signal.SIGTERM)
    assert ended(process) == -signal.SIGTERM


def test_an_interrupt_of_the_terminal_reaches_the_command_once(controller):
    """The terminal signals the whole process group, so passing it on would be a second one."""
    count = (
        "import signal, time\nseen = []\nsignal.signal(2, lambda *_: seen.append(1))\nprint('up', flush=True)\n"
        "while not seen: time.sleep(0.01)\ntime.sleep(0.5)\nprint('seen', len(seen), flush=True)"
    )
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", *patient("run", "--", sys.executable, "-c", count)],
        env=controller.user("terminal"), stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    text = b""
    while b"up" not in text:
        text += os.read(ours, 1000)
    os.write(ours, b"\x03")
    while b"seen" not in text or not text.endswith(b"\n"):
        text += os.read(ours, 1000)
    assert b"seen 1" in text
    assert ended(process) == 0
    os.close(ours)


def test_run_waits_for_its_grant(controller, tmp_path):
    """First come, first served: the command begins when the one before it is done."""
    mark = tmp_path / "begun"
    with controller.holding("before"):
        process = controller.begin("after", "run", "--volume", "1MB", "--json", "--", "touch", str(mark), **pipes())
        until(lambda: "after" in controller.jobs())
        time.sleep(0.5)
        assert process.poll() is None and not mark.exists()
        assert controller.jobs()["after"]["rate"] == 0
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0 and mark.exists()
    told = json.loads(err)
    assert told["waited"] > 0.4 and told["exit"] == 0 and told["announced"] == 1e6


def test_run_can_be_ended_while_it_waits(controller):
    with controller.holding("before"):
        process = controller.begin("after", "run", "--volume", "1MB", "--", "echo", "ran", **pipes())
        until(lambda: "after" in controller.jobs())
        process.send_signal(signal.SIGTERM)
        assert ended(process) == -signal.SIGTERM
        assert process.stdout.read() == b""
        until(lambda: "after" not in controller.jobs())


WRITERS = """
import os, time
from penstock.client import io_phase
began = time.monotonic()
for _ in range(3):
    if os.fork() == 0:
        with io_phase("5MB") as phase:
            for _ in range(50):
                phase.acquire(100_000)
        os._exit(0)
for _ in range(3):
    os.wait()
print(time.monotonic() - began)
"""


def test_processes_of_a_run_share_the_rate(controller):
    """15 MB at 20 MB/s, by three processes; the controller hears of every byte and of no other member."""
    code, out, err = run(controller, "shared", "run", "--volume", "5MB", "--json", "--", sys.executable, "-c", WRITERS)
    told = json.loads(err)
    assert code == 0
    assert float(out) > 0.9 * 15e6 / RATE
    assert told["moved"] == 15e6 and told["announced"] >= 15e6  # more than was announced, so it was announced
    job = until(lambda: (found := controller.known("shared")) and not found["active"] and found)
    assert (job["moved"], job["operations"], job["members"]) == (15e6, 1, 0)
    assert not list(Path("/dev/shm").glob(f"penstock.{os.geteuid()}.shared.*"))


def test_a_run_that_pays_for_nothing_moved_what_the_kernel_counted(controller):
    """Not the volume that it announced: the journal holds measured bytes."""
    copy = ("dd", "if=/dev/zero", "of=/dev/null", "bs=100000", "count=10", "status=none")
    assert run(controller, "blind", "run", "--volume", "2MB", "--no-shim", *copy)[0] == 0
    assert until(lambda: (found := controller.known("blind")) and not found["active"] and found)["moved"] == 1e6
    assert run(controller, "idle", "run", "--volume", "2MB", "true")[0] == 0
    assert until(lambda: (found := controller.known("idle")) and not found["active"] and found)["moved"] == 0.0


# Pipes.


def test_pace_copies_a_pipe_exactly(controller, data):
    content = data.read_bytes()[:3_000_001]
    code, out, err = run(controller, "pipe", "pace", "--volume", "3MB", given=content)
    assert (code, err) == (0, "")
    assert out == content


def test_pace_keeps_to_the_granted_rate(controller, data, tmp_path):
    copy = tmp_path / "copy"
    code, out, err = run(controller, "rate", "pace", "--in", str(data), "--out", str(copy), "--json")
    told = json.loads(err)
    assert (code, out) == (0, b"")
    assert copy.read_bytes() == data.read_bytes()
    assert (told["bytes"], told["granted"], told["state"]) == (40_000_000, RATE, "paced")
    assert RATE / 4 < told["rate"] < 1.05 * RATE  # a busy machine may not use all of it


def test_pace_announces_the_size_of_its_file(controller, endless):
    process = controller.begin("sized", "pace", "--in", str(endless), "--out", "/dev/null", **pipes())
    assert until(lambda: controller.jobs().get("sized"))["volume"] == 20e9
    process.terminate()
    ended(process)
    until(lambda: "sized" not in controller.jobs())


def test_pace_of_nothing(controller, tmp_path):
    (tmp_path / "empty").touch()
    copy = tmp_path / "copy"
    assert run(controller, "empty", "pace", "--in", str(tmp_path / "empty"), "--out", str(copy)) == (0, b"", "")
    assert copy.read_bytes() == b""


def test_pace_without_a_controller(data, tmp_path):
    begun = subprocess.run(
        command("pace", "--in", str(data), "--json"),
        env=no_controller(),
        capture_output=True,
        check=True,
        timeout=PATIENCE,
    )
    assert begun.stdout == data.read_bytes()
    told = json.loads(begun.stderr)
    assert (told["granted"], told["state"]) == (None, "off")


def test_pace_into_a_reader_that_leaves(controller, data):
    process = controller.begin("left", "pace", "--in", str(data), **pipes())
    process.stdout.read(1000)
    process.stdout.close()
    assert ended(process) == 1
    assert process.stderr.read() == b""
    until(lambda: "left" not in controller.jobs())


def test_pace_that_is_interrupted_says_so(controller, endless):
    process = controller.begin("cut", "pace", "--in", str(endless), "--out", "/dev/null", **pipes())
    until(lambda: "cut" in controller.jobs())
    process.send_signal(signal.SIGINT)
    assert ended(process) == 130
    assert b"interrupted;" in process.stderr.read()
    until(lambda: "cut" not in controller.jobs())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--in", "none"), "none cannot be read (no such file or directory)"),
        (("--in", "."), ". cannot be read (is a directory)"),
        (("--in", "here", "--out", "no/folder"), "no/folder cannot be written (no such file or directory)"),
        (("--in", "here", "--out", "here"), "here is what is read, too"),
        (("--in", "here", "--out", "/dev/full"), "/dev/full cannot be written (no space left on device) after 0 bytes"),
        (("--in", "here", "--volume", "much"), "--volume is 'much'"),
    ],
)
def test_pace_of_what_cannot_be_copied(penstock, folder, monkeypatch, arguments, sentence):
    monkeypatch.setenv("PENSTOCK", "off")
    (folder / "here").write_bytes(b"content")
    outcome = penstock("pace", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith("penstock: ") and sentence in outcome.err and outcome.err.count("\n") == 1
    assert (folder / "here").read_bytes() == b"content"


def test_pace_of_a_closed_input():
    closed = subprocess.run(
        f"{shlex.join(command('pace'))} <&-", shell=True, env=no_controller(), capture_output=True, check=False
    )
    assert closed.returncode == 2
    assert closed.stderr == b"penstock: standard input cannot be read (bad file descriptor) after 0 bytes\n"


def test_pace_shows_how_far_it_is(controller, data):
    ours, theirs = pty.openpty()
    streams = pipes(stdout=subprocess.DEVNULL, stderr=theirs)
    process = subprocess.Popen(
        patient("pace", "--in", str(data)), env=controller.user("bar", COLUMNS="120", TERM="xterm"), **streams
    )
    os.close(theirs)
    text = ""
    while "left" not in text:
        text += os.read(ours, 10_000).decode()
    assert "of 40 MB" in text and "granted 20 MB/s" in text
    while True:
        try:
            text += os.read(ours, 10_000).decode()
        except OSError:
            break
    assert ended(process) == 0
    assert "penstock: 40 MB in" in text
    os.close(ours)


# A job that dies.


def test_a_death_is_no_proof_while_others_share_the_bucket(tmp_path):
    """Killed, a pipe is forgotten at once. A run is not: its command may go on at the rate that was granted."""
    with Controller(tmp_path, lease=3.0) as controller:
        shared = controller.begin("outlived", "run", "--volume", "1GB", sys.executable, "-c", SLEEPER, **pipes())
        assert shared.stdout.readline() == b"up\n"
        (child,) = children(shared.pid)
        alone = controller.begin("alone", "pace", "--volume", "1GB", **pipes(stdin=subprocess.PIPE))
        until(lambda: "alone" in controller.jobs())
        for process in (shared, alone):
            process.kill()
        try:
            until(lambda: not controller.known("alone")["members"])
            found = controller.known("outlived")
            assert found["stages"] in (["orphan"], ["lost"]) and found["charge"] > 0
            until(
                lambda: controller.known("outlived")["stages"] == ["lost"]
            )  # the lease is over: it is at its fallback
        finally:
            os.kill(child, signal.SIGKILL)
            for process in (shared, alone):
                process.communicate(timeout=PATIENCE)
            for path in Path("/dev/shm").glob(f"penstock.{os.geteuid()}.outlived.{shared.pid}.*"):
                path.unlink()


# A controller that dies.


def test_jobs_outlive_the_controller_and_find_it_again(tmp_path, penstock):
    """Killed without warning and started again: the copy goes on, the grant comes back, and the journal tells all."""
    with Controller(tmp_path) as controller, ExitStack() as stack:
        content, copy, back_again = os.urandom(120_000_000), tmp_path / "copy", threading.Event()
        asked = ("pace", "--volume", "120MB", "--out", str(copy), "--json")
        process = controller.begin("survivor", *asked, **pipes(stdin=subprocess.PIPE))
        stack.callback(process.kill)

        def feed():
            """Half of it; the rest only when the controller is there again, however long that takes."""
            process.stdin.write(content[:60_000_000])
            process.stdin.flush()
            back_again.wait(PATIENCE)
            process.stdin.write(content[60_000_000:])
            process.stdin.close()

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        app = until(lambda: controller.jobs().get("survivor"))["app"]
        until(lambda: copy.exists() and copy.stat().st_size > 5_000_000)
        controller.stop(signal.SIGKILL)
        size = copy.stat().st_size
        until(lambda: copy.stat().st_size > size + 1_000_000)  # nobody is there, and it moves
        assert controller.start()["socket"] == str(controller.socket)
        back = until(lambda: (job := controller.jobs().get("survivor")) and job["stages"] == ["posted"] and job)
        assert (back["app"], back["volume"]) == (app, 120e6)
        until(lambda: controller.jobs()["survivor"]["rate"] == RATE)
        assert controller.ask("status")["epoch"] == 2
        back_again.set()
        feeder.join(PATIENCE)
        assert ended(process) == 0
        assert json.loads(process.stderr.read())["state"] == "paced"
        assert copy.read_bytes() == content
        assert run(controller, "other", "pace", "--volume", "1MB", given=b"x" * 1_000_000)[0] == 0
        until(lambda: not controller.jobs())
        assert '"equal": true' in penstock("replay", str(controller.journal), "--json").out  # while it is written
        assert controller.stop() == 0
    _look_back(controller, penstock)


def _look_back(controller, penstock):
    journal = str(controller.journal)
    told = json.loads(penstock("replay", journal, "--json").out)
    assert told["equal"] and told["decisions"] > 0
    assert "every one is the same again" in penstock("replay", journal).out
    found = json.loads(penstock("explain", "survivor", "--journal", journal, "--json").out)
    (operation,) = found["operations"]
    assert operation["moved"] == operation["announced"] == 120e6
    parts = sum(operation[name] for name in ("policy", "room", "controller", "client"))
    assert parts == pytest.approx(operation["delay"]) and operation["dedicated"] == pytest.approx(6.0)
    assert "Its I/O took" in penstock("explain", "survivor", "--journal", journal).out
    shadow = json.loads(penstock("explain", "--policy", "fcfs,fair-share", "--journal", journal, "--json").out)
    assert [account["sharing"] for account in shadow["would"]] == ["fcfs", "fair-share"]
    assert {job["name"] for job in shadow["real"]["jobs"]} == {"survivor", "other"}
    picture = controller.folder / "shadow.png"
    assert penstock("explain", "--policy", "fcfs", "--journal", journal, "--plot", str(picture)).code == 0
    pixels = imread(picture)
    assert pixels.shape[1] > pixels.shape[0] > 200 and 0.5 < pixels[..., :3].mean() < 0.999  # drawn on white
    assert penstock("limited", "--last", "1h", "--journal", journal).code == 0
