"""Backstops: the formula, what changed and nothing else, and text that keeps to the documented grammar."""

from __future__ import annotations

import json
import re
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import PenstockError
from penstock.live.backstops import BadState, Gpfs, Limit, Limits, Lustre, read_state, settled, write_state


class Grammar(AssertionError):
    """Text that the file system would refuse."""


class Tbf:
    """An object storage server's rules, as `lctl set_param ost.OSS.ost_io.nrs_tbf_rule="…"` changes them.

    From the manual and from what Lustre's parser accepts: `start NAME EXPRESSION rate=N`, `change NAME rate=N`,
    `stop NAME`. A name has up to 15 letters, digits and underscores; `jobid={…}` lists job ids of 31 letters at most,
    apart by blanks, where * is a wildcard; rates are 1 to 65535. A name that exists cannot be started, another not
    changed or stopped.
    """

    LINE = re.compile(r'lctl set_param ost\.OSS\.ost_io\.nrs_tbf_rule="([^"]*)"')

    def __init__(self) -> None:
        self.rules: dict[str, tuple[str, int]] = {}

    def run(self, line: str) -> None:
        if (found := self.LINE.fullmatch(line)) is None:
            raise Grammar(line)
        verb, name, *rest = found[1].split(" ")
        if not re.fullmatch(r"[A-Za-z0-9_]{1,15}", name) or name == "default":
            raise Grammar(line)
        if (verb == "start") == (name in self.rules):
            raise Grammar(f"{line}: {'there is' if verb == 'start' else 'there is no'} such rule")
        {"start": self.start, "change": self.change, "stop": self.stop}[verb](line, name, rest)

    def start(self, line: str, name: str, rest: list[str]) -> None:
        expression, rate = rest
        found = re.fullmatch(r"jobid=\{([^{}\s*]{1,31})\}", expression)
        if found is None:
            raise Grammar(line)
        self.rules[name] = found[1], self.rate(line, rate)

    def change(self, line: str, name: str, rest: list[str]) -> None:
        (rate,) = rest
        self.rules[name] = self.rules[name][0], self.rate(line, rate)

    def stop(self, line: str, name: str, rest: list[str]) -> None:
        if rest:
            raise Grammar(line)
        del self.rules[name]

    @staticmethod
    def rate(line: str, text: str) -> int:
        found = re.fullmatch(r"rate=([1-9]\d{0,4})", text)
        if found is None or int(found[1]) > 65_535:
            raise Grammar(line)
        return int(found[1])


class Qos:
    """Throttles, as `mmqos throttle` changes them: create, update and delete Device --pool --class -C --maxmbs."""

    NAME = r"[A-Za-z0-9_][A-Za-z0-9_-]*"
    HEAD = rf"mmqos throttle (create|update|delete) ({NAME}) --pool ({NAME}) --class ({NAME}) -C all"
    LINE = re.compile(rf"{HEAD}( --maxmbs [1-9]\d*)?")

    def __init__(self) -> None:
        self.throttles: dict[str, int] = {}

    def run(self, line: str) -> None:
        found = self.LINE.fullmatch(line)
        if found is None or (found[1] == "delete") == bool(found[5]):
            raise Grammar(line)
        if (found[1] == "create") == (found[4] in self.throttles):
            raise Grammar(f"{line}: {'there is' if found[1] == 'create' else 'there is no'} such throttle")
        if found[1] == "delete":
            del self.throttles[found[4]]
        else:
            self.throttles[found[4]] = int(found[5].split()[1])


def job(name, rate, account="", charge=0.0, active=True):
    return {"job": name, "account": account, "rate": rate, "charge": charge, "active": active}


JOBS = st.lists(
    st.builds(
        job,
        st.sampled_from(["1", "4711", "run_7", "a b", "x" * 13, "ann@session-3", '"; reboot; "', "*", "", "é"]),
        st.floats(0.0, 1e12),
        st.sampled_from(["", "physics", "bio", "other"]),
        st.floats(0.0, 1e12),
        st.booleans(),
    ),
    max_size=6,
)


@pytest.mark.parametrize(
    "grant, servers, partitions, rate",
    [(3.2e9, 2, 4, 125), (0.0, 1, 1, 4), (1.0, 100, 8, 4), (4e6, 1, 1, 4), (1e9, 1, 1, 313), (1e15, 1, 1, 65_535)],
)
def test_the_formula(grant, servers, partitions, rate):
    assert Lustre(4e6, servers, partitions).limit(grant) == rate


