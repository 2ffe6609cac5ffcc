"""Connections in virtual time: patience, back-pressure, quotas, and the order of writing and sending."""

from __future__ import annotations

import errno
import os
import signal
import socket
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import msgspec
import pytest

from machine import can_be_others
from penstock.live.core import records
from penstock.live.core.events import Input, Output, Send
from penstock.live.server import turn as shell_module
from penstock.live.server.protocol import Door, frames_of
from penstock.live.server.tls_listener import Porch
from penstock.live.server.unpaced import Mark
from penstock.wire import messages as wire
from penstock.wire.messages import (
    Ack,
    Admin,
    Answer,
    Beat,
    Complete,
    Error,
    Message,
    Page,
    Post,
    Rate,
    Register,
    Registered,
    Resync,
    Welcome,
)

from .virtual import Peer, World


def kinds(messages: list[Message]) -> list[str]:
    return [type(message).__name__ for message in messages]


def working(world: World, job: str = "1", uid: int = 1000, volume: float = 1e12) -> tuple[Peer, Rate]:
    """A peer with an operation and its rate."""
    peer = world.peer(uid)
    peer.say(Register(1, job, 0, 1))
    peer.say(Post(2, 1, 1, volume))
    world.loop.run(0.01)
    rate = [message for message in peer.transport.inbox if isinstance(message, Rate)][-1]
    peer.say(Ack(rate.epoch, rate.rev))
    world.loop.run(0.01)
    return peer, rate


def newest(peer: Peer) -> Rate:
    return [message for message in peer.transport.inbox if isinstance(message, Rate)][-1]


def test_register_post_rate_complete() -> None:
    world = World()
    peer, rate = working(world)
    assert kinds(peer.transport.inbox)[:3] == ["Challenge", "Welcome", "Registered"]
    assert (rate.rate, rate.op, rate.anchor, rate.epoch) == (1e9, 1, 1, 5)
    peer.say(Complete(1, 1e12))
    assert isinstance(world.pen.log[-1][1], records.Ended | records.RatesDecided)


def test_every_record_is_written_before_anything_of_its_turn_is_sent() -> None:
    world = World()
    working(world)
    log = world.pen.log
    granted = next(place for place, (_, what) in enumerate(log) if isinstance(what, records.Granted))
    sent = next(place for place, (_, what) in enumerate(log) if isinstance(what, Rate) and what.rate > 0)
    assert granted < sent
    posted = next(place for place, (_, what) in enumerate(log) if isinstance(what, records.Posted))
    assert posted < sent


def test_with_sync_nothing_is_sent_before_the_disk_has_it() -> None:
    world = World(sync=True)
    peer = world.peer()
    world.shell.synced(world.pen.seq)
    assert peer.say(Register(1, "1", 0, 1)) == []
    world.pen.synced = world.pen.seq
    world.shell.synced(world.pen.seq)
    assert kinds(peer.transport.inbox)[-1] == "Registered"


@pytest.mark.parametrize("size", [0, 65_537, 2**32 - 1])
def test_a_frame_of_no_acceptable_length_closes_before_its_body(size: int) -> None:
    world = World()
    innocent, guilty = world.peer(), world.peer()
    guilty.raw(size.to_bytes(4, "big"))
    assert guilty.transport.closed
    error = guilty.transport.inbox[-1]
    assert isinstance(error, Error) and (error.code, error.fatal) == ("frame", True)
    assert guilty.connection.held() <= 4
    world.loop.turn()
    assert not innocent.transport.closed
    assert kinds(innocent.say(Register(1, "x", 0, 1))) == ["Registered"]


def test_garbage_in_a_frame_closes_with_decode() -> None:
    world = World()
    for number, garbage in enumerate(
        [b"\xc1", b"\x91\x63", b"\x93\x05\x01\x02", b"\xdd\xff\xff\xff\xff", b"\x91" * 60_000]
    ):
        peer = world.peer(uid=2000 + number)
        peer.raw(len(garbage).to_bytes(4, "big") + garbage)
        assert [message.code for message in peer.transport.inbox if isinstance(message, Error)] == ["decode"]
        assert peer.transport.closed


