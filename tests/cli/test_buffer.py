"""`penstock buffer` as its users meet it: tables, the JSON of the contract, pictures, sweeps and refusals."""

import json
import shlex
from pathlib import Path

import pytest

from cli.test_contract import NUMBER, check, parsed
from penstock.model import load
from penstock.policies.buffering import NAMES
from penstock.studies.buffers import buffer
from penstock.studies.buffers.sweep import FACTORS
from penstock.studies.sizing import size_buffer

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "burst-buffer.yaml"
JOBS = """\
version: 1
platform: {bandwidth: 10 GB/s, node_bandwidth: 1 GB/s}
applications:
  - {name: wide, nodes: 40, phases: [{repeat: 3, phases: [{compute: 200}, {write: 1.2 TB}]}]}
  - {name: "[it's]", nodes: 20, release: 100, phases: [{repeat: 4, phases: [{compute: 150}, {write: 400 GB}]}]}
"""
CALM = """\
version: 1
platform: {bandwidth: 9}
applications: [{name: a, bandwidth: 1, phases: [{write: 1}]}]
"""
OWN = """\
from penstock.buffering import strategy

@strategy("last-first")
def last_first(flows, rates):
    into, out, both = flows.read_limit, flows.write_limit, flows.joint_limit
    for place in range(rates.size):
        row = rates.size - 1 - place
        rate = min(flows.cap[row], both, into if flows.reading[row] == 1 else out)
        if flows.under[row] >= 0:
            rate = min(rate, rates[flows.under[row]])
        rates[row] = rate
        both -= rate
        if flows.reading[row] == 1:
            into -= rate
        else:
            out -= rate
"""
RUN = {
    "capacity": NUMBER,
    "partition": str,
    "common": NUMBER,
    "strategy": str,
    "shares": dict,
    "completion": dict,
    "stretch": dict,
    "stretch_p5": dict,
    "cut": dict,
    "max_stretch": NUMBER,
    "mean_stretch": NUMBER,
    "max_stretch_p5": NUMBER,
    "mean_stretch_p5": NUMBER,
    "node_hours_lost": NUMBER,
    "node_hours_used": NUMBER,
    "lost_share": NUMBER,
    "worst": str,
    "mean_yield": NUMBER,
    "p95_stretch": NUMBER,
    "unfinished": int,
    "lead": NUMBER,
    "admit": str,
    "through_buffer": NUMBER,
    "drive_writes_per_day": NUMBER,
    "worse_than_none": list,
    "without": (dict, type(None)),
    "infeasible": (dict, type(None)),
    "bound_max_stretch": NUMBER,
    "bound_mean_stretch": NUMBER,
    "end": NUMBER,
    "peak": NUMBER,
    "events": int,
    "seconds": NUMBER,
}
STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
LITTLE = "--capacity 300GB"


@pytest.fixture
def site(folder):
    (folder / "site.yaml").write_text(JOBS)
    (folder / "calm.yaml").write_text(CALM)
    (folder / "own.py").write_text(OWN)
    return load(folder / "site.yaml")


@pytest.fixture
def ran(penstock, site):
    def run(options, scenario="site.yaml"):
        return penstock("buffer", scenario, *shlex.split(options))

    return run


def plain(record):
    return json.loads(json.dumps(record)) | {"seconds": 0}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"partition": "isolated"},
        {"partition": "dynamic"},
        {"common": 0.25},
        {"strategy": "earliest-burst"},
    ],
    ids=str,
)
def test_json_of_a_run(ran, site, options):
    words = " ".join(f"--{name} {value}" for name, value in options.items())
    record = parsed(ran(f"{LITTLE} {words} --json"))
    check(record, RUN | {"size": NUMBER})
    partition = options.get("partition", "static")
    assert record["size"] == size_buffer(site, partition).size
    expected = buffer(site, 300e9, **options, against_none=True).to_dict()
    assert plain(record) == plain(expected | {"size": record["size"]})
    assert record["max_stretch"] >= record["bound_max_stretch"] > 1
    assert list(record["shares"]) == ["wide", "[it's]"]


def test_capacities(ran, site):
    size = size_buffer(site).size
    given = {"5e11": 5e11, "0.5TB": 5e11, "'500 GB'": 5e11, "50%": size / 2, "'200 %'": 2 * size, "0": 0.0}
    for text, expected in given.items():
        assert parsed(ran(f"--capacity {text} --json"))["capacity"] == pytest.approx(expected, rel=1e-15)


def test_the_capacity_of_the_scenario_is_the_default(ran, site, folder):
    (folder / "own.yaml").write_text(JOBS.replace("platform: {", "platform: {burst_buffer: {capacity: 200 GB}, "))
    assert parsed(ran("--json", "own.yaml"))["capacity"] == 2e11
    assert parsed(ran("--capacity 1GB --json", "own.yaml"))["capacity"] == 1e9
    assert ran("--sweep --json", "own.yaml").code == 0


