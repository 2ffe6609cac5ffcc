"""What operators say to a running controller, and what it answers, as text and as JSON."""

import contextlib
import json
import os
import pty
import re
import select
import signal
import socket
import stat
import subprocess
import threading
import time
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from cli.controlled import PATIENCE, RATE, Controller, until
from cli.user import command, environment
from penstock.cli.commands.serve import chosen
from penstock.client import config
from penstock.client.config import parse_address
from penstock.live import admin
from penstock.wire import messages as wire
from penstock.wire.messages import read_controller
from penstock.wire.tokens import read_claims, read_token, secret_of
from ports import free_port

LONG_LEASE = 300.0  # seconds


@pytest.fixture(scope="module")
def controller(tmp_path_factory):
    """One whose beats are far apart: a job that moves nothing keeps its grant for four of them."""
    with Controller(tmp_path_factory.mktemp("controller"), lease=LONG_LEASE, beat=LONG_LEASE / 5) as running:
        yield running


@pytest.fixture
def operator(penstock, controller, monkeypatch):
    """Run a command that the controller answers; gives its text, or with --json what it holds."""
    monkeypatch.setenv("PENSTOCK_ADDRESS", controller.address)

    def run(*arguments):
        outcome = penstock(*arguments)
        assert (outcome.code, outcome.err) == (0, ""), outcome
        return json.loads(outcome.out) if "--json" in arguments else outcome.out

    return run


@pytest.fixture
def refused(penstock, controller, monkeypatch):
    """Run a command that is refused; gives the sentence."""
    monkeypatch.setenv("PENSTOCK_ADDRESS", controller.address)

    def run(*arguments):
        outcome = penstock(*arguments)
        assert (outcome.code, outcome.out) == (2, ""), outcome
        assert outcome.err.startswith("penstock: ") and outcome.err.count("\n") == 1
        return outcome.err

    return run


@pytest.fixture(scope="module")
def busy(controller):
    """The controller, with a job that has announced a gigabyte."""
    with controller.holding("holder"):
        yield controller


def test_status_shows_who_is_there(busy, operator):
    text = operator("status")
    assert "mode enforce, policy fair-share, epoch 1" in text
    assert "20 MB/s of 20 MB/s charged (100.0 %)" in text
    (row,) = [line for line in text.splitlines() if line.startswith("holder")]
    assert "moving" in row and "1 GB" in row and row.count("20 MB/s") == 2


def test_status_as_json(busy, operator):
    found = operator("status", "--json")
    assert found.keys() == {"status", "server", "jobs"}
    assert found["status"]["capacity"]["all"]["capacity"] == RATE
    (job,) = found["jobs"]
    assert (job["job"], job["rate"], job["volume"], job["uid"]) == ("holder", RATE, 1e9, os.getuid())


def test_status_has_leases_and_on_demand_the_idle(busy, operator):
    with busy.holding("brief"):
        pass
    assert [job["job"] for job in operator("status", "--json")["jobs"]] == ["holder"]
    jobs = {job["job"]: job for job in operator("status", "--all", "--json")["jobs"]}
    assert (jobs["holder"]["active"], jobs["brief"]["active"]) == (True, False)
    assert 0 < jobs["holder"]["lease"] <= 1.1 * LONG_LEASE and jobs["holder"]["direction"] == "write"
    (row,) = [line for line in operator("status", "--all").splitlines() if line.startswith("brief")]
    assert "idle" in row


def test_every_key_of_the_status_is_documented(busy, operator):
    page = (Path(__file__).parents[2] / "docs" / "reference" / "commands" / "controller.md").read_text()
    section = page.partition("### JSON of the controller")[2].partition("\n## ")[0]
    documented = set(re.findall(r"`(\w+)`", section))
    found = operator("status", "--json")
    keys = {key for part in (found["status"], found["server"], found["jobs"][0]) for key in part}
    assert keys <= documented


def test_top_once(busy, operator):
    assert "holder" in operator("top", "--once")
    assert operator("top", "--once", "--json")["jobs"][0]["job"] == "holder"


def test_top_without_a_terminal_leaves_by_itself(busy, operator):
    assert "holder" in operator("top")