def test_three_bad_frames_shut_the_address_out_for_a_minute() -> None:
    world = World()
    for _ in range(3):
        Peer(world, 7).raw(b"\0\0\0\0")
        world.loop.turn()
    late = Peer(world, 7)
    assert late.transport.closed
    assert isinstance(late.transport.inbox[-1], Error) and late.transport.inbox[-1].code == "quota"
    world.peer(uid=8)
    world.loop.run(61.0)
    world.peer(uid=7)


def test_whoever_does_not_show_who_they_are_goes_after_five_seconds() -> None:
    world = World()
    idle, slow = Peer(world), Peer(world)
    slow.hello()
    world.loop.run(4.9)
    assert not idle.transport.closed and not slow.transport.closed
    world.loop.run(0.2)
    assert idle.transport.closed and slow.transport.closed
    assert world.shell.doorman.connections == 0
    peer = world.peer()
    world.loop.run(1000.0)
    assert not peer.transport.closed


def test_too_many_connections_are_told_so() -> None:
    world = World(connections=2)
    peers = [world.peer(), world.peer()]
    third = Peer(world)
    assert isinstance(third.transport.inbox[0], Error) and third.transport.inbox[0].code == "quota"
    assert third.transport.closed
    peers[0].transport.close()
    world.loop.turn()
    world.peer()


def test_one_user_cannot_take_all_connections() -> None:
    world = World(connections_per_uid=2)
    peers = [world.peer(), world.peer()]
    third = Peer(world)
    third.hello()
    third.say(wire.Auth(b""))
    assert third.transport.closed and isinstance(third.transport.inbox[-1], Error)
    world.peer(uid=0)
    world.peer(uid=1001)
    peers[0].transport.close()
    world.loop.turn()
    world.peer()
    assert world.shell.doorman.unauthenticated == 0


def test_one_user_who_shows_nothing_shuts_nobody_out() -> None:
    world = World(unauthenticated=3)
    hog = [Peer(world, uid=1000) for _ in range(5)]
    world.loop.turn()
    assert [peer.transport.closed for peer in hog] == [False, False, False, True, True]
    refusal: Any = hog[4].transport.inbox[0]
    assert refusal.retry_after < 5.0
    world.peer(uid=1001)
    world.loop.turn()
    assert [peer.transport.closed for peer in hog] == [True, False, False, True, True]
    gone = hog[0].transport.inbox[-1]
    assert isinstance(gone, Error) and gone.code == "quota" and "uid 1000" in gone.text


def test_operators_of_this_host_get_in_where_nobody_else_does() -> None:
    world = World(connections=2, unauthenticated=1)
    for uid in (1000, 1001):
        world.peer(uid)
    assert Peer(world, uid=1002).transport.closed
    assert kinds(world.peer(uid=0, role="admin").say(Admin(1, "server", {}))) == ["Answer"]
    inside = Peer(world, uid=1003, door=Door("unix", admin=True)).admitted(role="admin")
    assert kinds(inside.say(Admin(1, "server", {}))) == ["Answer"]


