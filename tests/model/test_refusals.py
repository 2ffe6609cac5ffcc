"""Every refusal reads as one sentence: the file, the line, the place, what was found, what is accepted."""

from collections.abc import Callable
from typing import Any, cast

import pytest

from penstock.errors import InvalidScenario
from penstock.model import Application, Compute, Platform, Repeat, Scenario, Trace, Write, load

GOOD = """\
version: 1
platform: {bandwidth: 1}
window: {begin: 10, end: 100}
applications:
  - name: a
    phases:
      - write: 0.5
      - compute: 3
"""
NO_WINDOW = GOOD.replace("window: {begin: 10, end: 100}\n", "")


def refusal(tmp_path, text, name="jobs.yaml"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InvalidScenario) as caught:
        load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(tmp_path)).lstrip("/")


def test_the_good_one_is_good(tmp_path):
    path = tmp_path / "jobs.yaml"
    path.write_text(GOOD)
    assert load(path).applications[0].phases == (Write(write=0.5), Compute(compute=3))


VOLUME = 'a volume is a number ≥ 0 or text such as "3.2 TB"'
ONE_KEY = "a phase has exactly one of the keys compute, read, write, repeat"
FORM_OF_REPEAT = 'repeat takes a whole number ≥ 1 or "forever"'
WRITE = "jobs.yaml:7: applications[0].phases[0].write"
APPLICATION_KEYS = (
    "name, nodes, bandwidth, read_bandwidth, write_bandwidth, node_skew, release, walltime, progress, io_node, "
    "profile, phases"
)