class Top:
    """`penstock top` on a terminal."""

    def __init__(self, controller):
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(
            ["setsid", "--ctty", *command("top", "--every", "0.2")],
            env=controller.user("operator", COLUMNS="100", LINES="30", TERM="xterm-256color"),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        self._drawn = select.poll()
        self._drawn.register(self._ours, select.POLLIN)

    def until(self, word, times=1):
        """What it draws until a word has come so many times from now on."""
        text, deadline = "", time.monotonic() + PATIENCE
        while text.count(word) < times:
            assert time.monotonic() < deadline, f"no {word!r} in {text[-5000:]!r}"
            assert self._drawn.poll(1e3 * PATIENCE), f"no {word!r} in {text!r}"
            text += os.read(self._ours, 10_000).decode(errors="replace")
        return text

    def interrupt(self):
        """Ctrl-C; the exit code."""
        os.write(self._ours, b"\x03")
        with contextlib.suppress(OSError):  # how Linux says that nobody holds the other end any more
            while os.read(self._ours, 10_000):
                pass
        os.close(self._ours)
        return self._process.wait(PATIENCE)


def test_top_on_a_terminal_goes_on_until_interrupted(busy):
    top = Top(busy)
    top.until("holder", 3)  # drawn again and again
    assert top.interrupt() == 0


def test_top_finds_a_controller_that_was_restarted(tmp_path):
    with Controller(tmp_path) as controller:
        top = Top(controller)
        top.until("epoch 1", 2)
        controller.stop(signal.SIGKILL)
        top.until("nobody listens at")
        top.until("Looking again every 0.2 s")
        controller.start()
        top.until("epoch 2", 2)
        assert top.interrupt() == 0


def test_what_it_says_at_its_start_is_what_operators_chose_before(tmp_path):
    with Controller(tmp_path) as controller:
        controller.ask("capacity", resource="all", capacity=5e6)
        controller.ask("policy", name="fcfs")
        controller.stop()
        said = controller.start()
    assert (said["resources"], said["sharing"]) == ({"all": 5e6}, "fcfs")


def test_metrics(tmp_path):
    """Numbers as Prometheus reads them, and as the operator is told them."""
    parser = pytest.importorskip("prometheus_client.parser")
    port = free_port()
    slow = {"lease": LONG_LEASE, "beat": LONG_LEASE / 5}
    with Controller(tmp_path, "--metrics", str(port), **slow) as controller, controller.holding("holder", "3GB"):
        with controller.holding("brief"):
            pass
        until(lambda: controller.ask("status")["members"] == {"posted": 1})
        told, server = controller.ask("status"), controller.ask("server")
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE) as answer:
            assert answer.headers["Content-Type"].startswith("text/plain")
            text = answer.read().decode()
    families = parser.text_string_to_metric_families(text)
    found = {(sample.name, *sample.labels.values()): sample.value for family in families for sample in family.samples}
    assert found["penstock_capacity_bytes_per_second", "all"] == RATE == told["capacity"]["all"]["capacity"]
    assert found["penstock_charged_bytes_per_second", "all"] == RATE == told["capacity"]["all"]["charged"]
    assert found[("penstock_epoch",)] == told["epoch"] == 1
    assert found["penstock_mode", "run"] == 1
    assert (found[("penstock_applications",)], found[("penstock_active_applications",)]) == (2, 1)
    assert {stage: found["penstock_members", stage] for stage in ("posted", "idle", "lost")} == {
        "posted": 1,
        "idle": 0,
        "lost": 0,
    }
    assert found[("penstock_journal_failing",)] == 0
    for name in ("decisions", "records", "rates", "frames"):
        assert found[(f"penstock_{name}_total",)] >= max(1, server.get(name, told.get(name, 0))), name
    assert found[("penstock_connections_admitted_total",)] >= server["admitted"]
    assert found["penstock_granted_bytes_per_second", "all"] == told["capacity"]["all"]["granted"]
    assert found[("penstock_connections_refused_total",)] == found[("penstock_errors_total",)] == 0


def test_policy_is_switched_live(controller, operator):
    assert operator("policy") == "fair-share decides.\n"
    try:
        assert operator("policy", "fcfs") == "fcfs decides from now on.\n"
        assert controller.ask("status")["policy"] == "fcfs"
        assert operator("policy", "--json") == {"policy": "fcfs"}
    finally:
        operator("policy", "fair-share")


