"""Rankings: tests as SciPy has them, corrections that keep their order, and verdicts that follow from them."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from campaign.small import SMALL, small
from penstock.campaign import rank_plans, read_results, run_campaign
from penstock.campaign.paired_tests import MOST_EXACT, holm, mean_ranks, signed_ranks
from penstock.errors import InvalidOption
from penstock.report.campaign.ranking import in_short, latex_ranking, ranking_lines

whole = st.integers(-9, 9).map(float)


@given(st.lists(st.floats(0.01, 100.0), min_size=1, max_size=MOST_EXACT, unique=True), st.randoms())
def test_without_ties_p_is_that_of_scipy(sizes, draw):
    signed = np.array([size if draw.random() < 0.7 else -size for size in sizes])
    expected = stats.wilcoxon(signed, method="exact").pvalue
    assert signed_ranks(signed) == pytest.approx(expected, rel=1e-12)


@given(st.lists(whole, min_size=MOST_EXACT + 20, max_size=120))
def test_of_many_with_ties_p_is_that_of_scipy(values):
    differences = np.array(values)
    if np.count_nonzero(differences) > MOST_EXACT:
        expected = stats.wilcoxon(differences, method="approx", correction=False).pvalue
        assert signed_ranks(differences) == pytest.approx(expected, rel=1e-9)


@given(st.lists(whole, min_size=1, max_size=9))
def test_of_few_with_ties_p_counts_all_signs(values):
    differences = np.array(values)
    there = differences[differences != 0.0]
    if not there.size:
        assert signed_ranks(differences) == 1.0
        return
    ranks = stats.rankdata(np.abs(there))
    sums = [
        sum(rank for rank, up in zip(ranks, signs, strict=True) if up) for signs in product((0, 1), repeat=ranks.size)
    ]
    low = min(ranks[there > 0].sum(), ranks[there < 0].sum())
    expected = min(1.0, 2.0 * sum(each <= low for each in sums) / len(sums))
    assert signed_ranks(differences) == pytest.approx(expected, rel=1e-12)


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12))
def test_holm_is_what_its_definition_says(values):
    count, corrected = len(values), holm(values)
    order = sorted(range(count), key=values.__getitem__)
    for place, index in enumerate(order):
        steps = [min(1.0, (count - step) * values[order[step]]) for step in range(place + 1)]
        assert corrected[index] == max(steps) >= values[index]


@given(st.lists(st.lists(whole, min_size=3, max_size=3), min_size=1, max_size=5), st.sampled_from([1, -1]))
def test_ranks_are_those_of_scipy(rows, best):
    values = np.array(rows)
    assert mean_ranks(values, best) == pytest.approx(stats.rankdata(-best * values, axis=1))


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("campaign") / "out"
    workload = SMALL["workloads"][0] | {"seeds": "1-12"}
    plans = ["fair-share", "list-fifo", "list-lowest-id", "list-longest-io"]
    run_campaign(small(workloads=[workload], plans=plans, metrics=["max_stretch", "makespan"]), folder, workers=1)
    return read_results(folder)


def test_the_best_mean_rank_is_first(found):
    ranking = rank_plans(found)
    values = found.matrix("max_stretch")
    ranks = dict(zip(found.plans, stats.rankdata(np.round(values, 9), axis=1).mean(axis=0), strict=True))
    assert ranking.scenarios == 24 and ranking.seeds == 12
    assert [each.mean_rank for each in ranking.plans] == pytest.approx(sorted(ranks.values()))
    assert {each.plan: each.mean_rank for each in ranking.plans} == pytest.approx(ranks)
    assert [each.place for each in ranking.plans] == [1, 2, 3, 4]
    assert len(ranking.pairs) == 6


def test_pairs_are_over_seeds_and_corrected_for_their_number(found):
    ranking = rank_plans(found, "max_stretch", ["fair-share", "list-fifo", "list-longest-io"])
    values, plans = found.matrix("max_stretch"), list(found.plans)
    for pair in ranking.pairs:
        one, other = values[:, plans.index(pair.plan)], values[:, plans.index(pair.other)]
        relative = 2.0 * (one - other) / (one + other)
        by_seed = np.array([relative[found.scenarios[:, 1] == seed].mean() for seed in range(1, 13)])
        assert pair.difference == pytest.approx(by_seed.mean())
        assert pair.p == pytest.approx(signed_ranks(by_seed, 1e-9))
    assert [pair.corrected for pair in ranking.pairs] == holm([pair.p for pair in ranking.pairs])


def test_a_plan_against_itself_is_a_tie(tmp_path):
    plans = ["fair-share", "best-effort"]
    run_campaign(small(plans=plans, workloads=[SMALL["workloads"][0] | {"seeds": "1-12"}]), tmp_path, workers=1)
    ranking = rank_plans(read_results(tmp_path))
    assert [each.verdict for each in ranking.plans] == [None, "tie"]
    assert [each.mean_rank for each in ranking.plans] == [1.5, 1.5]
    assert ranking.pairs[0].p == 1.0
    assert "cannot be told from it" in in_short(ranking, [])


def test_words_and_latex(found):
    ranking = rank_plans(found)
    assert in_short(ranking, []).count(". ") == 2  # three sentences
    assert ranking_lines(ranking)[-1] == (
        "Wilcoxon's signed ranks over 12 seeds, two-sided; Holm's correction for 6 pairs."
    )
    latex = latex_ranking(ranking)
    assert latex.count(r"\\") == 5 and r"\textbf{" + ranking.plans[0].plan in latex
    assert list(ranking.to_pandas()["plan"]) == [each.plan for each in ranking.plans]


def test_few_seeds_are_said_to_be_few(tmp_path):
    run_campaign(small(), tmp_path, workers=1)
    ranking = rank_plans(read_results(tmp_path))
    assert "With 3 seeds and 1 pairs no difference can be more than luck (the lowest p is 0.25)" in " ".join(
        ranking_lines(ranking)
    )
    assert "draw more seeds" in in_short(ranking, [])
    shown = read_results(tmp_path)._repr_html_()  # of a notebook: means, and no keys of runs
    assert "mean makespan" in shown and "fair-share" in shown and ">key<" not in shown
    assert "cannot be told" not in in_short(ranking, [])


@pytest.mark.parametrize(
    ("metric", "plans", "said"),
    [
        ("events", None, "neither more nor less events is better"),
        ("makespan", ["fair-share"], "a ranking needs two plans"),
        ("makespan", ["fair-share", "nobody"], "no plan 'nobody'"),
    ],
)
def test_what_cannot_be_ranked(found, metric, plans, said):
    with pytest.raises(InvalidOption, match=said):
        rank_plans(found, metric, plans)
