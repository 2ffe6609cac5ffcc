"""Files that are not what they should be, and writes that fail half-way."""

import os
import time
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.errors import InvalidScenario, PenstockError
from penstock.model import Scenario, Trace, load, save

DOCUMENT = {
    "version": 1,
    "platform": {"bandwidth": 1},
    "applications": [{"name": "a", "phases": [{"compute": 1}]}, {"name": "b", "phases": [{"write": 1}]}],
}


def message_of(path):
    with pytest.raises(InvalidScenario) as caught:
        load(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_missing_directory_and_odd_endings(tmp_path):
    assert message_of(tmp_path / "no.yaml") == f"{tmp_path}/no.yaml: no such file"
    assert "is a directory; expected a scenario file (.yaml, .yml, .json)" in message_of(tmp_path)
    (tmp_path / "jobs.txt").write_text("version: 1")
    assert "cannot tell the format by its name; it must end in .yaml, .yml, .json" in message_of(tmp_path / "jobs.txt")
    assert "cannot be read" in message_of(tmp_path / "a\0b.yaml")


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "jobs.yaml")
    assert "is not a regular file" in message_of(tmp_path / "jobs.yaml")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty; expected a scenario"),
        (b"  \n", "is empty; expected a scenario"),
        (b"\xff\xfe\x00v", "is not text in UTF-8"),
        (b"version: \xff", "is not text in UTF-8"),
        (b"version: 1 " + b"#" * 9000 + b"\xff", "is not text in UTF-8 (byte 9011)"),
        (b"\x7fELF\x00\x00", "is not text in UTF-8 (byte 4 is zero)"),
        (b"PAR1\x00", "is a Parquet file; name it as 'trace' in a YAML or JSON document"),
    ],
)
def test_not_text(tmp_path, content, words):
    path = tmp_path / "jobs.yaml"
    path.write_bytes(content)
    assert words in message_of(path)


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (b"", "is not text in UTF-8"),
        (b"\x9c\x12", "is not text"),
        (b"#" * 5000, "has 2,000,000,000 bytes; at most 256 MB"),
    ],
)
def test_two_gigabytes_of_garbage_are_refused_at_a_glance(tmp_path, start, words):
    path = tmp_path / "jobs.yaml"
    with path.open("wb") as stream:
        stream.write(start)
        stream.truncate(2_000_000_000)  # sparse: takes no room on the disk
    started = time.thread_time()
    assert words in message_of(path)
    assert time.thread_time() - started < 1


def test_a_character_cut_at_the_first_look_is_no_error(tmp_path):
    path = tmp_path / "jobs.json"
    save(Scenario.from_document(DOCUMENT), path)
    for pad in range(4):
        padded = tmp_path / "padded.yaml"
        padded.write_text("#" + "x" * pad + "€" * 3000 + "\n" + path.read_text())
        assert load(padded) == load(path)


