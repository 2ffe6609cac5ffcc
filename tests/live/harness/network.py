"""Connections between clients and the controller, through weather.

The real transport is a stream, so a lost frame is a connection that breaks. The safety rules claim more: they hold for
any delay, loss, repetition and order of single messages. So there are two kinds of run. In a *stream*, messages of one
direction stay in order, and a link may be cut, at both ends, at one end, or unnoticed by either. With *datagrams*
every message has its own fate.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from penstock.wire import messages as wire

from .clock import Agenda

UP, DOWN = 0, 1  # towards the controller, towards the client


@dataclass(frozen=True)
class Weather:
    """What may happen to messages in one run. Times in seconds, the others are chances per message."""

    delay: float = 0.001  # of most messages, at most
    slow: float = 0.0  # share of messages that take up to `slowest` instead
    slowest: float = 0.0
    datagrams: bool = False
    loss: float = 0.0  # of a message, or, in a stream, of the link with it
    twice: float = 0.0  # datagrams only

    @property
    def worst_delay(self) -> float:
        """The longest that a message can take, unless somebody is cut off."""
        return max(self.delay, self.slowest if self.slow else 0.0)


def draw_weather(chance: random.Random) -> Weather:
    """From calm to awful."""
    return Weather(
        delay=chance.choice((0.0, 0.001, 0.05, 0.5)),
        slow=chance.choice((0.0, 0.02, 0.3)),
        slowest=chance.choice((1.0, 10.0, 30.0)),
        datagrams=(datagrams := chance.random() < 0.5),
        loss=chance.choice((0.0, 0.05, 0.3) if datagrams else (0.0, 0.005, 0.03)),
        twice=chance.choice((0.0, 0.1)),
    )


@dataclass
class Link:
    """One connection. Either end may think that it is up while the other knows better."""

    session: int
    client: int
    up: list[bool] = field(default_factory=lambda: [True, True])  # what travels that way still arrives
    noticed: list[bool] = field(
        default_factory=lambda: [False, False]
    )  # that end (UP: the controller) knows of the end
    last: list[float] = field(default_factory=lambda: [0.0, 0.0])
    held: tuple[list[wire.Message], list[wire.Message]] = field(default_factory=lambda: ([], []))
    ending: list[bool] = field(default_factory=lambda: [False, False])  # word of its end is held back, too


class Network:
    """Carries messages between clients and whatever controller there is at the time.

    `deliver(link, way, message)` and `ended(link, way)` are called at the receiving end.
    """

    def __init__(
        self,
        agenda: Agenda,
        chance: random.Random,
        weather: Weather,
        deliver: Callable[[Link, int, wire.Message], None],
        ended: Callable[[Link, int], None],
    ) -> None:
        self.agenda, self.chance, self.weather = agenda, chance, weather
        self.deliver, self.ended = deliver, ended
        self.links: list[Link] = []
        self.blocked: set[tuple[int, int]] = set()  # (client, way): nothing gets through for now
        self._sessions = 0

    def new_session(self) -> int:
        """A number that no connection had before."""
        self._sessions += 1
        return self._sessions

    def connect(self, client: int) -> Link:
        """A new connection, as both ends see it from now on."""
        link = Link(self.new_session(), client)
        self.links = [old for old in self.links if not all(old.noticed)] + [link]
        return link

    def reaches(self, client: int) -> bool:
        """Whether somebody can get through both ways, as a new connection must."""
        return (client, UP) not in self.blocked and (client, DOWN) not in self.blocked

    def send(self, link: Link, way: int, message: wire.Message) -> None:
        """Hand a message to the network."""
        message = _over_the_wire(message, way)
        weather, chance = self.weather, self.chance
        if not link.up[way]:
            return
        if (link.client, way) in self.blocked:
            if not weather.datagrams:
                link.held[way].append(message)
            return
        if chance.random() < weather.loss:
            if not weather.datagrams:
                self.cut(link)
            return
        self._carry(link, way, message)
        if weather.datagrams and chance.random() < weather.twice:
            self._carry(link, way, message)

    def delay(self) -> float:
        """How long something takes."""
        weather, chance = self.weather, self.chance
        return chance.uniform(0.0, weather.slowest if chance.random() < weather.slow else weather.delay)

    def _carry(self, link: Link, way: int, message: wire.Message) -> None:
        arrival = self.agenda.now + self.delay()
        if not self.weather.datagrams:
            arrival = link.last[way] = max(arrival, link.last[way])

        def arrive() -> None:
            if link.up[way] and not link.noticed[way]:
                self.deliver(link, way, message)

        self.agenda.at(arrival, arrive)

    def cut(self, link: Link, unnoticed: float = 0.1) -> None:
        """Break a connection for good: what is under way may arrive, nothing more; an end may never hear of it."""
        for way in (UP, DOWN):
            if self.chance.random() < 0.5:
                link.up[way] = False
            if self.chance.random() >= unnoticed:
                self._notice_later(link, way)
            else:
                self.agenda.after(self.chance.uniform(5.0, 60.0), lambda way=way: self.notice(link, way))  # type: ignore[misc]

    def close(self, link: Link, way: int) -> None:
        """One end closes it; the one that receives `way` hears of it, unless it is cut off."""
        if (link.client, way) in self.blocked:
            link.ending[way] = True
        else:
            self._notice_later(link, way)

    def _notice_later(self, link: Link, way: int) -> None:
        """That end knows after what is under way to it."""
        arrival = max(self.agenda.now + self.delay(), link.last[way])
        self.agenda.at(arrival, lambda: self.notice(link, way))

    def notice(self, link: Link, way: int) -> None:
        """That end knows from now on."""
        if not link.noticed[way]:
            link.noticed[way] = True
            self.ended(link, way)

    def hang_up(self, link: Link, way: int) -> None:
        """The end that receives `way` closes it; the other hears of that in its own time."""
        link.noticed[way] = True
        self.close(link, 1 - way)

    def block(self, client: int, ways: tuple[int, ...]) -> None:
        """Let nothing through from now on."""
        self.blocked |= {(client, way) for way in ways}

    def unblock(self, client: int) -> None:
        """Let everything through again; a stream now carries what it held back."""
        self.blocked -= {(client, UP), (client, DOWN)}
        for link in self.links:
            if link.client == client:
                for way in (UP, DOWN):
                    waiting = list(link.held[way])
                    link.held[way].clear()
                    for message in waiting:
                        self._carry(link, way, message)
                    if link.ending[way]:
                        self._notice_later(link, way)


def _over_the_wire(message: wire.Message, way: int) -> wire.Message:
    body = wire.frame(message)[4:]
    return wire.read_client(body) if way == UP else wire.read_controller(body)
