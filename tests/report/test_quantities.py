from __future__ import annotations

import pytest

from penstock.report.parts.quantities import byte_scale, duration, fixed, is_pure, percent, rate_scale, significant
from report.samples import big, run, toy


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "–"),
        (0.0, "0 s"),
        (2.5e-5, "25 µs"),
        (0.00123, "1.23 ms"),
        (0.213, "0.213 s"),
        (100.0, "100 s"),
        (150.0, "2.5 min"),
        (5400.0, "90 min"),
        (7200.0, "2 h"),
        (2e6, "23.15 d"),
    ],
)
def test_a_time_gets_the_unit_that_fits(seconds, words):
    assert duration(seconds) == words


def test_a_capacity_about_one_is_a_pure_number_and_a_large_one_has_a_unit():
    assert rate_scale(1.0).show(1.0) == "1"
    assert rate_scale(160e9).show(160e9) == "160 GB/s"
    assert rate_scale(2.5e12).show(2.5e12) == "2.5 TB/s"
    assert byte_scale(5e4, pure=True).show(5e4) == "50,000"
    assert byte_scale(5e4, pure=False).show(5e4) == "50 kB"


def test_numbers_are_short_and_negative_zero_has_no_sign():
    assert fixed(0.812345) == "0.8123"
    assert fixed(None) == "–"
    assert percent(0.0421) == "4.2 %"
    assert percent(-0.0) == "0.0 %"
    assert significant(91234.0) == "91,234"


def test_volumes_of_a_run_are_judged_by_capacity_or_by_mean_rate():
    assert is_pure(toy())
    assert is_pure(run())
    assert not is_pure(big())
    assert not is_pure(big(timeline=False))
