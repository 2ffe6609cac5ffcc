"""Whatever a user gets wrong: one line on the error stream, exit code 2, nothing printed, no file made or changed."""

import copy
import json
import os
import re
import stat
from pathlib import Path

import pytest

from cli.user import SCENARIO, STATE
from penstock.policies.sharing import NAMES

VOLUME = 'a volume is a number ≥ 0 or text such as "3.2 TB"'
TIME = 'a time is a number ≥ 0 or text such as "1.5 h"'
BANDWIDTH = 'a bandwidth is a number > 0 or text such as "160 GB/s"'


def contents(folder):
    """Every file below a folder and what is in it; bytecode of policy files is no output."""
    files = (path for path in Path(folder).rglob("*") if "__pycache__" not in path.parts)
    return {path: path.read_bytes() if stat.S_ISREG(path.lstat().st_mode) else None for path in files}


@pytest.fixture
def refused(penstock, folder):
    """Run a command that must refuse; gives the sentence."""

    def run(*arguments, stdin=""):
        before = contents(folder)
        outcome = penstock(*arguments, stdin=stdin)
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith("penstock: ")
        assert outcome.err.count("\n") == 1
        assert "Traceback" not in outcome.err
        assert contents(folder) == before
        return outcome.err.removeprefix("penstock: ").rstrip("\n")

    return run


WRITE = "jobs.yaml:6: applications[0].phases[0].write"
REPLACED = [
    ("write: 0.5", "writ: 0.5", "jobs.yaml:6: applications[0].phases[0] has the key writ; did you mean 'write'?"),
    ("name: a", "name: a\n    hue: 1", "jobs.yaml:6: applications[0] has an unknown key 'hue'; accepted: name, nodes"),
    ("version: 1\n", "", "jobs.yaml: the document has no 'version'; accepted keys: version, platform"),
    ("- name: a\n    phases", "- phases", "jobs.yaml:5: applications[0] has no 'name'; accepted keys: name, nodes"),
    ("write: 0.5", "write: -2", f"{WRITE} is -2; {VOLUME}"),
    ("write: 0.5", "write: .nan", f"{WRITE} is nan; {VOLUME}"),
    ("write: 0.5", "write: .inf", f"{WRITE} is inf; {VOLUME}"),
    ("write: 0.5", "write: 1e309", f"{WRITE} is '1e309'; {VOLUME}"),
    ("write: 0.5", "write: 5 GB/s", f"{WRITE} is '5 GB/s', a bandwidth; {VOLUME}"),
    ("write: 0.5", "write: 1 Gb", f"{WRITE} is '1 Gb' (Gb is gigabits; penstock takes bytes: GB); {VOLUME}"),
    ("compute: 3", "compute: -3 h", f"jobs.yaml:6: applications[0].phases[1].compute is '-3 h'; {TIME}"),
    ("{bandwidth: 1}", "{bandwidth: 0}", f"jobs.yaml:2: platform.bandwidth is 0; {BANDWIDTH}"),
    ("name: b", "name: a", "jobs.yaml:7: applications[1].name is 'a', already the name of applications[0]; names"),
    ("[{write: 0.5}, {compute: 3}]", "[]", "jobs.yaml:6: applications[0].phases is an empty list; expected at least"),
    ("name: a", "name: a\n    release: 100", "jobs.yaml:6: applications[0].release is 100; a release is before window"),
    ("window: {begin: 0, end: 100}\n", "", "applications[1].phases[1].repeat is forever without a window; give window"),
    ("{write: 2}]}]", "{write: 2}]}, {write: 1}]", "applications[1].phases[1].repeat is forever but not last; nothing"),
    ("end: 100", "end: 1e308", "a repeat unrolls to 1.82e+307 phases; at most 50,000,000 are simulated"),
    ("{bandwidth: 1}", "{bandwidth: 1", "jobs.yaml:3: not valid YAML: while parsing a flow mapping"),
    ("name: a", 'name: "\\e[31mred"', "jobs.yaml:5: applications[0].name is '\\x1b[31mred'; a name is printable text"),
    ("name: a", 'name: "\\u202Eevil"', "applications[0].name is '\\u202eevil'; a name is printable text"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "words"), REPLACED, ids=[row[1] or "left out" for row in REPLACED])
