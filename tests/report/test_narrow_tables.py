"""Tables with many columns on a terminal of 80 letters, or of 60: columns go, and what is shown is whole."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text

import penstock
from penstock.report.live.history import shadow_lines
from penstock.report.packs.table import packing_lines, packing_table, packings_table
from penstock.report.parts.breakable import Breakable
from penstock.report.parts.fitting_table import Column, FittingTable
from penstock.report.targets.table import allotment_table, allotments_table
from penstock.studies.packs import compare_packings
from penstock.studies.targets import compare_allotments

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def lines_of(table, width):
    console = Console(width=width, file=None, color_system=None)
    with console.capture() as shown:
        console.print(table)
    lines = shown.get().rstrip().splitlines()
    assert all(len(line) <= width for line in lines)
    assert "…" not in shown.get()
    return lines


@pytest.mark.parametrize("width", [80, 60])
def test_allotments_side_by_side_keep_names_and_numbers(width):
    several = compare_allotments(EXAMPLES / "day-and-night-targets.yaml")[:3]
    text = " ".join(" ".join(lines_of(allotments_table(several), width)).split())
    assert "greedy-non-" in text
    assert f"{several[0].mean_io_slowdown:.3f}" in text
    assert "node-hours" in text


def test_targets_of_each_application_fit_into_60_letters():
    text = "\n".join(lines_of(allotment_table(penstock.allocate(EXAMPLES / "day-and-night-targets.yaml")), 60))
    assert "forecast-06" in text
    assert "stretch" in text
    assert "ρ_io" not in text


def coming_and_going(jobs):
    phases = [{"repeat": 10, "phases": [{"compute": 600}, {"write": 1e12}]}]
    document = {
        "version": 1,
        "platform": {"io_nodes": {"count": 3, "bandwidth": 1e10, "nodes": 128}},
        "applications": [{"name": f"job-{i}", "nodes": 64, "release": 900 * i, "phases": phases} for i in range(jobs)],
    }
    return penstock.Scenario.from_document(document)


def test_mappings_of_jobs_that_come_and_go_keep_their_names():
    lines = lines_of(packings_table(compare_packings(coming_and_going(6))), 80)
    assert [line.split("  ")[0] for line in lines[-4:]] == ["first-fit", "S = 1", "S = alpha", "backfill"]


def test_a_long_list_ends_in_how_to_see_all_of_it():
    packing = penstock.pack(coming_and_going(45), mapping="backfill")
    assert packing_lines(packing)[0] == "… and 5 more with a smaller stretch (--all)"
    assert len(packing_table(packing, None).columns[0].cells) == 45
    assert "--all" not in " ".join(packing_lines(packing, None))


def account(sharing):
    jobs = [SimpleNamespace(name=name, yield_=0.5, wait=5.0) for name in ("climate", "ocean")]
    numbers = dict.fromkeys(("min_yield", "mean_yield", "efficiency", "max_wait", "mean_wait", "makespan"), 0.5)
    return SimpleNamespace(sharing=sharing, jobs=jobs, **numbers)


def test_what_policies_would_have_given_each_job_is_a_row_for_each_policy():
    seen = SimpleNamespace(
        jobs=[SimpleNamespace(operations=2)] * 2, resources={"all": 2e7}, policies=["fcfs"], changes=0, elsewhere=0
    )
    seen.unfinished = seen.on_names = 0
    would = [account(name) for name in ("fair-share", "list-shortest-remaining", "hierarchical-round-robin", "a", "b")]
    found: Any = SimpleNamespace(real=account(None), would=would, traffic=seen, left_out=())
    *_, jobs = (each for each in shadow_lines(found) if not isinstance(each, str))
    rows = [line.split() for line in lines_of(jobs, 80)[-12:]]
    assert rows[0] == ["climate", "really", "0.500", "5.00", "s"]
    assert rows[2] == ["list-shortest-remaining", "0.500", "5.00", "s"]
    assert rows[6][0] == "ocean"


def test_a_long_name_without_hyphens_leaves_no_empty_line():
    assert Breakable(Text("a" * 30)).within(12).plain == "a" * 30


def test_columns_of_the_same_worth_go_together():
    pair = [Column(name, [Text("x" * 30)], spare=1) for name in ("gain there", "and there")]
    table = FittingTable("gains", [Column("unknown", [Text("bandwidth")]), *pair])
    assert len(table.within(50).columns) == 1
    assert len(table.within(80).columns) == 3