REPLACED = [
    ("write: 0.5", "write: -2", f"{WRITE} is -2; {VOLUME}"),
    ("write: 0.5", "write: .nan", f"{WRITE} is nan; {VOLUME}"),
    ("write: 0.5", "write: .inf", f"{WRITE} is inf; {VOLUME}"),
    ("write: 0.5", "write: yes", f"{WRITE} is true; {VOLUME}"),
    ("write: 0.5", "write:", f"{WRITE} is empty; {VOLUME}"),
    ("write: 0.5", "write: 5 GB/s", f"{WRITE} is '5 GB/s', a bandwidth; {VOLUME}"),
    ("write: 0.5", "write: 1 Gb", f"{WRITE} is '1 Gb' (Gb is gigabits; penstock takes bytes: GB); {VOLUME}"),
    (
        "write: 0.5",
        "writ: 3",
        f"jobs.yaml:7: applications[0].phases[0] has the key writ; did you mean 'write'? {ONE_KEY}",
    ),
    ("- write: 0.5", "- 3", f"jobs.yaml:7: applications[0].phases[0] is 3; {ONE_KEY}"),
    ("- write: 0.5", "- {}", f"jobs.yaml:7: applications[0].phases[0] has no key; {ONE_KEY}"),
    ("- write: 0.5", "- {write: 1, read: 2}", f"applications[0].phases[0] has the keys read and write; {ONE_KEY}"),
    ("- write: 0.5", "- {write: 1, hue: 2}", "applications[0].phases[0] has an unknown key 'hue'; accepted: write"),
    (
        "compute: 3",
        "{repeat: 3}",
        "jobs.yaml:8: applications[0].phases[1] has no 'phases'; accepted keys: repeat, phases",
    ),
    (
        "compute: 3",
        "{repeat: 3, phases: []}",
        "applications[0].phases[1].phases is an empty list; expected at least one",
    ),
    ("compute: 3", "{repeat: 0, phases: [{read: 1}]}", f"applications[0].phases[1].repeat is 0; {FORM_OF_REPEAT}"),
    ("compute: 3", "{repeat: 2.5, phases: [{read: 1}]}", f"applications[0].phases[1].repeat is 2.5; {FORM_OF_REPEAT}"),
    ("compute: 3", "{repeat: ever, phases: [{read: 1}]}", f"phases[1].repeat is 'ever'; {FORM_OF_REPEAT}"),
    (
        "compute: 3",
        "{repeat: 3, phases: [{compute: 1}, {read: -1}]}",
        f"jobs.yaml:8: applications[0].phases[1].phases[1].read is -1; {VOLUME}",
    ),
    (
        "- write: 0.5",
        "- {repeat: forever, phases: [{compute: 1}]}",
        "jobs.yaml:7: applications[0].phases[0].repeat is forever but not last; nothing after it would ever run",
    ),
    (
        "compute: 3",
        "{repeat: forever, phases: [{compute: 0}]}",
        "jobs.yaml:8: applications[0].phases[1].repeat is forever, but every phase in it is empty; one must take time",
    ),
    (
        "compute: 3",
        "{repeat: 2, phases: [{repeat: forever, phases: [{compute: 1}]}]}",
        "jobs.yaml:8: applications[0].phases[1].phases[0].repeat is forever inside another repeat; forever stands",
    ),
    ("name: a", "name: 3", "jobs.yaml:5: applications[0].name is 3; a name is printable text, not empty, in quotes"),
    ("name: a", "name: ''", "jobs.yaml:5: applications[0].name is ''; a name is printable text, not empty"),
    ("name: a", 'name: "a\\nb"', "applications[0].name is 'a\\nb'; a name is printable text"),
    (
        "    phases:",
        "    phase:",
        f"jobs.yaml:6: applications[0] has an unknown key 'phase'; did you mean 'phases'? accepted: {APPLICATION_KEYS}",
    ),
    (
        "name: a",
        "name: a\n    hue: 1",
        f"jobs.yaml:6: applications[0] has an unknown key 'hue'; accepted: {APPLICATION_KEYS}",
    ),
    ("name: a", "name: a\n    3: 1", f"applications[0] has the key 3; accepted keys: {APPLICATION_KEYS}"),
    ("name: a", "name: a\n    <Read>: 1", "jobs.yaml:6: applications[0] has an unknown key '<Read>'; accepted: name"),
    ("name: a\n    phases", "phases", f"jobs.yaml:5: applications[0] has no 'name'; accepted keys: {APPLICATION_KEYS}"),
    ("name: a", "name: a\n    nodes: 2.5", "jobs.yaml:6: applications[0].nodes is 2.5; a count is a whole number ≥ 1"),
    ("name: a", "name: a\n    nodes: 0", "jobs.yaml:6: applications[0].nodes is 0; a count is a whole number ≥ 1"),
    ("name: a", "name: a\n    nodes: true", "applications[0].nodes is true; a count is a whole number ≥ 1"),
    (
        "name: a",
        "name: a\n    bandwidth: 0",
        "jobs.yaml:6: applications[0].bandwidth is 0; a bandwidth is a number > 0",
    ),
    (
        "name: a",
        "name: a\n    release: 100",
        "jobs.yaml:6: applications[0].release is 100; a release is before window.end",
    ),
    (
        "name: a",
        "name: a\n    release: 4\n    progress: 7",
        "jobs.yaml:7: applications[0].progress is 7; at most window.begin − release = 6 seconds have passed",
    ),
    (
        "name: a",
        "name: a\n    release: 10\n    progress: 1",
        "progress is 1; at most window.begin − release = 0 seconds",
    ),
    ("name: a", "name: a\n    profile: {0: 1}", "jobs.yaml:6: applications[0].profile[0] is 0; a count is a whole"),
    ("name: a", "name: a\n    profile: {1: 0}", "applications[0].profile[1] is 0; a bandwidth is a number > 0"),
    ("name: a", "name: a\n    profile: {}", "applications[0].profile is an empty mapping; expected at least one entry"),
    (
        "name: a",
        "name: a\n    profile:\n      2: 1\n      '1': 1\n      1: 2",
        "jobs.yaml:8: applications[0].profile[1] is there twice, as '1' and as 1; give every count once",
    ),
    ("name: a", "name: a\n    profile: {1e1: 1, 10: 2}", "profile[10] is there twice, as '1e1' and as 10; give"),
    ("name: a", "name: a\n    name: b", "jobs.yaml:6: not valid YAML: the key 'name' appears twice in one mapping"),
    ("bandwidth: 1", "bandwidht: 1", "jobs.yaml:2: platform has an unknown key 'bandwidht'; did you mean 'bandwidth'?"),
    ("{bandwidth: 1}", "{nodes: 4}", "jobs.yaml:2: platform has no bandwidth; give one of bandwidth, read_bandwidth"),
    ("{bandwidth: 1}", "3", "jobs.yaml:2: platform is 3; expected a mapping with the keys bandwidth, nodes"),
    ("bandwidth: 1", "bandwidth: 1, targets: 0", "platform.targets is 0; a count is a whole number ≥ 1"),
    ("bandwidth: 1", "bandwidth: 1, targets: []", "platform.targets is an empty list; expected at least one entry"),
    ("bandwidth: 1", "bandwidth: 1, targets: [x, x]", "platform.targets[1] is 'x', the name of an earlier target"),
    (
        "bandwidth: 1",
        "bandwidth: 1, targets: [{name: x, bandwidth: 0}]",
        "platform.targets[0].bandwidth is 0; a bandwidth",
    ),
    (
        "bandwidth: 1",
        "bandwidth: 1, io_nodes: {count: 1}",
        "platform.io_nodes has no 'bandwidth'; accepted keys: count",
    ),
    (
        "bandwidth: 1",
        "bandwidth: 1, burst_buffer: {capacity: 1, shares: {b: 1}}",
        "jobs.yaml:2: platform.burst_buffer.shares.b is a share of an application that is not there",
    ),
    (
        "bandwidth: 1",
        "bandwidth: 1, burst_buffer: {capacity: 1, shares: {a: -1}}",
        "shares.a is -1; a share is a number ≥ 0",
    ),
    ("version: 1", "version: 2", "jobs.yaml:1: version is 2; this penstock reads version 1"),
    ("version: 1", "version: true", "jobs.yaml:1: version is true; this penstock reads version 1"),
    ("version: 1\n", "", "jobs.yaml: the document has no 'version'; accepted keys: version, platform"),
    ("end: 100", "end: 5", "jobs.yaml:3: window.end is 5; a window ends after it begins, at 10"),
    ("begin: 10", "begin: -1", "jobs.yaml:3: window.begin is -1; a time is a number ≥ 0"),
    ("window: {begin: 10, end: 100}", "noise: 2", "jobs.yaml:3: noise is 2; the noise is a number from 0 to 1"),
    ("window: {begin: 10, end: 100}", "seed: -1", "jobs.yaml:3: seed is -1; a seed is a whole number ≥ 0"),
]