@given(st.floats(0.0, 1e12), st.floats(4096, 2**24), st.integers(1, 500), st.integers(1, 16))
def test_a_backstop_is_never_what_paces_a_job_within_its_grant(grant, rpc, servers, partitions):
    """All buckets together let a quarter more pass, and no bucket less than 4 a second."""
    rate = Lustre(rpc, servers, partitions).limit(grant)
    assert rate >= 4 and (rate * rpc * servers * partitions >= 1.2499 * grant or rate == 65_535)
    assert rate <= max(4, ceil(1.25 * grant / (rpc * servers * partitions)))


@given(st.lists(JOBS, max_size=5))
def test_whatever_jobs_come_and_go_lustre_takes_every_line_and_has_the_rules_in_the_end(looks):
    server = Tbf()
    before: Limits = {}
    lustre = Lustre(4e6, 2, 2)
    for jobs in looks:
        found, left_out = lustre.limits(jobs)
        after = settled(before, found)
        for line in lustre.commands(before, after):
            server.run(line)
        before = after
        assert server.rules == {name: tuple(limit) for name, limit in after.items()}
        active = {each["job"] for each in jobs if each["active"]}
        assert {limit.subject for limit in after.values()} | set(left_out) == active
        assert not any(re.search(r"[^A-Za-z0-9_]", limit.subject) for limit in after.values())


@given(st.lists(JOBS, max_size=5))
def test_gpfs_takes_every_line(looks):
    cluster = Qos()
    before: Limits = {}
    gpfs = Gpfs("fs1", "data", {"physics": "phys", "bio": "bio-class"})
    for jobs in looks:
        found, left_out = gpfs.limits(jobs)
        after = settled(before, found)
        for line in gpfs.commands(before, after):
            cluster.run(line)
        before = after
        assert cluster.throttles == {name: limit.amount for name, limit in after.items()}
        assert set(left_out) <= {"other"} and min(cluster.throttles.values()) >= 16


def test_only_what_changed_is_said_and_little_is_no_change():
    lustre = Lustre(4e6, 1, 1)
    before, _ = lustre.limits([job("1", 4e9), job("2", 4e9), job("3", 4e9)])
    after = settled(before, lustre.limits([job("1", 4.2e9), job("2", 8e9), job("4", 1e9)])[0])
    assert [line.split('"')[1] for line in lustre.commands(before, after)] == [
        "stop ps_3",
        "change ps_2 rate=2500",
        "start ps_4 jobid={4} rate=313",
    ]
    assert lustre.commands(after, after) == []


def test_what_a_job_does_on_names_is_no_bandwidth():
    names = {**job("1", 5e9), "kind": "operations"}
    assert Lustre(4e6, 1, 1).limits([names, job("1", 4e9)])[0] == {"ps_1": Limit("1", 1250)}
    assert Lustre(4e6, 1, 1).limits([names])[0] == {}


def test_what_is_charged_counts_where_it_is_more_than_the_grant():
    """A job that was told less may go on at its old rate until its lease is over."""
    (limit,) = Lustre(4e6, 1, 1).limits([job("1", 0.0, charge=4e9)])[0].values()
    assert limit == Limit("1", 1250)


def test_a_class_that_is_taken_away_loses_its_throttle():
    one, both = Gpfs("fs1", "data", {"bio": "b"}), Gpfs("fs1", "data", {"bio": "b", "physics": "p"})
    before, after = both.limits([])[0], one.limits([])[0]
    assert one.commands(before, after) == ["mmqos throttle delete fs1 --pool data --class p -C all"]


@pytest.mark.parametrize("name", ["", "a b", "x;y", "-x", "$(id)", "a" * 40])
def test_names_that_gpfs_has_not_are_refused(name):
    for device, pool, named in (("fs1", "data", name), (name, "data", "b"), ("fs1", name, "b")):
        with pytest.raises(PenstockError, match="no name of GPFS"):
            Gpfs(device, pool, {"bio": named})


def test_what_was_said_is_remembered(tmp_path):
    path = tmp_path / "state.json"
    assert read_state(path) == {}
    write_state(path, {"ps_1": Limit("1", 7)})
    assert read_state(path) == {"ps_1": Limit("1", 7)}
    for text in ("", "[]", "{}", '{"version": 2, "limits": {}}', '{"version": 1, "limits": {"a": [1]}}'):
        path.write_text(text)
        with pytest.raises(BadState, match="remove it"):
            read_state(path)
    path.write_text(json.dumps({"version": 1, "limits": {}}))
    assert read_state(path) == {}