def test_a_policy_that_must_be_compiled_first_may_take_its_time(controller, monkeypatch):
    limits: list[Any] = []
    hear = admin.Line._next

    def noting(line: admin.Line) -> Any:
        limits.append(line._socket.gettimeout())
        return hear(line)

    monkeypatch.setattr(admin.Line, "_next", noting)
    with admin.Line(parse_address(controller.address)) as line:
        line.ask("policy")
        line.ask("policy", name="fair-share")
        line.ask("status")
    assert limits[-3:] == [admin.TIMEOUT, admin.TIMEOUT + admin.LONGER, admin.TIMEOUT]


def test_a_policy_of_ones_own_is_found_from_any_folder(controller, operator, folder):
    (folder / "mine.py").write_text("def mine(view, rates):\n    rates[:] = view.limit / max(1, len(rates))\n")
    try:
        operator("policy", "mine.py:mine")
        assert "mine" in controller.ask("status")["policy"]
    finally:
        operator("policy", "fair-share")


def test_unknown_policy(controller, refused):
    assert "fair-sharing" in refused("policy", "fair-sharing")
    assert controller.ask("status")["policy"] == "fair-share"


def test_capacity(controller, operator):
    try:
        assert "5 MB/s" in operator("capacity", "5MB/s")
        assert operator("capacity", "--json")["capacity"]["all"]["capacity"] == 5e6
        assert operator("capacity", "all", "6MB/s", "--json")["capacity"]["all"]["capacity"] == 6e6
    finally:
        operator("capacity", "20MB/s")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("capacity", "0"), "a bandwidth is a number > 0"),
        (("capacity", "5 Gb/s"), "gigabits"),
        (("capacity", "ost7", "5GB/s"), "no resource 'ost7'; known: all"),
        (("capacity", "a", "b", "c"), "3 arguments"),
        (("mode", "enforced"), "mode is 'enforced'; accepted are enforce, monitor, pause"),
        (("drain", "yes"), "drain is 'yes'; accepted are on and off"),
        (("evict", "nobody"), "no job 'nobody'"),
        (("evict",), "needs the name of a job"),
        (("evict", "a", "--app", "1"), "give one of them"),
        (("exempt", "--remove"), "--remove needs"),
        (("top", "--every", "0"), "--every is 0"),
        (("status", "--address", "tcp://nowhere"), "--address is 'tcp://nowhere'; accepted are"),
        (("status", "--address", ""), "--address is ''; accepted are"),
    ],
)
def test_what_operators_get_wrong(refused, arguments, sentence):
    assert sentence in refused(*arguments)


def test_mode(controller, operator):
    try:
        assert operator("mode", "monitor") == "mode monitor\n"
        assert operator("mode", "--json")["mode"] == "monitor"
    finally:
        assert operator("mode", "enforce").startswith("mode enforce")


def test_pause_and_resume(controller, operator):
    try:
        assert operator("pause") == "mode pause\n"
        assert controller.ask("status")["mode"] == "paused"
    finally:
        assert operator("resume", "--json")["mode"] == "run"


def test_the_kill_switch_works_without_a_controller(penstock, folder, monkeypatch):
    monkeypatch.setenv("PENSTOCK_ADDRESS", f"unix:{folder}/nobody")
    monkeypatch.setattr(config, "OFF_FILE", folder / "etc" / "off")
    assert "--host switches this host without" in penstock("pause").err
    monkeypatch.delenv("PENSTOCK_ADDRESS")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.setattr(config, "SYSTEM_SOCKET", folder / "nobody")
    assert "--host switches this host without" in penstock("pause").err
    assert penstock("pause", "--host").code == 0
    assert config.OFF_FILE.exists()
    done = penstock("resume", "--host", "--json")
    assert json.loads(done.out) == {"off_file": str(config.OFF_FILE), "off": False}
    assert not config.OFF_FILE.exists()


def test_drain(controller, operator):
    try:
        assert operator("drain", "on").startswith("draining")
        assert controller.ask("status")["draining"]
    finally:
        assert operator("drain", "off", "--json") == {"draining": False}
    assert operator("drain") == "not draining\n"


def test_hooks(controller, operator):
    assert operator("hook", "start", "--job", "b", "--uid", "7", "--names", "n1,n2", "--limit", "1 h") == "taken\n"
    assert operator("hook", "ending", "--job", "b") == "taken\n"
    assert operator("hook", "end", "--job", "b", "--node", "n9").startswith("ignored: job 'b' has no node 'n9'")
    assert operator("hook", "end", "--job", "b", "--node", "n1", "--json") == {"ok": True}
    assert operator("hook", "end", "--job", "b", "--node", "n2", "--restart", "0") == "taken\n"
    assert "never said to begin" in operator("hook", "end", "--job", "b", "--node", "n2")


