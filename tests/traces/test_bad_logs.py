"""Damaged logs: named, counted, one sentence each; never a crash of the library, never half a scenario."""

from __future__ import annotations

import random
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from penstock.errors import InvalidOption
from penstock.traces import Options, import_darshan
from penstock.traces.darshan import reading
from penstock.traces.darshan.errors import BadLog
from penstock.traces.darshan.log import read_log


@pytest.fixture
def good(logs: Path) -> Path:
    return logs / "runtime_and_dxt_heatmaps_diagonal_write_only.darshan"


def refusal(file: Path) -> str:
    with pytest.raises(BadLog) as caught:
        read_log(file)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_files_that_are_no_logs(good: Path, tmp_path: Path) -> None:
    def written(name: str, content: bytes) -> Path:
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    assert refusal(written("empty.darshan", b"")) == "is empty (0 bytes)"
    assert "no Darshan log" in refusal(written("text.darshan", b"hello, this is no log at all\n" * 50))
    assert refusal(tmp_path) == "is a directory"
    assert refusal(tmp_path / "none.darshan") == "is not there"
    newer = b"4.00\0\0\0\0" + good.read_bytes()[8:]
    assert "has format 4.00; newer than" in refusal(written("newer.darshan", newer))
    older = b"2.05\0\0\0\0" + good.read_bytes()[8:]
    assert "has format 2.05; not among" in refusal(written("older.darshan", older))
    magic = good.read_bytes()[:8] + struct.pack("<q", 1) + good.read_bytes()[16:]
    assert "magic number" in refusal(written("magic.darshan", magic))


def test_a_log_that_is_cut_off_anywhere_is_refused(good: Path, tmp_path: Path) -> None:
    content = good.read_bytes()
    for size in range(1, len(content), 97):
        file = tmp_path / "cut.darshan"
        file.write_bytes(content[:size])
        refusal(file)
    (tmp_path / "cut.darshan").write_bytes(content[:-1])
    assert refusal(tmp_path / "cut.darshan") == f"is cut off: it has {len(content) - 1:,} bytes of {len(content):,}"


def test_damage_never_ends_the_process(good: Path, tmp_path: Path) -> None:
    """The library asserts, so what it is given is looked at before. In a process of its own: it would end ours."""
    rng = random.Random(5)
    for number in range(60):
        content = bytearray(good.read_bytes())
        for _ in range(rng.choice([1, 4, 30])):
            content[rng.randrange(len(content) if number % 2 else 360)] = rng.randrange(256)
        (tmp_path / f"{number}.darshan").write_bytes(content)
    code = (
        "import sys\nfrom penstock.traces.darshan.reading import read_logs\n"
        "logs, skipped = read_logs([sys.argv[1]])\nprint(len(logs) + len(skipped))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "60"), done.stderr[-500:]


def test_three_bad_ones_among_many_are_named(good: Path, tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"{number:03}.darshan").write_bytes(good.read_bytes())
    for name in ("007", "100", "150"):
        (tmp_path / f"{name}.darshan").write_bytes(good.read_bytes()[:5000])
    found = import_darshan(tmp_path)
    assert [Path(each.file).stem for each in found.skipped] == ["007", "100", "150"]
    assert all("cut off" in each.why for each in found.skipped)
    assert found.applications[0].job.logs == 197
    with pytest.raises(InvalidOption, match=r"007\.darshan: is cut off.*, and 2 more; without --strict"):
        import_darshan(tmp_path, Options(strict=True))


def test_all_bad_says_why(tmp_path: Path, logs: Path) -> None:
    (tmp_path / "a.darshan").write_bytes(b"")
    with pytest.raises(InvalidOption, match=r"no job was found in .*is empty"):
        import_darshan(tmp_path)
    (tmp_path / "b").mkdir()
    with pytest.raises(InvalidOption, match=r"has no files that end in \.darshan"):
        import_darshan(tmp_path / "b")
    with pytest.raises(InvalidOption, match="no such file"):
        import_darshan(tmp_path / "c.darshan")


def changed(monkeypatch: pytest.MonkeyPatch, **columns: object) -> None:
    """Logs are read with other counters of POSIX, and neither DXT nor a heat map."""

    def read(file: Path) -> object:
        log = read_log(file)
        table = log.counters["POSIX"]._replace(**columns)  # type: ignore[arg-type]
        return replace(log, counters={"POSIX": table}, segments={}, heat_map=None)

    monkeypatch.setattr(reading, "read_log", read)


def test_records_with_negative_or_absurd_counters_are_left_out(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = read_log(good).counters["POSIX"]
    written = table.written.copy()
    before = written.sum()
    taken = written[:2].sum()
    written[0], written[1] = -5.0, 1e19
    changed(monkeypatch, written=written)
    (told,) = import_darshan(good).applications
    assert told.job.written == before - taken
    assert "2 records with negative or absurd counters left out" in told.job.flags


def test_clocks_that_run_backwards_place_bytes_anywhere(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = read_log(good).counters["POSIX"]
    changed(monkeypatch, write_from=table.write_to + 1.0, write_to=table.write_from)
    (told,) = import_darshan(good).applications
    assert told.job.quality == "D"
    assert told.job.pieces.bound == pytest.approx(told.job.seconds / 2.0)
    assert any("without usable times" in flag for flag in told.job.flags)


def test_a_partial_dxt_is_not_used(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def read(file: Path) -> object:
        log = read_log(file)
        seen = log.segments["POSIX"]
        half = np.arange(len(seen.file)) % 2 == 0
        return replace(log, segments={"POSIX": type(seen)._make(column[half] for column in seen)}, heat_map=None)

    monkeypatch.setattr(reading, "read_log", read)
    (told,) = import_darshan(good).applications
    assert told.job.source == "counters"
    assert "DXT is not used: it has 50.0% of what POSIX moved" in told.job.flags


def test_the_library_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from penstock.traces.darshan import library  # noqa: PLC0415

    monkeypatch.setattr(library, "find_spec", lambda name: None)
    library.library.cache_clear()
    try:
        with pytest.raises(InvalidOption, match=r"install penstock\[traces\]"):
            import_darshan(tmp_path)
    finally:
        library.library.cache_clear()


def test_neither_pandas_nor_pydarshan_is_imported(good: Path) -> None:
    code = (
        "import sys\nfrom penstock.traces import import_darshan\nimport_darshan(sys.argv[1])\n"
        "print([name for name in ('pandas', 'darshan', 'matplotlib', 'pyarrow') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, str(good)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
