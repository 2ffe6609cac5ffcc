"""Where the scenarios of a campaign come from: a generator with its settings, or a scenario file."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from penstock.campaign.canonical import canonical, scenario_digest
from penstock.campaign.named_files import hashed
from penstock.model import Scenario, load
from penstock.workloads import generate

SCENARIO_FILE = "scenario.yaml"  # in commands that make a scenario again


@dataclass(frozen=True)
class Source:
    """One point of a workload's grid: all but the seed. Either `kind` or `file` is given."""

    label: str
    kind: str | None
    settings: Mapping[str, Any]  # of the generator, all of them
    file: Path | None
    noise: float | None  # None: as generated, or as the file says

    def make(self, seed: int) -> Scenario:
        """The scenario of a seed."""
        if self.file is not None:
            scenario = loaded(self.file)
            return scenario.model_copy(update={"seed": seed} | self._noise())
        scenario = generate(self.kind or "", seed, **self.settings)
        return scenario if self.noise is None else scenario.model_copy(update={"seed": seed} | self._noise())

    @property
    def parameters(self) -> dict[str, Any]:
        """What readers of results may group by."""
        return dict(self.settings) | self._noise_shown()

    @property
    def identity(self) -> str:
        """The same for sources that give the same scenarios."""
        if self.file is not None:
            return canonical({"scenario": scenario_digest(loaded(self.file)), "noise": self.noise})
        return canonical({"generate": self.kind, "set": hashed(self.settings), "noise": self.noise})

    def commands(self, seed: int, task: list[str]) -> str:
        """What a user types to make the scenario of a seed again and to do a task with it."""
        noise = [] if self.noise is None else ["--noise", f"{self.noise!r}"]
        if self.file is not None:
            return shlex.join(["penstock", task[0], str(self.file), *noise, "--seed", str(seed), *task[1:]])
        given = [f"{name}={'none' if value is None else value}" for name, value in self.settings.items()]
        chosen = [word for setting in given for word in ("--set", setting)]
        make = ["penstock", "generate", self.kind or "", "--seed", str(seed), *chosen, "-o", SCENARIO_FILE]
        redrawn = [*noise, "--seed", str(seed)] if noise or task[0] == "allocate" else []
        return f"{shlex.join(make)} && {shlex.join(['penstock', task[0], SCENARIO_FILE, *redrawn, *task[1:]])}"

    def _noise(self) -> dict[str, float]:
        return {} if self.noise is None else {"noise": self.noise}

    def _noise_shown(self) -> dict[str, float]:
        # A generator may have a setting of that name; what is applied on top of it has another.
        return {} if self.noise is None else {"noise" if "noise" not in self.settings else "run_noise": self.noise}


@lru_cache(maxsize=4)
def loaded(file: Path) -> Scenario:
    """The scenario in a file; read once by every process, and before workers are forked."""
    return load(file)
