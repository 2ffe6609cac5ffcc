"""What is known of jobs that have no operation, one, or several: the same sums as by hand."""

from __future__ import annotations

import numpy as np

from penstock.policies.sharing.foresight import Foresight


def of_counts(counts: list[int], rest: list[float]) -> Foresight:
    draw = np.random.default_rng(3)
    total, m = sum(counts), len(counts)
    return Foresight(
        names=tuple(map(str, range(m))),
        start=np.zeros(m),
        first=np.concatenate([[0], np.cumsum(counts)]),
        work=draw.uniform(0.0, 1.0, total),
        seconds=draw.uniform(0.0, 1.0, total),
        rest=np.array(rest),
        operations=np.array(counts, dtype=np.float64),
        mean_work=np.zeros(m),
        mean_seconds=np.zeros(m),
    )


def test_what_is_left_and_what_it_takes_alone() -> None:
    known = of_counts([1, 0, 3, 1, 40], [0.5, 2.0, 0.0, np.inf, 0.25])
    left, alone = [], []
    for i, rest in enumerate(known.rest):
        phases = list(zip(known.work, known.seconds, strict=True))[known.first[i] : known.first[i + 1]]
        alone.append(sum(work + seconds for work, seconds in phases) + rest)
        left += [sum(map(sum, phases[place:])) - phases[place][0] + rest for place in range(len(phases))]
    assert np.allclose(known.left(), left, rtol=1e-12, atol=0.0)
    assert np.allclose(known.alone(), alone, rtol=1e-12, atol=0.0)