@pytest.mark.parametrize(
    "words", [("begin",), ("end", "--job", "b"), ("start",), ("start", "--job", "b", "--limit", "x")]
)
def test_what_is_no_hook(penstock, words, monkeypatch):
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    outcome = penstock("hook", *words)
    assert outcome.code == 2 and len(outcome.err.splitlines()) == 1


def test_exempt(operator):
    assert operator("exempt", "vip", "--json") == {"exempt": ["vip"]}
    assert operator("exempt") == "exempt: vip\n"
    assert operator("exempt", "vip", "--remove") == "exempt: nobody\n"


def test_evict(tmp_path, penstock):
    with Controller(tmp_path) as controller, controller.holding("rogue"):
        answer = penstock("evict", "rogue", "--address", controller.address, "--json")
        assert (answer.code, json.loads(answer.out)["job"]) == (0, "rogue")
        until(lambda: "rogue" not in controller.jobs())  # its lease is over


COMMANDS = ["status", "top", "policy", "capacity", "mode", "drain", "exempt"]


@pytest.mark.parametrize("name", COMMANDS)
def test_nobody_listens(penstock, folder, name, monkeypatch):
    monkeypatch.setenv("PENSTOCK_ADDRESS", f"unix:{folder}/nobody")
    outcome = penstock(name)
    sentence = f"penstock: nobody listens at {folder}/nobody; is `penstock serve` running?\n"
    assert (outcome.code, outcome.out, outcome.err) == (2, "", sentence)


def test_a_server_of_another_kind(penstock, folder):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "web"))
        listener.listen()

        def answer():
            other, _ = listener.accept()
            other.recv(100)
            other.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            other.close()

        threading.Thread(target=answer, daemon=True).start()
        outcome = penstock("status", "--address", "web")
    assert outcome.code == 2
    assert outcome.err == f"penstock: what listens at {folder}/web is no controller\n"


def test_long_answers_come_in_pages(controller, operator, monkeypatch):
    seen: list[Any] = []

    def noting(body: bytes) -> Any:
        seen.append(read_controller(body))
        return seen[-1]

    monkeypatch.setattr(admin, "read_controller", noting)
    names = [f"{number:04d}" + "x" * 250 for number in range(1100)]  # more than 256 KiB

    def tell(word: str) -> None:
        for begin in range(0, len(names), 150):  # no more on one line than a controller takes in one go
            with admin.Line(parse_address(controller.address)) as line:
                for name in names[begin : begin + 150]:
                    line.ask("exempt", **{word: name})

    tell("add")
    try:
        assert operator("exempt", "--json")["exempt"] == names
        assert any(isinstance(message, wire.Page) for message in seen)
    finally:
        tell("del")


# Tokens need no controller.


@pytest.fixture
def key(folder):
    file = folder / "site.key"
    file.write_bytes(b"k" * 32)
    file.chmod(0o400)
    return file


def test_a_token_says_who_and_until_when(penstock, key):
    made = penstock("token", "--job", "42", "--uid", "1000", "--nodes", "8", "--valid", "2 h", "--key", f"a={key}")
    assert (made.code, made.err) == (0, "")
    token = read_token(made.out)
    claims = read_claims(token.claims)
    assert (claims.job, claims.uid, claims.nodes, claims.kid) == ("42", 1000, 8, "a")
    assert 7100 < claims.exp - time.time() <= 7200
    assert token.secret == secret_of(b"k" * 32, token.claims)


def test_a_token_file_is_for_its_user_only(penstock, folder, key):
    made = penstock("token", "--job", "42", "--uid", str(os.getuid()), "--key", f"a={key}", "-o", "job.token", "--json")
    assert json.loads(made.out)["file"] == "job.token"
    file = folder / "job.token"
    assert stat.S_IMODE(file.stat().st_mode) == 0o400
    assert read_token(file.read_text())


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"--key": "site.key"}, "accepted is NAME=FILE"),
        ({"--key": "a=none.key"}, "no such file"),
        ({"--valid": "soon"}, "--valid is 'soon'"),
        ({"--uid": "-1"}, "the user id is -1"),
        ({"--nodes": "0"}, "nodes is 0"),
        ({"-o": "no/such/folder"}, "cannot be written"),
    ],
)
def test_tokens_that_cannot_be_made(penstock, key, changes, sentence):
    given = {"--job": "42", "--uid": "1000", "--key": "a=site.key", **changes}
    outcome = penstock("token", *(word for pair in given.items() for word in pair))
    assert (outcome.code, outcome.out) == (2, "")
    assert sentence in outcome.err


