"""The agent of a node and a controller, both in processes of their own, and jobs that pay from their segments."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from forked import Forked
from penstock.client.agent import checks
from penstock.client.agent.node import NodeConfig
from penstock.client.config import parse_address
from penstock.client.segment import Segment
from penstock.client.shim.library import NoLibrary, library
from penstock.wire.spool import READER, Spool, this_boot

from .conftest import PATIENCE, Server, until

try:
    library()
    NO_LIBRARY = ""
except NoLibrary as error:
    NO_LIBRARY = str(error)
with_library = pytest.mark.skipif(bool(NO_LIBRARY), reason=NO_LIBRARY or "there is one")
PAYER = Path(__file__).parents[2] / "client" / "agent" / "payer.py"
MB = 1e6


class Node:
    """`penstock node`, its spool, and what its jobs do."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder, self.server = folder, server
        self.spool, self.segments = folder / "spool", folder / "segments"
        self.spool.mkdir(0o700)
        self.segments.mkdir()
        self.process: subprocess.Popen[str] | None = None
        self.payers: list[subprocess.Popen[str]] = []
        self._words = 0

    def start(self) -> None:
        options = ["--node", "n1", "--spool", str(self.spool), "--state", str(self.folder / "node.json")]
        options += ["--segments", str(self.segments), "--address", str(self.server.path), "--json"]
        with (self.folder / "stderr").open("ab") as errors:
            command = [sys.executable, "-m", "penstock", "node", *options]
            self.process = Forked(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert self.process.stdout is not None
        self.ready = json.loads(self.process.stdout.readline())

    def hook(self, kind: str, job: str, restart: int = 0) -> None:
        """As a prolog or epilog leaves word."""
        self._words += 1
        uptime = Path("/proc/uptime").read_text().split()[0]
        file = self.spool / f"{this_boot()}.{uptime}.{self._words}"
        draft = self.spool / ".draft"
        owner = [f"uid={os.getuid()}", f"gid={os.getgid()}"]
        draft.write_text("\n".join([f"kind={kind}", f"job={job}", f"restart={restart}", *owner, "node=n1", ""]))
        draft.chmod(0o600)
        draft.rename(file)

    def segment(self, job: str) -> Path:
        return self.segments / f"penstock-job.{os.getuid()}.0.{job}"

    def begin(self, *jobs: str) -> None:
        for job in jobs:
            self.hook("job_start", job)
        until(lambda: all(self.segment(job).exists() for job in jobs))

    def pay(self, job: str, seconds: float = PATIENCE, most: int = 1 << 60) -> subprocess.Popen[str]:
        command = [sys.executable, str(PAYER), str(self.segment(job)), str(seconds), str(1 << 18), str(most)]
        self.payers.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return self.payers[-1]

    def copy(self, job: str, source: Path, target: Path) -> subprocess.Popen[str]:
        """A program that knows nothing of us, with the library preloaded as a TaskProlog does."""
        env = {**os.environ, "PENSTOCK_BUCKET": str(self.segment(job)), "LD_PRELOAD": str(library())}
        command = ["dd", f"if={source}", f"of={target}", "bs=256k", "status=none"]
        self.payers.append(subprocess.Popen(command, env=env, text=True))
        return self.payers[-1]

    def start_as(self, job: str, *command: str) -> None:
        """As a step of a batch system's job."""
        env = {**os.environ, "SLURM_JOB_ID": job, "PENSTOCK_BUCKET": str(self.segment(job)), "PENSTOCK_JOB": "named"}
        self.payers.append(subprocess.Popen(command, env={**env, "LD_PRELOAD": str(library())}, text=True))

    def kill(self, number: int = signal.SIGKILL) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        for process in (*self.payers, self.process):
            if process is not None:
                if process.poll() is None:
                    process.kill()
                process.communicate()


@pytest.fixture
def node(server: Callable[..., Server], tmp_path: Path) -> Iterator[Node]:
    made = agent_of(server, tmp_path, capacity="60 MB/s")
    yield made
    made.close()


@pytest.fixture
def slow(server: Callable[..., Server], tmp_path: Path) -> Iterator[Node]:
    """A node of a machine of two, at 10 MB/s: its fallback is a quarter of that."""
    made = agent_of(server, tmp_path, capacity="10 MB/s", machine_nodes=2)
    yield made
    made.close()


def agent_of(server: Callable[..., Server], tmp_path: Path, **config: Any) -> Node:
    controller = server(lease=8.0, beat=2.0, **config)
    controller.start()
    made = Node(tmp_path, controller)
    made.start()
    return made


def granted(node: Node) -> dict[str, float]:
    return {each["job"]: each["rate"] / MB for each in node.server.ask("top", count=10) if each["rate"] > 0.0}


def members(node: Node) -> dict[str, int]:
    found: dict[str, int] = node.server.ask("status")["members"]
    return found


def test_three_jobs_of_a_node_share_the_file_system(node: Node) -> None:
    node.begin("a", "b", "c")
    jobs = {job: node.pay(job) for job in "abc"}
    until(lambda: granted(node) == {"a": 20.0, "b": 20.0, "c": 20.0})
    assert node.server.ask("server")["connections"] == 2  # this node, and who asks
    jobs["c"].kill()
    until(lambda: granted(node) == {"a": 30.0, "b": 30.0})
    jobs["b"].kill()
    until(lambda: granted(node) == {"a": 60.0})
    assert {each["job"]: each["uid"] for each in node.server.ask("top", count=10, idle=True)} == dict.fromkeys(
        "abc", os.getuid()
    )


def test_the_epilog_of_a_node_frees_what_its_job_has(node: Node) -> None:
    node.begin("a")
    node.pay("a")
    until(lambda: granted(node) == {"a": 60.0})
    node.hook("job_end", "a")
    until(lambda: not members(node))
    assert node.server.ask("status")["capacity"]["all"]["charged"] == 0.0
    until(lambda: not [each for each in node.spool.iterdir() if each.name != READER])  # answered, so not kept
    assert not node.segment("a").exists()


def test_killed_in_a_burst_it_leaves_a_job_that_goes_on_and_a_segment_that_is_found_again(node: Node) -> None:
    node.begin("a")
    job = node.pay("a", most=200 << 20)
    until(lambda: granted(node) == {"a": 60.0})
    node.kill()
    segment = Segment(node.segment("a"))
    until(lambda: segment.clock() >= segment.alive_until)
    fallback = segment.lane().fallback
    assert fallback == 60 * MB * 0.5 / 10
    assert segment.served()[1] == fallback
    before = segment.counts().moved
    until(lambda: segment.counts().moved > before + (1 << 20))  # it goes on
    node.start()
    assert node.ready["jobs"] == ["a"]
    until(lambda: granted(node) == {"a": 60.0})
    assert sum(members(node).values()) == 1  # the one that was killed holds nothing
    moved, _ = job.communicate(timeout=2 * PATIENCE)
    assert job.returncode == 0 and json.loads(moved)["moved"] == 200 << 20


def test_ended_it_leaves_segments_that_fall_back_at_once(node: Node) -> None:
    node.begin("a")
    until(lambda: members(node) == {"idle": 1})
    assert node.kill(signal.SIGTERM) == 0
    segment = Segment(node.segment("a"))
    assert segment.clock() >= segment.alive_until and segment.served()[1] == 3 * MB


def test_a_controller_that_dies_is_found_again(node: Node) -> None:
    node.begin("a")
    node.pay("a", seconds=2 * PATIENCE)
    until(lambda: granted(node) == {"a": 60.0})
    node.server.kill()
    node.server.start()
    until(lambda: granted(node) == {"a": 60.0})
    assert sum(members(node).values()) == 1


def test_a_user_who_spoils_his_segment_spoils_nobody_elses(node: Node) -> None:
    node.begin("a", "b")
    node.pay("b")
    until(lambda: "b" in granted(node))
    os.truncate(node.segment("a"), 0)
    node.segment("a").write_bytes(os.urandom(1024))
    time.sleep(0.5)
    assert node.process is not None and node.process.poll() is None
    assert granted(node)["b"] >= 30.0  # noise may look like a phase, which takes no more than a job's part
    node.hook("job_end", "a")
    until(lambda: sum(members(node).values()) == 1)


def test_there_is_one_agent_on_a_node(node: Node) -> None:
    options = ["--spool", str(node.spool), "--state", str(node.folder / "node.json")]
    command = [sys.executable, "-m", "penstock", "node", *options, "--address", str(node.server.path)]
    second = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert second.returncode == 2 and "another agent runs on this node" in second.stderr


def test_what_would_keep_it_from_working_is_said_before(node: Node, tmp_path: Path) -> None:
    def check(*options: str) -> Any:
        command = [sys.executable, "-m", "penstock", "node", "--check", "--json", *options]
        return json.loads(subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False).stdout)

    good = check("--spool", str(node.spool), "--segments", str(node.segments), "--address", str(node.server.path))
    assert good["ok"] or good["problems"] == ["it does not run as root: it can pace jobs of its own user only"]
    node.spool.chmod(0o777)
    bad = check("--spool", str(node.spool), "--path", str(tmp_path), "--address", str(tmp_path / "nobody"))
    words = " ".join(bad["problems"])
    assert not bad["ok"] and "is not believed" in words and "no mount point" in words and "does not let a node" in words


