"""`penstock pack` as its users meet it: the table, the JSON of the contract, the picture, and what it refuses."""

import json

import pytest

from cli.test_contract import NUMBER, PERHAPS, check, parsed
from penstock import Scenario, pack
from penstock.model import load
from penstock.policies.mapping import NAMES
from penstock.report.packs.plot import packing_figure, slots
from penstock.studies.packs import PackedJob

NIGHT = """\
version: 1
platform:
  io_nodes: {count: 2, bandwidth: 1, nodes: 4}
applications:
  - {name: wide, nodes: 4, phases: [{compute: 6}, {write: 2}]}
  - {name: "[b]odd", nodes: 2, phases: [{compute: 4}, {write: 3}]}
  - {name: c, nodes: 2, phases: [{compute: 4}, {write: 2}]}
  - {name: d, nodes: 1, phases: [{compute: 1}, {write: 2}]}
  - {name: e, nodes: 1, phases: [{compute: 1}]}
"""
PACKING = {
    "mapping": str,
    "sensitivity": NUMBER,
    "io_nodes": int,
    "packs": list,
    "makespan": NUMBER,
    "mean_pack_max_stretch": PERHAPS,
    "exec": NUMBER,
    "delay": NUMBER,
    "idle": NUMBER,
    # Beyond the contract, documented with it.
    "processors": int,
    "sharing": str,
    "alpha": NUMBER,
    "bound": NUMBER,
    "max_stretch": NUMBER,
    "mean_stretch": NUMBER,
    "begin": NUMBER,
    "mean_wait": NUMBER,
    "max_wait": NUMBER,
    "node_hours_lost": NUMBER,
    "node_hours_used": NUMBER,
    "lost_share": NUMBER,
    "worst": str,
    "mean_yield": NUMBER,
    "p95_stretch": NUMBER,
    "unfinished": int,
    "seconds": NUMBER,
    "jobs": list,
}
PACK = {"jobs": list, "io_node": int, "start": NUMBER, "end": NUMBER, "max_stretch": NUMBER}
PACK |= {"processors": int, "load": NUMBER}
JOB = {"name": str, "io_node": int, "pack": (int, type(None)), "nodes": int}
JOB |= {"start": NUMBER, "end": NUMBER, "stretch": NUMBER, "release": NUMBER, "wait": NUMBER}


@pytest.fixture
def night(folder):
    (folder / "night.yaml").write_text(NIGHT)
    return load(folder / "night.yaml")


def check_packing(record):
    check(record, PACKING)
    for each in record["packs"]:
        check(each, PACK)
    for job in record["jobs"]:
        check(job, JOB)


def test_packs_as_json(penstock, night):
    record = parsed(penstock("pack", "night.yaml", "--json"))
    check_packing(record)
    assert record | {"seconds": 0} == json.loads(json.dumps(pack(night).to_dict())) | {"seconds": 0}
    assert [each["jobs"] for each in record["packs"]] == [["wide"], ["[b]odd", "c"], ["d", "e"]]
    assert [(each["io_node"], each["start"]) for each in record["packs"]] == [(0, 0), (1, 0), (1, 9)]
    assert (record["sensitivity"], record["io_nodes"], record["sharing"]) == (1, 2, "list-fifo")


def test_the_words_for_sensitivity_stay_words(penstock, night):
    for word in ("inf", "alpha"):
        record = parsed(penstock("pack", "night.yaml", "--json", "--sensitivity", word))
        check_packing(record | {"sensitivity": 1})
        assert record["sensitivity"] == word


def test_backfilling_as_json(penstock, night):
    record = parsed(penstock("pack", "night.yaml", "--json", "--backfill", "--sharing", "fair-share"))
    check_packing(record)
    assert (record["packs"], record["mean_pack_max_stretch"]) == ([], None)
    assert (record["sensitivity"], record["sharing"]) == (1.5, "fair-share")
    assert all(job["pack"] is None for job in record["jobs"])


def test_more_io_nodes(penstock, night):
    record = parsed(penstock("pack", "night.yaml", "--json", "--io-nodes", "5"))
    assert record["io_nodes"] == 5
    assert record["makespan"] <= parsed(penstock("pack", "night.yaml", "--json"))["makespan"]


def test_the_table_has_every_pack(penstock, night):
    out = penstock("pack", "night.yaml").out
    assert "packs, S = 1, list-fifo, on 2 I/O nodes of 4 processors" in out
    for each in pack(night).packs:
        assert any(", ".join(each.jobs) in line and f" {each.load:.2f} " in line for line in out.splitlines())
    assert f"All 5 jobs end after {pack(night).makespan:g} s" in out
    assert f"{100 * pack(night).idle:.1f} % without a job" in out


def test_the_table_of_backfilling_has_every_job(penstock, night):
    out = penstock("pack", "night.yaml", "--backfill").out
    assert "backfilling, S = 1.5" in out
    for job in pack(night, backfill=True).jobs:
        assert any(line.startswith(job.name) and f"{job.stretch:.2f}" in line for line in out.splitlines())


