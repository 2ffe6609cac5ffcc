"""Writing profiles as the plain CSV that `read_profiles` reads back."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

from penstock.files import write_whole
from penstock.studies.profiles.profiles import Profile

HEADER = ("application", "targets", "bandwidth_B/s")


def save_profiles(path: str | Path, profiles: Mapping[str, Profile]) -> None:
    """Write one line per application and number of targets, in bytes per second, with every digit."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows((name, n, rate) for name, profile in profiles.items() for n, rate in profile.items())
    write_whole(path, text.getvalue().encode())
