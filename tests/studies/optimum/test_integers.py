from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.studies.optimum.chains import Chain, starts
from penstock.studies.optimum.integers import MOST_UNITS, whole
from studies.optimum.brute import chain_sets, shortest


@pytest.mark.parametrize(
    ("durations", "unit"),
    [
        ((3.0, 6.0), Fraction(3)),
        ((0.1, 0.25), Fraction(1, 20)),
        ((1 / 3, 2.0), Fraction(1, 3)),
        ((0.1 + 0.2, 0.6), Fraction(3, 10)),  # 0.30000000000000004
        ((3600.0, 86400.0), Fraction(3600)),
        ((0.001, 1e6), Fraction(1, 1000)),
        ((0.0, 0.0), Fraction(1)),
    ],
)
def test_common_units(durations, unit):
    found = whole((Chain(0.0, durations[:1], durations[1:], 0.0),), 1e6)
    assert (found.unit, found.exact) == (unit, True)
    assert found.chains == (Chain(0, (round(durations[0] / unit),), (round(durations[1] / unit),), 0),)


@pytest.mark.parametrize("durations", [(2**0.5, 3**0.5), (1e-9, 1.0), (5 + 1 / 999_983, 6 + 1 / 999_979)])
def test_what_has_no_common_unit_is_rounded_down(durations):
    chain = Chain(0.0, durations[:1], durations[1:], 0.0)
    found = whole((chain,), sum(durations))
    assert not found.exact
    assert found.unit == Fraction(sum(durations)) / MOST_UNITS
    for value, units in zip(durations, found.chains[0].work + found.chains[0].io, strict=True):
        assert units * found.unit <= Fraction(value) < (units + 1) * found.unit


@given(chain_sets(amount=st.floats(0.0, 10.0, allow_subnormal=False).map(lambda value: value * 2**0.5)))
def test_the_optimum_of_rounded_chains_is_a_bound(chains):
    truth = shortest(chains)
    found = whole(chains, truth or 1.0)
    assert found.seconds(shortest(found.chains)) <= truth * (1 + 1e-12)


@given(chain_sets(amount=st.integers(0, 1000).map(lambda value: value / 100)))
def test_decimals_lose_nothing(chains):
    truth = shortest(chains)
    found = whole(chains, truth or 1.0)
    assert found.exact
    assert found.seconds(shortest(found.chains)) == pytest.approx(truth, rel=1e-12)


def test_seconds_are_rounded_once():
    found = whole((Chain(0.0, (0.1,), (0.7,), 0.0),), 1.0)
    assert found.seconds(starts(found.chains, (0,))[1]) == 0.8  # 0.1 + 0.7 is 0.7999999999999999