@pytest.mark.parametrize(("old", "new", "words"), REPLACED, ids=[row[1].replace("\n    ", " ") for row in REPLACED])
def test_sentence(tmp_path, old, new, words):
    assert old in GOOD
    assert words in refusal(tmp_path, GOOD.replace(old, new))


HEAD = GOOD[: GOOD.index("applications:")]

WHOLE = [
    (
        GOOD + "  - name: a\n    phases: [{read: 1}]\n",
        ":9: applications[1].name is 'a', already the name of applications[0]",
    ),
    (HEAD + "applications: []\n", "jobs.yaml:4: applications is an empty list; expected at least one entry"),
    (HEAD + "applications:\n", "jobs.yaml:4: applications is empty; expected a list"),
    (HEAD + "applications: {a: 1}\n", "jobs.yaml:4: applications is a mapping; expected a list"),
    (HEAD, "jobs.yaml: the document has no 'applications'; accepted keys: version"),
    (HEAD + "applications: [{name: a, phases: []}]\n", "jobs.yaml:4: applications[0].phases is an empty list"),
    (
        HEAD + "applications: [{name: a, phases: [{write: 0}, {repeat: 3, phases: [{compute: 0}]}]}]\n",
        "jobs.yaml:4: applications[0].phases has only empty phases; at least one must take time or move bytes",
    ),
    (
        NO_WINDOW + "      - {repeat: forever, phases: [{compute: 1}]}\n",
        "jobs.yaml:8: applications[0].phases[2].repeat is forever without a window; give window.end",
    ),
    (
        NO_WINDOW.replace("name: a", "name: a\n    progress: 1"),
        "jobs.yaml:5: applications[0].progress is given without a window; it is the progress made at window.begin",
    ),
    (
        NO_WINDOW + "      - {repeat: 1_000, phases: [{repeat: 100_000, phases: [{compute: 1}]}]}\n",
        "jobs.yaml: the document unrolls to 100,000,002 phases; at most 50,000,000 without a window",
    ),
    ("- 1\n", "jobs.yaml: the document is a list; expected a mapping with the keys version, platform"),
    ("3", "jobs.yaml: the document is 3; expected a mapping"),
    ("a: [1\nb: 3\n", "jobs.yaml:2: not valid YAML: while parsing a flow sequence"),
    ("a: 1\n---\nb: 2\n", "jobs.yaml:2: not valid YAML: expected a single document"),
    ("a: !!python/object:os.system 3", "jobs.yaml:1: not valid YAML: could not determine a constructor"),
    ("a: 2001-99-99", "jobs.yaml: not valid YAML: month must be in 1..12"),
    ("a: \x07", "jobs.yaml: not valid YAML: "),
    (f"a: {'9' * 5000}", "jobs.yaml: not valid YAML: Exceeds the limit"),
]