def test_where_no_files_are_left_the_door_opens_again_later() -> None:
    bound = Mock(spec=socket.socket)
    bound.fileno.return_value = 7
    bound.accept.side_effect = OSError(errno.EMFILE, "Too many open files")
    world = World()
    watch = PidLoop(world)
    porch = Porch(world.shell, bound, ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
    watch.readers[7]()  # type: ignore[operator]
    assert watch.readers == {} and world.log.events("listening")[0]["problem"] == "too many open files"
    world.loop.run(1.0)
    assert list(watch.readers) == [7]
    porch.close()
    assert watch.readers == {}


def test_a_failure_in_the_core_is_told_and_the_next_turn_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World()
    peer, _ = working(world)
    step = world.shell.core.step
    failed: list[Any] = []

    def stumble(now: float, inputs: list[Input]) -> list[Output]:
        if not failed:
            failed.append(inputs)
            raise ZeroDivisionError("somewhere")
        return step(now, inputs)

    monkeypatch.setattr(world.shell.core, "step", stumble)
    peer.say(Beat(2, 0, 0, 0.0))
    world.loop.run(0.01)
    assert failed and world.log.events("internal")[0]["problem"] == "ZeroDivisionError: somewhere"
    before = len(peer.transport.inbox)
    peer.say(Beat(3, 0, 0, 0.0))
    world.loop.run(shell_module.RETRY)
    assert len(peer.transport.inbox) > before


def test_a_failing_policy_is_in_the_log_but_not_every_time() -> None:
    world = World()
    working(world)
    for number in range(3):
        world.shell.core.state.failures += 1
        world.shell.core.state.last_failure = f"failure {number}"
        world.loop.run(0.1)
        working(world, f"job {number}")
    assert [line["problem"] for line in world.log.events("policy")] == ["failure 0"]
    world.loop.run(shell_module.SAY_AGAIN)
    world.shell.core.state.failures += 1
    working(world, "one more")
    assert len(world.log.events("policy")) == 2


def test_too_many_frames_wait_and_none_is_lost() -> None:
    world = World()
    peer, rate = working(world)
    before = world.shell.counters.frames
    beats = [Beat(number, rate.epoch, rate.rev, 0.0) for number in range(2, 1002)]
    peer.raw(b"".join(wire.frame(beat) for beat in beats))
    world.loop.turn()
    first = world.shell.counters.frames - before
    assert 150 <= first <= 200
    assert not peer.transport.reading
    assert peer.connection.held() <= wire.MOST_FROM_CLIENT + 4
    for _ in range(200):
        world.loop.run(0.1)
        peer.raw(b"")
    assert world.shell.counters.frames - before == 1000
    assert peer.transport.reading and peer.unread == 0


def test_the_sustained_rate_of_frames_is_bounded() -> None:
    world = World()
    peer, rate = working(world)
    world.loop.run(10.0)
    before = world.shell.counters.frames
    peer.raw(b"".join(wire.frame(Beat(number, rate.epoch, rate.rev, 0.0)) for number in range(2, 5002)))
    for _ in range(200):
        world.loop.run(0.1)
        peer.raw(b"")
    assert world.shell.counters.frames - before == pytest.approx(200 + 20 * 50, rel=0.05)


def test_bytes_held_never_exceed_one_frame() -> None:
    world = World()
    peer = world.peer()
    peer.raw((65_536).to_bytes(4, "big") + b"\xc4" * 65_530)
    assert peer.connection.held() == 65_534
    assert len(peer.connection.get_buffer(-1)) == 6
    peer.raw(b"\0" * 6)
    assert peer.transport.closed


def test_only_the_newest_rate_waits_for_one_that_does_not_read() -> None:
    world = World()
    peer, _ = working(world)
    peer.transport.stuck = True
    peer.connection.pause_writing()
    for rev in range(100, 150):
        world.shell._carry_out([Send(peer.connection.session or 0, Rate(5, rev, 1, float(rev), 1))])
    assert newest(peer).rev < 100
    assert not peer.transport.reading
    peer.transport.reads_again()
    assert newest(peer).rev == 149
    assert peer.transport.reading
    assert [message.rev for message in peer.transport.inbox if isinstance(message, Rate) and message.rev >= 100] == [
        149
    ]


def test_one_that_never_reads_is_cut_off_after_a_lease() -> None:
    world = World()
    peer, _ = working(world)
    peer.transport.stuck = True
    peer.connection.pause_writing()
    world.loop.run(7.9)
    assert not peer.transport.aborted
    world.loop.run(0.2)
    assert peer.transport.aborted
    assert world.shell.connections == {}


def test_a_long_answer_goes_in_pages_and_waits_for_its_reader() -> None:
    body = {"rows": ["x" * 1000] * 1500}
    frames = frames_of(Answer(3, body))
    assert all(len(frame) <= wire.MOST_FROM_CONTROLLER for frame in frames) and len(frames) == 6
    world = World()
    peer = world.peer(uid=0, role="admin")
    peer.transport.stuck = True
    peer.connection.send(Answer(3, body))
    got = len(peer.transport.inbox)
    assert isinstance(peer.transport.inbox[-1], Page)
    peer.transport.reads_again()
    assert len(peer.transport.inbox) > got
    pages = [message for message in peer.transport.inbox if isinstance(message, Page)]
    assert [page.number for page in pages] == list(range(6))
    assert [page.last for page in pages] == [False] * 5 + [True]
    assert msgspec.msgpack.decode(b"".join(page.body for page in pages)) == body


def test_a_short_answer_goes_whole() -> None:
    assert len(frames_of(Answer(3, {"a": 1}))) == 1


def test_admin_verbs_need_the_role_and_are_audited() -> None:
    world = World()
    stranger = world.peer()
    answers = stranger.say(Admin(1, "mode", {"mode": "pause"}))
    assert kinds(answers) == ["Error"]
    answers = world.peer(uid=0, role="admin").say(Admin(2, "server", {}))
    assert isinstance(answers[0], Answer) and answers[0].body["epoch"] == 5
    audit = world.log.events("command")
    assert [(line["uid"], line["verb"]) for line in audit] == [(1000, "mode"), (0, "server")]


def test_a_client_cannot_ask_the_shell_for_a_snapshot() -> None:
    world = World()
    assert kinds(world.peer().say(Admin(1, "snapshot", {}))) == ["Error"]
    assert not [what for what, _ in world.pen.log if what == "snapshot"]
    operator = world.peer(uid=0, role="admin")
    operator.say(Admin(1, "snapshot", {}))
    world.loop.run(0.1)  # looks are answered in pieces
    assert kinds(operator.transport.inbox)[-1] == "Answer"
    assert [what for what, _ in world.pen.log if what == "snapshot"]


def test_a_second_hello_is_an_error() -> None:
    world = World()
    peer = world.peer()
    peer.hello()
    assert peer.transport.closed


def test_a_user_cannot_stop_the_controller_with_a_higher_epoch_but_root_can() -> None:
    world = World()
    stranger = Peer(world)
    stranger.hello(epoch_seen=99)
    answer = stranger.say(wire.Auth(b""))
    assert isinstance(answer[0], Error) and answer[0].code == "fenced"
    assert world.ended == [] and world.log.events("newer epoch seen")
    chief = Peer(world, uid=0)
    chief.hello(epoch_seen=99)
    chief.say(wire.Auth(b""))
    assert world.ended == [3]


# A disk that refuses.


def test_a_failing_journal_raises_nobody_but_keeps_leases() -> None:
    world = World()
    one, _ = working(world, "1")
    two, _ = working(world, "2", uid=1001)
    world.loop.run(0.1)
    for peer in (one, two):
        rate = newest(peer)
        peer.say(Beat(5, rate.epoch, rate.rev, 0.0))
    world.loop.run(0.1)
    held = newest(one).rate
    assert held == pytest.approx(5e8, rel=0.05)
    world.pen.problem = "no space left on device"
    two.say(Complete(1, 1e6))
    for beat in range(6, 20):
        world.loop.run(1.0)
        rate = newest(one)
        one.say(Beat(beat, rate.epoch, rate.rev, 0.0))
        assert newest(one).anchor == beat
        assert newest(one).rate <= held
    assert world.log.events("journal")[0]["problem"] == "no space left on device"
    assert kinds(two.say(Post(9, 2, 9, 1e9)))[-1:] in (["Rate"], [])
    world.loop.run(0.1)
    assert newest(two).rate == 0.0
    world.pen.problem = None
    world.loop.run(1.5)
    for beat, peer in ((30, one), (31, two)):
        rate = newest(peer)
        peer.say(Beat(beat, rate.epoch, rate.rev, 0.0))
        world.loop.run(0.1)
    assert newest(one).rate > 0 and newest(two).rate > 0


def a_minute_of_trouble(world: World, peer: Peer) -> None:
    world.pen.problem = "input/output error"
    peer.say(Post(9, 1, 1, 1.0))  # refused, yet a turn
    peer.say(wire.Extend(1, 5.0))
    for beat in range(2, 35):
        world.loop.run(2.0)
        rate = newest(peer)
        peer.say(Beat(beat, rate.epoch, rate.rev, 0.0))


def test_after_a_minute_of_a_failing_journal_everybody_goes_unpaced(tmp_path: Path) -> None:
    """And the next start knows of it, whether the journal says so or not."""
    world = World(mark=Mark([tmp_path / "no folder" / "mark", tmp_path / "mark"]))
    peer, _ = working(world)
    a_minute_of_trouble(world, peer)
    assert newest(peer).flags & wire.FREE
    assert Mark([tmp_path / "mark"]).there
    assert world.shell.core.state.mode == "paused"
    assert [line["effect"] for line in world.log.events("journal")][-1] == "everybody goes unpaced"
    world.pen.problem = None
    world.loop.run(2.0)
    assert "operator" in world.log.events("journal")[-1]["effect"]
    assert Mark([tmp_path / "mark"]).there  # written, but not on the disk yet
    world.pen.synced = world.pen.seq
    peer.say(wire.Extend(1, 5.0))
    world.loop.run(0.1)
    assert not Mark([tmp_path / "mark"]).there


def test_where_nothing_can_be_written_nobody_is_told_anything() -> None:
    """Unpaced without a trace, they would be taken by the next start for what the journal says that they use."""
    world = World()
    peer, _ = working(world)
    a_minute_of_trouble(world, peer)
    rate = newest(peer)
    assert rate.flags == wire.PACED and world.shell.core.state.mode == "run"
    assert [line["effect"] for line in world.log.events("journal")][-1] == "everybody goes on at the fallback"
    peer.say(Beat(50, rate.epoch, rate.rev, 0.0))
    world.loop.run(5.0)
    assert newest(peer) == rate
    world.pen.problem = None
    world.loop.run(2.0)
    peer.say(Beat(51, rate.epoch, rate.rev, 0.0))
    world.loop.run(0.1)
    assert newest(peer).anchor == 51


def test_an_operator_lets_go_while_the_journal_fails(tmp_path: Path) -> None:
    """The mark comes first; where it cannot be made, the rate stays as it is."""
    for mark, free in ((Mark([tmp_path / "mark"]), True), (Mark(), False)):
        world = World(mark=mark)
        peer, _ = working(world)
        told = newest(peer).rate
        world.pen.problem = "no space left on device"
        peer.say(wire.Extend(1, 5.0))
        world.loop.run(0.1)
        world.shell.order("mode", mode="pause")
        world.loop.run(0.1)
        assert bool(newest(peer).flags & wire.FREE) is free is Mark([tmp_path / "mark"]).there
        assert free or newest(peer).rate <= told
        (tmp_path / "mark").unlink(missing_ok=True)


@pytest.mark.skipif(not can_be_others(), reason="only root can make a file another's")
def test_the_mark_of_another_user_counts_for_nothing(tmp_path: Path) -> None:
    assert Mark([tmp_path / "mark"]).make()
    assert Mark([tmp_path / "mark"]).there
    os.chown(tmp_path / "mark", 12345, 12345)
    assert not Mark([tmp_path / "mark"]).there


def test_a_start_that_finds_the_mark_lets_everybody_go_first(tmp_path: Path) -> None:
    assert Mark([tmp_path / "mark"]).make()
    world = World(mark=Mark([tmp_path / "mark"]))
    verbs = [record.verb for kind, record in world.pen.log if kind == "write" and isinstance(record, records.Commanded)]
    assert verbs == ["mode"] and world.shell.core.state.mode == "paused"
    peer, _ = working(world)
    assert newest(peer).flags & wire.FREE


# Death on this host.


def charge(world: World) -> float:
    return world.shell.core.state.charges.used[0]


class PidLoop:
    """A pidfd watched by hand."""

    def __init__(self, world: World) -> None:
        self.readers: dict[int, object] = {}
        world.loop.add_reader = lambda fd, then, *args: self.readers.update({fd: lambda: then(*args)})  # type: ignore[attr-defined]
        world.loop.remove_reader = lambda fd: self.readers.pop(fd, None)  # type: ignore[attr-defined]


def with_pid(world: World, pid: int, job: str = "1", labels: dict[str, str] | None = None) -> Peer:
    peer = Peer(world)
    # The kernel told who connected before anybody could say so.
    peer.connection.peer = type(peer.connection.peer)("uid 1000", 1000, pid)
    peer.connection._handshake._peer = peer.connection.peer
    peer.admitted()
    peer.say(Register(1, job, 0, 1, labels=labels or {}))
    peer.say(Post(2, 1, 1, 1e12))
    world.loop.run(0.01)
    return peer


def test_the_death_of_a_process_frees_its_charge_at_once() -> None:
    world = World()
    watch = PidLoop(world)
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    peer = with_pid(world, process.pid)
    assert charge(world) == 1e9
    peer.transport.close()
    world.loop.run(0.1)
    assert charge(world) == 1e9, "a closed link alone proves nothing"
    assert len(watch.readers) == 1
    process.send_signal(signal.SIGKILL)
    process.wait()
    for reader in list(watch.readers.values()):
        reader()  # type: ignore[operator]
    world.loop.run(0.1)
    assert charge(world) == 0.0
    assert watch.readers == {}


def test_a_process_that_was_gone_already_frees_at_once() -> None:
    world = World()
    PidLoop(world)
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    peer = with_pid(world, process.pid)
    peer.transport.close()
    world.loop.run(0.1)
    assert charge(world) == 0.0


def test_a_process_that_lives_on_is_watched_until_it_is_back() -> None:
    world = World()
    watch = PidLoop(world)
    peer = with_pid(world, os.getpid())
    assert peer.connection.member is not None
    peer.transport.close()
    world.loop.run(30.0)
    assert len(watch.readers) == 1
    back = Peer(world)
    back.admitted()
    back.say(Resync(1, *peer.connection.member, 1, 1, 0.0, 0.0, 9, None, "1"))
    world.loop.run(9.0)
    assert watch.readers == {}


def test_a_process_that_was_sent_away_is_watched_too() -> None:
    world = World()
    watch = PidLoop(world)
    peer = with_pid(world, os.getpid())
    assert peer.connection.member is not None
    world.shell.order("evict", app=peer.connection.member[0])
    world.loop.run(0.1)
    assert peer.transport.closed and len(watch.readers) == 1


def test_the_death_of_one_rank_does_not_free_a_shared_bucket() -> None:
    world = World()
    watch = PidLoop(world)
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    peer = with_pid(world, process.pid, labels={"bucket": "shared"})
    peer.transport.close()
    world.loop.run(0.1)
    assert charge(world) == 1e9 and watch.readers == {}


def test_nobody_frees_the_charge_of_another_by_naming_it_and_dying() -> None:
    world = World()
    PidLoop(world)
    victim, _ = working(world, "victim")
    registered = next(message for message in victim.transport.inbox if isinstance(message, Registered))
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    attacker = Peer(world, uid=1001)
    attacker.connection.peer = type(attacker.connection.peer)("uid 1001", 1001, process.pid)
    attacker.connection._handshake._peer = attacker.connection.peer
    attacker.admitted()
    attacker.say(Resync(1, registered.app, registered.member, 5, 1, 0.0, 0.0, 1, None, "victim"))
    attacker.transport.close()
    world.loop.run(0.1)
    assert charge(world) == 1e9


def test_pidfd_that_is_not_allowed_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(pid: int) -> int:
        raise OSError(errno.EMFILE, "too many open files")

    world = World()
    peer = with_pid(world, os.getpid())
    monkeypatch.setattr(os, "pidfd_open", refuse)
    peer.transport.close()
    world.loop.run(0.1)
    assert charge(world) == 1e9


def test_sessions_are_numbered_and_welcomed() -> None:
    world = World()
    numbers = [next(m for m in world.peer().transport.inbox if isinstance(m, Welcome)).session for _ in range(3)]
    assert numbers == [1, 2, 3]


def test_what_arrives_while_nobody_listens_is_not_lost() -> None:
    world = World()
    peer, rate = working(world)
    peer.transport.stuck = True
    peer.connection.pause_writing()
    data = wire.frame(Beat(50, rate.epoch, rate.rev, 0.0))
    room = peer.connection.get_buffer(-1)
    room[: len(data)] = data
    peer.connection.buffer_updated(len(data))  # it was read before the pause took effect
    world.loop.run(0.1)
    assert newest(peer).anchor != 50
    peer.transport.reads_again()
    world.loop.run(0.1)
    assert newest(peer).anchor == 50


def test_the_reason_goes_out_even_to_one_that_did_not_read() -> None:
    world = World()
    peer = world.peer()
    peer.transport.stuck = True
    peer.connection.pause_writing()
    peer.connection.refuse(Error(0, "superseded", "gone", fatal=True))
    assert isinstance(peer.transport.inbox[-1], Error) and peer.transport.closed
