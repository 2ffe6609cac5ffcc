from __future__ import annotations

import gzip
import io
import pickle
from pathlib import Path

import pytest

from client.controller import Controller
from penstock.client import Paced, open_paced
from penstock.client.bucket import boottime
from penstock.wire.messages import Complete, Extend, Post


def done(controller: Controller) -> float:
    word = controller.wait_for(Complete)
    assert isinstance(word, Complete)
    return word.done


def posted(controller: Controller) -> Post:
    word = controller.wait_for(Post)
    assert isinstance(word, Post)
    return word


def test_writing(controller: Controller, tmp_path: Path) -> None:
    controller.rate = 5e6
    start = boottime()
    with open_paced(tmp_path / "f", "wb", volume="500kB") as file:
        assert file.write(bytes(400_000)) == 400_000
        file.writelines([b"a" * 50_000, b"b" * 50_000])
        file.flush()
        file.seek(0)
        file.write(b"x")
        assert file.tell() == 1
    assert boottime() - start > 0.08
    assert file.closed
    assert (tmp_path / "f").stat().st_size == 500_000
    assert posted(controller).volume == 500_000
    assert done(controller) == 500_001


def test_reading_announces_what_is_there(controller: Controller, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(bytes(range(256)) * 10)
    with open_paced(tmp_path / "f", "rb") as file:
        assert file.read(256) == bytes(range(256))
        buffer = bytearray(256)
        assert file.readinto(buffer) == 256 and buffer == bytes(range(256))
        assert len(file.read()) == 256 * 8
        assert file.read() == b""
        assert file.readinto(buffer) == 0
    assert (posted(controller).volume, posted(controller).direction) == (2560, "read")
    assert done(controller) == 2560
    assert controller.count(Extend) == 0  # looking for the end of the file is not reading more


def test_lines(controller: Controller, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("one\ntwo\nthree\nfour\n")
    with open_paced(tmp_path / "f") as file:
        assert next(file) == "one\n"
        assert file.readline() == "two\n"
        assert file.readlines(3) == ["three\n"]
        assert list(file) == ["four\n"]
    assert done(controller) == 19


def test_text(controller: Controller, tmp_path: Path) -> None:
    with open_paced(tmp_path / "f", "w", encoding="utf-8") as file:
        file.write("grüße\n")
    assert (tmp_path / "f").read_text("utf-8") == "grüße\n"
    assert done(controller) == 8


def test_other_libraries_write_through_it(controller: Controller, tmp_path: Path) -> None:
    with open_paced(tmp_path / "f.gz", "wb") as file, gzip.GzipFile(fileobj=file, mode="wb") as packed:
        pickle.dump(list(range(1000)), packed)
    with open_paced(tmp_path / "f.gz", "rb") as file, gzip.GzipFile(fileobj=file) as packed:
        assert pickle.load(packed) == list(range(1000))
    assert done(controller) == (tmp_path / "f.gz").stat().st_size


def test_wrapping(controller: Controller) -> None:
    memory = io.BytesIO()
    with Paced(memory, volume=3) as file:
        file.write(b"abc")
        assert memory.getvalue() == b"abc"
    assert memory.closed
    assert posted(controller).direction == "write"


def test_errors_of_the_file_are_the_jobs(controller: Controller, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_paced(tmp_path / "none", "rb")
    (tmp_path / "f").touch()
    with open_paced(tmp_path / "f", "rb") as file, pytest.raises(io.UnsupportedOperation):
        file.write(b"x")
    with open("/dev/full", "wb", buffering=0) as full, Paced(full, 10) as file, pytest.raises(OSError):
        file.write(b"x")


def test_the_phase_ends_even_if_closing_fails(controller: Controller) -> None:
    class Failing(io.BytesIO):
        def close(self) -> None:
            super().close()
            raise OSError("disk full")

    file = Paced(Failing(), volume=10)
    with pytest.raises(OSError):
        file.close()
    assert done(controller) == 0