@pytest.mark.parametrize("verb", ["simulate", "compare"])
def test_scenario(refused, folder, verb, old, new, words):
    assert SCENARIO.count(old) == 1
    (folder / "jobs.yaml").write_text(SCENARIO.replace(old, new))
    (folder / "old.svg").write_text("old")
    assert words in refused(verb, "jobs.yaml", "--json", "--plot", "old.svg")


def test_no_applications(refused, folder):
    (folder / "jobs.yaml").write_text(SCENARIO[: SCENARIO.index("applications")] + "applications: []\n")
    assert refused("simulate", "jobs.yaml").startswith("jobs.yaml:4: applications is an empty list; expected at least")


def nested_repeat(levels):
    return SCENARIO.replace("{compute: 3}", "{repeat: 9, phases: [" * levels + "{compute: 1}" + "]}" * levels)


def laughs():
    lines = ["v0: &v0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"v{link}: &v{link} [{', '.join([f'*v{link - 1}'] * 10)}]" for link in range(1, 12)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (nested_repeat(60), "jobs.yaml: the document nests more than 96 levels deep; repeat nests at most 32 levels"),
        (nested_repeat(33), "jobs.yaml:6: applications[0].phases[1] nests repeat more than 32 levels deep"),
        ("a: &a [*a]", "jobs.yaml: an anchor, &name, contains its own alias, *name; leave one out"),
        (laughs(), "jobs.yaml: the document stands for 1,234,567,901,233 entries once its aliases are written out"),
        ("[" * 100_000, "jobs.yaml: the document nests more than 96 levels deep"),
        ("", "jobs.yaml: is empty; expected a scenario"),
    ],
    ids=["repeat", "repeat just too deep", "circle", "laughs", "brackets", "empty"],
)
def test_hostile_documents(refused, folder, text, words):
    (folder / "jobs.yaml").write_text(text)
    assert refused("simulate", "jobs.yaml").startswith(words)


def test_two_gigabytes_of_garbage(refused, folder):
    with (folder / "jobs.yaml").open("wb") as stream:
        stream.write(b"#" * 5000)
        stream.truncate(2_000_000_000)  # sparse: takes no room on the disk
    size = (folder / "jobs.yaml").stat().st_size
    # `refused` reads all files before and after, which is too much here.
    os.rename(folder / "jobs.yaml", folder.parent / f"{folder.name}.yaml")
    try:
        message = refused("simulate", str(folder.parent / f"{folder.name}.yaml"))
    finally:
        os.remove(folder.parent / f"{folder.name}.yaml")
    assert message.endswith(f"has {size:,} bytes; at most 256 MB, so keep long phases in a Parquet file")


@pytest.mark.parametrize("verb", ["simulate", "compare", "decide"])
def test_files_that_are_none(refused, folder, verb):
    os.mkfifo("fifo.yaml")
    Path("one.yaml").symlink_to("two.yaml")
    Path("two.yaml").symlink_to("one.yaml")
    Path("zero.yaml").symlink_to("/dev/zero")
    Path("notes.txt").write_text("hello")
    Path("core.yaml").write_bytes(b"\x7fELF\x00\x01")
    assert refused(verb, "fifo.yaml") == "fifo.yaml: is not a regular file"
    assert refused(verb, "one.yaml") == "one.yaml: cannot be read: Too many levels of symbolic links"
    assert refused(verb, "zero.yaml") == "zero.yaml: is not a regular file"
    assert refused(verb, "no.yaml") == "no.yaml: no such file"
    assert refused(verb, "a\nb.yaml") == "a b.yaml: no such file"
    assert refused(verb, str(folder)).startswith(f"{folder}: is a directory; expected a scenario file (.yaml")
    assert refused(verb, "jobs.yaml/x.yaml") == "jobs.yaml/x.yaml: cannot be read: Not a directory"
    assert refused(verb, "notes.txt") == "notes.txt: cannot tell the format by its name; it must end in " + (
        ".yaml, .yml, .json"
    )
    assert refused(verb, "core.yaml") == "core.yaml: is not text in UTF-8 (byte 4 is zero)"
    assert refused(verb, "x" * 300 + ".yaml").endswith("cannot be read: File name too long")


