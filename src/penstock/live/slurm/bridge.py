"""Between Slurm and the controller: forwards what hooks left, compares with the queue, holds licences back.

It runs beside slurmctld. Everything that it does can wait: while it is dead, hooks go on leaving files, jobs start and
end, and its reservation of licences ends by itself. Slurm is asked in a thread of its own, since it may take ten
seconds to answer.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import PenstockError
from penstock.live.admin import CommandRefused, Line, NoController
from penstock.live.slurm.licenses import RESERVATION, BackPressure, Order, Times
from penstock.live.slurm.queue import Licenses, PendingJob, QueuedJob, Slurm, SlurmSilent
from penstock.live.slurm.reconcile import Reconciler
from penstock.wire.messages import Hook
from penstock.wire.spool import Event, RefusedForGood, RefusedForNow, Spool

LOOK_SECONDS = 0.2  # between looks into the spools
ASK_SECONDS = 5.0  # between questions to the controller
QUEUE_SECONDS = 60.0  # between comparisons with the queue

Advise = Callable[[Sequence[PendingJob]], Mapping[str, Mapping[str, str]]]  # by job, words and their values
Say = Callable[[str], None]
_MARK = "penstock:"  # in a comment: advice was given


@dataclass
class Told:
    """What a bridge has done."""

    forwarded: int = 0
    ignored: int = 0
    dropped: int = 0
    started: int = 0
    ended: int = 0
    advised: int = 0
    compared: int = 0
    reserved: int | None = None
    problems: dict[str, str] = field(default_factory=dict)  # the last one of each kind that is not over

    def as_json(self) -> dict[str, Any]:
        """For `--json`."""
        return {**vars(self), "problems": dict(self.problems)}


class Bridge:
    """One of them. `dial` connects to the controller; `license` "" reserves none; `advise` None gives no advice."""

    def __init__(
        self,
        dial: Callable[[], Line],
        spools: Sequence[Spool],
        slurm: Slurm,
        *,
        license: str = "",
        advise: Advise | None = None,
        times: Times | None = None,
        queue_seconds: float = QUEUE_SECONDS,
        say: Say = lambda text: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._dial, self._spools, self._slurm = dial, spools, slurm
        self._license, self._advise, self._queue_seconds = license, advise, queue_seconds
        self._say, self._clock = say, clock
        self._line: Line | None = None
        self._reconciler, self._pressure = Reconciler(), BackPressure(times or Times())
        self._thread = ThreadPoolExecutor(1, "slurm")
        self._asking: Future[None] | None = None
        self._announced: list[dict[str, Any]] = []  # what the controller knew before the queue was asked
        self._queue: list[QueuedJob] | None = None  # the newest answer that nobody has compared yet
        self._queue_due = self._ask_due = float("-inf")
        self._advised: set[str] = set()
        self.told = Told()

    def round(self) -> None:
        """Whatever is due now."""
        for spool in self._spools:
            with self._noted("spool"):
                self.told.forwarded += spool.forward(self._tell)
        self.told.dropped = sum(spool.dropped_count for spool in self._spools)
        now = self._clock()
        if self._asking is not None and not self._asking.done():
            return
        fault = self._asking.exception() if self._asking is not None else None
        self._problem("fault of ours", f"{type(fault).__name__}: {fault}" if fault is not None else "")
        if self._queue is not None:
            queue, self._queue = self._queue, None
            self._with_controller(lambda: self._compare(queue))
        if now >= self._ask_due:
            self._ask_due = now + min(ASK_SECONDS, self._pressure.times.apart)
            known = self._with_controller(lambda: self._ask_controller(now))
            self._asking = self._thread.submit(self._ask_slurm, now, known)

    def settle(self) -> None:
        """Wait until Slurm has answered, and use it."""
        if self._asking is not None:
            self._asking.exception()
        self._ask_due = float("-inf")

    def run(self, stopped: Callable[[], bool], pause: Callable[[float], None] = time.sleep) -> None:
        """Rounds, until it is stopped; then the licences are given back."""
        while not stopped():
            self.round()
            pause(LOOK_SECONDS)
        self.close()

    def close(self) -> None:
        """Hang up, and give licences back."""
        self._thread.shutdown(wait=True, cancel_futures=True)
        if self._license and self._pressure.count:
            self._slurm.release(RESERVATION)
        self._hang_up()

    # The controller.

    def _tell(self, event: Event) -> None:
        self._hook(event.hook())

    def _hook(self, hook: Hook) -> None:
        known = {name: getattr(hook, name) for name in hook.__struct_fields__ if name not in ("req", "kind", "job")}
        try:
            answer = self._connected().hook(hook.kind, hook.job, **known)
        except CommandRefused as error:
            if error.code == "value":
                raise RefusedForGood(str(error)) from None
            self._problem("controller", str(error))
            raise RefusedForNow from None
        except NoController as error:
            self._hang_up()
            self._problem("controller", str(error))
            raise RefusedForNow from None
        self._problem("controller", "")
        self.told.ignored += "ignored" in answer

    def _ask_controller(self, now: float) -> None:
        answer = self._connected().ask("batch")
        self._pressure.saw(now, float(answer["committed"]))
        self._announced = answer["jobs"]

    def _compare(self, queue: list[QueuedJob]) -> None:
        for hook in self._reconciler.compare(queue, self._announced):
            self._correct(hook)
        self.told.compared += 1

    def _with_controller(self, do: Callable[[], None]) -> bool:
        """Whether the controller was there for it."""
        try:
            do()
        except RefusedForNow:  # which has been noted
            return False
        except (CommandRefused, NoController) as error:
            self._hang_up()
            self._problem("controller", str(error))
            return False
        self._problem("controller", "")
        return True

    def _correct(self, hook: Hook) -> None:
        with contextlib.suppress(RefusedForGood):
            self._hook(hook)
            self.told.started += hook.kind == "job_start"
            self.told.ended += hook.kind == "job_end"
            self._say(f"by the queue: {hook.kind} of job {hook.job}{f' on {hook.node}' if hook.node else ''}")

    def _connected(self) -> Line:
        if self._line is None:
            self._line = self._dial()
        return self._line

    def _hang_up(self) -> None:
        if self._line is not None:
            self._line.close()
        self._line = None

    # Slurm, in its thread.

    def _ask_slurm(self, now: float, known: bool) -> None:
        """`known`: the controller has just said what it knows, so that the queue can be compared with it."""
        if known and now >= self._queue_due:
            self._queue_due = now + self._queue_seconds
            with self._noted("squeue"):
                self._queue = self._slurm.jobs()
            if self._advise is not None:
                with self._noted("advice"):
                    self._give_advice(self._advise)
        if self._license:
            with self._noted("licenses"):
                self._hold_back(now)

    def _hold_back(self, now: float) -> None:
        found = self._slurm.licenses(self._license)
        order = self._pressure.order(now, found)
        if order is not None:
            self._reserve(order, found)
            self._pressure.done(now, order)
            self.told.reserved = order.count

    def _reserve(self, order: Order, found: Licenses) -> None:
        if order.count:
            self._slurm.reserve(RESERVATION, self._license, order.count, self._pressure.times.lasts)
        else:
            self._slurm.release(RESERVATION)
        if order.count != self._pressure.count:
            self._say(f"{order.count} of {found.total} licences {self._license} are reserved")

    def _give_advice(self, advise: Advise) -> None:
        pending = self._slurm.pending()
        self._advised &= {each.job for each in pending}
        new = [each for each in pending if each.job not in self._advised and _MARK not in each.comment]
        comments = {each.job: each.comment for each in new}
        self._advised |= set(comments)
        for job, words in advise(new).items():
            said = " ".join(f"{word}={value}" for word, value in words.items())
            self._slurm.comment(job, f"{comments[job]}; {_MARK} {said}" if comments[job] else f"{_MARK} {said}")
            self.told.advised += 1

    # Problems are told when they begin and when they are over.

    @contextlib.contextmanager
    def _noted(self, kind: str) -> Any:
        try:
            yield
        except (PenstockError, SlurmSilent) as error:
            self._problem(kind, str(error))
        else:
            self._problem(kind, "")

    def _problem(self, kind: str, text: str) -> None:
        before = self.told.problems.get(kind, "")
        if text == before:
            return
        if text:
            self.told.problems[kind] = text
            self._say(text)
        else:
            del self.told.problems[kind]
            self._say(f"{kind}: well again")
