"""What is written is read back, digit by digit."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from penstock.studies.profiles import read_profiles, save_profiles

NAMES = st.text(st.characters(exclude_categories=("C", "Z"), exclude_characters="#"), min_size=1, max_size=8)
PROFILE = st.dictionaries(st.integers(1, 10_000), st.floats(1e-3, 1e18), min_size=1, max_size=5)


@given(st.dictionaries(NAMES, PROFILE, min_size=1, max_size=5))
def test_round_trip(profiles: dict[str, dict[int, float]]) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "profiles.csv"
        save_profiles(file, profiles)
        assert dict(read_profiles(file)) == profiles
