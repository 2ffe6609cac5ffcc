"""What operators see, on terminals of any width: names and rates stay, and no number is cut."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from penstock.lookback.explain import HeldBack, Holder, Limited
from penstock.report.live.history import limited_lines
from penstock.report.live.table import ResourceLine, jobs_table, mode_words
from penstock.report.parts.fitting_table import Column, FittingTable, cells
from penstock.report.parts.quantities import duration


def shown(width: int, *things: Any) -> list[str]:
    console = Console(width=width, file=io.StringIO(), record=True)
    for each in things:
        console.print(each, highlight=False)
    return console.export_text().splitlines()


def job(name: str, **fields: Any) -> dict[str, Any]:
    usual = {"uid": 0, "active": True, "stages": {"posted": 1}, "direction": "write", "volume": 999.9e9}
    numbers = {
        "done": 876.5e9,
        "remaining": 123.4e9,
        "usable": None,
        "rate": 123.4e6,
        "limit": 999.9e6,
        "waited": 5432.1,
        "lease": 7.123,
    }
    return {"job": name, **usual, **numbers, **fields}


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120])
def test_jobs_are_named_with_their_rates_whatever_the_width(width):
    lines = shown(width, jobs_table([job("climate"), job("fusion", rate=0.0)]))
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)
    climate, fusion = lines[-2:]
    assert climate.startswith("climate") and "moving" in climate and "123.4 MB/s" in climate
    assert fusion.startswith("fusion") and "waiting" in fusion and "0 B/s" in fusion


def test_a_wide_terminal_shows_everything():
    headings = shown(120, jobs_table([job("climate")]))[0].split()
    assert headings == ["job", "user", "state", "direction", "volume", "done", "rate", "limit", "waited", "lease"]
    assert "lease" not in shown(80, jobs_table([job("climate")]))[0]


def test_what_is_done_is_what_was_measured_not_what_policies_reckon_with():
    (row,) = shown(120, jobs_table([job("climate", volume=1e9, done=0.0, remaining=924e6)]))[2:]
    assert "0 B" in row and "0.0 %" in row and "76 MB" not in row


def test_a_long_name_is_folded_and_costs_no_column():
    name = "long-name-" * 8
    lines = shown(120, jobs_table([job(name)]))
    assert "lease" in lines[0]
    assert "".join(line.split()[0] for line in lines[2:]) == name


@pytest.mark.parametrize("width", [60, 80, 110])
def test_who_was_limited_by_whom(width):
    by = tuple(Holder(f"job-{number}", number, 1e9, 1 / 3) for number in range(3))
    held = HeldBack("climate", 0, 12_345, 7000.0, 123.4e9, 6543.2, held_by=by)
    tables = [each for each in limited_lines(Limited(3600.0, "", (held,), (held,))) if isinstance(each, FittingTable)]
    lines = shown(width, *tables)
    assert max(map(len, lines)) <= width
    assert any(line.startswith("climate") and duration(6543.2) in line for line in lines)
    assert len(lines) < 16  # not a letter to a line


@pytest.mark.parametrize(("width", "bar"), [(120, 30), (80, 15), (60, 0)])
def test_a_resource_has_as_much_bar_as_fits(width, bar):
    line = ResourceLine("all", {"capacity": 60e6, "charged": 60e6, "granted": 60e6}).within(width)
    assert line.count("█") == bar
    assert line.endswith("60 MB/s of 60 MB/s charged (100.0 %), 60 MB/s granted")


def test_columns_go_in_their_order():
    words = zip("abc", (2, 0, 1), strict=True)
    table = FittingTable("", [Column(word, cells(["x" * 8]), spare) for word, spare in words])
    kept = {width: [column.header for column in table.within(width).columns] for width in (40, 25, 15, 3)}
    assert kept == {40: ["a", "b", "c"], 25: ["a", "b"], 15: ["b"], 3: ["b"]}


def test_modes_are_named_as_they_are_chosen():
    words = [mode_words({"mode": mode, "settling": 0}) for mode in ("run", "paused", "monitor", "grace")]
    assert words == ["mode enforce", "mode pause", "mode monitor", "mode grace"]