def test_noise_and_seed(ran, site):
    noisy = parsed(ran(f"{LITTLE} --noise 0.2 --seed 3 --json"))
    disturbed = site.model_copy(update={"noise": 0.2, "seed": 3})
    assert noisy["stretch"] == buffer(disturbed, 300e9).to_dict()["stretch"] != buffer(site, 300e9).to_dict()["stretch"]


def test_a_sharing_policy_behind_the_buffer(ran):
    record = parsed(ran(f"{LITTLE} --sharing fcfs --json"))
    assert record["strategy"] == "fcfs"
    assert parsed(ran(f"{LITTLE} --sharing set-10 --json"))["strategy"].startswith("set-10")


def test_an_own_strategy(ran):
    assert parsed(ran(f"{LITTLE} --strategy own.py --json"))["strategy"] == "last-first"
    names = [run["strategy"] for run in parsed(ran(f"{LITTLE} --compare --strategy own.py --json"))["runs"]]
    assert sorted(names) == sorted([*NAMES, "last-first"])


def test_the_table_of_a_run(ran, site):
    found, size = buffer(site, 300e9), size_buffer(site).size
    out = ran(LITTLE).out
    assert out.startswith(f"300 GB, static, fair: max stretch {found.max_stretch:.3f}, mean {found.mean_stretch:.3f}")
    rows = {line.split()[0]: line.split() for line in out.splitlines()[3:5]}
    for name, share, stretch in zip(found.names, found.shares, found.stretch, strict=True):
        assert f"{share / 1e9:.4g}" in rows[name] and f"{stretch:.4f}" in rows[name]
    assert f"300 GB are {100 * 300e9 / size:.1f} % of the {size / 1e12:.4g} TB that remove all contention." in out
    assert f"Under no strategy is the largest below {found.bound_max_stretch:.3f}" in out
    assert "--compare shows" in out and "--sweep shows" in out
    assert "own part" not in ran(f"{LITTLE} --partition dynamic").out
    assert "25.0 % common" in ran(f"{LITTLE} --common 0.25").out
    assert "that one application alone needs at most" in ran(f"{LITTLE} --partition isolated").out


def test_what_is_said_where_nobody_waits(ran):
    out = ran("--capacity 300%").out
    assert "Everybody ends as if nobody were in the way" in out and "--compare shows" not in out
    assert "keeps up with all applications without any buffer" in ran("--capacity 5", "calm.yaml").out
    out = ran("--capacity 0").out
    assert "This is without a buffer, not with the " in out


def test_comparing(ran):
    record = parsed(ran(f"{LITTLE} --compare --json"))
    keys = ["capacity", "partition", "common", "size", "bound_max_stretch", "bound_mean_stretch", "runs"]
    assert list(record) == keys
    for run in record["runs"]:
        check(run, RUN)
        assert run["capacity"] == record["capacity"] == 3e11
        assert run["bound_max_stretch"] == record["bound_max_stretch"] <= run["max_stretch"]
    stretches = [run["max_stretch"] for run in record["runs"]]
    assert stretches == sorted(stretches)
    assert sorted(run["strategy"] for run in record["runs"]) == sorted(NAMES)
    out = ran(f"{LITTLE} --compare").out
    rows = [line for line in out.splitlines() if line.startswith(NAMES)]
    assert [row.split()[0] for row in rows] == [run["strategy"] for run in record["runs"]]
    [bound] = [line.split() for line in out.splitlines() if line.startswith("no strategy is below")]
    assert bound[-2:] == [f"{record['bound_max_stretch']:.4f}", f"{record['bound_mean_stretch']:.4f}"]
    assert "Lowest maximum stretch: " in out


def test_sweeping(ran, site):
    record = parsed(ran("--sweep --json"))
    assert list(record) == ["partition", "common", "size", "points"]
    assert (record["partition"], record["common"]) == ("static", 0)
    assert [point["factor"] for point in record["points"]] == list(FACTORS)
    for point in record["points"]:
        assert point.keys() == {"capacity", "factor", "bound_max_stretch", "bound_mean_stretch", "runs"}
        assert point["capacity"] == point["factor"] * record["size"]
        [run] = point["runs"]
        assert run.keys() == {"strategy", "max_stretch", "mean_stretch", "node_hours_lost"}
        assert run["strategy"] == "fair"
    half = next(point for point in record["points"] if point["factor"] == 0.5)
    assert half["runs"][0]["max_stretch"] == buffer(site, half["capacity"]).max_stretch
    out = ran("--sweep").out
    assert out.count(" %  ") == len(FACTORS)
    assert "With half of it (" in out and "S_opt is the " in out
    several = parsed(ran("--sweep --compare --partition dynamic --json"))
    assert several["common"] == 1
    assert {len(point["runs"]) for point in several["points"]} == {len(NAMES)}
    assert all(name in ran("--sweep --compare").out.splitlines()[1] for name in NAMES)
    one = parsed(ran("--sweep --sharing fcfs --json"))
    assert {point["runs"][0]["strategy"] for point in one["points"]} == {"fcfs"}


