"""A policy that is told something wrong, to see how much that costs. The run itself goes by the truth.

    end      the window is told to be so many times as long as it is
    volumes  the volume of an operation is told wrong by a factor between 1/volumes and volumes
    late     progress is told every so many seconds only, and is what it was then
    lost     so many of these reports never arrive
    unannounced  so many applications never announce: a volume is guessed as the agent of a node does

What is drawn depends on the application and the instant alone: every policy is told the same lies. The mean loss of
all stays true.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from penstock.errors import PolicyError
from penstock.kernels.arrays import Floats, Ints
from penstock.policies.parameters import check_known
from penstock.policies.sharing.policy import Decide, Sharing
from penstock.policies.sharing.view import View, shut
from penstock.wire.guesses import FIRST, guess

TRUTH = {"end": 1.0, "volumes": 1.0, "late": 0.0, "lost": 0.0, "unannounced": 0.0}
# For each application, behind what the policy remembers: when the next report is due, and what the last one said; when
# the operation was posted that is guessed at, its true volume, and the volumes of the three before it, the last first.
_WIDTH = 7
_POSTED, _VOLUME, _BEFORE = 2, 3, slice(4, 7)
_ONE, _GOLDEN = np.uint64(1), np.uint64(0x9E3779B97F4A7C15)


def misled(policy: Sharing, told: Mapping[str, float]) -> Sharing:
    """The same policy, told something wrong."""
    _check(policy, told)
    given = ",".join(f"{name}={value!r}".removesuffix(".0") for name, value in told.items())
    changed = replace(
        policy,
        name=f"misled({policy.label},{given})" if given else policy.label,
        defaults=policy.settings,
        window=told.get("end", 1.0),
    )
    lies = _Lies(**{**TRUTH, **told})
    if lies.harmless:
        return changed
    decide = lies.told_to(policy)
    return replace(changed, decide=decide, plain=decide, compiled=False, memory=policy.memory + _WIDTH)


def _check(policy: Sharing, told: Mapping[str, float]) -> None:
    check_known(f"misled({policy.label})", TRUTH, told)
    if policy.prepare is not None:
        raise PolicyError(f"misled: {policy.name!r} plans with all that jobs will do; accepted is one that does not")
    least = {"end": (0.0, "a number above 0"), "volumes": (1.0, "a number from 1 on"), "late": (0.0, "0 or more")}
    for name, (low, accepted) in least.items():
        if name in told and (not told[name] >= low or (name == "end" and told[name] <= 0.0)):
            raise PolicyError(f"misled: {name} is {told[name]:g}; accepted is {accepted}")
    if not 0.0 <= told.get("unannounced", 0.0) <= 1.0:
        raise PolicyError(f"misled: unannounced is {told['unannounced']:g}; accepted is a number from 0 to 1")
    if not 0.0 <= told.get("lost", 0.0) < 1.0:
        raise PolicyError(f"misled: lost is {told['lost']:g}; accepted is a number from 0 to below 1")
    if told.get("lost", 0.0) and not told.get("late", 0.0):
        raise PolicyError("misled: lost is given without late; reports are lost that come every so many seconds")


@dataclass(frozen=True)
class _Lies:
    end: float
    volumes: float
    late: float
    lost: float
    unannounced: float

    @property
    def harmless(self) -> bool:
        """Whether what a policy sees of the jobs is true."""
        return self.volumes == 1.0 and self.late == 0.0 and self.unannounced == 0.0

    def told_to(self, policy: Sharing) -> Decide:
        """The policy's function, shown what it is told."""

        def decide(view: View, rates: Floats) -> None:
            places = view.memory.size // (policy.memory + _WIDTH)
            own, reports = np.split(view.memory, [policy.memory * places])
            shown = view._replace(memory=own)
            if self.volumes != 1.0:
                shown = shown._replace(remaining=view.remaining * self._factors(view))
            if self.unannounced > 0.0:
                remaining, confidence = self._guessed(view, shown.remaining, reports.reshape(-1, _WIDTH))
                shown = shown._replace(remaining=remaining, confidence=confidence)
            if self.late > 0.0:
                shown = shown._replace(progress=self._reported(view, reports.reshape(-1, _WIDTH)))
            policy.decide(shut(shown), rates)

        return decide

    def _factors(self, view: View) -> Floats:
        """From 1/volumes to volumes, as likely on either side of 1, for each operation."""
        factors: Floats = self.volumes ** (2.0 * _drawn(view.application, view.posted) - 1.0)
        return factors

    def _reported(self, view: View, reports: Floats) -> Floats:
        """What each application reported last; the first report, and those due, come now unless they are lost."""
        rows = view.application
        first = reports[rows, 0] == 0.0
        due = view.now >= reports[rows, 0]
        arrives = first | (due & (_drawn(rows, reports[rows, 0]) >= self.lost))
        reports[rows[arrives], 1] = view.progress[arrives]
        reports[rows[due], 0] = self.late * (np.floor(view.now / self.late) + 1.0)
        told: Floats = reports[rows, 1]
        return told

    def _guessed(self, view: View, remaining: Floats, notes: Floats) -> tuple[Floats, Floats]:
        """What would be thought to remain of each operation, and how sure that is; announced ones are as they are."""
        remaining, confidence = remaining.copy(), view.confidence.copy()
        silent = _drawn(view.application, np.zeros(view.application.size)) < self.unannounced
        for row in np.flatnonzero(silent):
            note = notes[view.application[row]]
            posted = view.posted[row] + 1.0  # 0 is no operation
            if note[_POSTED] != posted:
                if note[_POSTED] > 0.0:
                    note[_BEFORE] = note[_VOLUME], *note[_BEFORE][:-1]
                note[_POSTED], note[_VOLUME] = posted, view.remaining[row]
            before = [volume for volume in note[_BEFORE][::-1] if volume > 0.0]
            volume, confidence[row] = guess(before)
            done = note[_VOLUME] - view.remaining[row]
            while volume <= done:
                volume += max(volume, FIRST)
            remaining[row] = volume - done
        return remaining, confidence


def _drawn(application: Ints, instant: Floats) -> Floats:
    """Numbers from 0 to 1 that look random, the same for the same application and instant (splitmix64)."""
    bits = np.ascontiguousarray(instant).view(np.uint64) + (application.astype(np.uint64) + _ONE) * _GOLDEN
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        bits = (bits ^ (bits >> np.uint64(shift))) * np.uint64(factor)
    drawn: Floats = (bits ^ (bits >> np.uint64(31))).astype(np.float64) / 2.0**64
    return drawn
