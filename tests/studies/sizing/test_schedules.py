"""Schedules that keep every rule, by our own judge and by the reference; and broken ones that are caught."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from penstock import generate
from penstock.errors import InvalidOption
from penstock.studies.sizing import BufferSchedule, size_buffer, verify
from penstock.studies.sizing.replay import RULES
from penstock.studies.sizing.schedule_file import load_schedule, save_schedule
from reference import buffers
from strategies import buffer_documents
from studies.sizing.plans import ONE_EACH, TOGETHER, Document, app, document, for_reference, sized, volume

FEW = settings(max_examples=20)
SHARED = st.sampled_from(["static", "dynamic"])


@FEW
@given(buffer_documents(), SHARED)
def test_schedules_keep_every_rule(plain: Document, partition: str) -> None:
    found = sized(plain, partition)
    traffic, schedule = found.traffic, found.schedule
    assert verify(schedule, traffic, found.size, found.shares) == []
    sizes = {"partition": partition, "size": found.size, "shares": found.shares or {}}
    assert buffers.verify(plain, for_reference(schedule, traffic), sizes) == []
    assert (schedule.amount > 0.0).all()
    moved = [schedule.amount[schedule.reading == way].sum() for way in (False, True)]
    assert moved == pytest.approx([traffic.volume[traffic.reading == way].sum() for way in (False, True)])


@pytest.mark.parametrize(
    ("mtbf", "load", "seed", "end"),
    [(25, 0.8, 26, "compute"), (25, 0.2, 25, "compute"), (10, 0.2, 29, "compute"), (5, 0.2, 7, "write")],
)
def test_shares_that_many_cuts_force_keep_every_rule(mtbf: float, load: float, seed: int, end: str) -> None:
    """Least squares by non-negative duals alone missed cuts in the first three, by up to three times the size.

    In the last one the cuts leave a single point, which an interior point method did not find.
    """
    scenario = generate("checkpoints", seed, mtbf=mtbf, load=load, walltime="literature", end=end)
    found = size_buffer(scenario, "static")
    assert verify(found.schedule, found.traffic, found.size, found.shares) == []


@FEW
@given(
    buffer_documents(kinds=("compute", "write"), most=4, exact=False)
    | buffer_documents(kinds=("compute", "read"), most=4)
)
def test_schedules_by_earliest_deadline_keep_every_rule(plain: Document) -> None:
    found = sized(plain, "static")
    assert verify(found.schedule, found.traffic, found.size, found.shares) == []


@FEW
@given(buffer_documents(), SHARED)
def test_a_smaller_buffer_is_too_small(plain: Document, partition: str) -> None:
    found = sized(plain, partition)
    assume(found.size > 1e-3 * volume(plain))
    broken = verify(found.schedule, found.traffic, 0.99 * found.size, found.shares)
    assert "size" in {violation.rule for violation in broken}


@FEW
@given(buffer_documents(), SHARED, st.data())
def test_mutated_schedules_are_caught(plain: Document, partition: str, data: st.DataObject) -> None:
    """One row is dropped, doubled, made negative or given to another direction: bytes no longer add up."""
    found = sized(plain, partition)
    schedule = found.schedule
    large = np.flatnonzero(schedule.amount > 1e-3 * volume(plain))
    assume(large.size)
    row = data.draw(st.sampled_from(large.tolist()))
    change = data.draw(st.sampled_from(["dropped", "doubled", "negative", "turned"]))
    factor = {"dropped": 0.0, "doubled": 2.0, "negative": -1.0, "turned": 1.0}[change]
    amount, reading = schedule.amount.copy(), schedule.reading.copy()
    amount[row] *= factor
    if change == "turned":
        reading[row] = not reading[row]
    assert verify(replace(schedule, amount=amount, reading=reading), found.traffic, found.size, found.shares)


def table(*rows: tuple[str, float, float, float]) -> BufferSchedule:
    """Rows of direction, start, end and bytes of one application."""
    ways, start, end, amount = zip(*rows, strict=True)
    owner = np.zeros(len(rows), np.int64)
    reading = np.array([way == "read" for way in ways])
    return BufferSchedule(("a",), owner, reading, np.array(start, float), np.array(end, float), np.array(amount, float))


READS = document(ONE_EACH, app("a", ("compute", 1), ("read", 4), ("compute", 1), bandwidth=4))
GOOD = (("read", -np.inf, 0, 2), ("read", 0, 1, 1), ("read", 1, 2, 1))


@pytest.mark.parametrize(
    ("rows", "rules"),
    [
        (GOOD, []),
        ((("read", -np.inf, 0, 2), ("read", 0, 0.5, 0.5), ("read", 0.5, 2, 1.5)), []),
        (GOOD[1:], ["late"]),
        (GOOD[:2], ["late"]),
        ((*GOOD, ("read", 2, 3, 1)), ["fetched"]),
        ((GOOD[0], ("read", 0, 1, 2)), ["read limit", "share"]),
        ((("read", -np.inf, 0, 4),), ["share"]),
        ((*GOOD, ("write", 0, 1, 1)), ["sent"]),
        ((*GOOD, ("read", 2, 3, -1)), ["late", "negative"]),
    ],
)
def test_what_is_broken_has_a_name(rows: tuple[tuple[str, float, float, float], ...], rules: list[str]) -> None:
    found = sized(READS, "static")
    assert found.shares == pytest.approx({"a": 3})
    broken = verify(table(*rows), found.traffic, 4.0, found.shares)
    assert sorted({violation.rule for violation in broken}) == rules
    assert all(violation.rule in RULES for violation in broken)


def test_all_that_is_written_must_leave() -> None:
    found = sized(document(ONE_EACH, app("a", ("write", 4), bandwidth=4)), "dynamic")
    whole = table(("write", 0, 1, 1), ("write", 1, np.inf, 3))
    assert verify(whole, found.traffic, found.size) == []
    [violation] = verify(table(("write", 0, 1, 1)), found.traffic, found.size)
    assert (violation.rule, violation.application, violation.excess) == ("left", "a", pytest.approx(3))


def test_the_joint_limit_is_looked_at() -> None:
    found = sized(document(TOGETHER, app("a", ("write", 1), ("read", 1), bandwidth=1)), "dynamic")
    broken = verify(table(("write", 0, 1, 1), ("read", 0, 1, 1)), found.traffic, 5.0)
    assert [violation.rule for violation in broken] == ["joint limit"]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_bring_schedules_back(tmp_path: Path, suffix: str) -> None:
    jobs = [app(name, ("read", 3), ("compute", 1), ("write", 7), bandwidth=4, release=i) for i, name in enumerate("ab")]
    found = sized(document(TOGETHER, *jobs), "static")
    file = tmp_path / f"plan.{suffix}"
    save_schedule(file, found.schedule)
    again = load_schedule(file, found.traffic.names)
    for name in ("application", "reading", "start", "end", "amount"):
        assert np.array_equal(getattr(again, name), getattr(found.schedule, name))


HEADING = "application,direction,start,end,bytes\n"
BAD = [
    ("", "has no column 'application'; a schedule is what `penstock size-buffer --schedule` writes"),
    ("application,start\na,1\n", "has no column 'direction'"),
    (f"{HEADING}a,write,0,1\n", "row 1 has 4 cells; the heading has 5"),
    (f"{HEADING}a,write,0,1,1\nx,write,0,1,1\n", "row 2: application is 'x'; the scenario has none of that name"),
    (f"{HEADING}a,both,0,1,1\n", "row 1: direction is 'both'; accepted: read, write"),
    (f"{HEADING}a,write,0,soon,1\n", "row 1: end is 'soon'; expected a number"),
    (f"{HEADING}a,write,0,1,\n", "row 1: bytes is ''; expected a number"),
    (f"{HEADING}a,write,0,1,nan\n", "row 1: bytes is 'nan'; expected a number"),
    (f"{HEADING}a,write,2,1,1\n", "row 1: end is 1, but start is 2; the end is later"),
]


@pytest.mark.parametrize(("text", "words"), BAD, ids=[row[1] for row in BAD])
def test_files_that_are_no_schedules(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "plan.csv"
    file.write_text(text)
    with pytest.raises(InvalidOption) as refused:
        load_schedule(file, ("a",))
    assert str(refused.value).startswith(f"{file}: ") and words in str(refused.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "odd.csv").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "odd.parquet").write_bytes(b"no table")
    for name, words in {
        "none.csv": "no such file; a schedule is",
        "none.parquet": "no such file; a schedule is",
        "odd.csv": "is not text in UTF-8",
        "odd.parquet": "Parquet",
        "odd.txt": "a schedule is written as .csv or .parquet",
    }.items():
        with pytest.raises(InvalidOption, match=words):
            load_schedule(tmp_path / name, ("a",))


def test_small_applications_are_not_excused_by_large_ones() -> None:
    large = app("large", ("compute", 1.0), ("write", 1e15), bandwidth=1e12)
    small = app("small", ("compute", 1.0), ("write", 5e7), bandwidth=1e8)
    found = sized(document({"bandwidth": 1e11}, large, small), "static")
    schedule, kept = found.schedule, found.schedule.application == 0
    columns = {name: getattr(schedule, name)[kept] for name in ("application", "reading", "start", "end", "amount")}
    broken = verify(replace(schedule, **columns), found.traffic, found.size, found.shares)
    assert ("left", "small") in {(each.rule, each.application) for each in broken}
