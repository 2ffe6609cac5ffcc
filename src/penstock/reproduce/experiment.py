"""What an experiment of a paper is: the campaigns it runs, the numbers it takes from them, and how these are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from penstock.campaign import Campaign, Results

Summary = dict[str, Any]  # plain data, as JSON has it; the keys of every level are text


PROFILES, TABLE = "profiles", "table"
MOST_SCALE = 100.0


def check_scale(scale: float) -> None:
    """Refuse a share of the paper's instances that nobody can run."""
    if not 0.0 < scale <= MOST_SCALE:
        raise InvalidOption(f"--scale is {scale:g}; accepted is a number above 0 and at most {MOST_SCALE:g}")


@dataclass(frozen=True)
class ExperimentSettings:
    """What a user may choose: how much of the paper's number of instances, and the data that some papers leave out."""

    scale: float = 1.0
    profiles: Path | None = None  # measured bandwidths, for experiments whose data are PROFILES
    table: Path | None = None  # the full APEX table, for those whose data are TABLE

    def instances(self, paper: int) -> int:
        """How many in place of the paper's number.

        >>> ExperimentSettings(scale=0.05).instances(200), ExperimentSettings(scale=0.05).instances(10)
        (10, 2)
        """
        return max(2, round(self.scale * paper))

    def seeds(self, paper: int) -> str:
        """Seeds of as many instances, as campaigns take them; a larger scale has all those of a smaller one."""
        return f"1-{self.instances(paper)}"


@dataclass(frozen=True)
class Experiment:
    """A figure or a table of a paper.

    Campaigns of the same name keep their runs together, so that experiments that have runs in common share them.
    """

    id: str
    title: str  # what it shows, in a line
    campaigns: Callable[[ExperimentSettings], Sequence[Campaign]]
    summarise: Callable[[Sequence[Results]], Summary]  # from the results of the campaigns, in their order
    draw: Callable[[Summary], Figure]  # in the paper's axes
    states: str = ""  # what the paper says about it
    levels: tuple[str, ...] = ()  # what the keys below a quantity of the summary are, as ("policy", "pressure")
    data: str | None = None  # what of the settings it takes in place of data of its own: PROFILES or TABLE
    without_runs: Callable[[ExperimentSettings], Summary] | None = None  # what is known without a run; beside the rest

    def name(self, settings: ExperimentSettings) -> str:
        """The name of its files; with data of the user's that says so, lest they replace those without.

        >>> mine = ExperimentSettings(profiles=Path("measured.csv"))
        >>> Experiment("P4.fig3", "", list, dict, str, data=PROFILES).name(mine)
        'P4.fig3-measured'
        """
        given = self.given(settings)
        return self.id if given is None else f"{self.id}-{given.stem}"

    def given(self, settings: ExperimentSettings) -> Path | None:
        """The data of the user's that it takes."""
        file: Path | None = getattr(settings, self.data) if self.data else None
        return file
