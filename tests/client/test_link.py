"""The link thread against a controller that is there, away, slow, silent or mad."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from client import controller as fake
from client.controller import PATIENCE, Controller, until
from penstock.client import config, io_phase, process
from penstock.client import link as link_module
from penstock.client.bucket import boottime, depth_of
from penstock.client.link import Link
from penstock.client.member import MemberState
from penstock.wire.messages import Ack, Beat, Complete, Error, Extend, Goodbye, Hello, Notice, Post, Register, Resync


def link() -> Link:
    found, _ = process.here().look()
    assert found is not None
    return found


def test_a_phase_from_hello_to_complete(controller: Controller) -> None:
    controller.rate = 5e6
    with io_phase("1MB", direction="read", targets=["a"]) as phase:
        assert phase.rate == 5e6
        phase.acquire(500_000)
        assert phase.waited >= 0.99 * (500_000 - depth_of(5e6)) / 5e6
    complete = controller.wait_for(Complete)
    assert isinstance(complete, Complete) and complete.done == 500_000
    kinds = [type(word) for word in controller.heard]
    assert kinds[0] is Hello and kinds.index(Register) < kinds.index(Post) < kinds.index(Ack) < kinds.index(Complete)
    post = controller.wait_for(Post)
    assert isinstance(post, Post)
    assert (post.volume, post.direction, post.targets) == (1e6, "read", ("a",))
    register = controller.wait_for(Register)
    assert isinstance(register, Register) and register.job == "test"


def test_the_next_phase_uses_the_same_connection(controller: Controller) -> None:
    for _ in range(3):
        with io_phase(10) as phase:
            phase.acquire(10)
    controller.wait_for(Complete, 3)
    assert controller.count(Hello) == controller.count(Register) == 1
    assert [word.op for word in controller.heard if isinstance(word, Post)] == [1, 2, 3]


def test_beats_renew_the_lease(controller: Controller) -> None:
    controller.beat = 0.1
    with io_phase(1e9) as phase:
        phase.acquire(5)
        end = link().member.lease_end
        until(lambda: link().member.lease_end > end + 0.3)
        assert link().member.state is MemberState.PACED
        phase.acquire(7)
        beats = controller.count(Beat)
        controller.wait_for(Beat, beats + 2)
        assert any(word.done == 12 for word in controller.heard if isinstance(word, Beat))


def test_a_new_rate_reaches_who_waits(controller: Controller) -> None:
    controller.rate, controller.beat = 0.0, 0.1
    with io_phase(100) as phase:
        assert phase.rate == 0.0
        waiter = threading.Thread(target=phase.acquire, args=(100,))
        waiter.start()
        waiter.join(0.3)
        assert waiter.is_alive()
        controller.rate = 1e9
        waiter.join(PATIENCE)
        assert not waiter.is_alive()


def test_the_fallback_of_the_environment_counts_without_a_controller(
    socket_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_FALLBACK", "10MB/s")
    with io_phase(10) as phase:
        assert phase.rate == 10e6


def test_a_controller_that_never_accepts(socket_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "CONNECT_LIMIT", 0.5)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(socket_path))
    listener.listen(0)
    fillers = []
    for _ in range(4):
        filler = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        filler.setblocking(False)
        filler.connect_ex(str(socket_path))
        fillers.append(filler)
    start = boottime()
    with io_phase(10) as phase:
        phase.acquire(10)
    assert 0.5 <= boottime() - start < PATIENCE / 2
    for each in (listener, *fillers):
        each.close()


def test_a_slow_accept_is_waited_for(socket_path: Path) -> None:
    """The queue is full at first; the announcement still gets through."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(socket_path))
    listener.listen(0)
    filler = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    filler.connect(str(socket_path))
    reached = threading.Event()

    def accept() -> None:
        time.sleep(0.3)
        listener.accept()
        connection, _ = listener.accept()
        if connection.recv(10):
            reached.set()

    threading.Thread(target=accept, daemon=True).start()
    with io_phase(10):
        assert reached.wait(PATIENCE)
    listener.close()


@pytest.mark.parametrize("behaviour", [fake.be_silent, fake.babble, fake.refuse])
def test_a_controller_that_does_not_let_us_in(
    controller: Controller, behaviour: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link_module, "CONNECT_LIMIT", 0.5)
    monkeypatch.setattr(link_module, "SWITCH_EVERY", 2 * PATIENCE)
    controller.greeting = behaviour  # type: ignore[assignment]
    start = boottime()
    with io_phase(10) as phase:
        phase.acquire(1e6)
    assert boottime() - start < PATIENCE / 2
    if behaviour is fake.refuse:
        until(lambda: link().member.state is MemberState.REFUSED)


