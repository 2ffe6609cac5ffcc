"""As much of a slurm.conf as matters beside a controller: keys in any case, values without quotes, lines that go on."""

from __future__ import annotations

import glob
from dataclasses import dataclass, field
from pathlib import Path

from penstock.errors import PenstockError
from penstock.files import reading


class BadSlurmConfig(PenstockError):
    """A slurm.conf that cannot be read."""


@dataclass
class SlurmConfig:
    """Keys in small letters, each with its values in the order of the file."""

    path: Path
    values: dict[str, list[str]] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)

    def first(self, key: str) -> str:
        """A value, or the empty text."""
        return next(iter(self.values.get(key.lower(), ())), "")

    def words(self, key: str) -> list[str]:
        """A list with commas, in small letters."""
        return [word.strip().lower() for word in self.first(key).split(",") if word.strip()]

    def scripts(self, key: str) -> list[Path]:
        """The scripts that a key names: each line one, or a pattern for several, as Slurm takes them."""
        found: list[Path] = []
        for value in self.values.get(key.lower(), ()):
            names = sorted(glob.glob(value)) if glob.has_magic(value) else [value]
            found += [Path(name) for name in names]
        return found


def read_config(path: Path) -> SlurmConfig:
    """Read one, without what it includes."""
    with reading(path, BadSlurmConfig):
        text = path.read_text(encoding="utf-8", errors="replace")
    config = SlurmConfig(path)
    for line in text.replace("\\\n", " ").splitlines():
        plain = line.partition("#")[0].strip()
        if plain.lower().startswith("include"):
            config.unread.append(plain)
            continue
        # NodeName and PartitionName lines have many keys; only the first counts here.
        key, equals, value = plain.partition("=")
        if equals:
            config.values.setdefault(key.strip().lower(), []).append(value.strip().strip('"'))
    return config