@pytest.mark.parametrize(("text", "words"), WHOLE, ids=range(len(WHOLE)))
def test_whole_document(tmp_path, text, words):
    assert words in refusal(tmp_path, text)


JSON = [
    ('{"version": 1,\n "version" 1}', "jobs.json:2: not valid JSON: expecting ':' delimiter"),
    ('{"version": 1, "version": 1}', "jobs.json: not valid JSON: the key 'version' appears twice in one mapping"),
    (
        '{"version": 1,\n "platform": {"bandwidth": NaN},\n "applications": []}',
        "jobs.json:2: platform.bandwidth is nan;",
    ),
    (
        '{"version": 1,\n "platform": {"bandwidth": 1e999},\n "applications": []}',
        "jobs.json:2: platform.bandwidth is inf;",
    ),
    ("[" * 100_000, "jobs.json: the document nests more than"),
    ("9" * 5000, "jobs.json: not valid JSON: Exceeds the limit"),
]


@pytest.mark.parametrize(("text", "words"), JSON, ids=range(len(JSON)))
def test_json(tmp_path, text, words):
    assert words in refusal(tmp_path, text, "jobs.json")


def nested(levels, count=2):
    inner = "{compute: 1}"
    for _ in range(levels):
        inner = f"{{repeat: {count}, phases: [{inner}]}}"
    return f"      - {inner}\n"


def test_repeat_nests_32_levels_and_no_more(tmp_path):
    path = tmp_path / "deep.yaml"
    path.write_text(GOOD + nested(32))
    phases: Any = load(path).applications[0].phases
    assert phases[2].depth == 32
    words = "jobs.yaml:9: applications[0].phases[2] nests repeat more than 32 levels deep; unroll the inner ones"
    assert words in refusal(tmp_path, GOOD + nested(33))


def test_unrolled_count_may_be_astronomic(tmp_path):
    words = "the document unrolls to 10^383 phases; at most 50,000,000 without a window"
    assert words in refusal(tmp_path, NO_WINDOW + nested(32, 10**12 - 1))


@pytest.mark.parametrize("text", [NO_WINDOW + nested(5000), "[" * 200_000, "- " * 5000])
def test_endless_nesting(tmp_path, text):
    assert "the document nests more than 96 levels deep; repeat nests at most 32" in refusal(tmp_path, text)


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: *a}", "a: &a [{b: [*a]}]"])
def test_an_anchor_that_contains_itself(tmp_path, text):
    assert "an anchor, &name, contains its own alias, *name; leave one out" in refusal(tmp_path, text)


