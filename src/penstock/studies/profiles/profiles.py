"""What a study of profiles gives: for every application the bandwidth on each number of targets, and its source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

Profile = Mapping[int, float]  # bytes/s by number of targets, by rising number


@dataclass(frozen=True)
class Profiles(Mapping[str, Profile]):
    """A mapping from an application's name to its profile, with the story of how it was made."""

    bandwidth: Mapping[str, Profile]
    repetitions: Mapping[str, Mapping[int, int]]  # how many runs stand behind a measured count
    take: str = "median"  # what was made of repetitions
    units: tuple[str, ...] = ("B/s",)  # as found in the files
    notes: tuple[str, ...] = ()  # what was left out, and why
    shape: str | None = None  # what was fitted
    fitted: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # counts that nobody measured
    moved: Mapping[str, tuple[int, ...]] = field(default_factory=dict)  # measured counts that the fit changed

    def __getitem__(self, name: str) -> Profile:
        return self.bandwidth[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.bandwidth)

    def __len__(self) -> int:
        return len(self.bandwidth)

    @property
    def counts(self) -> tuple[int, ...]:
        """Every number of targets that some application has a bandwidth for."""
        return tuple(sorted({count for profile in self.values() for count in profile}))
