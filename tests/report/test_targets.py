from __future__ import annotations

import io
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from penstock.report.plots import save_figure
from penstock.report.targets.plot import allotment_figure, coarse, comparison_figure_of_allotments, stress_matrix
from penstock.report.targets.table import (
    allotment_lines,
    allotment_table,
    allotment_words,
    allotments_lines,
    allotments_table,
    improvement_lines,
    move_lines,
    ranges,
)
from penstock.studies.targets.out_of_service import Move
from penstock.studies.targets.result import Allotment, Striped, TargetUse


def striped(name, targets, share=0.3, rho_io=1.2, rho_con=1.5, **changes):
    given = {
        "name": name,
        "nodes": 16,
        "count": len(targets),
        "targets": tuple(targets),
        "bandwidth": 1e9,
        "stress": share * len(targets),
        "shares": (share,) * len(targets),
        "io_slowdown": None if rho_con is None else rho_io * rho_con,
        "rho_io": rho_io,
        "rho_con": rho_con,
        "io_seconds": 30.0,
        "moved": 5e9,
        "compute_done": 70.0,
        "start": 0.0,
        "completion": None,
        "stretch": None,
        "yield_": 0.8,
        "cut": False,
    }
    return Striped(**(given | changes))


def allotment(applications, names=4, out=(), **changes):
    """A consistent allotment: what is not given follows from the applications and the names of the targets."""
    names = [f"scratch-OST{i:04x}" for i in range(names)] if isinstance(names, int) else names
    stress = [sum(each.stress / each.count for each in applications if i in each.targets) for i in range(len(names))]
    users = [sum(i in each.targets for each in applications) for i in range(len(names))]
    slowdowns = [each.io_slowdown for each in applications if each.io_slowdown is not None]
    serving = [each for i, each in enumerate(stress) if i not in out]
    given = {
        "allocation": "tcpu",
        "placement": "greedy-clairvoyant",
        "sharing": "fair-share",
        "knowledge": "exact",
        "error": 0.0,
        "seed": 0,
        "load": sum(serving) / len(serving),
        "least_load": 0.5 * sum(serving) / len(serving),
        "until": "first",
        "interval": 5400.0,
        "node_hours_lost": 12.0,
        "node_hours_used": 48.0,
        "lost_share": 0.25,
        "worst": applications[0].name,
        "mean_yield": 0.75,
        "p95_stretch": 1.5,
        "unfinished": 0,
        "mean_io_slowdown": sum(slowdowns) / len(slowdowns) if slowdowns else None,
        "machine_idletime": 0.25,
        "imbalance": max(serving) - min(serving),
        "events": 100,
        "seconds": 0.001,
        "applications": tuple(applications),
        "targets": tuple(
            TargetUse(name, None, users[i], stress[i], min(1.0, stress[i]), i not in out)
            for i, name in enumerate(names)
        ),
    }
    return Allotment(**(given | changes))


def random_allotment(rows, columns, seed=0, out=(), **changes):
    rng = np.random.default_rng(seed)
    serving = [i for i in range(columns) if i not in out]
    made = []
    for i in range(rows):
        count = min(int(2 ** rng.integers(0, 4)), len(serving))
        chosen = np.sort(rng.choice(serving, count, replace=False)).tolist()
        share = rng.uniform(0.02, min(0.9, 1.6 * columns / rows / count))
        con = None if i % 17 == 16 else float(1 + rng.exponential(0.6))
        made.append(striped(f"application-{i:02d}", chosen, share, float(1 + rng.exponential(0.3)), con))
    return allotment(made, columns, out, **changes)


def pairs(**values):
    """Three allocations with two placements; `values` go by name of a field, one for each pair."""
    found = [("static", "random"), ("static", "greedy"), ("tcpu", "random"), ("tcpu", "greedy")]
    found += [("mckp", "random"), ("mckp", "greedy")]
    return [
        allotment(
            [striped("a", [0])], allocation=how, placement=where, **{name: own[i] for name, own in values.items()}
        )
        for i, (how, where) in enumerate(found)
    ]


def printed(table, width=120):
    file = io.StringIO()
    Console(width=width, file=file).print(table)
    return file.getvalue()


def styles(table, heading):
    [column] = [column for column in table.columns if column.heading == heading]
    return [cell.style for cell in column.cells]


