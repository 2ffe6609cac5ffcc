"""FORGE's measurements on MareNostrum and Santos Dumont, where the data sets are at hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from pytest import approx

from penstock.studies.profiles import class_of, class_profiles, fit_profiles, read_profiles


@pytest.fixture
def forge(shared_data: Path) -> Path:
    folder = shared_data / "forge"
    if not folder.is_dir():
        pytest.skip("FORGE's data are not among the data sets (../shared/data/forge)")
    return folder


def test_the_runs_on_marenostrum_agree_with_their_summary(forge: Path) -> None:
    runs = read_profiles(forge / "mn4_forwarding_results.csv")
    summary = read_profiles(forge / "mn4_189_patterns.csv")
    assert len(runs) == len(summary) == 189
    for name, profile in summary.items():
        assert list(profile) == [1, 2, 4, 8]
        assert runs[name] == {n: approx(rate, rel=1e-5) for n, rate in profile.items()}  # it has four decimals
    assert runs.repetitions == summary.repetitions
    assert "189 values on 0 I/O nodes" in summary.notes[0]


def test_classes_of_marenostrum(forge: Path) -> None:
    profiles = read_profiles(forge / "mn4_189_patterns.csv")
    sizes = {name: len(each.members) for name, each in class_profiles(profiles).items()}
    assert sizes == {"Ascent": 72, "Descent": 12, "Peak": 104, "Neutral": 1}
    assert len(fit_profiles(profiles, "unimodal", range(1, 9)).fitted) == 189


def test_santos_dumont(forge: Path) -> None:
    profiles = read_profiles([forge / f"santos_dumont_{way}_results.csv" for way in ("forwarding", "direct_lustre")])
    assert Counter(map(class_of, profiles.values())) == {"Ascent": 24, "Peak": 1}
    assert "direct access" in profiles.notes[0]