@pytest.mark.parametrize(
    "line",
    [
        "simulate jobs.yaml --plot",
        "simulate jobs.yaml --schedule",
        "compare jobs.yaml --html",
        "profiles runs.csv -o",
        "allocate jobs.yaml --export json -o",
    ],
)
def test_nothing_takes_the_place_of_a_pipe(penstock, folder, line):
    (folder / "runs.csv").write_text("app,n,bw\na,1,2\n")
    os.mkfifo("out.png" if "--plot" in line else "out.csv")
    (name,) = folder.glob("out.*")
    outcome = penstock(*line.split(), name.name)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.endswith(f"{name.name}: is a pipe; give the name of a file\n")
    assert name.is_fifo()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads and writes everything")
def test_permissions(refused, folder):
    (folder / "shut").mkdir(mode=0o500)
    assert "cannot be written" in refused("generate", "example-1", "-o", "shut/x.yaml")
    assert "cannot be written" in refused("compare", "all.yaml", "--html", "shut/x.html")
    os.chmod("jobs.yaml", 0)
    try:
        assert "cannot be read: Permission denied" in refused("simulate", "jobs.yaml")
    finally:
        os.chmod("jobs.yaml", 0o600)


OPTIONS = [
    ("simulate jobs.yaml --sharing greedy-yeild", "named 'greedy-yeild'. Did you mean 'greedy-yield'?"),
    ("simulate jobs.yaml --sharing greedy-yeild", f"Known: {', '.join(NAMES)}; or a file: my_policy.py:function"),
    ("simulate jobs.yaml --sharing GREEDY-YEILD", "named 'GREEDY-YEILD'. Did you mean 'greedy-yield'?"),
    ("compare jobs.yaml all.yaml --goal stretch", "--goal is for one scenario; several are compared"),
    ("compare jobs.yaml jobs.yaml", "jobs.yaml is given twice; each workload is compared once"),
    ("size-buffer all.yaml --price-per-tb -1", "--price-per-tb is -1; a price is a number ≥ 0"),
    ("reproduce P9.fig1", "no experiment named 'P9.fig1'; `penstock reproduce --list` has them all"),
    ("simulate jobs.yaml --sharing=", "no sharing policy named ''. Known: fair-share"),
    ("simulate jobs.yaml --sharing fcfs,set-10", "no sharing policy named 'fcfs,set-10'."),
    ("decide state.json --sharing fsfc", "no sharing policy named 'fsfc'. Did you mean 'fcfs'?"),
    ("compare jobs.yaml --sharing=", "--sharing: '' has an empty name; give names as in fcfs,greedy-yield"),
    ("compare jobs.yaml --sharing fcfs,,set-10", "--sharing: 'fcfs,,set-10' has an empty name; give names as in"),
    ("compare jobs.yaml --sharing ,", "--sharing: ',' has an empty name"),
    ("compare jobs.yaml --sharing fcfs,nope", "no sharing policy named 'nope'."),
    ("simulate jobs.yaml --sharing fcfs(g=1)", "sharing policy 'fcfs' has no parameter 'g'; it has: none"),
    ("simulate jobs.yaml --sharing periodic-greedy-yield(delta=x)", "'delta=x' is no parameter; one is written name="),
    ("simulate jobs.yaml --sharing periodic-greedy-yield(delta)", "'delta' is no parameter; one is written name="),
    ("simulate jobs.yaml --sharing periodic-greedy-yield(gamma=2)", "has no parameter 'gamma'; it has: delta"),
    ("simulate jobs.yaml --sharing periodic-greedy-yield(delta=-1)", "decisions every -1 s; give a time above 0"),
    ("simulate jobs.yaml --sharing periodic-greedy-yield(delta=0)", "decisions every 0 s; give a time above 0"),
    ("simulate jobs.yaml --sharing periodic-greedy-yield(delta", "Did you mean 'periodic-greedy-yield'?"),
    ("simulate jobs.yaml --sharing ()", "no sharing policy named '()'."),
    ("simulate jobs.yaml --sharing no.py", "no.py: there is no such file to take a sharing policy from"),
    ("simulate jobs.yaml --plot x.gif", "x.gif ends in .gif; a plot is saved as .png, .svg or .pdf"),
    ("compare jobs.yaml --plot x", "x has no suffix; a plot is saved as .png, .svg or .pdf"),
    ("simulate jobs.yaml --plot no/x.png", "no/x.png: the folder no does not exist"),
    ("compare jobs.yaml --html no/x.html", "no/x.html: the folder no does not exist"),
    ("compare jobs.yaml --html .", ".: is a directory; give the name of a file"),
    ("demo --html .", ".: is a directory; give the name of a file"),
    ("demo --html no/x.html", "no/x.html: the folder no does not exist"),
    ("demo --html jobs.yaml/x", "jobs.yaml/x: the folder jobs.yaml does not exist"),
    ("generate example-1 -o x", "x: cannot tell the format by its name; it must end in .yaml, .yml, .json"),
    ("generate example-1 -o x.txt", "x.txt: cannot tell the format by its name; it must end in .yaml, .yml, .json"),
    ("generate example-1 -o no/x.yaml", "no/x.yaml: the folder no does not exist"),
    ("generate example-1 --seed -1", "example-1: seed is -1; accepted is a whole number ≥ 0."),
    ("generate exampel-1", "no workload named 'exampel-1'. Did you mean 'example-1'? Known: synthetic, example-1"),
    ("generate example-1 --set m", "--set: 'm' is no setting; one is written name=value, as in pressure=1.1"),
    ("generate example-1 --set =3", "--set: '=3' is no setting; one is written name=value"),
    ("generate example-1 m", "--set: 'm' is no setting; one is written name=value"),
    ("generate example-1 --set q=3", "example-1 has no setting named 'q'. Known: m, T, fresh."),
    ("generate example-1 --set seed=3", "--set: seed is no setting; it is given as --seed, as in --seed 7"),
    ("generate example-1 --set kind=x", "--set: kind is no setting; it is given as the first argument"),
    ("generate example-1 --set m=1", "example-1: m is '1'; accepted is a whole number from 2 to 10000."),
    ("generate example-1 --set m=2.5", "example-1: m is '2.5'; accepted is a whole number from 2 to 10000."),
    ("generate example-1 --set m=nan", "example-1: m is 'nan'; accepted is a whole number from 2 to 10000."),
    ("generate example-1 --set fresh=perhaps", "example-1: fresh is 'perhaps'; accepted is true or false."),
    ("generate example-2 --set m=5", "example-2: m is '5'; accepted is an even whole number from 4 to 10000."),
    ("generate example-2 --set sharing=nope", "no sharing policy named 'nope'."),
    ("generate example-5 --set order=any", "example-5: order is 'any'; accepted is one of best, adversary."),
    ("generate example-6 --set epsilon=1", "example-6: m is 12 and epsilon is 1; accepted is an epsilon below 1/m"),
    ("generate synthetic --set pressure=0", "synthetic: pressure is '0'; accepted is a number > 0."),
    ("generate synthetic --set pressure=1e308", "synthetic: pressure is 1e+308, which makes I/O"),
    ("generate synthetic --set noise=2", "synthetic: noise is '2'; accepted is a number from 0 to 1."),
    ("generate synthetic --set horizon=1e11", "phases; accepted is at most 50,000,000."),
    ("generate synthetic --set small=50 medium=50", "small is 50 and medium is 50; together they may be at most"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "words"), OPTIONS)
