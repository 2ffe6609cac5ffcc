"""Files are written whole, where the user said, and in place of nothing but a file."""

from __future__ import annotations

import os
import socket

import pytest

from penstock.errors import InvalidOption, InvalidScenario
from penstock.files import check_place, reading, write_whole

WAYS = [check_place, lambda path: write_whole(path, b"new")]


def listing(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced(tmp_path):
    for content in (b"old", b"new"):
        check_place(tmp_path / "a")
        write_whole(tmp_path / "a", content)
        assert (tmp_path / "a").read_bytes() == content
    assert listing(tmp_path) == ["a"]


@pytest.mark.parametrize("old", [b"old", None])
def test_a_link_stays_one_and_its_file_is_written(tmp_path, old):
    (tmp_path / "far").mkdir()
    if old is not None:
        (tmp_path / "far" / "file").write_bytes(old)
    (tmp_path / "middle").symlink_to("far/file")
    (tmp_path / "link").symlink_to(tmp_path / "middle")
    check_place(tmp_path / "link")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "far" / "file").read_bytes() == b"new"
    assert (tmp_path / "link").is_symlink() and (tmp_path / "middle").is_symlink()
    assert listing(tmp_path) == ["far", "link", "middle"] and listing(tmp_path / "far") == ["file"]


@pytest.mark.parametrize("write", WAYS)
@pytest.mark.parametrize("linked", [False, True])
def test_what_is_no_file_is_refused_and_stays(tmp_path, monkeypatch, write, linked):
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    os.mkfifo("pipe")
    (tmp_path / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for name, kind in {"pipe": "a pipe", "folder": "a directory", "socket": "a socket"}.items():
            before = os.lstat(name)
            if linked:
                os.symlink(name, f"{name}-link")
            path = f"{name}-link" if linked else name
            with pytest.raises(InvalidOption) as refused:
                write(path)
            assert str(refused.value) == f"{path}: is {kind}; give the name of a file"
            assert os.path.samestat(os.lstat(name), before)


@pytest.mark.parametrize("write", WAYS)
def test_links_that_lead_nowhere(tmp_path, write):
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    (tmp_path / "lost").symlink_to("no/where")
    with pytest.raises(InvalidOption, match="one: is a symbolic link in a circle; give the name of a file"):
        write(tmp_path / "one")
    with pytest.raises(InvalidOption, match=r"lost(: the folder .*/no does not exist| cannot be written \(no such)"):
        write(tmp_path / "lost")
    assert listing(tmp_path) == ["lost", "one", "two"]


def test_a_name_that_no_file_can_have(tmp_path):
    with pytest.raises(InvalidOption, match="cannot be written"):
        write_whole(tmp_path / "a\0b", b"")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (FileNotFoundError(2, "gone"), "no such file"),
        (UnicodeDecodeError("utf-8", b"abc", 2, 3, "no"), "is not text in UTF-8 (byte 2)"),
        (PermissionError(13, "Permission denied"), "cannot be read: Permission denied"),
        (ValueError("embedded null byte"), "cannot be read: embedded null byte"),
    ],
)
def test_what_fails_while_reading_is_a_sentence(tmp_path, error, words):
    for accepted, tail in (("", ""), ("a plan is JSON", "; a plan is JSON")):
        with pytest.raises(InvalidScenario) as refused, reading(tmp_path / "x", InvalidScenario, accepted):
            raise error
        assert str(refused.value) == f"{tmp_path}/x: {words}{tail}"
