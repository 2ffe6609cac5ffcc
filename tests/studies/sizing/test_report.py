"""A buffer in words and pictures: every number is the result's own, and long scenarios stay readable."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from penstock.model import Scenario
from penstock.report.sizing.plot import _highest_rate, curve_figure, thinned, usage_figure
from penstock.report.sizing.table import (
    bandwidth_table,
    burst_words,
    explanation_lines,
    money,
    sizing_lines,
    stretch_table,
    violation_words,
)
from penstock.studies.sizing import Burst, Proof, Violation, size_curve
from penstock.studies.sizing.curve import Prices
from studies.sizing.plans import ONE_EACH, Document, app, document, sized

GIGA = 1e9
MANY = document(
    {"write_bandwidth": 2 * GIGA, "read_bandwidth": GIGA},
    *(app(f"job {i}", ("compute", 5 + i), ("write", (i + 1) * 60 * GIGA), bandwidth=10 * GIGA) for i in range(12)),
)


def text_of(table: Table) -> str:
    file = io.StringIO()
    Console(file=file, width=100).print(table)
    return file.getvalue()


def burst(by: dict[str, float], **changes: object) -> Burst:
    given = {"begin": 7200.0, "end": 7260.0, "direction": "write", "room": 60 * GIGA, "weight": 1.0}
    return Burst(**(given | {"demand": sum(by.values()), "by": by} | changes))  # type: ignore[arg-type]


def test_a_burst_names_the_largest_and_counts_the_rest() -> None:
    found = sized(MANY, "dynamic")
    by = {name: amount * GIGA for name, amount in (("a", 400.0), ("c", 300.0), ("d", 200.0), ("e", 60.0), ("f", 40.0))}
    assert burst_words(found, burst(by)) == (
        "From 7,200 s on, for 60 s, a (400 GB), c (300 GB), d (200 GB) and 2 more (100 GB) write 1 TB; the file system "
        "takes 60 GB meanwhile, so that 940 GB must wait in the buffer."
    )
    one = burst_words(found, burst({"a": 100 * GIGA}, direction="read", weight=0.5))
    assert "a reads 100 GB; the file system gives 60 GB meanwhile" in one
    assert one.endswith("so that 40 GB must be in the buffer before (counts 0.5 times).")
    both = burst_words(found, burst({"a": 90 * GIGA}, direction="both"))
    assert "a reads and writes 90 GB; the file system carries 60 GB meanwhile, so that 30 GB are the buffer's." in both


def test_long_proofs_are_cut_short() -> None:
    found = sized(MANY, "static")
    bursts = tuple(burst({"a": 100 * GIGA}, begin=float(i)) for i in range(10))
    long = replace(found, size=350 * GIGA, proof=Proof(350 * GIGA, bursts, rest=50 * GIGA))
    lines = explanation_lines(long)
    assert len(lines) == 1 + 8 + 1 + 1
    assert "2 smaller ones, by which the file system falls behind by 80 GB." in lines[-2]
    assert lines[-1] == "Less 50 GB that could go earlier or come later than in these bursts: 350 GB."


def test_pure_numbers_have_no_unit() -> None:
    found = sized(document(ONE_EACH, app("a", ("write", 12), bandwidth=4)), "dynamic")
    assert sizing_lines(found)[0].startswith("With 9 everybody ends")
    assert violation_words(Violation("size", None, 3.0, 0.5), found.traffic).endswith("has room for: by 0.5")
    assert violation_words(Violation("share", "a", 3.0, 0.5), found.traffic) == (
        "at 3 s 'a' holds more than its share: by 0.5"
    )


def test_nothing_moves() -> None:
    found = sized(document(ONE_EACH, app("a", ("compute", 12))), "static")
    assert explanation_lines(found) == ["Nobody reads or writes anything, so no buffer is needed."]


@pytest.mark.parametrize("partition", ["isolated", "static", "dynamic"])
def test_the_picture_tells_eight_applications_apart(partition: str) -> None:
    found = sized(MANY, partition)
    figure = usage_figure(found)
    axes: list[Any] = figure.axes
    upper, lower = axes
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert ("4 others" in labels) == (partition != "isolated")
    assert ("held, or set aside for those that run" in labels) == (partition == "static")
    assert "bursts that force the size" in labels
    top = max(path.vertices[:, 1].max() for area in upper.collections for path in area.get_paths())
    assert top <= found.size / 1e12 * (1 + 1e-6) or top <= found.size / 1e9 * (1 + 1e-6)
    assert "write →" in lower.get_ylabel() and "read" not in lower.get_ylabel()


def test_a_long_picture_keeps_the_highest_and_the_lowest() -> None:
    held = np.random.default_rng(1).random(40_000)
    held[[777, 30_001]] = 5.0, -5.0
    chosen = thinned(held)
    assert chosen.size <= 1600 and {0, 777, 30_001, 39_999} <= set(chosen.tolist())
    assert np.array_equal(thinned(held[:1500]), np.arange(1500))


def test_the_highest_rate_between_edges() -> None:
    events, rate = np.array([0.0, 1.0, 4.0, 5.0, 10.0]), np.array([3.0, 1.0, 7.0, 2.0])
    assert _highest_rate(events, rate, np.array([0.0, 2.0, 4.5, 6.0, 10.0])).tolist() == [3.0, 7.0, 7.0, 2.0]


def long_document(rounds: int) -> Document:
    phases = [("compute", 9.0), ("write", 300 * GIGA)] * rounds
    jobs = (app(name, *phases, bandwidth=rate * GIGA) for name, rate in (("a", 31), ("b", 53), ("c", 17)))
    return document({"bandwidth": 50 * GIGA}, *jobs)


def test_a_long_picture_says_what_its_shades_are() -> None:
    found = sized(long_document(120), "static")
    assert found.events > 600
    figure = usage_figure(found)
    assert any("dark: mean, pale: highest" in text.get_text() for text in figure.axes[1].texts)


def test_curves_in_words_and_pictures() -> None:
    scenario = Scenario.from_document(long_document(4))
    plain, priced = size_curve(scenario, "dynamic"), size_curve(scenario, "dynamic", Prices(200.0, 3.0))
    limits = sized(long_document(4), "dynamic").traffic.limits
    assert len(curve_figure(plain, limits).axes) == 2
    assert len(curve_figure(priced, limits).axes) == 3
    assert "cost" not in text_of(bandwidth_table(plain, limits)) + text_of(stretch_table(plain, limits))
    table = text_of(bandwidth_table(priced, limits))
    assert all(money(point.cost or 0.0) in table for point in priced.bandwidth)
    assert (money(1234567.8), money(12.345)) == ("1,234,568", "12.35")