def test_compare(penstock, night):
    out = penstock("pack", "night.yaml", "--compare").out
    rows = [line.split("  ")[0] for line in out.splitlines()[4:8]]
    assert rows == ["first-fit", "S = 1", "S = alpha", "backfill"]
    record = parsed(penstock("pack", "night.yaml", "--compare", "--json"))
    assert list(record) == ["scenario", "packings"]
    assert [each["mapping"] for each in record["packings"]] == rows
    for each in record["packings"]:
        check_packing(each | {"sensitivity": 1})


@pytest.fixture
def later(folder):
    (folder / "later.yaml").write_text(NIGHT.replace("{name: c,", "{name: c, release: 5,"))
    return load(folder / "later.yaml")


@pytest.mark.parametrize("more", [[], ["--backfill"], ["--mapping", "easy"]])
def test_waits_are_said_where_jobs_come_and_go(penstock, night, later, more):
    assert "in the queue" not in penstock("pack", "night.yaml", *more).out
    packing = pack(later, mapping={0: None, 1: "backfill", 2: "easy"}[len(more)])
    longest = max(packing.jobs, key=lambda job: job.wait)
    said = f"in the queue on average, {packing.max_wait:g} s at most ({longest.name})."
    assert said in penstock("pack", "later.yaml", *more).out
    record = parsed(penstock("pack", "later.yaml", "--json", *more))
    assert record["jobs"][2]["release"] == 5 <= record["jobs"][2]["start"]
    assert record["max_wait"] == max(job["wait"] for job in record["jobs"]) == packing.max_wait


def test_compare_shows_waits_where_jobs_come_and_go(penstock, night, later):
    assert "wait" not in penstock("pack", "night.yaml", "--compare").out
    assert penstock("pack", "later.yaml", "--compare").out.count("wait") == 2  # mean and max


@pytest.mark.parametrize("name", ["make-pack", "first-fit", "backfill", "easy", "easy(factor=3)"])
def test_a_mapping_by_name(penstock, night, name):
    record = parsed(penstock("pack", "night.yaml", "--json", "--mapping", name))
    shown = {"make-pack": 1, "first-fit": "inf", "backfill": 1.5}.get(name)
    assert (record["mapping"], record["sensitivity"]) == (name, shown)
    assert record | {"seconds": 0} == json.loads(json.dumps(pack(night, mapping=name).to_dict())) | {"seconds": 0}
    out = penstock("pack", "night.yaml", "--mapping", name).out
    assert ("packs, " in out) == (name in ("make-pack", "first-fit")) and "list-fifo, on 2 I/O nodes" in out


def test_first_fit_is_make_pack_without_a_limit(penstock, night):
    same = [["--mapping", "first-fit"], ["--sensitivity", "inf"], ["--mapping", "make-pack(sensitivity=inf)"]]
    records = [parsed(penstock("pack", "night.yaml", "--json", *options)) for options in same]
    assert len({json.dumps(record["packs"]) for record in records}) == 1
    assert {record["sensitivity"] for record in records} == {"inf"}


def test_a_mapping_from_a_file(penstock, night, folder):
    (folder / "my_mapping.py").write_text("def one(view):\n    print('asked')\n    return [(view.waiting[0], 0)]\n")
    outcome = penstock("pack", "night.yaml", "--json", "--mapping", "my_mapping.py:one")
    # It is asked while jobs wait, and starts one at a time; what it prints does not spoil the result.
    record = json.loads(outcome.out)
    assert outcome.err == "asked\n" * 5
    starts, ends = zip(*sorted((job["start"], job["end"]) for job in record["jobs"]), strict=True)
    assert record["mapping"] == "one" and starts[1:] == ends[:-1]


def test_mappings_are_listed(penstock):
    known = [each for each in parsed(penstock("policies", "--json")) if each["decision"] == "mapping"]
    assert [each["name"] for each in known] == list(NAMES)
    assert all(each.keys() == {"decision", "name", "rule", "source", "parameters"} for each in known)
    assert {each["name"]: each["parameters"] for each in known}["easy"] == {"factor": 2}
    assert all(name in penstock("policies").out for name in NAMES)


def test_noise_is_drawn_anew(penstock, night):
    makespans = {
        parsed(penstock("pack", "night.yaml", "--json", "--noise", "0.2", "--seed", seed))["makespan"] for seed in "123"
    }
    assert len(makespans) == 3


@pytest.mark.parametrize("more", [[], ["--backfill"]])
def test_the_plot_is_drawn(penstock, night, folder, more):
    outcome = penstock("pack", "night.yaml", "--plot", "night.svg", *more)
    assert outcome.code == 0 and "written: night.svg" in outcome.out
    assert (folder / "night.svg").read_text().startswith("<?xml")