def test_option(refused, line, words):
    assert words in refused(*line.split())


MORE = "`penstock simulate --help` has more"
USAGE = [
    ("simulate", f"penstock simulate needs SCENARIO; {MORE}"),
    ("decide", "penstock decide needs STATE; `penstock decide --help` has more"),
    ("SIMULAT jobs.yaml", "penstock has no command 'SIMULAT'; did you mean 'simulate'? `penstock --help` has them all"),
    ("import nothing", "penstock import has no command 'nothing'; `penstock import --help` has them all"),
    ("simulate jobs.yaml --xyzzy", f"penstock simulate has no option --xyzzy; {MORE}"),
    ("simulate jobs.yaml --plto x.png", f"penstock simulate has no option --plto; did you mean --plot? {MORE}"),
    ("simulate jobs.yaml --sharing", "option '--sharing' requires an argument; "),
    ("simulate jobs.yaml more.yaml", f"penstock simulate has no use for 'more.yaml'; {MORE}"),
    ("generate synthetic --seed x", "--seed: input should be a valid integer"),
    ("--xyzzy", "penstock has no option --xyzzy; `penstock --help` has more"),
]


@pytest.mark.parametrize(("line", "words"), USAGE, ids=[row[0] for row in USAGE])
def test_usage(refused, line, words):
    assert refused(*line.split()).startswith(words)


