"""`penstock reference`, `compare --reference` and `penstock attack`, as their users meet them."""

import pytest

from cli.user import parsed, refusal

# Both want the storage at 2 s: one waits a second. The interval bound does not see that the other then waits again.
MEETING = """\
version: 1
platform: {bandwidth: 1}
window: {end: 20}
applications:
  - {name: a, phases: [{compute: 3}, {write: 2}, {compute: 1}, {write: 3}, {compute: 30}]}
  - {name: b, phases: [{compute: 2}, {write: 3}, {compute: 2}, {write: 2}, {compute: 30}]}
  - {name: c, phases: [{compute: 1}, {write: 2}, {compute: 4}, {write: 3}, {compute: 30}]}
"""


@pytest.fixture
def meeting(folder):
    (folder / "meeting.yaml").write_text(MEETING)
    return "meeting.yaml"


def test_json_and_words(penstock, meeting):
    found = parsed(penstock("reference", meeting, "--budget", "2", "--json"))
    assert found["min_yield"] <= found["bound"] <= found["bound_interval"]
    assert found["gap"] == pytest.approx(1 - found["min_yield"] / found["bound"])
    said = " ".join(penstock("reference", meeting, "--budget", "2").out.split())
    assert f"best schedule {found['min_yield']:.4f}, {found['found_by']}" in said
    assert f"interval bound {found['bound_interval']:.4f}" in said


def test_the_same_budget_and_seed_find_the_same(penstock, meeting):
    asked = ["reference", meeting, "--budget", "2", "--search-seed", "4", "--json"]
    first, again = (parsed(penstock(*asked)) | {"seconds": 0} for _ in range(2))
    assert first == again
    assert first["clairvoyant"]["seed"] == 4


def test_compare_has_the_shares(penstock, meeting, folder):
    asked = ["compare", meeting, "--sharing", "fcfs,fair-share", "--reference", "--budget", "1"]
    found = parsed(penstock(*asked, "--json"))
    for run in found["runs"]:
        assert run["share_of_reference"] == pytest.approx(run["min_yield"] / found["reference"]["min_yield"])
        assert run["share_of_bound"] == pytest.approx(run["min_yield"] / found["reference"]["bound"])
    said = penstock(*asked, "--html", "page.html").out
    best = max(run["share_of_reference"] for run in found["runs"])
    assert "reference" in said and f"{100 * best:.1f} %" in said
    assert "of the highest min yield that is possible here" in " ".join(said.split())
    assert "of reference" in (folder / "page.html").read_text()
    assert "reference" not in penstock("compare", meeting, "--sharing", "fcfs").out


def test_options_of_a_reference_nobody_asked_for(penstock, meeting):
    assert "--budget says how to look for a reference" in refusal(penstock("compare", meeting, "--budget", "3"))
    assert "accepted is 1 to" in refusal(penstock("reference", meeting, "--budget", "0"))


def test_attack(penstock, folder):
    asked = ["attack", "greedy-yield", "--budget", "60", "--seed", "2"]
    found = parsed(penstock(*asked, "-o", "worst.yaml", "--json"))
    assert found["ratio"] == pytest.approx(found["min_yield"] / found["min_yield_against"])
    again = parsed(penstock("compare", "worst.yaml", "--sharing", "greedy-yield,fair-share", "--json"))["runs"]
    assert [run["min_yield"] for run in again] == [found["min_yield"], found["min_yield_against"]]
    said = penstock(*asked).out
    assert f"greedy-yield has a min yield of {found['min_yield']:.4f}" in said
    assert "closed or arrivals" in refusal(penstock("attack", "fcfs", "--jobs", "both"))
    assert "On none of 5 small scenarios" in penstock("attack", "fair-share", "--budget", "5").out
