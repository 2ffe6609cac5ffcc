"""Where the library comes from: the wheel, a cache that only we can write to, or nowhere, and then why."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from machine import can_be_others
from penstock.client.shim import compiling, library
from penstock.client.shim.library import NoLibrary


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "penstock" / "shim"


def on(monkeypatch: pytest.MonkeyPatch, machine: str) -> None:
    real = os.uname()
    changed = os.uname_result((real.sysname, real.nodename, real.release, real.version, machine))
    monkeypatch.setattr(os, "uname", lambda: changed)


def test_an_unknown_machine_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, "riscv64")
    with pytest.raises(NoLibrary, match="no library for riscv64, only for x86_64 and aarch64"):
        library.library()
    with pytest.raises(compiling.CannotCompile, match="not for riscv64"):
        compiling.compile_library("riscv64", Path("/nowhere"))


def test_the_wheels_library_is_taken(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "SHIPPED", tmp_path / "lib")
    shipped = tmp_path / "lib" / os.uname().machine / "libpenstock.so"
    shipped.parent.mkdir(parents=True)
    shipped.write_bytes(b"library")
    assert library.library() == shipped
    assert not cache.exists()


def test_it_is_compiled_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def compiled(machine: str, out: Path) -> None:
        calls.append(machine)
        out.write_bytes(b"library")

    monkeypatch.setattr(compiling, "compile_library", compiled)
    with pytest.raises(NoLibrary, match="not compiled yet"):
        library.library(compile_it=False)
    assert library.library() == library.library() == library.library(compile_it=False)
    assert calls == [os.uname().machine]
    assert cache.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(not can_be_others(), reason="only root can give files away")
def test_a_folder_of_somebody_else_is_not_used(cache: Path) -> None:
    cache.mkdir(parents=True)
    os.chown(cache, 12345, 12345)
    with pytest.raises(NoLibrary, match="only we can write to"):
        library.library()


def test_a_folder_that_others_can_write_to_is_not_used(cache: Path) -> None:
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    with pytest.raises(NoLibrary, match="only we can write to"):
        library.library()


def test_no_compiler(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiling, "compiler_for", lambda machine: None)
    with pytest.raises(NoLibrary, match="no gcc, cc or zig"):
        library.library()


def test_a_compiler_that_fails_is_quoted(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = tmp_path / "bad-cc"
    bad.write_text("#!/bin/sh\necho 'no such luck' >&2\nexit 1\n")
    bad.chmod(0o755)
    monkeypatch.setattr(compiling, "compiler_for", lambda machine: (str(bad),))
    with pytest.raises(NoLibrary, match=r"bad-cc could not compile the library: no such luck"):
        library.library()


def test_names_that_the_loader_would_cut_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "a folder"
    monkeypatch.setattr(library, "SHIPPED", place)
    (place / os.uname().machine).mkdir(parents=True)
    (place / os.uname().machine / "libpenstock.so").write_bytes(b"library")
    with pytest.raises(NoLibrary, match="a blank or a colon"):
        library.library()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "/a.so"),
        ("/b.so", "/b.so:/a.so"),
        ("/b.so /c.so", "/b.so:/c.so:/a.so"),
        ("/a.so:/b.so", "/b.so:/a.so"),
        ("/etc/penstock/a.so:/b.so a.so", "/b.so:/a.so"),  # copies at other places
    ],
)
def test_it_is_preloaded_behind_what_the_user_preloads(before: str, after: str) -> None:
    assert library.preloaded(Path("/a.so"), {"LD_PRELOAD": before}) == after


def test_compilers_are_tried_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    on(monkeypatch, "x86_64")
    there = {"cc", "zig", "aarch64-linux-gnu-gcc"}
    monkeypatch.setattr("shutil.which", lambda name: f"/bin/{name}" if name in there else None)
    assert compiling.compiler_for("x86_64") == ("/bin/cc",)
    there.add("gcc")
    assert compiling.compiler_for("x86_64") == ("/bin/gcc",)
    assert compiling.compiler_for("aarch64") == ("/bin/aarch64-linux-gnu-gcc",)
    there.remove("aarch64-linux-gnu-gcc")
    assert compiling.compiler_for("aarch64")[:4] == ("/bin/zig", "cc", "-target", "aarch64-linux-gnu")