def test_nesting_through_chained_aliases(tmp_path):
    lines = ["v0: &v0 1"]
    for link in range(1, 40):
        lines.append(f"v{link}: &v{link} {'[' * 20}*v{link - 1}{']' * 20}")
    assert "the document nests more than 96 levels deep" in refusal(tmp_path, "\n".join(lines))


def test_billion_laughs(tmp_path):
    lines = [f"v0: &v0 [{', '.join('1' * 10)}]"]
    lines += [f"v{link}: &v{link} [{', '.join([f'*v{link - 1}'] * 10)}]" for link in range(1, 12)]
    assert "entries once its aliases are written out; at most 10,000,000" in refusal(tmp_path, "\n".join(lines))


def test_sharing_by_aliases_and_merges_is_legal(tmp_path):
    path = tmp_path / "shared.yaml"
    path.write_text(
        "version: 1\nplatform: {bandwidth: 1}\napplications:\n"
        "  - &first {name: a, nodes: 2, phases: &loop [{compute: 1}, {write: 2}]}\n"
        "  - {name: b, phases: *loop}\n"
        "  - {<<: *first, name: c, nodes: 3}\n"
    )
    first, second, third = load(path).applications
    assert first.phases == second.phases == third.phases
    assert (second.nodes, third.nodes) == (1, 3)


def test_several_problems_are_counted(tmp_path):
    text = GOOD.replace("write: 0.5", "write: -2").replace("compute: 3", "compute: .nan").replace("end: 100", "end: x")
    message = refusal(tmp_path, text)
    assert message.startswith("jobs.yaml:3: window.end is 'x'; a time is")
    assert message.endswith("(and 2 more problems)")


def test_python_gets_the_same_sentences():
    text, unknown = cast(Any, "3 s"), cast(Any, [{"sleep": 1}])  # what mypy would refuse, too
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: Application(name="a", nodes=-1, phases=(Compute(compute=1),)), "Application: nodes is -1; a count is"),
        (lambda: Application(name="a", phases=()), "Application: phases is an empty list; expected"),
        (Platform, "Platform: it has no bandwidth; give one of"),
        (lambda: Write(write=text), "Write: write is '3 s', a time; a volume is"),
        (lambda: Repeat(repeat=2, phases=unknown), f"Repeat: phases[0] has the key sleep; {ONE_KEY}"),
        (lambda: Trace([0, 1], [1.0, -1.0]), "Trace: amount[1] is -1.0; a volume is"),
        (lambda: Trace([0, 256], [1.0, 1.0]), "Trace: a kind is 0 (compute), 1 (read) or 2 (write)"),
        (lambda: Trace([0, 1], [1.0]), "Trace: kind and amount have the shapes (2,) and (1,)"),
        (lambda: Scenario.from_document(None), "scenario: the document is empty; expected a mapping"),
        (lambda: Scenario.from_document({}, where="mail"), "mail: the document has no 'version'"),
    ]
    for build, words in cases:
        with pytest.raises(InvalidScenario) as caught:
            build()
        assert words in str(caught.value)


def test_records_are_frozen():
    phase = Compute(compute=1)
    with pytest.raises(ValueError, match="frozen"):
        phase.compute = 2
    trace = Trace([0], [1.0])
    with pytest.raises(AttributeError, match="frozen"):
        trace.kind = trace.kind
    with pytest.raises(ValueError, match="read-only"):
        trace.amount[0] = 2.0


def test_progress_may_be_zero_or_all_of_the_lead(tmp_path):
    path = tmp_path / "jobs.yaml"
    for given, release in ((0, 50), (10, 0), (10.000000001, 0)):
        path.write_text(GOOD.replace("name: a", f"name: a\n    release: {release}\n    progress: {given}"))
        assert load(path).applications[0].progress == given
