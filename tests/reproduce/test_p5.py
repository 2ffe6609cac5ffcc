"""P5 Table 2 and figure 8, with two sets of applications for a load and two times between failures."""

from __future__ import annotations

import pytest
from pytest import approx

from penstock import generate
from penstock.reproduce import ExperimentSettings, find, p5
from penstock.reproduce.p5 import BOUND, P5_WORDS, PARTS, READINGS, STRATEGIES, STRETCHES, G
from penstock.studies.buffers import buffer
from penstock.studies.sizing import size_buffer

LOADS, YEARS = ["0.8"], ["25", "50"]
CLOSE = 1e-7


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(p5, "LOADS", LOADS)
    monkeypatch.setattr(p5, "YEARS", YEARS)


def test_in_full_there_are_30_sets_in_each_cell_of_table_2_and_10_in_figure_8():
    assert [each.size for each in find("P5.table2").campaigns(ExperimentSettings())] == [12 * 30 * 2] * 4
    assert [each.size for each in find("P5.fig8").campaigns(ExperimentSettings())] == [
        12 * 10 * len(PARTS) * len(STRATEGIES),
        *[12 * 10 * len(PARTS)] * 3,
    ]


def test_the_first_reading_is_p5s_words_and_the_generators_default():
    walltime, end = READINGS[P5_WORDS]
    assert next(iter(READINGS)) == P5_WORDS
    assert generate("checkpoints", 1) == generate("checkpoints", 1, walltime=walltime, end=end)


def test_table_2(run, few):
    summary = run("P5.table2").summary
    assert summary["ratio"] == summary["readings"][P5_WORDS]
    assert list(summary["readings"]) == list(READINGS)
    for reading, table in summary["readings"].items():
        assert {load: list(row) for load, row in table.items()} == dict.fromkeys(LOADS, YEARS)
        assert all(ratio >= 1.0 - 1e-9 for row in table.values() for ratio in row.values())
        assert summary["interval"]["readings"][reading].keys() == table.keys()
    for load in LOADS:
        for years in YEARS:
            low, high = summary["range"][load][years]
            assert 1.0 - 1e-9 <= low <= summary["ratio"][load][years] <= high
            assert summary["size"][load][years]["dynamic"] <= summary["size"][load][years]["static"]


def test_a_cell_of_table_2_is_the_mean_of_its_sets(run, few):
    sets = [generate("checkpoints", seed, load=0.8, mtbf=50) for seed in (1, 2)]
    ratios = [size_buffer(each, "static").size / size_buffer(each, "dynamic").size for each in sets]
    assert run("P5.table2").summary["ratio"]["0.8"]["50"] == approx(sum(ratios) / 2)


def test_figure_8(run, few):
    summary = run("P5.fig8").summary
    for metric in STRETCHES:
        assert summary[metric] == summary["readings"][P5_WORDS][metric]
        for table in summary["readings"].values():
            assert {load: list(row) for load, row in table[metric].items()} == dict.fromkeys(LOADS, YEARS)
        for load in LOADS:
            for years in YEARS:
                curve = summary[metric][load][years]
                found = summary[f"{metric}_by_strategy"][load][years]
                assert list(curve) == PARTS
                assert curve["0"] > curve["0.5"] > curve["1"] > 1.0 - CLOSE
                for part in PARTS:
                    assert list(found[part]) == [*STRATEGIES, BOUND]
                    assert found[part][G] == curve[part]
                    # Instants closer than 1e-9 of the time are one, so that some end a little early.
                    assert all(found[part][BOUND] <= stretch + CLOSE for stretch in found[part].values())
                assert found["1"]["planned"] == approx(1.0, abs=CLOSE)  # S_opt is enough if one follows the plan
                assert found["0.5"]["fair, all common"] < found["0.5"]["fair, half common"] < found["0.5"][G]
                assert found["0"]["fair, all common"] == approx(found["0"][G])  # nothing to divide
    assert all(0.5 < part <= 3.0 for load in LOADS for part in summary["enough"][load].values())


def test_a_point_of_figure_8_is_the_mean_of_its_sets(run, few):
    sets = [generate("checkpoints", seed, load=0.8, mtbf=50) for seed in (1, 2)]
    found = [buffer(each, 0.5 * size_buffer(each, "static").size, common=0.5) for each in sets]
    mean = run("P5.fig8").summary["max_stretch_by_strategy"]["0.8"]["50"]["0.5"]["fair, half common"]
    assert mean == approx(sum(each.max_stretch for each in found) / 2)


def test_what_is_enough_is_the_first_part_after_which_nothing_is_gained():
    flat = dict.fromkeys(PARTS, 1.1)
    assert p5._enough(flat) == 0.0
    assert p5._enough(flat | {"0": 1.5, "0.5": 1.2}) == 0.75
    assert p5._enough(flat | {"1.5": 1.2}) == 3.0
