"""Trouble in any order: hypothesis chooses what goes wrong next and, when a claim breaks, finds the shortest story."""

from __future__ import annotations

import os

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from live.harness.crash import KILL, POWER, WIPE, Death
from live.harness.judge import Judge
from live.harness.network import DOWN, UP, Weather
from live.harness.operators import VERBS
from live.harness.runs import calm_plan
from live.harness.world import World

CLIENTS = st.integers(0, 5)


class Storm(RuleBasedStateMachine):
    """A world in which nothing goes wrong but what the rules do."""

    @initialize(seed=st.integers(0, 1000))
    def begin(self, seed: int) -> None:
        self.judge = Judge()
        self.world = World(calm_plan(seed, weather=Weather(delay=0.01)), self.judge, deaths={})

    def client(self, index: int):
        return self.world.clients[index % len(self.world.clients)]

    @rule(seconds=st.sampled_from([0.01, 0.3, 1.0, 3.0, 9.0]))
    def time_passes(self, seconds: float) -> None:
        self.world.run_until(self.world.now + seconds)

    @rule(kind=st.sampled_from([KILL, POWER, WIPE]), turns=st.integers(1, 8), sends=st.integers(0, 3))
    def the_controller_dies_between_messages(self, kind: str, turns: int, sends: int) -> None:
        self.world.deaths = {self.world.controller.turns + turns: Death(kind, sends=sends)}

    @rule(kind=st.sampled_from([KILL, POWER]), turns=st.integers(1, 8), written=st.integers(0, 200))
    def the_controller_dies_writing(self, kind: str, turns: int, written: int) -> None:
        self.world.deaths = {self.world.controller.turns + turns: Death(kind, bytes=written)}

    @rule(index=CLIENTS, ways=st.sampled_from([(UP,), (DOWN,), (UP, DOWN)]))
    def cut_off(self, index: int, ways: tuple[int, ...]) -> None:
        self.world.network.block(self.client(index).index, ways)

    @rule(index=CLIENTS)
    def let_through(self, index: int) -> None:
        self.world.network.unblock(self.client(index).index)

    @rule(index=CLIENTS)
    def break_links(self, index: int) -> None:
        for link in list(self.world.network.links):
            if link.client == self.client(index).index:
                self.world.network.cut(link)

    @rule(index=CLIENTS)
    def stop(self, index: int) -> None:
        if self.client(index).alive and not self.client(index).stopped:
            self.client(index).stop()

    @rule(index=CLIENTS)
    def go_on(self, index: int) -> None:
        self.client(index).go_on()

    @rule(index=CLIENTS)
    def die_and_come_back(self, index: int) -> None:
        if self.client(index).alive:
            self.client(index).die()
            self.world.agenda.after(1.0, self.client(index).born)

    @rule(delay=st.sampled_from([0.0, 0.01, 1.0, 12.0]), datagrams=st.booleans(), loss=st.sampled_from([0.0, 0.1]))
    def weather_turns(self, delay: float, datagrams: bool, loss: float) -> None:
        worst = max(delay, self.world.plan.weather.worst_delay)
        self.judge.slack = max(self.judge.slack, worst)
        self.judge.lossy = self.judge.lossy or datagrams
        self.world.network.weather = Weather(delay, datagrams=datagrams, loss=loss, twice=loss)

    @rule(verb=st.sampled_from(VERBS))
    def an_operator_speaks(self, verb: str) -> None:
        getattr(self.world.operators, verb)()

    @rule(index=CLIENTS, word=st.sampled_from(["add", "del"]))
    def exempt(self, index: int, word: str) -> None:
        self.world.order("exempt", {word: self.client(index).settings.job})

    @rule(index=CLIENTS)
    def evict(self, index: int) -> None:
        self.world.order("evict", {"job": self.client(index).settings.job})

    @rule()
    def the_batch_system_speaks(self) -> None:
        self.world.operators.hook()

    def teardown(self) -> None:
        if hasattr(self, "world"):
            self.world.run_until(self.world.now + 5.0)
            self.judge.over()


TestStorm = Storm.TestCase
TestStorm.settings = settings(
    max_examples=int(os.environ.get("PENSTOCK_STORMS", "25")), stateful_step_count=30, deadline=None
)