def test_the_plot_shows_every_job_with_its_waiting(night):
    packing = pack(night, "inf")
    figure = packing_figure(packing)
    bands = figure.axes[: packing.io_nodes]
    assert [axes.get_ylabel() for axes in bands] == ["I/O node 0\nprocessors", "I/O node 1\nprocessors"]
    shapes = [path.vertices for axes in bands for path in axes.collections[0].get_paths()]
    assert len(shapes) == len(packing.jobs)
    # Width times height of the rectangles is the processor time held, of the hatched ones the time waited.
    assert sum(map(area, shapes)) == pytest.approx(sum(job.nodes * (job.end - job.start) for job in packing.jobs))
    waited = sum(area(path.vertices) for axes in bands for path in axes.collections[1].get_paths())
    assert waited == pytest.approx(packing.delay * 2 * 4 * packing.makespan)
    outlined = sum(len(collection.get_paths()) for axes in bands for collection in axes.collections[3:])
    assert outlined == len(packing.packs)


def area(corners):
    (left, low), (right, high) = corners.min(axis=0), corners.max(axis=0)
    return (right - left) * (high - low)


def test_a_plot_of_many_nodes_says_what_it_leaves_out(night):
    figure = packing_figure(pack(night, io_nodes=40))
    assert "28 more I/O nodes are not shown" in [text.get_text() for text in figure.legends[0].get_texts()]


def job(name, nodes, start, end):
    return PackedJob(name, 0, None, nodes, start, end, 1.0, 0.1)


def test_slots_never_overlap_and_may_be_in_pieces():
    jobs = [job("a", 2, 0, 4), job("b", 2, 0, 9), job("c", 2, 0, 4), job("d", 4, 4, 9)]
    held = {each.name: slots_of for each, slots_of in slots(jobs, 6)}
    assert held == {"a": [(0, 2)], "b": [(2, 4)], "c": [(4, 6)], "d": [(0, 2), (4, 6)]}


REFUSED = [
    (["--sensitivity", "0"], "sensitivity is '0'; accepted is a number above 0, inf (first-fit) or alpha"),
    (["--sensitivity", "most"], "sensitivity is 'most'; accepted is"),
    (["--io-nodes", "0"], "io_nodes is 0; accepted is a whole number from 1 to 10,000"),
    (["--sharing", "nobody"], "no sharing policy named 'nobody'"),
    (["--sharing", "periodic-fifo", "--backfill"], "fixes its order before the run"),
    (["--sharing", "periodic-fifo", "--compare"], "fixes its order before the run"),
    (["--plot", "night.txt"], "night.txt ends in .txt; a plot is saved as .png, .svg or .pdf"),
    (
        ["--compare", "--backfill"],
        "--compare runs every mapping; leave --sensitivity, --backfill, --plot and",
    ),
    (["--compare", "--plot", "night.svg"], "--compare runs every mapping"),
    (["--compare", "--mapping", "easy"], "--compare runs every mapping"),
    (["--backfill", "--mapping", "easy"], "--backfill is short for --mapping backfill; leave one of the two out"),
    (["--mapping", "eazy"], "no mapping policy named 'eazy'. Did you mean 'easy'?"),
    (["--mapping", "easy", "--sensitivity", "1"], "mapping 'easy' has no sensitivity; leave it out, or choose another"),
    (["--mapping", "none.py"], "none.py: there is no such file to take a mapping policy from"),
]


@pytest.mark.parametrize(("options", "words"), REFUSED, ids=[" ".join(row[0]) for row in REFUSED])
def test_refused_options(penstock, night, folder, options, words):
    outcome = penstock("pack", "night.yaml", *options)
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert words in outcome.err
    assert not (folder / "night.svg").exists()


SCENARIOS = [
    ("nodes: 4}\n", "nodes: 3}\n", "application 'wide' needs 4 nodes; an I/O node has 3"),
    ("  io_nodes: {count: 2, bandwidth: 1, nodes: 4}", "  bandwidth: 1", "platform.io_nodes is missing; packs run on"),
    ("version: 1\n", "version: 1\nwindow: {end: 9}\n", "the scenario has a window; packs run every job to its end"),
    ("[{compute: 1}]}", "[{repeat: forever, phases: [{compute: 1}]}]}", "is forever without a window"),
]


@pytest.mark.parametrize(("old", "new", "words"), SCENARIOS, ids=[row[2][:24] for row in SCENARIOS])
def test_refused_scenarios(penstock, folder, old, new, words):
    assert NIGHT.count(old) == 1
    (folder / "night.yaml").write_text(NIGHT.replace(old, new))
    outcome = penstock("pack", "night.yaml", "--json")
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert words in outcome.err


def test_an_io_node_is_disturbed_by_its_own_interference_only():
    """Two that write at once leave it half; what the file system behind it loses is not looked at."""
    jobs = [{"name": name, "phases": [{"write": 4}]} for name in "ab"]
    ends = []
    for own, behind in ((None, [1, 0.5]), ([1, 0.5], None)):
        node = {"count": 1, "bandwidth": 1, "nodes": 2} | ({"interference": own} if own else {})
        platform = {"io_nodes": node} | ({"interference": behind} if behind else {})
        document = {"version": 1, "platform": platform, "applications": jobs}
        ends.append(pack(Scenario.from_document(document), "inf", sharing="fair-share").makespan)
    assert ends == [8.0, 16.0]
