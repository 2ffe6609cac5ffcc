"""Generators by name: what is listed, how settings are read, what is refused."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from penstock.errors import InvalidOption
from penstock.workloads import generate, generators
from penstock.workloads.registry import MODULES


def test_every_generator_is_listed_with_a_rule_a_source_and_its_defaults() -> None:
    listed = {each.name: each for each in generators()}
    assert list(listed) == list(MODULES)
    assert all(each.rule.endswith(".") and re.match(r"P[12345] §|ours; ", each.source) for each in listed.values())
    defaults = {each.name: each.default for each in listed["synthetic"].parameters}
    assert defaults == {
        "pressure": 1.0, "small": 20, "sigma": 0.5, "noise": 0.5, "horizon": 2e6, "applications": 60, "medium": None,
        "cap": 1.0, "late": 0.0, "age": 0.0,
    }  # fmt: skip


def test_examples_and_tables_draw_nothing() -> None:
    seeded = ["synthetic", "chains", "uniform", "packs", "targets", "checkpoints", "arrivals", "machine"]
    seeded += ["apex-nersc", "apex-trilab"]
    assert [each.name for each in generators() if each.seeded] == seeded


@pytest.mark.parametrize("kind", [kind for kind in MODULES if kind != "example-2"])
def test_defaults_make_a_scenario(kind: str) -> None:
    scenario = generate(kind)
    assert (scenario.window is None) == (kind in {"chains", "uniform", "packs", "tucan", "targets", "checkpoints"})
    real = dict.fromkeys(("checkpoints", "apex-nersc", "apex-trilab"), 160e9)
    assert scenario.platform.bandwidth == {"targets": None, "machine": None, "arrivals": 500e9, **real}.get(kind, 1)
    assert scenario.noise == 0


@pytest.mark.parametrize("four", [4, 4.0, np.int64(4), "4", "4.0", "0.4e1"])
def test_whole_numbers_may_be_written_in_any_way(four: object) -> None:
    assert len(generate("example-5", m=four).applications) == 4


@pytest.mark.parametrize("yes", [True, "true", "Yes"])
def test_booleans_may_be_words(yes: object) -> None:
    assert generate("example-1", fresh=yes).window.end == 3
    assert generate("example-1", fresh="no") == generate("example-1")


def test_none_may_be_a_word() -> None:
    assert generate("example-6", epsilon="none") == generate("example-6")


@pytest.mark.parametrize(
    ("kind", "settings", "sentence"),
    [
        ("synthetc", {}, "no workload named 'synthetc'. Did you mean 'synthetic'? Known: synthetic, example-1, "),
        ("zzz", {}, "no workload named 'zzz'. Known: synthetic, "),
        ("synthetic", {"presure": 1}, "synthetic has no setting named 'presure'. Did you mean 'pressure'? Known: "),
        ("synthetic", {"pressure": "high"}, "synthetic: pressure is 'high'; accepted is a number > 0."),
        ("synthetic", {"pressure": 0}, "synthetic: pressure is 0; accepted is a number > 0."),
        ("synthetic", {"horizon": "nan"}, "synthetic: horizon is 'nan'; accepted is a number from 1 to 1e12."),
        ("synthetic", {"horizon": "inf"}, "synthetic: horizon is 'inf'; accepted is a number from 1 to 1e12."),
        ("synthetic", {"horizon": 10**400}, "synthetic: horizon is 1000"),
        ("synthetic", {"small": 2.5}, "synthetic: small is 2.5; accepted is a whole number ≥ 0."),
        ("synthetic", {"small": True}, "synthetic: small is True; accepted is a whole number ≥ 0."),
        ("synthetic", {"small": None}, "synthetic: small is None; accepted is a whole number ≥ 0."),
        ("synthetic", {"medium": -1}, "synthetic: medium is -1; accepted is a whole number ≥ 0, or none."),
        ("synthetic", {"noise": 1.1}, "synthetic: noise is 1.1; accepted is a number from 0 to 1."),
        ("synthetic", {"sigma": -1}, "synthetic: sigma is -1; accepted is a number from 0 to 100."),
        ("synthetic", {"applications": 0}, "synthetic: applications is 0; accepted is a whole number from 1 to"),
        ("synthetic", {"applications": 30, "small": 25}, "synthetic: small is 25 and medium is 10; together they may"),
        ("synthetic", {"applications": 1, "small": 1, "pressure": 2}, "synthetic: pressure is 2, which makes I/O 2 of"),
        ("synthetic", {"horizon": 1e12}, "synthetic: horizon is 1e+12, or "),
        ("synthetic", {"cap": 0}, "synthetic: cap is 0; accepted is a number above 0, up to 1."),
        ("synthetic", {"cap": 0.001, "horizon": 1e5}, "synthetic: cap is 0.001, which makes I/O "),
        ("synthetic", {"late": 0.1, "age": 1}, "synthetic: late and age are both given; accepted is one of the two."),
        (
            "synthetic",
            {"late": 1, "horizon": 1e4, "noise": 1},
            "synthetic: late is 1, which releases somebody after the first has",
        ),
        ("example-1", {"m": 1}, "example-1: m is 1; accepted is a whole number from 2 to 10000."),
        ("example-1", {"m": 12, "fresh": "true"}, "example-1: m is 12; accepted with fresh is K² + 1 for a whole K"),
        ("example-1", {"m": 5, "fresh": "true"}, "example-1: m is 5; accepted with fresh is K² + 1 for a whole K ≥ 3"),
        ("example-1", {"fresh": "maybe"}, "example-1: fresh is 'maybe'; accepted is true or false."),
        ("example-2", {"m": 7}, "example-2: m is 7; accepted is an even whole number from 4 to 10000."),
        ("example-3", {"epsilon": 0}, "example-3: epsilon is 0; accepted is a number from 1e-6 to 1."),
        ("example-4", {"T": 1}, "example-4: T is 1; accepted is a number from 2 to 1e5."),
        ("example-5", {"order": "worst"}, "example-5: order is 'worst'; accepted is one of best, adversary."),
        ("example-6", {"m": 10}, "example-6: m is 10; accepted is a whole number from 11 to 1000."),
        ("example-6", {"epsilon": 0.5}, "example-6: m is 12 and epsilon is 0.5; accepted is an epsilon below 1/m with"),
        ("example-6", {"m": 100}, "example-6: m is 100 and epsilon is 0.0099; accepted is an epsilon below 1/m with"),
    ],
)
def test_what_is_refused_is_said_in_one_sentence(kind: str, settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InvalidOption) as refused:
        generate(kind, **settings)
    assert str(refused.value).startswith(sentence)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "1"])
def test_a_seed_is_a_whole_number(seed: object) -> None:
    with pytest.raises(InvalidOption, match=r"seed is .*; accepted is a whole number ≥ 0"):
        generate("synthetic", seed=seed)  # type: ignore[arg-type]