@pytest.mark.parametrize(
    ("places", "text"),
    [((), ""), ((3,), "3"), ((3, 4), "3,4"), ((0, 1, 2, 3, 7), "0-3,7"), ((1, 3, 5, 6, 7), "1,3,5-7")],
)
def test_ranges(places, text):
    assert ranges(places) == text


def test_a_table_has_every_application_with_its_targets():
    made = allotment([striped("[b]odd", [0, 1, 2, 3], nodes=1600), striped("still", [2], rho_con=None)])
    lines = printed(allotment_table(made)).splitlines()
    assert lines[0].rstrip() == "tcpu with greedy-clairvoyant, fair-share: 2 applications on 4 targets"
    assert lines[-2].split() == ["[b]odd", "1,600", "4", "0-3", "1.200", "1.80", "1.20", "1.50"]
    assert lines[-1].split() == ["still", "16", "1", "2", "0.300", "–", "1.20", "–"]


def test_the_largest_slowdown_stands_out():
    made = allotment([striped("a", [0]), striped("b", [1], rho_con=3.0), striped("c", [2], rho_con=3.0)])
    assert styles(allotment_table(made), "slow-\ndown") == ["", "bold red", "bold red"]
    assert styles(allotment_table(allotment([striped("a", [0])])), "slow-\ndown") == [""]


def test_titles_say_what_policies_were_told():
    told = allotment([striped("a", [0])], knowledge="class", error=0.2, out=(3,))
    end = "fair-share, knowing the class, profiles ± 20.0 %: 1 application on 3 targets"
    assert allotment_words(told) == f"tcpu with greedy-clairvoyant, {end}"
    planned = allotment([striped("a", [0])], allocation="plan", placement="plan")
    assert allotment_words(planned) == "by plan, fair-share: 1 application on 4 targets"


def test_sentences_of_a_calm_allotment():
    made = allotment([striped("a", [0, 1, 2, 3]), striped("b", [0, 1, 2, 3], rho_io=1.0, rho_con=1.0)])
    assert allotment_lines(made) == [
        "Load of the targets 0.600 (how busy they are if none has to wait), 0.300 with the number of targets that "
        "loads them least.",
        "I/O takes 1.40 times as long, on average, as it would alone on the best number of targets: 1.10 times for the "
        "number chosen, the rest for others on the same targets.",
        "25.0 % of the machine's node time until the first application ended (90 min) was not spent computing.",
        "All targets are loaded alike, with a stress of 0.60.",
    ]


def test_sentences_name_what_is_overloaded_and_what_is_out():
    made = allotment([striped("a", [0, 1], 0.9), striped("b", [1, 2], 0.8), striped("c", [1], 0.1)], out=(3,))
    said = " ".join(allotment_lines(made))
    assert "Stress from 0.80 (target scratch-OST0002) to 1.80 (target scratch-OST0001)." in said
    assert "Overloaded, with more I/O than they have time for: scratch-OST0001." in said
    assert "Out of service: scratch-OST0003." in said
    assert "more than the targets can carry" in said


def test_long_lists_are_cut():
    made = allotment([striped("a", range(6), 1.2)], 6)
    assert "scratch-OST0000, scratch-OST0001, scratch-OST0002 and 3 more." in " ".join(allotment_lines(made))


def test_applications_that_moved_nothing_are_told():
    some = allotment([striped("a", [0]), striped("b", [1], rho_con=None)])
    none = allotment([striped("b", [1], rho_con=None)])
    said = "1 application moved nothing before the first one ended, and has no slowdown."
    assert said in allotment_lines(some) and said in allotment_lines(none)
    assert not any("times as long" in line for line in allotment_lines(none))


def test_a_comparison_has_every_pair_and_marks_equals_alike():
    table = allotments_table(pairs(mean_io_slowdown=[2.0, 1.5, 1.5, 3.0, None, None], load=[0.5] * 6))
    assert styles(table, "mean I/O\nslowdown") == ["", "bold green", "bold green", "", "", ""]
    assert styles(table, "load") == [""] * 6  # what is the same for all is no merit
    assert printed(table).splitlines()[-1].split()[:4] == ["mckp", "greedy", "0.500", "–"]