def test_a_silent_answer_to_the_announcement(controller: Controller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_TIMEOUT", "0.2")
    controller.rate = None
    start = boottime()
    with io_phase(10) as phase:
        assert 0.2 <= boottime() - start < PATIENCE / 2
        phase.acquire(1000)
        assert phase.rate == controller.fallback
        until(lambda: link().member.state is MemberState.OPEN)  # its own thread says so a moment later


def test_the_time_limit_can_be_set(controller: Controller, monkeypatch: pytest.MonkeyPatch) -> None:
    """To more than the two seconds that it would be."""
    monkeypatch.setenv("PENSTOCK_TIMEOUT", "2.5")
    controller.rate = None
    start = boottime()
    with io_phase(10):
        assert boottime() - start >= 2.5


def test_garbage_in_the_middle(controller: Controller) -> None:
    with io_phase(1000) as phase:
        phase.acquire(10)
        controller.connections[-1].sendall(b"\x00\x00\x00\x03abc")
        phase.acquire(10)
        controller.wait_for(Resync)
        until(lambda: link().member.state is MemberState.PACED)
    controller.wait_for(Complete)


def test_words_out_of_place_do_no_harm(controller: Controller) -> None:
    with io_phase(1000) as phase:
        connection = controller.connections[-1]
        for word in (Notice("restart", "soon", 1.0), Error(0, "value", "odd"), Error(7, "no_such_code", "odd")):
            fake.say(connection, word)
        fake.say(connection, fake.Challenge(1, 1, "x", b""))
        phase.acquire(10)
        post = controller.wait_for(Post)
        assert isinstance(post, Post)
        controller.rate = 2e9
        controller.grant(connection, post.hb)
        until(lambda: phase.rate == 2e9)  # what was said before has been heard
        assert link().member.state is MemberState.PACED
        assert controller.count(Hello) == 1


def test_the_controller_dies_and_comes_back(controller: Controller, socket_path: Path) -> None:
    controller.rate = 7e6
    with io_phase(1e6) as phase:
        phase.acquire(1000)
        controller.stop()
        until(lambda: link().member.state is MemberState.STALE)
        assert phase.rate == 7e6
        phase.acquire(1000)
        with Controller(socket_path, rate=9e6) as second:
            second.epoch = 2
            resync = second.wait_for(Resync)
            assert isinstance(resync, Resync)
            assert resync.rate == 7e6
            assert resync.op is not None and resync.op.done == 2000
            until(lambda: phase.rate == 9e6)
            process.reset()


def test_a_lease_runs_out_without_anybody_telling(controller: Controller) -> None:
    controller.lease, controller.beat = 0.5, 0.2
    controller.rate = 1e6
    with io_phase(1e9) as phase:
        controller.rate = None
        until(lambda: phase.rate == controller.fallback)
        until(lambda: link().member.state is MemberState.OPEN)


def test_free_is_unpaced(controller: Controller) -> None:
    controller.flags = 1
    with io_phase(10) as phase:
        assert phase.rate is None
        assert phase.acquire(1e15) == 0.0


def test_off_by_the_environment(controller: Controller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK", "off")
    with io_phase(10) as phase:
        phase.acquire(10)
        assert phase.rate is None
    assert not controller.heard


def test_off_by_the_file(controller: Controller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "OFF_FILE", tmp_path / "off")
    monkeypatch.setattr(link_module, "SWITCH_EVERY", 0.05)
    controller.rate = 0.0
    with io_phase(10) as phase:
        assert phase.rate == 0.0
        (tmp_path / "off").touch()
        phase.acquire(1e9)
        assert phase.rate is None
        controller.wait_for(Goodbye)
    assert link().member.state is MemberState.OFF
    controller.rate = 1e6
    (tmp_path / "off").unlink()
    until(lambda: link().member.state is MemberState.IDLE)
    with io_phase(10) as phase:
        assert phase.rate == 1e6


def test_off_by_the_file_from_the_beginning(
    controller: Controller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "OFF_FILE", tmp_path / "off")
    (tmp_path / "off").touch()
    with io_phase(10) as phase:
        assert phase.rate is None
    assert not controller.heard


def test_a_broken_thread_leaves_the_job_at_the_fallback(
    controller: Controller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PENSTOCK_FALLBACK", "3MB/s")
    controller.rate = 0.0
    with io_phase(10) as phase:
        assert phase.rate == 0.0
        monkeypatch.setattr(link().member, "step", lambda *_: 1 / 0)
        controller.rate = 1e6
        fake.say(controller.connections[-1], Notice("x", "y"))
        phase.acquire(10)
        assert phase.rate == controller.fallback
    with io_phase(10) as phase:
        phase.acquire(10)
        assert phase.rate == controller.fallback
    assert len([line for line in caplog.records if "ZeroDivisionError" in line.getMessage()]) == 1


def test_a_thread_that_cannot_start(controller: Controller, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_FALLBACK", "3MB/s")

    class Unstartable(threading.Thread):
        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr("penstock.client.link.threading.Thread", Unstartable)
        with io_phase(10) as phase:
            assert phase.rate == 3e6


def test_the_thread_ends_when_it_has_left(controller: Controller) -> None:
    with io_phase(10):
        pass
    controller.wait_for(Complete)
    process.reset()
    until(lambda: "penstock-link" not in [thread.name for thread in threading.enumerate()])


def test_goodbye_at_exit_is_said_and_quick(controller: Controller) -> None:
    script = (
        "from penstock.client import io_phase, link\n"
        f"link.LEAVE_LIMIT = {4 * PATIENCE}\n"
        "with io_phase(10) as p: p.acquire(10)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=2 * PATIENCE)
    controller.wait_for(Complete)
    controller.wait_for(Goodbye)


def test_exit_does_not_wait_for_a_controller_that_is_stuck(controller: Controller) -> None:
    controller.greeting = fake.be_silent
    script = (
        "import time\n"
        "from penstock.client import io_phase, link, process\n"
        f"link.CONNECT_LIMIT = link.HELLO_LIMIT = {4 * PATIENCE}\n"
        "io_phase(10).enter()\n"
        "start = time.monotonic()\n"
        "process.here().leave()\n"
        "print(time.monotonic() - start)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], check=True, timeout=2 * PATIENCE, capture_output=True, text=True
    )
    assert float(done.stdout) < PATIENCE


def test_sigpipe_does_not_kill_the_job(controller: Controller) -> None:
    script = (
        "import signal, time\n"
        "signal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
        "from penstock.client import io_phase\n"
        "with io_phase(1000) as p:\n"
        "    print('ready', flush=True)\n"
        "    input()\n"
        "    for _ in range(50): p._operation.grow(1.0); time.sleep(0.002)\n"
        "print('alive')\n"
    )
    job = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert job.stdout is not None and job.stdin is not None
    assert job.stdout.readline() == "ready\n"
    for connection in controller.connections:
        connection.shutdown(socket.SHUT_RDWR)
        connection.close()
    job.stdin.write("\n")
    job.stdin.flush()
    assert job.stdout.read() == "alive\n"
    assert job.wait(PATIENCE) == 0


def test_signals_go_to_the_job_not_to_the_thread(controller: Controller) -> None:
    with io_phase(10):
        received = threading.Event()
        before = signal.signal(signal.SIGUSR1, lambda *_: received.set())
        try:
            os.kill(os.getpid(), signal.SIGUSR1)
            assert received.wait(PATIENCE)
        finally:
            signal.signal(signal.SIGUSR1, before)
        (thread,) = [thread for thread in threading.enumerate() if thread.name == "penstock-link"]
        status = Path(f"/proc/self/task/{thread.native_id}/status").read_text()
        blocked = int(status.split("SigBlk:")[1].split()[0], 16)
        assert blocked & 1 << (signal.SIGUSR1 - 1)


def test_a_forked_child_is_another_member(controller: Controller) -> None:
    with io_phase(1000) as phase:
        phase.acquire(10)
        child = os.fork()
        if child == 0:
            try:
                phase.acquire(20)
                phase.exit()
                with io_phase(30) as own:
                    own.acquire(30)
                process.here().leave()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        phase.acquire(10)
    until(lambda: controller.count(Complete) == 3)
    members = {word.member for word in controller.heard if isinstance(word, Register)}
    assert len(members) == 2 and len(set(controller.pids)) == 2
    assert sorted(word.done for word in controller.heard if isinstance(word, Complete)) == [20, 20, 30]
    assert link().member.state is MemberState.IDLE  # the child did not cut the parent's connection


def test_fork_while_threads_are_pacing(controller: Controller) -> None:
    """Locks may be held at the moment of the fork; the child must not inherit them."""
    controller.rate = 50e6
    stop = threading.Event()
    with io_phase(1e9) as phase:

        def spend() -> None:
            while not stop.is_set():
                phase.acquire(20_000)

        threads = [threading.Thread(target=spend) for _ in range(4)]
        for thread in threads:
            thread.start()
        children = []
        for _ in range(10):
            child = os.fork()
            if child == 0:
                try:
                    signal.alarm(int(4 * PATIENCE))
                    phase.acquire(100)
                    phase.exit()
                finally:
                    os._exit(0)
            children.append(child)
        statuses = [os.waitpid(child, 0)[1] for child in children]
        stop.set()
        for thread in threads:
            thread.join()
    assert statuses == [0] * 10


def test_more_than_announced_is_extended(controller: Controller) -> None:
    with io_phase(1000) as phase:
        for _ in range(20):
            phase.acquire(100)
    complete = controller.wait_for(Complete)
    assert isinstance(complete, Complete) and complete.done == 2000
    more = [word.more for word in controller.heard if isinstance(word, Extend)]
    assert 1000 <= sum(more) <= 1300


def test_less_than_announced_completes_with_what_was_done(controller: Controller) -> None:
    with io_phase(1000) as phase:
        phase.acquire(10)
    complete = controller.wait_for(Complete)
    assert isinstance(complete, Complete) and complete.done == 10
    assert controller.count(Extend) == 0