def test_what_is_not_there_is_said_before_and_what_the_start_makes_is_not(tmp_path: Path) -> None:
    config = NodeConfig("n1", parse_address(str(tmp_path / "nobody")), paths=("/no/such",), folder=tmp_path)
    (tmp_path / "file").touch()
    new, impossible = tmp_path / "new" / "spool", tmp_path / "file" / "spool"
    *found, last = checks.problems(config, Spool(str(new)), new / "node.json")
    assert "does not let a node in" in last
    assert [each for each in found if "root" not in each] == ["/no/such is not there: no file of it would be paced"]
    found = checks.problems(config, Spool(str(impossible)), Path("/proc/x/y"))
    assert found[:2] == [
        f"the spool {impossible} cannot be made ({tmp_path}/file is no folder)",
        "/proc/x/y cannot be written (/proc cannot be written to); --state FILE names another place",
    ]


@with_library
def test_unmodified_programs_of_three_jobs_share_the_file_system(node: Node, tmp_path: Path) -> None:
    node.begin("a", "b", "c")
    jobs = {job: node.copy(job, Path("/dev/zero"), tmp_path / job) for job in "abc"}
    until(lambda: granted(node) == {"a": 20.0, "b": 20.0, "c": 20.0})
    jobs["c"].kill()
    until(lambda: granted(node) == {"a": 30.0, "b": 30.0})
    jobs["b"].kill()
    until(lambda: granted(node) == {"a": 60.0})
    jobs["a"].kill()
    jobs["a"].wait(PATIENCE)
    moved = Segment(node.segment("a")).counts().written
    assert 0.98 <= (tmp_path / "a").stat().st_size / moved <= 1.02