def test_sweeping_where_no_buffer_is_needed(ran, folder):
    outcome = ran("--sweep --plot it.svg", "calm.yaml")
    assert (outcome.code, outcome.err) == (0, "")
    words = "The file system keeps up with all applications at every instant: no buffer is needed.\n"
    assert outcome.out == words and not (folder / "it.svg").exists()
    record = parsed(ran("--sweep --json", "calm.yaml"))
    assert (record["size"], record["points"]) == (0, [])


@pytest.mark.parametrize("suffix", STARTS)
@pytest.mark.parametrize("options", ["--capacity 50%", "--capacity 50% --compare", "--sweep --compare"])
def test_plots(ran, folder, options, suffix):
    outcome = ran(f"{options} --plot it{suffix}")
    assert outcome.code == 0, outcome.err
    assert f"written: it{suffix}" in outcome.out
    assert (folder / f"it{suffix}").read_bytes().startswith(STARTS[suffix])


ACCEPTED = "accepted is a number of bytes ≥ 0, text such as"
REFUSED = [
    ("", "how large is the buffer? Give --capacity, as in --capacity 10TB or 50%, or --sweep"),
    ("--capacity -3", f"--capacity is '-3'; {ACCEPTED}"),
    ("--capacity -3%", f"--capacity is '-3%'; {ACCEPTED}"),
    ("--capacity much", f"--capacity is 'much'; {ACCEPTED}"),
    ("--capacity nan", f"--capacity is 'nan'; {ACCEPTED}"),
    ("--capacity nan%", f"--capacity is 'nan%'; {ACCEPTED}"),
    ("--capacity inf%", f"--capacity is 'inf%'; {ACCEPTED}"),
    ("--capacity 1e999", f"--capacity is '1e999'; {ACCEPTED}"),
    ("--capacity half%", f"--capacity is 'half%'; {ACCEPTED}"),
    ("--capacity %", f"--capacity is '%'; {ACCEPTED}"),
    ("--capacity ''", f"--capacity is ''; {ACCEPTED}"),
    ("--capacity 3Gb", f"(Gb is gigabits; penstock takes bytes: GB); {ACCEPTED}"),
    ("--capacity 3h", f"--capacity is '3h', a time; {ACCEPTED}"),
    (f"{LITTLE} --sweep", "--sweep tries capacities from 0 on; leave --capacity out with it"),
    (f"{LITTLE} --partition even", "--partition is 'even'; accepted: isolated, static, dynamic"),
    (f"{LITTLE} --common 1.5", "--common is 1.5; the part that anybody may use is a number from 0 to 1"),
    (f"{LITTLE} --common nan", "--common is nan; the part that anybody may use is a number from 0 to 1"),
    (f"{LITTLE} --common 0.5 --partition dynamic", "is for everybody already; leave --common out with it"),
    (f"{LITTLE} --strategy fair --sharing fcfs", "give one of them"),
    (f"{LITTLE} --strategy fare", "no buffering policy named 'fare'. Did you mean 'fair'?"),
    (f"{LITTLE} --sharing fcf", "no sharing policy named 'fcf'. Did you mean 'fcfs'?"),
    (f"{LITTLE} --strategy none.py", "none.py: there is no such file to take a buffering policy from"),
    (f"{LITTLE} --noise 2", "--noise is 2; the noise is a number from 0 to 1"),
    (f"{LITTLE} --plot it.gif", "it.gif ends in .gif; a plot is saved as"),
    (f"{LITTLE} --plot none/it.svg", "the folder none does not exist"),
]


@pytest.mark.parametrize(("options", "words"), REFUSED, ids=[row[0] for row in REFUSED])
def test_refused_options(ran, folder, options, words):
    refused(ran(options), words, folder)


@pytest.mark.parametrize(
    ("file", "words"),
    {
        "jobs.yaml": "the scenario has a window; a buffer is sized for applications that run to their end",
        "none.yaml": "none.yaml: no such file",
        "own.py": "own.py",
        "calm.yaml": "--capacity is '50%', but the smallest buffer that removes all contention is 0 here",
    }.items(),
)
def test_refused_scenarios(ran, folder, file, words):
    refused(ran("--capacity 50% --plot it.svg", file), words, folder)


def refused(outcome, words, folder):
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert words in outcome.err
    left = {path.name for path in folder.iterdir()} - {"__pycache__"}
    assert left == {"jobs.yaml", "all.yaml", "state.json", "site.yaml", "calm.yaml", "own.py"}


def test_the_example(ran):
    out = ran("--capacity 50%", str(EXAMPLE)).out
    assert "22.13 TB are 50.0 % of the 44.26 TB that remove all contention." in out
    assert "so the parts are those of --lead forever" in out
