"""Advice in words and pictures: every figure that is said is in the JSON."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from advise import world
from penstock.advise import Advice, advise
from penstock.advise.estimate import Estimate
from penstock.campaign.executor import Here
from penstock.report.advice.page import write_advice
from penstock.report.advice.plot import buffer_figure, demand_figure, group_figure, tornado_figure
from penstock.report.advice.table import advice_parts, policies_table, sensitivity_table
from penstock.report.advice.words import answers, estimate_cells, policy_words
from penstock.report.plots import figure_bytes


@pytest.fixture(scope="module")
def advice() -> Advice:
    return advise(world.site(2, 0.3, days=4.0, per_day=15.0), sharing=["greedy-com", "fcfs"], place=Here())


def test_every_question_has_an_answer(advice):
    told = answers(advice)
    assert len(told) == 6
    assert all(each.answer.endswith(".") for each in told)


def test_the_words_name_figures_of_the_json(advice):
    found = advice.to_dict()
    said = policy_words(advice)
    assert found["policy"]["of"] in said
    assert f"{abs(found['policy']['min_yield_gain']['value']):.3f}" in said
    assert estimate_cells(advice.policy.shown.node_hours_gain, "hours")[0].lstrip("+") in said


def test_a_refusal_says_why(advice):
    refused = replace(advice, policy=None, why_not={**advice.why_not, "policy": "grade C: nobody knows"})
    assert policy_words(refused) == "No policy is named: grade C: nobody knows."
    assert "in the group" not in "".join(str(cell) for cell in policies_table(refused).columns[-1].cells)


def test_tables_have_a_row_for_each(advice):
    assert len(policies_table(advice).columns[0].cells) == 3
    assert len(sensitivity_table(advice).columns[0].cells) == len(advice.sensitivity) == 1
    lines = [part for part in advice_parts(advice, "site") if isinstance(part, str)]
    assert "What to measure next:" in lines


@pytest.mark.parametrize(
    ("found", "kind", "cells"),
    [
        (None, "hours", ("–", "–")),
        (Estimate(0.1234), "yield", ("+0.123", "–")),
        (Estimate(-0.5, -1.0, 0.0), "yield", ("−0.500", "−1.000 … 0")),
        (Estimate(1234.5, -10.0, 2479.0), "hours", ("+1,230", "−10 … +2,480")),
    ],
)
def test_figures_in_cells(found, kind, cells):
    assert estimate_cells(found, kind) == cells


def test_every_picture_is_drawn(advice):
    figures = [
        demand_figure(advice),
        group_figure(advice.tried, True),
        tornado_figure(advice),
        buffer_figure(advice.buffer),
    ]
    assert all(len(figure_bytes(figure, "png")) > 5_000 for figure in figures)


def test_the_page_escapes_names_and_needs_no_network(advice, tmp_path):
    write_advice(tmp_path / "a.html", "<b>site</b>", advice)
    page = (tmp_path / "a.html").read_text()
    assert "&lt;b&gt;site" in page
    assert "<b>site" not in page
    assert not re.search(r'(src|href)="http', page)
    assert page.count("<figure>") == 5


# What a printed figure may be of a number in the JSON: itself, a share in percent, another unit of bytes or of time.
SCALES = [1.0, 100.0, *(10.0**-power for power in (3, 6, 9, 12, 15)), *(1.0 / each for each in (60, 3600, 86400)), 1e3]


def test_each_number_on_the_page_is_in_the_json(advice, tmp_path):
    refused = replace(advice, policy=None, why_not={**advice.why_not, "policy": "depends on bandwidth"})
    for number, told in enumerate((advice, refused)):
        write_advice(tmp_path / f"{number}.html", "site", told)
        known = np.array(list(_numbers(told.to_dict())))
        printed = _printed((tmp_path / f"{number}.html").read_text())
        assert len(printed) > 100
        assert not [text for text in printed if not _is_known(text, known)]


def _numbers(document):
    if isinstance(document, dict):
        for value in document.values():
            yield from _numbers(value)
    elif isinstance(document, list | tuple):
        yield float(len(document))
        for value in document:
            yield from _numbers(value)
    elif isinstance(document, str):
        yield from (float(each.replace(",", "")) for each in re.findall(r"\d[\d,]*(?:\.\d+)?", document))
    elif isinstance(document, int | float):
        yield abs(float(document))


def _printed(page):
    """Figures in sentences and tables: not in pictures, names of jobs and policies, or the explanation of words."""
    body = page[page.index("<body") :]
    body = re.sub(r"(?s)<(svg|script|style|dl|details)\b.*?</\1>", " ", body)
    text = re.sub(r"<[^>]*>", " ", body)
    text = re.sub(r"\b[a-z]+[a-z-]*-?\d+(\.\d+)?\b|95 % interval|\d\. (?=[A-Z])", " ", text)
    return re.findall(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w.])", text)


def _is_known(text, known):
    value = float(text.replace(",", ""))
    digits = len(text.split(".")[1]) if "." in text else 0
    half = max(0.5 * 10.0**-digits, 0.006 * value)  # as many digits as are printed, or three
    return any(np.any(np.abs(known * scale - value) <= half) for scale in SCALES)