def test_an_empty_name_is_no_folder(refused):
    """As from an unset variable of a script."""
    for command in ("simulate", "compare", "decide"):
        assert refused(command, "") == "the name of the file is empty; a variable of the shell may not be set"
    assert refused("simulate", ".") == ".: is a directory; expected a scenario file (.yaml, .yml, .json)"


STDIN = [
    ("", "standard input: the document is empty; expected a mapping with the keys version, platform"),
    (SCENARIO.replace("write: 0.5", "write: -2"), f"standard input:6: applications[0].phases[0].write is -2; {VOLUME}"),
    ("version: 1\nplatform: {", "standard input:3: not valid YAML"),
]


@pytest.mark.parametrize(("text", "words"), STDIN, ids=["empty", "a line", "no YAML"])
def test_a_scenario_from_standard_input(refused, text, words):
    assert words in refused("simulate", "-", stdin=text)


def changed(**changes):
    """The state with other values for the first active application (`a_…`) or for the whole."""
    state = copy.deepcopy(json.loads(STATE))
    for key, value in changes.items():
        record = state["active"][0] if key.startswith("a_") else state
        key = key.removeprefix("a_")  # noqa: PLW2901
        if value is ...:
            del record[key]
        else:
            record[key] = value
    return json.dumps(state)


KEYS = "name, bandwidth, remaining, posted, release, progress, omega"
NEEDED = KEYS.split(", ")[:-1]
STATES = [
    (changed(capacity=...), "the document has no 'capacity'; accepted keys: capacity, now, end, active"),
    (changed(now=...), "the document has no 'now'; accepted keys: capacity, now, end, active"),
    (changed(active=...), "the document has no 'active'; accepted keys: capacity, now, end, active"),
    *[(changed(**{f"a_{key}": ...}), f"active[0] has no '{key}'; accepted keys: {KEYS}") for key in NEEDED],
    (changed(a_hue=1), f"active[0] has an unknown key 'hue'; accepted: {KEYS}"),
    (changed(hue=1), "the document has an unknown key 'hue'; accepted: capacity, now, end, active"),
    (changed(a_bandwidth=-1), f"active[0].bandwidth is -1; {BANDWIDTH}"),
    (changed(a_bandwidth=0), f"active[0].bandwidth is 0; {BANDWIDTH}"),
    (changed(capacity=0), f"capacity is 0; {BANDWIDTH}"),
    (changed(capacity="1 GB"), f"capacity is '1 GB', a volume; {BANDWIDTH}"),
    (changed(a_remaining=-1), f"active[0].remaining is -1; {VOLUME}"),
    (changed(a_remaining=0), "active[0].remaining is 0; an active application has bytes left to transfer"),
    (changed(a_remaining=float("nan")), f"active[0].remaining is 'NaN'; {VOLUME}"),
    (changed(now=float("inf")), f"now is 'Infinity'; {TIME}"),
    (changed(a_progress=-1), f"active[0].progress is -1; {TIME}"),
    (changed(a_omega=-1), f"active[0].omega is -1; {TIME}"),
    (changed(a_posted=11), "active[0].posted is 11; it lies before now, 10, or at it"),
    (changed(a_release=9.5, a_progress=0), "active[0].posted is 9; I/O is posted after the release, 9.5, or at it"),
    (changed(a_progress=11), "active[0].progress is 11; at most now − release = 10 seconds have passed"),
    (changed(a_name="b"), "active[0].name is 'b', which is there twice; names are unique (and 1 more problem)"),
    (changed(a_name=""), "active[0].name is ''; a name is printable text, not empty"),
    (changed(end=10), "end is 10; the window ends after now, 10"),
    (changed(active={}), "active is a mapping; expected a list"),
    (changed(active=[3]), f"active[0] is 3; expected a mapping with the keys {KEYS}"),
    ("", "the document is empty; expected a mapping with the keys capacity, now, end, active"),
    ("not JSON", "the document is 'not JSON'; expected a mapping with the keys capacity, now, end, active"),
    ("[]", "the document is a list; expected a mapping with the keys capacity, now, end, active"),
    ("[" * 100_000, "the document nests more than 96 levels deep"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "words"), STATES, ids=range(len(STATES)))