# Starting.


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((), "serve needs --capacity, as in --capacity 10GB/s, or a configuration"),
        (("--capacity", "0"), "a bandwidth is a number > 0"),
        (("--capacity", "5 Gb/s"), "gigabits"),
        (("--capacity", "1GB/s", "--sharing", "nobody"), "nobody"),
        (("--capacity", "1GB/s", "--nodes", "0"), "a count is a whole number ≥ 1"),
        (("--capacity", "1GB/s", "--metrics", "99999"), "a port is"),
        (("--config", "none.yaml"), "none.yaml: no such file"),
        (("--config", "jobs.yaml"), "jobs.yaml"),
    ],
)
def test_a_controller_that_cannot_start(penstock, folder, arguments, sentence):
    outcome = penstock("serve", *arguments, "--socket", "p.sock", "--journal", "journal")
    assert (outcome.code, outcome.out) == (2, "")
    assert sentence in outcome.err and outcome.err.count("\n") == 1
    assert not (folder / "p.sock").exists()


def test_two_controllers_do_not_share(process, controller, folder):
    taken = process("serve", "--capacity", "1GB/s", "--socket", str(controller.socket), "--journal", "other")
    assert (taken.code, taken.out) == (2, "")
    assert "another server listens" in taken.err
    taken = process("serve", "--capacity", "1GB/s", "--socket", "other.sock", "--journal", str(controller.journal))
    assert "is in use by process" in taken.err


def test_serve_says_what_to_export(folder):
    env = environment(PENSTOCK_QUIET="1", HOME=str(folder), XDG_RUNTIME_DIR=str(folder), XDG_STATE_HOME=str(folder))
    where = ["--socket", "p.sock", "--journal", "journal"] if os.geteuid() == 0 else []
    serving = subprocess.Popen(
        command("serve", "--capacity", "1GB/s", *where),
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    first = serving.stdout.readline()
    assert first.startswith(f"The controller listens on {folder}/") and "sharing all 1 GB/s by fair-share." in first
    rest = [serving.stdout.readline() for _ in range(3)]
    assert any(line.strip().startswith("export PENSTOCK_ADDRESS=unix:/") for line in rest)
    serving.send_signal(signal.SIGTERM)
    _, log = serving.communicate(timeout=PATIENCE)
    assert serving.returncode == 0
    assert json.loads(log.splitlines()[-1])["event"] == "stopped"


@pytest.mark.parametrize(("runtime", "place"), [("", "state/penstock/penstock.sock"), ("run", "run/penstock.sock")])
def test_a_capacity_alone_will_do(folder, monkeypatch, runtime, place):
    """A user who is not root gets a socket and a journal in folders of their own."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setenv("XDG_STATE_HOME", str(folder / "state"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder / runtime) if runtime else "")
    found = chosen(None, {"capacity": "1GB/s"})
    assert found.socket_path() == folder / place
    assert found.journal_folder() == folder / "state" / "penstock"


def test_options_count_over_the_configuration(folder):
    (folder / "c.yaml").write_text("capacity: 1 GB/s\nsharing: fcfs\nlease: 6\nsocket: {path: /a, mode: '0600'}\n")
    found = chosen(folder / "c.yaml", {"capacity": "2GB/s", "socket": {"path": "/b"}})
    assert (found.capacity, found.sharing, found.lease) == (2e9, "fcfs", 6.0)
    assert (found.socket.path, found.socket.mode) == ("/b", 0o600)


def test_help_has_sections(penstock):
    text = penstock("--help").out
    sections = [
        "Commands:",
        "Live: the controller and the jobs under it:",
        "Live: for operators:",
        "Live: looking back:",
    ]
    places = [text.index(section) for section in sections]
    assert places == sorted(places)
    assert (
        places[1] < text.index("  serve ") < places[2] < text.index("  status ") < places[3] < text.index("  replay ")
    )


def test_suggestions_change_nothing(penstock):
    outcome = penstock("capacity", "--suggest", "5GB/s")
    assert outcome.code == 2 and "--suggest changes nothing, so it takes no '5GB/s'" in outcome.err