def test_a_byte_order_mark_is_skipped(tmp_path):
    path = tmp_path / "jobs.json"
    save(Scenario.from_document(DOCUMENT), path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load(path) == Scenario.from_document(DOCUMENT)


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable(tmp_path):
    path = tmp_path / "jobs.yaml"
    path.write_text("version: 1")
    path.chmod(0)
    assert "cannot be read: Permission denied" in message_of(path)


def traced(tmp_path, document="a", trace="jobs.parquet", **columns):
    """A document whose applications `document` (names) have no phases, with a Parquet file beside it."""
    names = "".join(f"  - name: {name}\n" for name in document)
    path = tmp_path / "jobs.yaml"
    path.write_text(f"version: 1\nplatform: {{bandwidth: 1}}\ntrace: {trace}\napplications:\n{names}")
    if columns:
        pq.write_table(pa.table(columns), tmp_path / "jobs.parquet")
    return path


def test_interleaved_rows_keep_their_order(tmp_path):
    path = traced(
        tmp_path,
        "ba",
        application=["a", "b", "a", "b", "a"],
        kind=["compute", "write", "read", "compute", "write"],
        amount=[1, 2, 3, 4, 5],
    )
    b, a = load(path).applications
    assert a.phases == Trace([0, 1, 2], [1, 3, 5])
    assert b.phases == Trace([2, 0], [2, 4])


def test_dictionaries_that_differ_by_row_group(tmp_path):
    path = traced(tmp_path, "ab")
    parts = [
        pa.table({"application": pa.array(names).dictionary_encode(), "kind": kinds, "amount": [1.0, 2.0]})
        for names, kinds in ((["a", "b"], ["write", "read"]), (["b", "a"], ["read", "compute"]))
    ]
    with pq.ParquetWriter(tmp_path / "jobs.parquet", parts[0].schema) as writer:
        for part in parts:
            writer.write_table(part)
    a, b = load(path).applications
    assert a.phases == Trace([2, 0], [1, 2])
    assert b.phases == Trace([1, 1], [2, 1])


ROW: dict[str, list[Any]] = {"application": ["a", "a"], "kind": ["compute", "write"], "amount": [1.0, 2.0]}

EMPTY = pa.array([], pa.string())
BAD_TRACES = [
    (ROW | {"application": ["a", "z"]}, "jobs.parquet: has phases of 'z', an application that"),
    (ROW | {"kind": ["compute", "sleep"]}, "row 1: kind is 'sleep'; a kind is one of compute, read, write"),
    (ROW | {"amount": [1.0, -2.0]}, "row 1: amount is -2; a volume is a number ≥ 0"),
    (ROW | {"amount": [float("nan"), 2.0]}, "row 0: amount is nan; a time is a number ≥ 0"),
    (ROW | {"amount": [1.0, float("inf")]}, "row 1: amount is inf; a volume is"),
    (ROW | {"amount": [1.0, None]}, "row 1: amount is empty; every row needs application, kind, amount"),
    (ROW | {"application": ["a", None]}, "row 1: application is empty; every row needs"),
    (ROW | {"amount": ["1", "2"]}, "column amount is string; it must be double"),
    (ROW | {"kind": [0, 1]}, "column kind is int64; it must be text"),
    ({"application": ["a"], "amount": [1.0]}, "needs the columns application, kind, amount, each once; it has"),
    ({"application": EMPTY, "kind": EMPTY, "amount": pa.array([], pa.float64())},
     "applications[0] has no phases, neither here nor in"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "words"), BAD_TRACES, ids=range(len(BAD_TRACES)))
def test_bad_trace(tmp_path, columns, words):
    assert words in message_of(traced(tmp_path, **columns))


def test_phases_here_there_and_nowhere(tmp_path):
    path = traced(tmp_path, **ROW)
    path.write_text(path.read_text() + "    phases: [{compute: 1}]\n")
    assert f"{path}:6: applications[0].phases are given here and in {tmp_path}/jobs.parquet; keep" in message_of(path)
    path = traced(tmp_path, "ab", **ROW)
    assert f"{path}:6: applications[1] has no phases, neither here nor in" in message_of(path)


@pytest.mark.parametrize("name", ["../jobs.parquet", "/jobs.parquet", "x/../../jobs.parquet", "3", "''", "'C:\\a'"])
def test_trace_must_stay_beside_its_document(tmp_path, name):
    message = message_of(traced(tmp_path, trace=name, **ROW))
    assert ":3: trace is " in message
    assert message.endswith("it names a Parquet file in the document's folder or below")


def test_trace_that_is_no_parquet(tmp_path):
    path = traced(tmp_path)
    assert "jobs.parquet: no such file; the document's 'trace' names it" in message_of(path)
    (tmp_path / "jobs.parquet").write_bytes(b"garbage " * 100)
    assert "jobs.parquet: not a Parquet file that can be read" in message_of(path)
    (tmp_path / "jobs.parquet").write_bytes(b"")
    assert "jobs.parquet: not a Parquet file that can be read" in message_of(path)
    (tmp_path / "jobs.parquet").unlink()
    (tmp_path / "jobs.parquet").mkdir()
    assert "jobs.parquet: cannot be read" in message_of(path)


def test_damaged_parquet_never_escapes_as_another_error(tmp_path):
    path = traced(tmp_path, **{key: values * 500 for key, values in ROW.items()})
    whole = (tmp_path / "jobs.parquet").read_bytes()
    for place in range(4, len(whole), max(1, len(whole) // 60)):
        (tmp_path / "jobs.parquet").write_bytes(whole[:place] + bytes([whole[place] ^ 0xFF]) + whole[place + 1 :])
        try:
            load(path)
        except InvalidScenario as error:
            assert "jobs.parquet" in str(error)


def long_scenario(amount):
    phases = [{"compute": amount}, {"write": 1}] * 600
    return Scenario.from_document(DOCUMENT | {"applications": [{"name": "a", "phases": phases}]})


def test_a_failing_write_leaves_the_old_files(tmp_path, monkeypatch):
    path = tmp_path / "jobs.yaml"
    old, new = long_scenario(1), long_scenario(2)
    save(old, path)

    def full(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", full)
    with pytest.raises(InvalidScenario, match=r"jobs\.yaml: cannot be written: No space left on device"):
        save(new, path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["jobs.parquet", "jobs.yaml"]
    assert load(path) == old


def test_an_interrupted_write_leaves_nothing_behind(tmp_path, monkeypatch):
    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("pyarrow.parquet.write_table", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(long_scenario(1), tmp_path / "jobs.yaml")
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written(tmp_path):
    scenario = Scenario.from_document(DOCUMENT)
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "file").touch()
    for place in ("folder.yaml", "no/where.yaml", "file/x.yaml", "x.txt"):
        with pytest.raises(PenstockError, match=r"cannot|is a directory"):
            save(scenario, tmp_path / place)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder.yaml"]


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    path = traced(tmp_path, **ROW)
    monkeypatch.delitem(__import__("sys").modules, "penstock.model.parquet", raising=False)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    assert "Parquet files need pyarrow; install penstock[parquet]" in message_of(path)