def test_sentences_of_a_comparison():
    made = pairs(
        mean_io_slowdown=[2.0, 1.5, 1.5, 3.0, 4.0, 4.0],
        machine_idletime=[0.2, 0.3, 0.3, 0.1, 0.4, 0.4],
        imbalance=[0.1] * 6,
    )
    assert allotments_lines(made) == [
        "Lowest mean I/O slowdown: static with greedy and tcpu with random (1.500); "
        "the highest: mckp with any placement (4.000).",
        "Least machine idle time: tcpu with greedy (10.0 %); the highest: mckp with any placement (40.0 %).",
        "Most even targets: all the same, 0.100.",
        "The lowest slowdown costs 20.0 % of the machine in idle time.",
    ]
    assert not any("costs" in line for line in allotments_lines(pairs(mean_io_slowdown=[1.0] * 6)))


def test_moves_are_told_by_application():
    moves = [Move("a", "x", "y"), Move("a", "z", None), Move("b", "x", "w"), Move("a", "v", None)]
    assert move_lines(moves) == [
        "2 moves to other targets, and 2 targets are given up:",
        "  a: x → y, gives up z, v",
        "  b: x → w",
    ]
    assert move_lines([]) == ["Nobody has to move."]
    many = move_lines([Move(f"a{i}", "x", "y") for i in range(50)])
    assert (many[0], len(many)) == ("50 moves to other targets:", 42)
    assert many[-1] == "  and 10 more applications; --json lists all"


def test_what_a_search_changed():
    start = allotment([striped("a", [0])])
    assert improvement_lines(start, start) == []
    [same] = improvement_lines(start, allotment([striped("a", [0])]))
    assert same.startswith("The search found nothing better")
    [better] = improvement_lines(start, allotment([striped("a", [0], rho_con=1.0)]))
    assert "from a mean slowdown of 1.800" in better and "to a mean slowdown of 1.200" in better


def labels(axes, axis):
    return [tick.get_text() for tick in getattr(axes, f"get_{axis}ticklabels")()]


def test_the_figure_shows_stress_totals_and_both_parts_of_the_slowdown():
    made = allotment([striped("a", [0, 1], 0.9, 1.5, 2.0), striped("b$", [1, 3], 0.3, 1.0, 1.2)], out=(2,))
    axes: list[Any] = allotment_figure(made).axes
    above, _, matrix, beside = axes[:4]
    cells = matrix.collections[0].get_array()
    assert np.ma.filled(cells, -1).tolist() == [[0.9, 0.9, -1, -1], [-1, 0.3, -1, 0.3]]
    assert labels(matrix, "y") == ["a", r"b\$"]
    assert labels(matrix, "x")[1] == "scratch-OST0001"
    heights = [bar.get_height() for bar in above.patches[:8]]
    assert heights == pytest.approx([0.9, 1.0, 0, 0.3, 0, 0.2, 0, 0])
    ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in beside.patches]
    assert np.array(ends) == pytest.approx(np.array([(1, 1.5), (1, 1), (1.5, 3), (1, 1.2)]))
    assert beside.get_xscale() == "log" and "add up" in beside.get_xlabel()
    assert [text.get_text() for text in beside.texts] == ["3.00", "1.20"]
    assert all(any(patch.get_hatch() == "xxxx" for patch in axes.patches) for axes in (above, matrix))


def test_lengths_on_the_log_axis_add_up():
    beside: Any = allotment_figure(allotment([striped("a", [0], 0.5, 1.5, 2.0)])).axes[3]
    pixels = [
        np.ptp(beside.transData.transform([(bar.get_x(), 0), (bar.get_x() + bar.get_width(), 0)])[:, 0])
        for bar in beside.patches
    ]
    assert pixels[0] / sum(pixels) == pytest.approx(math.log(1.5) / math.log(3.0))


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (2, 2), (60, 60)])
def test_up_to_sixty_all_are_named(rows, columns):
    matrix = allotment_figure(random_allotment(rows, columns)).axes[2]
    assert len(labels(matrix, "x")) == columns and len(labels(matrix, "y")) == rows


def test_names_of_neighbours_do_not_overlap():
    figure = allotment_figure(random_allotment(60, 60))
    figure.draw_without_rendering()
    matrix = figure.axes[2]
    for ticks in (matrix.get_xticklabels(), matrix.get_yticklabels()):
        boxes = [tick.get_window_extent() for tick in ticks]
        assert not any(one.overlaps(other) for one, other in pairwise(boxes))


