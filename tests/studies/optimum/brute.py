"""The optimum by trying every order, and small jobs to try it on."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from penstock.model import Scenario
from penstock.studies.optimum.chains import Chain


def shortest(chains):
    """The least makespan over all interleavings of the operations."""

    def go_on(counts, ends, free):
        makespans = []
        for i, chain in enumerate(chains):
            k = counts[i]
            if k < len(chain.io):
                end = max(free, ends[i] + chain.work[k]) + chain.io[k]
                makespans.append(go_on((*counts[:i], k + 1, *counts[i + 1 :]), (*ends[:i], end, *ends[i + 1 :]), end))
        done = max(end + chain.tail for end, chain in zip(ends, chains, strict=True))
        return min(makespans, default=done)

    return go_on((0,) * len(chains), tuple(chain.start for chain in chains), 0)


@st.composite
def chain_sets(draw, amount=st.integers(0, 6), most=3, operations=3):  # noqa: B008
    """A few short chains, now and then two that are alike."""
    count = draw(st.integers(1, most))
    chains: list[Any] = []
    for _ in range(count):
        if chains and draw(st.integers(0, 2)) == 0:
            chains.append(draw(st.sampled_from(chains)))
            continue
        length = draw(st.integers(0, operations))
        numbers = st.lists(amount, min_size=length, max_size=length).map(tuple)
        chains.append(Chain(draw(st.just(0) | amount), draw(numbers), draw(numbers), draw(st.just(0) | amount)))
    return tuple(chains)


def job(name, *pairs, tail=0.0, **more):
    """An application that computes and writes in turn."""
    phases = [phase for compute, volume in pairs for phase in ({"compute": compute}, {"write": volume})]
    return {"name": name, "phases": [*phases, {"compute": tail}], **more}


def scenario(*jobs, bandwidth=1.0, **more):
    return Scenario.from_document(
        {"version": 1, "platform": {"bandwidth": bandwidth}, "applications": list(jobs), **more}
    )


def periodic(*jobs):
    """Jobs (a, b)^n of P2."""
    return scenario(*(job(f"j{i}", *[(a, b)] * n) for i, (a, b, n) in enumerate(jobs)))
