"""Capacities by the time of the day, and targets out of service: without a restart, and in the journal."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from live.core.talk import Talk
from live.server.conftest import Server, until
from penstock.live.core import ControllerState, Resource
from penstock.live.server.config import make_config
from penstock.live.server.errors import InvalidConfig
from penstock.live.server.schedule import CapacitySchedule, Step
from penstock.wire.messages import Post, Rate, Register, Registered

Make = Callable[..., Server]
DAY_AND_NIGHT = [{"at": "08:00", "capacity": "80 MB/s"}, {"at": "20:30", "capacity": "160 MB/s"}]
TWO = (Resource("x", 60.0, target="x"), Resource("y", 20.0, target="y"))


def test_each_step_is_ordered_once_and_an_operator_has_the_word_in_between():
    minute, ordered = [0], []
    schedule = CapacitySchedule(lambda name, capacity: ordered.append((minute[0], name, capacity)), lambda: minute[0])
    steps = {"all": [Step(1230, 160.0), Step(480, 80.0)]}
    schedule.use(steps)
    for minute[0] in (1, 479, 480, 481, 1229, 1230, 1439, 0, 485):
        schedule.look()
    assert ordered == [(0, "all", 160.0), (480, "all", 80.0), (1230, "all", 160.0), (485, "all", 80.0)]
    schedule.use(steps)
    assert len(ordered) == 4
    schedule.use({"all": [Step(0, 5.0)]})
    assert ordered[-1] == (485, "all", 5.0)


def test_how_it_is_written():
    config = make_config(capacity="100 MB/s", capacity_schedule=DAY_AND_NIGHT)
    assert config.schedules() == {"all": [Step(480, 8e7), Step(1230, 1.6e8)]}
    resources = [{"name": "a", "capacity": "1 GB/s", "schedule": [{"at": 8 * 60 + 15, "capacity": "2 GB/s"}]}]
    assert make_config(resources=resources).schedules() == {"a": [Step(495, 2e9)]}  # YAML reads 8:15 so
    assert make_config(capacity="1 GB/s").schedules() == {}


@pytest.mark.parametrize(
    ("at", "sentence"),
    [("24:00", "is '24:00'; expected a time of the day"), ("8", "expected a time"), (1440, "is 1440"), (8.5, "is 8.5")],
)
def test_what_is_no_time(at: object, sentence: str):
    with pytest.raises(InvalidConfig, match=sentence):
        make_config(capacity="1 GB/s", capacity_schedule=[{"at": at, "capacity": "1 GB/s"}])


def test_one_schedule_is_for_one_capacity():
    with pytest.raises(InvalidConfig, match="a resource has a `schedule` of its own"):
        make_config(resources=[{"name": "a", "capacity": "1 GB/s"}], capacity_schedule=DAY_AND_NIGHT)


def test_a_target_out_of_service_gives_back_what_is_acknowledged_and_takes_nobody_new():
    talk = Talk(resources=TWO)
    old, other = talk.join("a"), talk.join("b")
    talk.step(old.a_post(targets=("x",)), other.a_post(targets=("y",)))
    talk.quiet()
    assert talk.admin("service", resource="x", on=False) == {"out_of_service": ["x"]}
    assert (old.rate, other.rate) == (0.0, 20.0)
    assert talk.state.charges.used[0] == 60.0  # until it has heard so
    talk.quiet()
    assert talk.state.charges.used[0] == 0.0
    new = talk.join("c")
    new.post(targets=("x", "y"))
    assert (new.errors[-1].code, new.errors[-1].text) == ("draining", "'x' is out of service; go on at your fallback")
    back = ControllerState.restore(talk.state.snapshot(), talk.settings)
    assert back.out_of_service == ["x"] and not talk.admin("capacity")["capacity"]["x"]["in_service"]
    talk.admin("service", resource="x", on=True)
    talk.quiet()
    assert old.rate > 50.0


def test_what_an_operator_may_say_of_it():
    talk = Talk(resources=TWO)
    assert "no resource 'z'; known: x, y, unknown" in talk.admin("service", resource="z", on=False).text
    assert "on is 'no'; accepted are true and false" in talk.admin("service", resource="x", on="no").text


def test_a_reload_takes_a_target_out_and_changes_a_schedule(server: Make):
    one = {"name": "a", "capacity": "100 MB/s", "target": "a", "schedule": [{"at": "00:00", "capacity": "50 MB/s"}]}
    two = {"name": "b", "capacity": "20 MB/s", "target": "b"}
    controller = server(capacity=None, resources=[one, two])
    controller.start()

    def seen(name: str) -> tuple[float, bool]:
        found = controller.ask("capacity")["capacity"][name]
        return found["capacity"], found["in_service"]

    until(lambda: seen("a") == (5e7, True))
    client = controller.client()
    client.send(Register(1, "job", 1))
    client.hear_a(Registered)
    client.send(Post(2, 1, 1, 1e9, "write", ("b",)))
    assert client.hear_a(Rate).rate == 2e7
    controller.reload(resources=[{**one, "schedule": []}, {**two, "in_service": False}])
    until(lambda: seen("a") == (1e8, True) and seen("b") == (2e7, False))
    assert client.hear_a(Rate).rate == 0.0
    controller.kill()
    controller.start()
    assert seen("b") == (2e7, False)
