"""Operations that name no target where there are several: charged on `unknown` until their bytes are seen somewhere."""

from __future__ import annotations

import pytest

from live.core.talk import Talk
from penstock.errors import InvalidOption
from penstock.live.core import ControllerSettings, ControllerState, Resource, records
from penstock.wire import messages as wire

TWO = (Resource("x", 100.0, target="x", path="/x"), Resource("y", 20.0, target="y"))


def charged(talk: Talk) -> dict[str, float]:
    names = [each.name for each in talk.settings.resources]
    return dict(zip(names, talk.state.charges.used, strict=True))


def seen(peer, *targets: str, done: float = 10.0) -> None:
    told = peer.told[-1]
    peer.say(wire.Beat(peer.next_hb(), told.epoch, told.rev, done, peer.op, targets))


def test_it_is_charged_on_no_target_before_its_bytes_were_seen():
    """The attack of the design: x = 100, y = 20; until now a job without a target took half of each rate on both."""
    talk = Talk(resources=TWO)
    named, unnamed = talk.join("a"), talk.join("b")
    talk.step(named.a_post(targets=("x",)), unnamed.a_post())
    talk.quiet()
    assert (named.rate, unnamed.rate) == (100.0, 20.0)
    assert charged(talk) == {"x": 100.0, "y": 0.0, "unknown": 20.0}
    assert unnamed.fallback[""] == 0.05 * 20.0
    (job,) = (each for each in talk.admin("top") if each["job"] == "b")
    assert job["targets"] == ["unknown"]


def test_its_charge_goes_where_its_bytes_go():
    talk = Talk(resources=TWO)
    named, unnamed = talk.join("a"), talk.join("b")
    talk.step(named.a_post(targets=("x",)), unnamed.a_post())
    talk.quiet()
    seen(unnamed, "x")
    assert charged(talk) == {"x": 120.0, "y": 0.0, "unknown": 0.0}  # used there already: nobody is raised until it fits
    talk.quiet()
    assert (named.rate, unnamed.rate) == (50.0, 50.0)
    assert charged(talk) == {"x": 100.0, "y": 0.0, "unknown": 0.0}
    (record,) = talk.made(records.Located)
    assert record.targets == ("x",)
    seen(unnamed, "x", done=20.0)
    assert len(talk.made(records.Located)) == 1  # nothing new


def test_the_next_operation_begins_where_the_last_was_seen_and_may_move():
    talk = Talk(resources=TWO)
    peer = talk.join("a")
    peer.post()
    talk.quiet()
    seen(peer, "x")
    peer.complete()
    peer.post()
    talk.quiet()
    assert peer.rate == 100.0 and charged(talk)["x"] == 100.0
    assert ControllerState.restore(talk.state.snapshot(), talk.settings).apps[1].seen_on == {"write": ("x",)}
    peer.complete()
    peer.post(direction="read")  # nothing was seen of that
    talk.quiet()
    assert charged(talk) == {"x": 0.0, "y": 0.0, "unknown": 20.0}
    seen(peer, "y", "x")
    talk.quiet()
    assert charged(talk) == {"x": 20.0, "y": 20.0, "unknown": 0.0} and peer.rate == 40.0


def test_where_it_goes_on_at_its_fallback_it_goes_by_what_it_was_told_for_no_target():
    talk = Talk(resources=(*TWO, Resource("unknown", 60.0, target="unknown")))
    peer = talk.join("a")
    peer.post()
    seen(peer, "y")
    talk.quiet()
    assert peer.fallback[""] == 0.05 * 60.0
    assert talk.state.fallback(peer.member, peer.member.op.route) == 0.05 * 60.0


def test_a_joint_limit_counts_all_the_same():
    talk = Talk(resources=(*TWO, Resource("all", 15.0)))
    peer = talk.join("a")
    peer.post()
    assert peer.rate == 15.0


def test_with_one_target_there_is_no_doubt():
    talk = Talk(resources=TWO[:1])
    peer = talk.join("a")
    peer.post()
    assert peer.rate == 100.0 and charged(talk) == {"x": 100.0}


def test_nobody_names_it_and_nothing_unheard_of_is_seen():
    talk = Talk(resources=TWO)
    peer = talk.join("a")
    peer.post(targets=("unknown",))
    assert "no target named 'unknown'; known: x, y" in peer.errors[-1].text
    peer.post()
    seen(peer, "z")
    assert "no target named 'z'" in peer.errors[-1].text
    assert charged(talk)["unknown"] == 20.0


def test_members_hear_where_targets_are_mounted():
    talk = Talk(resources=TWO)
    peer = talk.join("a")
    (told,) = talk.said[peer.session]
    assert isinstance(told, wire.Registered) and told.paths == {"x": "/x"}


def test_one_that_is_exempt_is_charged_where_it_is_seen():
    talk = Talk(resources=TWO)
    talk.admin("exempt", add="a")
    peer = talk.join("a")
    peer.post()
    assert charged(talk)["unknown"] == 20.0
    seen(peer, "x")
    assert charged(talk)["unknown"] == 0.0 and charged(talk)["x"] > 0.0


def test_its_name_is_taken():
    with pytest.raises(InvalidOption, match="the one named 'unknown' is of 'unknown'"):
        ControllerSettings(resources=(Resource("unknown", 1.0, target="x"),))