def test_state(refused, text, words):
    message = re.sub(r"^standard input:\d+: ", "standard input: ", refused("decide", "-", stdin=text))
    assert message.startswith(f"standard input: {words}")


def test_state_in_a_file_gets_a_line(refused, folder):
    (folder / "state.json").write_text(STATE.replace('"remaining": 2', '"remaining": -2'))
    assert refused("decide", "state.json").startswith("state.json:2: active[0].remaining is -2; a volume")
    (folder / "state.json").write_text("{")
    assert refused("decide", "state.json").startswith("state.json:1: not valid JSON: expecting property name")


def test_standard_input_that_is_closed(refused):
    assert "standard input: the document is empty" in refused("decide", "-", stdin=None)


@pytest.mark.slow
def test_standard_input_that_is_no_text(process):
    outcome = process("decide", "-", stdin=b"\xff\xfe\x00", PYTHONUTF8="0", PYTHONIOENCODING="utf-8:strict")
    assert outcome.code == 2
    assert outcome.err == "penstock: standard input: is not text in UTF-8 (byte 0)\n"
    assert outcome.out == ""


POLICIES = {
    "negative": ("rates[:] = -1", "gave 'a' a rate of -1 bytes/s; a rate is 0 or more"),
    "nan": ("rates[:] = float('nan')", "gave 'a' a rate that is not a number; a rate is 0 or more"),
    "infinite": ("rates[:] = float('inf')", "gave 'a' inf bytes/s; it can use 1 at most"),
    "too much": ("rates[:] = 2 * view.limit", "gave 'a' 2 bytes/s; it can use 1 at most"),
    "too much in all": ("rates[:] = view.limit", "gave out 2 bytes/s in all; there are 1"),
    "raises": ("raise ValueError('no idea')", "raised ValueError: no idea (line 2)"),
    "raises lines": ("raise ValueError('no\\nidea')", "raised ValueError: no idea (line 2)"),
    "raises nothing": ("raise ValueError", "raised ValueError (line 2)"),
    "endless": ("f(view, rates)", "raised RecursionError: maximum recursion depth exceeded (line 2)"),
    "returns": ("return view.limit", "returned a ndarray; it must write into `rates`"),
    "idle": ("pass", "gave nobody any bandwidth, and nothing else would ever happen"),
    "exits": ("raise SystemExit(3)", "raised SystemExit: 3 (line 2)"),
}


@pytest.mark.parametrize(("body", "words"), POLICIES.values(), ids=POLICIES)
def test_policy_function(refused, folder, body, words):
    (folder / "mine.py").write_text(f"def f(view, rates):\n    {body}\n")
    sentence = refused("simulate", "all.yaml", "--sharing", "mine.py:f", "--plot", "run.png")
    assert sentence.endswith(words)
    assert refused("compare", "all.yaml", "--sharing", "fcfs,mine.py:f", "--html", "run.html") == sentence


FILES = [
    ("def f(:\n", "mine.py does not run as Python: SyntaxError: invalid syntax (mine.py, line 1)"),
    ("import nothing_like_it as f\n", "does not run as Python: ModuleNotFoundError: No module named 'nothing_like_it'"),
    ("x = 3\n", "mine.py has no function 'f'"),
    ("f = 3\n", "mine.py:f is a int; a policy is a function (view, rates)"),
    ("import sys\nf = sys.exit('bye')\n", "a policy called exit('bye'); it must return to its caller"),
    (
        "from penstock.policies.sharing import sharing\n\n\n@sharing('Bad Name')\ndef f(view, rates):\n    pass\n",
        "'Bad Name' is no policy name; one is made of lower-case letters, digits and dashes",
    ),
    (
        "from penstock.policies.sharing import sharing\n\n\n@sharing('x')\n"
        "def f(view, rates):\n    rates[0] = not_there\n",
        "name 'not_there' is not defined",
    ),
    (
        "from numba import njit\n\n\n@njit\ndef f(view, rates):\n    rates[:] = -1.0\n",
        "gave 'a' a rate of -1 bytes/s; a rate is 0 or more",
    ),
]


