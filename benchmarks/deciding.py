"""What the controller takes for a turn with a decision, by policy: one job ends its operation, another announces one.

The core alone, without sockets and journal: it hears both, shows the policy who is active, asks it, and makes out who
is to be told what. Those that are told acknowledge it in the next turn, which is not counted.

`python -m benchmarks.deciding` prints the time of every policy.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Sequence
from statistics import median

from benchmarks.rows import Row
from penstock.live.core import ControllerSettings, Core, Resource
from penstock.live.core.events import Connected, Frame, Identity, Input, Send
from penstock.policies.sharing import NAMES, find
from penstock.wire import messages as wire

CAPACITY = 1e12  # bytes/s, of which everyone could use an eighth
VOLUMES = (1e13, 1e14)
LONG = 1e6  # seconds of a lease: nothing happens by itself
TURNS = 10  # of a round


def decision_rows(quick: bool) -> list[Row]:
    """The slowest policy of each kind."""
    active, rounds = (50, 1) if quick else (1000, 20)
    rows = []
    for kind, names in kinds().items():
        seconds = {name: turn_seconds(name, active, rounds) for name in names}
        slowest = max(seconds, key=seconds.__getitem__)
        what = f"a turn with a decision, {active:,} active: the slowest of {len(names)} {kind}"
        rows.append(Row(what, 1e3 * seconds[slowest], " ms", 1.0, note=slowest))
    return rows


def kinds() -> dict[str, list[str]]:
    """All policies, by what they have to do."""
    plans = [name for name in NAMES if find(name).prepare is not None]
    lists = [name for name in NAMES if name.startswith("list-") and name not in plans]
    return {
        "policies that share": [name for name in NAMES if name not in plans + lists],
        "orders by what is seen": lists,
        "orders that plan": plans,
    }


def turn_seconds(name: str, active: int, rounds: int) -> float:
    """Processor seconds of a turn, with so many operations under way and as many jobs that compute.

    The median of the turns of a round, in the best round.
    """
    crowd = Crowd(name, active)
    best = min(median(crowd.turn() for _ in range(TURNS)) for _ in range(rounds))
    if crowd.core.state.failures:
        raise RuntimeError(crowd.core.state.last_failure)
    return best


class Crowd:
    """A core, and jobs that do as they should."""

    def __init__(self, name: str, active: int) -> None:
        settings = ControllerSettings(
            (Resource("all", CAPACITY),), 2 * active, lease=LONG, beat=LONG / 2, max_wait=LONG
        )
        self.core = Core(settings, find(name), epoch=1, boot=0.0, warm=True)
        self.draw = random.Random(active)
        self.now = 0.0
        jobs = range(2 * active)
        self.rate = [0.0 for _ in jobs]
        self.operations = [0 for _ in jobs]
        self.acks: list[Input] = []
        self._step([Connected(job, Identity("peer", job)) for job in jobs])
        self._step([Frame(job, wire.Register(1, str(job), 1, release=self.draw.uniform(1e4, 1e5))) for job in jobs])
        # Everyone has an iteration behind it.
        self._step([self._post(job) for job in jobs])
        self._step([self._complete(job) for job in jobs])
        self.idle, self.busy = deque(jobs[active:]), list(jobs[:active])
        self._step([self._post(job) for job in self.busy])
        self._acknowledge()

    def turn(self) -> float:
        """One that is served ends, who has computed longest begins; how long the core took."""
        ends = self.draw.choice([job for job in self.busy if self.rate[job] > 0.0] or self.busy)
        begins = self.idle.popleft()
        self.idle.append(ends)
        self.busy[self.busy.index(ends)] = begins
        seconds = self._step([self._complete(ends), self._post(begins)])
        self._acknowledge()
        return seconds

    def _acknowledge(self) -> None:
        while self.acks:
            acks, self.acks = self.acks, []
            self._step(acks)

    def _post(self, job: int) -> Frame:
        self.operations[job] += 1
        number = self.operations[job]
        return Frame(job, wire.Post(2, number, number, self.draw.uniform(*VOLUMES), cap=CAPACITY / 8))

    def _complete(self, job: int) -> Frame:
        self.rate[job] = 0.0
        return Frame(job, wire.Complete(self.operations[job], VOLUMES[0]))

    def _step(self, inputs: Sequence[Input]) -> float:
        self.now += self.draw.uniform(0.1, 1.0)
        began = time.thread_time()
        outputs = self.core.step(self.now, inputs)
        seconds = time.thread_time() - began
        for output in outputs:
            if isinstance(output, Send) and isinstance(output.message, wire.Rate):
                told = output.message
                self.rate[output.session] = told.rate
                self.acks.append(Frame(output.session, wire.Ack(told.epoch, told.rev)))
        return seconds


def main() -> None:
    """Every policy, with 100 and with 1,000 active."""
    print(f"{'ms of a turn with a decision':<48}    100  1,000 active")
    for kind, names in kinds().items():
        for name in names:
            few, many = (1e3 * turn_seconds(name, active, rounds=20) for active in (100, 1000))
            print(f"{kind + ': ' + name:<48} {few:6.2f} {many:6.2f}", flush=True)


if __name__ == "__main__":
    main()
