"""Puts the preloaded library and the manual pages into the wheel.

The library is for x86-64 and aarch64, so that users need no compiler. It is compiled by what is there: gcc and a cross
compiler, or ziglang, which has both. A wheel with one of the two is tagged for that machine; with both, or with none,
it is for any: elsewhere penstock works, and says that programs which do not ask cannot be paced.
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class BuildHook(BuildHookInterface[Any]):
    """Compiles, and writes pages, before the wheel is put together."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """A checkout that is installed in place compiles its own library when it needs it, and has no pages."""
        if version == "editable":
            return
        self._folder = Path(tempfile.mkdtemp(prefix="penstock-build-"))
        self._add_library(build_data)
        self._add_manuals(build_data)

    def _add_library(self, build_data: dict[str, Any]) -> None:
        compiling = _compiling(Path(self.root))
        done = []
        for machine in compiling.MACHINES:
            out = self._folder / machine / compiling.NAME
            out.parent.mkdir(parents=True, exist_ok=True)
            try:
                compiler = compiling.compile_library(machine, out)
            except compiling.CannotCompile as reason:
                self.app.display_warning(f"no library for {machine} in this wheel: {reason}")
                continue
            self.app.display_info(f"library for {machine}: {' '.join(compiler)}")
            build_data["force_include"][str(out)] = f"penstock/client/shim/lib/{machine}/{compiling.NAME}"
            done.append(machine)
        if len(done) == 1:
            build_data["pure_python"], build_data["tag"] = False, f"py3-none-linux_{done[0]}"

    def _add_manuals(self, build_data: dict[str, Any]) -> None:
        """Of the help of all commands, into share/man of the environment."""
        script, pages = Path(self.root) / "scripts" / "manuals.py", self._folder / "man1"
        subprocess.run([sys.executable, script, pages], check=True, stdout=subprocess.DEVNULL)
        for page in sorted(pages.iterdir()):
            build_data["shared_data"][str(page)] = f"share/man/man1/{page.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """The wheel has all of it."""
        if version != "editable":
            shutil.rmtree(self._folder, ignore_errors=True)


def _compiling(root: Path) -> Any:
    """The module that knows how, without the package around it, whose dependencies are not here."""
    path = root / "src" / "penstock" / "client" / "shim" / "compiling.py"
    spec = importlib.util.spec_from_file_location("compiling", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