def test_a_thousand_by_a_thousand_is_an_image_without_names(tmp_path):
    figure = allotment_figure(random_allotment(1000, 1000, out=(5,)))
    above, _, matrix, _ = figure.axes[:4]
    assert len(matrix.images) == 1 and matrix.images[0].get_array().shape == (334, 334)
    assert len(above.patches) == 3  # both parts of the bars, and the one that is out
    save_figure(figure, tmp_path / "many.svg")
    assert (tmp_path / "many.svg").stat().st_size < 2_000_000


def test_a_coarse_matrix_loses_no_cell():
    matrix = np.full((7, 5), np.nan)
    matrix[6, 4], matrix[0, 0], matrix[1, 1] = 0.1, 0.3, 0.2
    assert np.nan_to_num(coarse(matrix, 3), nan=-1).tolist() == [[0.3, -1, -1], [-1, -1, -1], [-1, -1, 0.1]]
    assert coarse(matrix, 7) is matrix


def test_the_matrix_holds_the_stress_on_each_target():
    made = random_allotment(12, 9)
    assert np.nansum(stress_matrix(made), axis=0) == pytest.approx([target.stress for target in made.targets])


def test_an_application_without_slowdown_has_no_bar():
    beside: Any = allotment_figure(allotment([striped("a", [0]), striped("b", [1], rho_con=None)])).axes[3]
    assert beside.texts[1].get_text() == "moved nothing"
    assert [bar.get_width() for bar in beside.patches][1::2] == [0.0, 0.0]


def test_the_comparison_has_a_dot_for_every_pair_and_a_row_for_every_allocation():
    made = pairs(mean_io_slowdown=[2.0, 1.5, 1.5, 3.0, None, None], machine_idletime=[0.2, 0.3, 0.3, 0.1, 0.4, 0.4])
    figure = comparison_figure_of_allotments(made)
    left, right = figure.axes
    assert labels(left, "y") == ["static", "tcpu", "mckp"]
    dots: list[list[Any]] = [[line for line in axes.lines if line.get_linestyle() == "None"] for axes in (left, right)]
    assert [line.get_xdata()[0] for line in dots[0]] == [2.0, 1.5, 1.5, 3.0]
    assert len({(line.get_xdata()[0], line.get_ydata()[0]) for line in dots[1]}) == 6
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["placement random", "placement greedy"]


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_same_figure_gives_the_same_bytes(tmp_path, suffix):
    for name in ("one", "two"):
        save_figure(allotment_figure(random_allotment(5, 4, out=(1,))), tmp_path / f"{name}.{suffix}")
    assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()


def test_lines_about_whole_lives():
    lives = [
        striped("heat", [0, 1], start=3600.0, completion=7200.0, stretch=1.25),
        striped("gone", [1], share=0.9, cut=True, yield_=0.2),
        striped("late", [2], share=0.1, start=9000.0),
    ]
    found = allotment(lives, 4, until="all", worst="gone", unfinished=2, interval=7200.0)
    said = " ".join(allotment_lines(found))
    assert "Highest load of the targets" in said
    assert "12.0 of 48.0 node-hours (25.0 %); gone fared worst, with a yield of 0.200." in said
    assert "Cut off by their walltime, all their time lost: gone." in said
    assert "Not finished at the end of the window: 1 application." in said
    assert "of the machine's node time in 2 h was not spent computing." in said
    assert "each when it is most." in said and "Overloaded at times" in said
    assert "first" not in said
    rows = printed(allotment_table(found))
    assert "start" in rows and "1.25" in rows and "cut off" in rows
    assert "cut off" not in printed(allotment_table(allotment(lives)))


def test_a_comparison_of_whole_lives_shows_what_is_lost():
    lost = [30.0, 20.0, 10.0, 10.0, 40.0, 50.0]
    compared = pairs(until=["all"] * 6, node_hours_lost=lost)
    assert styles(allotments_table(compared), "node-hours\nlost") == ["", "", "bold green", "bold green", "", ""]
    assert any(
        line.startswith("Fewest node-hours lost: tcpu with any placement (10.0)") for line in allotments_lines(compared)
    )
    right = comparison_figure_of_allotments(compared).axes[1]
    assert right.get_xlabel() == "node-hours lost"
    assert "node-hours" not in printed(allotments_table(pairs(node_hours_lost=lost)))
