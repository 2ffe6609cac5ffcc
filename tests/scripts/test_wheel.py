"""What the build puts into the wheel: the preloaded library for both machines, or as far as there are compilers."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


class App:
    def __init__(self) -> None:
        self.said: list[str] = []

    def display_info(self, text: str) -> None:
        self.said.append(text)

    display_warning = display_info


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    compiling = module._compiling(ROOT)

    def run(compilers: dict[str, Any], version: str = "standard") -> tuple[dict[str, Any], App]:
        def compiled(machine: str, out: Path) -> tuple[str, ...]:
            if machine not in compilers:
                raise compiling.CannotCompile("there is no compiler")
            out.write_bytes(b"library")
            return (compilers[machine],)

        monkeypatch.setattr(compiling, "compile_library", compiled)
        monkeypatch.setattr(module, "_compiling", lambda root: compiling)
        monkeypatch.setattr(module.BuildHook, "_add_manuals", lambda *_: None)  # the tests of packages look at those
        app, data = App(), dict[str, Any](force_include={})
        hook = module.BuildHook(str(ROOT), {}, None, None, str(tmp_path), "wheel", app)
        hook.initialize(version, data)
        for path in data["force_include"]:
            assert Path(path).read_bytes() == b"library"
        hook.finalize(version, data, "")
        assert not any(Path(path).exists() for path in data["force_include"])
        return data, app

    return run


def test_both_machines_make_a_wheel_for_any(build: Any) -> None:
    data, app = build({"x86_64": "gcc", "aarch64": "zig"})
    places = {f"penstock/client/shim/lib/{machine}/libpenstock.so" for machine in ("x86_64", "aarch64")}
    assert set(data["force_include"].values()) == places
    assert "tag" not in data
    assert app.said == ["library for x86_64: gcc", "library for aarch64: zig"]


def test_one_machine_makes_a_wheel_for_it(build: Any) -> None:
    data, app = build({"aarch64": "gcc"})
    assert (data["tag"], data["pure_python"]) == ("py3-none-linux_aarch64", False)
    assert app.said[0] == "no library for x86_64 in this wheel: there is no compiler"


def test_none_makes_a_wheel_that_says_so(build: Any) -> None:
    data, app = build({})
    assert data == {"force_include": {}} and len(app.said) == 2


def test_in_place_nothing_is_compiled(build: Any) -> None:
    data, app = build({"x86_64": "gcc"}, "editable")
    assert data == {"force_include": {}} and app.said == []
