"""Quantities: what each unit is worth, and how a wrong one is answered."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InvalidScenario
from penstock.model import parse_quantity

VALUES = [
    (7, "seconds", 7.0),
    ("7", "seconds", 7.0),
    ("250 ns", "seconds", 250e-9),
    ("3us", "seconds", 3e-6),
    ("3 µs", "seconds", 3e-6),
    ("3 μs", "seconds", 3e-6),
    ("20 ms", "seconds", 0.02),
    ("1 s", "seconds", 1.0),
    ("2 sec", "seconds", 2.0),
    ("2 seconds", "seconds", 2.0),
    ("5 min", "seconds", 300.0),
    ("1 minute", "seconds", 60.0),
    ("1.5 h", "seconds", 5400.0),
    ("2 hours", "seconds", 7200.0),
    ("1 d", "seconds", 86400.0),
    ("2 days", "seconds", 172800.0),
    ("1-05:50:00", "seconds", 107400.0),  # as Slurm writes times
    ("05:50:00", "seconds", 21000.0),
    ("30:00", "seconds", 1800.0),
    ("00:00:01.5", "seconds", 1.5),
    ("2-00", "seconds", 172800.0),
    ("1-12:30", "seconds", 131400.0),
    ("12 B", "bytes", 12.0),
    ("1 kB", "bytes", 1e3),
    ("1 KB", "bytes", 1e3),
    ("3.2 TB", "bytes", 3.2e12),
    ("1 PB", "bytes", 1e15),
    ("1 EB", "bytes", 1e18),
    ("1 KiB", "bytes", 1024.0),
    ("2 MiB", "bytes", 2.0 * 1024**2),
    ("1 EiB", "bytes", 1024.0**6),
    ("1e9", "bytes", 1e9),
    ("1_000", "bytes", 1000.0),
    (".5 MB", "bytes", 5e5),
    ("1.5e3 GB", "bytes", 1.5e12),
    ("  4 GB ", "bytes", 4e9),
    ("160 GB/s", "bytes/s", 160e9),
    ("2 GiB/sec", "bytes/s", 2.0 * 1024**3),
    (np.int64(3), "bytes/s", 3.0),
    (np.float32(0.5), "bytes/s", 0.5),
]


@pytest.mark.parametrize(("written", "kind", "value"), VALUES, ids=[f"{row[0]}-{row[1]}" for row in VALUES])
def test_value(written, kind, value):
    assert parse_quantity(written, kind) == pytest.approx(value, rel=1e-15)


REFUSED = [
    ("5 GB/s", "bytes", "the volume is '5 GB/s', a bandwidth; a volume is a number ≥ 0"),
    ("5 GB", "bytes/s", "the bandwidth is '5 GB', a volume; a bandwidth is a number > 0"),
    ("5 GB", "seconds", "the time is '5 GB', a volume; a time is"),
    ("3 s", "bytes", "the volume is '3 s', a time; a volume is"),
    ("1 Gb", "bytes", "(Gb is gigabits; penstock takes bytes: GB)"),
    ("1 Gbit", "bytes", "(Gbit is gigabits; penstock takes bytes: GB)"),
    ("1 Gb/s", "bytes/s", "(Gb/s is gigabits; penstock takes bytes: GB/s)"),
    ("1 Mbps", "bytes/s", "(Mbps is megabits; penstock takes bytes: MB/s)"),
    ("1 Kib", "bytes", "(Kib is kilobits; penstock takes bytes: KiB)"),
    ("8 b", "bytes", "(b is bits; penstock takes bytes: B)"),
    ("1 furlong", "seconds", "with the unknown unit 'furlong'"),
    ("1 GB/h", "bytes/s", "with the unknown unit 'GB/h'"),
    ("fast", "bytes/s", "is 'fast'; a bandwidth is"),
    ("", "bytes", "is ''; a volume is"),
    ("1 2 GB", "bytes", "is '1 2 GB'; a volume is"),
    (-2, "bytes", "is -2; a volume is a number ≥ 0"),
    ("-2 GB", "bytes", "is '-2 GB'; a volume is"),
    (0, "bytes/s", "is 0; a bandwidth is a number > 0"),
    (float("nan"), "seconds", "is nan; a time is"),
    (float("inf"), "seconds", "is inf; a time is"),
    ("1:2:3:4", "seconds", "is '1:2:3:4'; a time is"),
    ("-1:00", "seconds", "is '-1:00'; a time is"),
    ("05:50:00", "bytes", "is '05:50:00'; a volume is"),
    ("1e308 EB", "bytes", "is '1e308 EB'; a volume is"),
    ("nan", "seconds", "is 'nan'; a time is"),
    (10**400, "bytes", "is a number of more than 60 digits; a volume is"),
    (True, "bytes", "is true; a volume is"),
    (None, "bytes", "is empty; a volume is"),
    ([1], "bytes", "is a list; a volume is"),
]


@pytest.mark.parametrize(("written", "kind", "words"), REFUSED, ids=[f"{str(row[0])[:20]}-{row[1]}" for row in REFUSED])
def test_refusal(written, kind, words):
    with pytest.raises(InvalidScenario) as caught:
        parse_quantity(written, kind)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.floats(0, 1e300), st.sampled_from(["seconds", "bytes"]))
def test_text_of_a_number_is_that_number(value, kind):
    assert parse_quantity(repr(value), kind) == parse_quantity(value, kind) == value


@given(st.text(max_size=12))
def test_any_text_is_a_number_or_refused(text):
    try:
        assert 0 <= parse_quantity(text, "bytes") < float("inf")
    except InvalidScenario as error:
        assert "a volume is" in str(error)


def test_ten_thousand_are_quick():
    texts = [f"{count}.5 GB/s" for count in range(10_000)]
    started = time.process_time()
    total = sum(parse_quantity(text, "bytes/s") for text in texts)
    assert time.process_time() - started < 0.1
    assert total == pytest.approx((sum(range(10_000)) + 5000) * 1e9)
