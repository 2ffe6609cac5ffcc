"""Files of records: what is torn, what is damaged, what is of another version."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from penstock.live.journal.errors import JournalDamaged, JournalError
from penstock.live.journal.segment import (
    MAGIC,
    Header,
    SegmentContents,
    SnapshotHeader,
    load,
    load_snapshot,
    opening,
    pack,
    snapshot_bytes,
)

HEADER = Header(epoch=3, first=1, boot_id="b", offset=0.0, wall=0.0, time=1.0, boot=1.0, warm=True)
RECORDS = [bytes([number]) * (20 + number) for number in range(5)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "00000003-000000000001.pj"
    path.write_bytes(opening(HEADER) + b"".join(pack(record) for record in RECORDS))
    return path


def loaded(path: Path) -> SegmentContents:
    contents = load(path)
    assert contents is not None
    return contents


def test_a_segment_reads_back(file: Path) -> None:
    contents = loaded(file)
    assert (contents.header, contents.records) == (HEADER, RECORDS)
    assert not contents.torn and not contents.damaged


def test_a_packed_segment_reads_back(file: Path) -> None:
    packed = file.with_name(f"{file.name}.gz")
    packed.write_bytes(gzip.compress(file.read_bytes()))
    assert loaded(packed).records == RECORDS
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(JournalDamaged, match="unpacked"):
        load(packed)


def test_every_cut_is_torn_and_keeps_all_records_before_it(file: Path) -> None:
    whole, start = file.read_bytes(), len(opening(HEADER))
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        if length < start:
            assert load(file) is None
            continue
        contents = loaded(file)
        assert contents.records == RECORDS[: len(contents.records)]
        assert contents.intact == start + sum(8 + len(record) for record in contents.records) <= length
        assert not contents.damaged
        assert contents.torn == (contents.intact < length)


def test_every_flipped_byte_of_the_middle_is_damage(file: Path) -> None:
    whole, start = bytearray(file.read_bytes()), len(opening(HEADER))
    last = len(whole) - 8 - len(RECORDS[-1])
    for place in range(start, last):
        flipped = whole.copy()
        flipped[place] ^= 0x41
        file.write_bytes(flipped)
        contents = loaded(file)
        assert contents.damaged, place
        assert contents.intact <= place
        assert contents.records == RECORDS[: len(contents.records)]


def test_a_damaged_header_is_refused(file: Path) -> None:
    whole = bytearray(file.read_bytes())
    whole[len(MAGIC) + 4 + 12] ^= 1
    file.write_bytes(whole)
    with pytest.raises(JournalDamaged, match=r"header is damaged; `penstock serve --grace`"):
        load(file)


def test_a_newer_version_is_refused_whatever_follows(file: Path) -> None:
    file.write_bytes(MAGIC + (2).to_bytes(4, "big") + b"something else")
    with pytest.raises(JournalError, match=r"newer penstock \(journal version 2; this one reads up to 1\)"):
        load(file)


def test_something_else_is_refused(file: Path) -> None:
    file.write_bytes(b"#!/bin/sh\n")
    with pytest.raises(JournalDamaged, match="does not begin as a file of a journal"):
        load(file)


def test_a_file_of_zeros_as_a_crash_leaves_it_is_empty(file: Path) -> None:
    file.write_bytes(b"\0" * 4096)
    assert load(file) is None


def test_a_snapshot_reads_back_or_not_at_all(tmp_path: Path) -> None:
    header, path = SnapshotHeader(7, 1.5, 3), tmp_path / "7.snap"
    whole = snapshot_bytes(header, b"state" * 100)
    path.write_bytes(whole)
    assert load_snapshot(path) == (header, b"state" * 100)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert load_snapshot(path) is None
    for place in range(len(b"penstock snapshot\n") + 4, len(whole)):
        flipped = bytearray(whole)
        flipped[place] ^= 1
        path.write_bytes(flipped)
        assert load_snapshot(path) is None
