"""`penstock compare --goal`: a recommendation as its users meet it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cli.test_contract import NUMBER, PERHAPS, parsed

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = """\
version: 1
platform: {bandwidth: 1}
window: {end: 200}
noise: 0.2
applications:
  - name: a
    phases: [{repeat: forever, phases: [{compute: 7}, {write: 4}]}]
  - name: b
    phases: [{repeat: forever, phases: [{compute: 3}, {write: 5}]}]
"""
SHORT_BEHIND_LONG = """\
version: 1
platform: {bandwidth: 1}
applications:
  - {name: long, phases: [{write: 40}]}
  - {name: short, phases: [{write: 2}]}
"""
RECOMMENDATION: dict[str, Any] = {
    "goal": str,
    "metric": str,
    "recommended": str,
    "significant": bool,
    "chosen": str,
    "tied": list,
    "next_best": str,
    "lead": NUMBER,
    "lead_low": NUMBER,
    "lead_high": NUMBER,
    "against": str,
    "gain": PERHAPS,
    "gain_low": PERHAPS,
    "gain_high": PERHAPS,
    "noise": NUMBER,
    "noise_assumed": bool,
    "variants": int,
    "seeds_choosing": list,
    "seeds_measuring": list,
    "policies": list,
}
POLICY: dict[str, Any] = {
    "sharing": str,
    "mean": NUMBER,
    "low": NUMBER,
    "high": NUMBER,
    "difference": NUMBER,
    "difference_low": NUMBER,
    "difference_high": NUMBER,
    "wins": int,
    "ties": int,
    "losses": int,
    "verdict": (str, type(None)),
}
FEW = ("--sharing", "fcfs,greedy-com,greedy-yield", "--variants", "20", "--workers", "1")


@pytest.fixture
def goal(penstock, folder):
    """Ask for a recommendation."""
    (folder / "rounds.yaml").write_text(ROUNDS)
    (folder / "short.yaml").write_text(SHORT_BEHIND_LONG)

    def ask(file, name, *more):
        return penstock("compare", f"{file}.yaml", "--goal", name, *FEW, *more)

    return ask


@pytest.fixture
def refused(penstock, goal):
    def ask(*arguments):
        outcome = penstock("compare", *arguments)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith("penstock: ") and outcome.err.count("\n") == 1
        return outcome.err.removeprefix("penstock: ").strip()

    return ask


@pytest.mark.parametrize("name", ["min-yield", "efficiency", "utilization"])
def test_the_json_has_what_is_promised_and_all_that_it_had(penstock, goal, name):
    found = parsed(goal("rounds", name, "--json"))
    assert list(found) == ["scenario", "recommendation", "runs"]
    without = parsed(penstock("compare", "rounds.yaml", *FEW[:2], "--json"))
    for one, other in zip(found["runs"], without["runs"], strict=True):
        assert one | {"seconds": 0} == other | {"seconds": 0}
    recommendation = found["recommendation"]
    assert recommendation.keys() == RECOMMENDATION.keys()
    assert all(isinstance(recommendation[key], kind) for key, kind in RECOMMENDATION.items())
    for each in recommendation["policies"]:
        assert each.keys() == POLICY.keys()
        assert all(isinstance(each[key], kind) for key, kind in POLICY.items())
    assert (recommendation["goal"], recommendation["metric"], recommendation["variants"]) == (
        name,
        name.replace("-", "_"),
        20,
    )
    assert (recommendation["noise"], recommendation["noise_assumed"]) == (0.2, False)
    assert (recommendation["seeds_choosing"], recommendation["seeds_measuring"]) == ([0, 9], [10, 19])
    assert {each["sharing"] for each in recommendation["policies"]} == {
        "fair-share",
        "fcfs",
        "greedy-com",
        "greedy-yield",
    }
    means = [each["mean"] for each in recommendation["policies"]]
    assert means == sorted(means, reverse=True)


def test_every_key_is_on_the_page_of_commands():
    page = (ROOT / "docs" / "reference" / "commands" / "runs.md").read_text()
    section = page.split("### JSON of a recommendation")[1].split("\n##")[0]
    assert [key for key in (*RECOMMENDATION, *POLICY) if f"`{key}`" not in section] == []


def test_the_same_command_says_the_same_and_another_seed_something_else(goal):
    first, again, other = (
        parsed(goal("rounds", "min-yield", "--json", *more))["recommendation"] for more in ([], [], ["--seed", "50"])
    )
    assert first == again != other
    assert other["seeds_choosing"] == [50, 59]


def test_a_clear_winner_is_recommended_in_a_sentence(goal):
    out = goal("short", "stretch").out
    assert "Recommended for stretch: greedy-com, -" in out
    assert "against fair-share, the next best, on 10 variants." in out
    assert "max stretch, 10 variants each" in out
    assert "each phase times 1 ± 0.1 at random (assumed, since the scenario has none; --noise gives another)" in out
    assert "seeds 0 to 9 and 10 to 19" in out
    record = parsed(goal("short", "stretch", "--json"))["recommendation"]
    assert record["lead_high"] < 0 and record["recommended"] == "greedy-com" and record["significant"]


def test_no_difference_is_said_to_be_none(penstock, goal):
    asked = ("compare", "rounds.yaml", "--goal", "efficiency", "--sharing", "best-effort", "--variants", "20")
    out = penstock(*asked, "--workers", "1").out
    assert (
        "No significant difference in efficiency between fair-share and best-effort on 10 variants; fair-share is the "
        "simplest, as nothing need be changed." in out
    )
    assert "More variants" not in out
    record = parsed(penstock(*asked, "--workers", "1", "--json"))["recommendation"]
    assert record["gain"] is None and not record["significant"] and record["tied"] == ["fair-share", "best-effort"]


def test_what_is_in_use_may_be_another_policy(goal):
    record = parsed(goal("short", "stretch", "--against", "greedy-com", "--json"))["recommendation"]
    assert record["against"] == record["recommended"] == "greedy-com" and record["gain"] is None
    assert {each["sharing"] for each in record["policies"]} == {"greedy-com", "fcfs", "greedy-yield"}
    record = parsed(goal("short", "stretch", "--against", "list-longest-io", "--json"))["recommendation"]
    assert record["against"] == "list-longest-io" and record["gain"] < -5


def test_a_plan_and_a_policy_of_ones_own_are_candidates(penstock, goal, folder):
    (folder / "mine.py").write_text(
        "from penstock.policies.sharing.policy import sharing\n\n\n"
        "@sharing('mine')\ndef mine(view, rates):\n"
        "    print\n    rates[0] = min(view.limit[0], view.capacity)\n"
    )
    assert penstock("simulate", "short.yaml", "--sharing", "list-fifo", "--schedule", "plan.csv").code == 0
    asked = ("compare", "short.yaml", "--sharing", "greedy-com,mine.py", "--follow", "plan.csv")
    record = parsed(penstock(*asked, "--goal", "stretch", "--variants", "20", "--workers", "2", "--json"))
    names = {each["sharing"] for each in record["recommendation"]["policies"]}
    assert names == {"follow(plan.csv)", "greedy-com", "mine", "fair-share"}
    assert record["recommendation"]["recommended"] == "greedy-com"


def test_plot_and_page_show_it(goal, folder):
    done = goal("rounds", "min-yield", "--plot", "c.svg", "--html", "c.html")
    assert done.code == 0 and "written: c.svg" in done.out
    page = (folder / "c.html").read_text()
    assert "<h2>Recommendation for min-yield</h2>" in page and "Chosen on 10 variants" in page
    assert "less that of" in page and 'id="recommendation-' in page
    drawn = (folder / "c.svg").read_bytes()
    goal("rounds", "min-yield", "--plot", "d.svg")
    assert (folder / "d.svg").read_bytes() == drawn


def test_it_works_without_pyarrow(folder):
    (folder / "short.yaml").write_text(SHORT_BEHIND_LONG)
    arguments = ["compare", "short.yaml", "--goal", "stretch", *FEW, "--json"]
    missing = f"import sys; sys.modules['pyarrow'] = None; sys.argv[1:] = {arguments!r}"
    code = f"{missing}; from penstock.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert json.loads(done.stdout)["recommendation"]["recommended"] == "greedy-com"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            "--goal fairness",
            "no goal is named 'fairness'; known: node-hours, min-yield, efficiency, utiliza",
        ),
        ("--goal min_yield", "no goal is named 'min_yield'; did you mean 'min-yield'? known: node-hours, min-yield, "),
        ("--goal min-yield --variants 7", "7 variants are too few to tell luck from merit; accepted is 20 or more"),
        ("--goal min-yield --noise 0", "--noise is 0, so all variants would be the same; a --goal needs a noise above"),
        ("--goal min-yield --workers 0", "--workers is 0; accepted is a whole number ≥ 1"),
        ("--goal min-yield --against nope", "no sharing policy named 'nope'."),
        ("--goal min-yield --sharing fair-share", "there is only fair-share to choose from; give another policy, too"),
        ("--variants 50", "--variants says how to find a recommendation; give a --goal, too"),
        ("--against fcfs", "--against says how to find a recommendation; give a --goal, too"),
        ("--workers 2", "--workers says how to find a recommendation; give a --goal, too"),
    ],
)
def test_what_cannot_be_recommended_is_refused_in_a_sentence(refused, options, sentence):
    assert refused("rounds.yaml", *options.split()).startswith(sentence)


def test_targets_without_a_bandwidth_are_refused_as_before(refused, folder):
    (folder / "targets.yaml").write_text(SHORT_BEHIND_LONG.replace("{bandwidth: 1}", "{targets: 4}"))
    assert "platform.bandwidth is missing" in refused("targets.yaml", "--goal", "stretch", "--sharing", "fcfs")


@pytest.mark.slow
def test_progress_of_variants_is_shown(terminal, goal):
    slow = "import time\n\n\ndef slow(view, rates):\n    time.sleep(0.002)\n    rates[0] = view.limit[0]\n"
    with open("slow.py", "w") as file:
        file.write(slow)
    asked = ("compare", "rounds.yaml", "--goal", "efficiency", "--sharing", "slow.py:slow", "--variants", "20")
    seen = terminal(*asked, "--workers", "1", "--json", on="stderr")
    assert seen.code == 0 and "variants" in seen.err and "of 40 runs" in seen.err
    assert json.loads(seen.out)["recommendation"]["variants"] == 20


def test_the_default_takes_seconds(goal, penstock):
    penstock("compare", "rounds.yaml")  # compiles what is not compiled yet
    begun = time.monotonic()
    record = parsed(penstock("compare", "rounds.yaml", "--goal", "min-yield", "--json"))
    assert record["recommendation"]["variants"] == 100
    assert time.monotonic() - begun < 30.0