@with_library
@pytest.mark.parametrize("burst", [True, False], ids=["in a burst", "idle"])
def test_a_killed_agent_costs_a_program_time_and_nothing_else(slow: Node, tmp_path: Path, burst: bool) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(os.urandom(60_000_000 if burst else 12_000_000))
    slow.begin("a")
    until(lambda: members(slow) == {"idle": 1})
    segment = Segment(slow.segment("a"))
    if burst:
        job = slow.copy("a", source, target)
        until(lambda: granted(slow) == {"a": 10.0} and segment.counts().written > 8 << 20)
        slow.kill()
    else:
        slow.kill()
        job = slow.copy("a", source, target)
    assert segment.alive_until <= segment.clock() + 3.0  # so it falls back within that
    until(lambda: segment.served()[1] == 2.5 * MB)
    assert job.wait(2 * PATIENCE) == 0
    assert target.read_bytes() == source.read_bytes()


@with_library
def test_operations_on_names_are_shared_beside_bytes(server: Callable[..., Server], tmp_path: Path) -> None:
    names = {"name": "names", "capacity": 600, "kind": "operations"}
    node = agent_of(server, tmp_path, capacity=None, resources=[{"name": "all", "capacity": "60 MB/s"}, names])
    try:
        node.begin("a", "b")
        until(lambda: members(node) == {"idle": 4})
        program = "import os,sys\nwhile True: os.stat(sys.argv[1])"
        for job in "ab":
            env = {**os.environ, "PENSTOCK_BUCKET": str(node.segment(job)), "LD_PRELOAD": str(library())}
            command = [sys.executable, "-c", program, str(tmp_path)]
            node.payers.append(subprocess.Popen(command, env=env, text=True))

        def on_names() -> dict[str, float]:
            jobs = node.server.ask("top", count=10)
            return {each["job"]: each["rate"] for each in jobs if each["kind"] == "operations"}

        until(lambda: on_names() == {"a": 300.0, "b": 300.0})
        assert node.server.ask("status")["capacity"]["names"]["kind"] == "operations"
        assert granted(node).keys() == {"a", "b"}  # of operations; no byte is granted to anybody
        node.hook("job_end", "a")
        until(lambda: on_names() == {"b": 600.0})
    finally:
        node.close()


@with_library
def test_a_program_that_goes_past_its_segment_is_named(server: Callable[..., Server], tmp_path: Path) -> None:
    """By `status`, by `status --mine` to its user, and in the agent's log; one that pays is not."""
    compiler = shutil.which("gcc") or pytest.skip("gcc is not installed")
    source, program, go = PAYER.parents[1] / "shim" / "programs" / "past.c", tmp_path / "static", tmp_path / "go"
    subprocess.run([compiler, "-O1", "-static", "-o", program, source], check=True)
    node = agent_of(server, tmp_path, capacity="4 GB/s")
    try:
        node.begin("pays", "static")
        until(lambda: members(node) == {"idle": 2})
        wait = f"while [ ! -e {go} ]; do sleep 0.1; done"
        copy = f"dd if=/dev/zero of={tmp_path}/pays.out bs=1M count=80 status=none; {wait}"
        node.start_as("pays", "sh", "-c", copy)
        until(lambda: Segment(node.segment("pays")).counts().written == 80 << 20)
        node.start_as("static", str(program), "write", f"{tmp_path}/static.out", str(go))
        (told,) = until(lambda: node.server.ask("status")["outside"], 3 * PATIENCE)
        assert (told["job"], told["by"]) == ("static", ["static"]) and 80 << 20 <= told["bytes"] <= 84 << 20
        command = [sys.executable, "-m", "penstock", "status", "--mine", "--address", str(node.server.path)]
        own = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("Job ")[1:]
        assert len(own) == 1 and " past its pacer (static)." in " ".join(own[0].split())
        lines = [line for line in (tmp_path / "stderr").read_text().splitlines() if "went past" in line]
        assert len(lines) == 1 and "job static: " in lines[0] and lines[0].endswith("went past its pacer (static)")
    finally:
        go.touch()
        node.close()