@pytest.mark.parametrize(("text", "words"), FILES, ids=range(len(FILES)))
def test_policy_file(refused, folder, text, words):
    (folder / "mine.py").write_text(text)
    sentence = refused("simulate", "all.yaml", "--sharing", "mine.py:f")
    assert words in sentence
    assert "\x1b" not in sentence


def test_policy_file_without_a_name(refused, folder):
    (folder / "mine.py").write_text("def f(view, rates):\n    pass\n")
    words = "mine.py has 0 functions marked @sharing; name the one to use: mine.py:function"
    assert refused("simulate", "all.yaml", "--sharing", "mine.py") == words


def test_huge_numbers_run_or_are_refused(penstock, folder):
    for old in ("bandwidth: 1", "write: 0.5", "compute: 3"):
        (folder / "jobs.yaml").write_text(SCENARIO.replace(old, old.split(":")[0] + ": 1e308"))
        outcome = penstock("simulate", "jobs.yaml", "--json")
        assert (outcome.code, outcome.err) == (0, "")
        json.loads(outcome.out, parse_constant=pytest.fail)


@pytest.mark.slow
def test_real_processes_refuse_the_same_way(process, folder):
    (folder / "broken.yaml").write_text("a: [1\nb: 3\n")
    (folder / "mine.py").write_text("def f(view, rates):\n    rates[:] = -1\n")
    lines = {
        "simulate broken.yaml": "broken.yaml:2: not valid YAML",
        "compare jobs.yaml --sharing nope": "no sharing policy named 'nope'",
        "simulate all.yaml --sharing mine.py:f --plot x.png": "gave 'a' a rate of -1 bytes/s",
        "decide -": "standard input: the document is empty",
        "generate example-1 --set m=0 -o x.yaml": "m is '0'; accepted is a whole number from 2",
    }
    before = contents(folder)
    for line, words in lines.items():
        outcome = process(*line.split())
        assert (outcome.code, outcome.out) == (2, "")
        assert outcome.err.startswith("penstock: ")
        assert words in outcome.err
        assert outcome.err.count("\n") == 1
    assert contents(folder) == before


# What a policy does wrong, and numbers at the ends of the range.
@pytest.mark.parametrize("body", ["raise ValueError('x')", "return view.limit"])
def test_decide_with_a_bad_policy(refused, folder, body):
    (folder / "mine.py").write_text(f"def f(view, rates):\n    {body}\n")
    assert "sharing policy 'f'" in refused("decide", "state.json", "--sharing", "mine.py:f")


def test_a_compiled_policy_that_raises(refused, folder):
    (folder / "mine.py").write_text("from numba import njit\n\n\n@njit\ndef f(view, rates):\n    raise ValueError\n")
    assert "sharing policy 'f'" in refused("simulate", "all.yaml", "--sharing", "mine.py:f")


def test_a_policy_cannot_change_the_world(penstock, folder):
    (folder / "mine.py").write_text(
        "def f(view, rates):\n    rates[0] = view.limit[0]\n    view.remaining[:] = 0\n    view.progress[:] = 1e9\n"
    )
    outcome = penstock("simulate", "all.yaml", "--sharing", "mine.py:f", "--json")
    assert outcome.code == 2 or json.loads(outcome.out)["min_yield"] <= 1 <= json.loads(outcome.out)["makespan"] / 2


@pytest.mark.parametrize("setting", ["sigma=1e308"])
def test_generator_overflow(refused, setting):
    assert "synthetic: sigma is" in refused("generate", "synthetic", "--set", setting)


@pytest.mark.parametrize("omega", [1e308, 1e-320])
def test_set_10_at_the_ends_of_the_range(penstock, omega):
    stdin = changed(a_omega=omega)
    assert sum(json.loads(penstock("decide", "-", "--sharing", "set-10", stdin=stdin).out)["rates"].values()) > 0
