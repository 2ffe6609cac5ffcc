"""The spool: what hooks leave is passed on once, in order, and nothing else is believed."""

import contextlib
import os
import subprocess
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from machine import can_be_others
from penstock.wire.hostlist import BadHostlist, expand
from penstock.wire.spool import (
    Event,
    Garbage,
    RefusedForGood,
    RefusedForNow,
    Spool,
    UntrustedSpool,
    parse,
    this_boot,
)

END = "kind=job_end\njob=7\nrestart=1\nuid=1000\nnode=n1\n"


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def spool(tmp_path, clock):
    made = Spool(str(tmp_path / "spool"), clock=clock)
    made.make()
    return made


def leave(spool, uptime, text=END, boot=None, pid=1, mode=0o600):
    name = f"{boot or this_boot()}.{uptime:.2f}.{pid}"
    path = os.path.join(spool.path, name)
    with open(path, "w", encoding="latin-1", newline="") as file:
        file.write(text)
    os.chmod(path, mode)
    return name


def job(number):
    return f"kind=job_end\njob={number}\nnode=n1\n"


def jobs(events):
    return [event.job for event in events]


def test_every_line_of_a_hook_arrives_as_the_controller_is_told_it():
    text = (
        "kind=job_start\njob=4711\nrestart=2\nuid=1000\ngid=100\nuser=ann\naccount=physics\nnode=n3\n"
        "node_list=n[3-4],io01\nnodes=3\nends=2000\nvolume=10GB\n"
    )
    event = parse(text.encode())
    assert (event.gid, event.user, event.node, event.volume) == (100, "ann", "n3", "10GB")
    hook = event.hook(5, now=lambda: 1940.0)
    assert (hook.req, hook.kind, hook.job, hook.restart, hook.uid) == (5, "job_start", "4711", 2, 1000)
    assert (hook.account, hook.nodes, hook.seconds_left) == ("physics", 3, 60.0)
    assert hook.node_names == ("n3", "n4", "io01")
    assert hook.node == ""  # a start is of all nodes


def test_what_a_hook_did_not_know_is_left_to_the_defaults():
    event = parse(b"kind=job_ending\njob=7\nrestart=\nuid=\naccount=\nends=\nnodes=\n")
    assert (event.restart, event.uid, event.account, event.ends, event.nodes) == (0, -1, "", None, 1)


@pytest.mark.parametrize(
    "text, word",
    [
        ("", "line"),
        ("kind=job_end\njob=7\nnode=n1", "cut off"),
        ("kind=job_end\njob=7\n", "without its node"),
        ("kind=job_over\njob=7\n", "job_over"),
        ("kind=job_start\n", "no job"),
        ("kind=job_start\njob=7\nuid=0\nuid=1000\n", "twice"),
        ("kind=job_start\njob=7\nfile=/etc/passwd\n", "twice"),
        ("kind=job_start\njob=7\nsize=3\n", "not known"),
        ("kind=job_start\njob=7\nuid=-1\n", "whole number"),
        ("kind=job_start\njob=7\nuid=99999999999\n", "at most"),
        ("kind=job_start\njob=7 8\n", "word"),
        ("kind=job_start\njob=7\naccount=" + "x" * 300 + "\n", "word"),
        ("kind=job_start\njob=7\nnode_list=n[1-\n", "node_list"),
        ("kind=job_start\njob=7\nnode_list=n[1-999999]\n", "more than"),
        ("kind=job_start\njob=7\naccount=\xe9\n", "ASCII"),
        ("kind=job_start\njob=7\n" + "x" * 200_000 + "\n", "more than"),
    ],
)
def test_garbage_is_refused_with_a_reason(text, word):
    with pytest.raises(Garbage, match=word):
        parse(text.encode("latin-1"))


@given(st.binary(max_size=200))
def test_no_bytes_bring_the_reader_down(data):
    with contextlib.suppress(Garbage):
        assert isinstance(parse(data), Event)


def test_events_come_in_the_order_of_uptimes_whatever_their_names_sort_like(spool):
    for uptime in (1000.5, 99.25, 9.0):
        leave(spool, uptime, job(int(uptime)))
    assert jobs(spool.pending()) == ["9", "99", "1000"]


def test_what_an_earlier_boot_left_comes_first_in_the_order_it_was_written(spool):
    leave(spool, 5.0, job(3))
    for seconds, number, uptime in ((10, 1, 900.0), (20, 2, 4.0)):
        name = leave(spool, uptime, job(number), boot="00000000")
        os.utime(os.path.join(spool.path, name), (seconds, seconds))
    assert jobs(spool.pending()) == ["1", "2", "3"]


def test_an_event_is_removed_only_once_it_was_answered(spool):
    leave(spool, 1.0, job(1))
    assert jobs(spool.pending()) == jobs(Spool(spool.path).pending()) == ["1"]  # a reader that died reads it again
    spool.answered(spool.pending()[0])
    assert not os.listdir(spool.path)


def test_a_refusal_keeps_it_and_all_behind_it_and_waits_ever_longer(spool, clock):
    for number in (1, 2, 3):
        leave(spool, number, job(number))
    told = []

    def tell(event):
        told.append(event.job)
        if event.job == "2":
            raise RefusedForNow

    assert spool.forward(tell) == 1
    assert told == ["1", "2"]
    waits = []
    for _ in range(9):
        waits.append(spool.wait)
        assert spool.pending() == []
        clock.now += spool.wait
        spool.forward(tell)
    assert waits == [0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0, 30.0]
    clock.now += 30.0
    assert spool.forward(told.append) == 2
    assert spool.wait == 0.0 and not os.listdir(spool.path)


def test_what_is_refused_for_good_is_dropped_and_counted_and_the_rest_goes_on(spool):
    for number in (1, 2):
        leave(spool, number, job(number))

    def tell(event):
        if event.job == "1":
            raise RefusedForGood("no such kind")

    assert spool.forward(tell) == 1
    assert spool.dropped_count == 1 and "no such kind" in spool.last_dropped
    assert not os.listdir(spool.path)


def test_garbage_is_removed_and_counted(spool):
    leave(spool, 1.0, "nonsense\n")
    leave(spool, 2.0, job(2))
    assert jobs(spool.pending()) == ["2"]
    assert spool.dropped_count == 1 and "nonsense" in spool.last_dropped
    assert len(os.listdir(spool.path)) == 1


def test_files_that_are_being_written_are_left_alone_for_an_hour(spool):
    young, old = (os.path.join(spool.path, name) for name in (".1.young", ".1.old"))
    for path in (young, old):
        with open(path, "w", encoding="ascii") as file:
            file.write("kind=")
    os.utime(old, (1, 1))
    assert spool.pending() == []
    assert os.listdir(spool.path) == [".1.young"] and spool.dropped_count == 0


def test_links_and_files_that_others_may_write_are_not_read(spool, tmp_path):
    target = tmp_path / "target"
    target.write_text(END)
    os.symlink(target, os.path.join(spool.path, f"{this_boot()}.1.00.1"))
    leave(spool, 2.0, mode=0o662)
    os.mkfifo(os.path.join(spool.path, f"{this_boot()}.3.00.1"))
    assert spool.pending() == []
    assert spool.dropped_count == 3 and not os.listdir(spool.path)
    assert target.read_text() == END


@pytest.mark.skipif(not can_be_others(), reason="only root can give files away")
def test_files_of_other_users_are_not_read(spool):
    name = leave(spool, 1.0)
    os.chown(os.path.join(spool.path, name), 4321, 4321)
    assert spool.pending() == [] and spool.dropped_count == 1


def test_a_folder_that_others_may_write_in_is_refused(spool):
    leave(spool, 1.0)
    os.chmod(spool.path, 0o770)
    with pytest.raises(UntrustedSpool, match="others may write"):
        spool.pending()
    os.chmod(spool.path, 0o700)
    with pytest.raises(UntrustedSpool, match="belongs to user"):
        Spool(spool.path, owners=frozenset({4321})).pending()


def test_a_folder_that_is_a_link_is_refused_and_one_that_is_not_there_is_empty(spool, tmp_path):
    os.symlink(spool.path, tmp_path / "link")
    with pytest.raises(UntrustedSpool):
        Spool(str(tmp_path / "link")).pending()
    assert Spool(str(tmp_path / "nowhere")).pending() == []


def test_a_look_hands_out_a_bounded_number(spool):
    for number in range(12):
        leave(spool, number, job(number))
    assert jobs(spool.pending(most=5)) == ["0", "1", "2", "3", "4"]


@pytest.mark.parametrize(
    "text, count, first, last",
    [
        ("", 0, None, None),
        ("n17", 1, "n17", "n17"),
        ("n[1-3,5]", 4, "n1", "n5"),
        ("n[008-011]", 4, "n008", "n011"),
        ("r[1-2]c[0-3]n[01-04],login3", 33, "r1c0n01", "login3"),
        ("a-b.c_d", 1, "a-b.c_d", "a-b.c_d"),
        ("n[1-3]-ib", 3, "n1-ib", "n3-ib"),
    ],
)
def test_lists_of_nodes(text, count, first, last):
    names = expand(text)
    assert len(names) == count and (not names or (names[0], names[-1]) == (first, last))


@pytest.mark.parametrize(
    "text", [",", "a,", ",a", "a,,b", "n[", "n]", "n[]", "n[3-1]", "n[1-2-3]", "n[a]", "n[1", "n 1", "n[1-60000]x[1-2]"]
)
def test_what_is_no_list_of_nodes(text):
    with pytest.raises(BadHostlist):
        expand(text)


@given(
    st.lists(
        st.tuples(st.sampled_from(["n", "io-", "r1n"]), st.integers(0, 300), st.integers(0, 30), st.integers(1, 4)),
        min_size=1,
        max_size=4,
    )
)
def test_a_list_written_out_by_hand_comes_back(parts):
    text = ",".join(f"{name}[{str(a).zfill(w)}-{str(a + more).zfill(w)}]" for name, a, more, w in parts)
    plain = [f"{name}{str(a + i).zfill(max(w, len(str(a))))}" for name, a, more, w in parts for i in range(more + 1)]
    assert list(expand(text)) == plain


def test_the_order_of_a_shell_s_own_files(spool):
    """As hooks write them: no program is started for the name."""
    script = (
        "read -r up rest </proc/uptime; read -r boot </proc/sys/kernel/random/boot_id; umask 077\n"
        'printf "kind=job_end\\njob=%s\\nnode=n1\\n" "$1" >"$0/.$1" && mv "$0/.$1" "$0/${boot%%-*}.$up.$$"\n'
    )
    for number in range(3):
        subprocess.run(["/bin/sh", "-c", script, spool.path, str(number)], check=True)
        time.sleep(0.02)
    assert jobs(spool.pending()) == ["0", "1", "2"]


def test_hooks_can_see_that_somebody_reads(spool):
    place = os.path.join(spool.path, "agent")
    with spool.attended():
        with open(place, encoding="ascii") as file:
            assert file.read() == f"{os.getpid()}\n"
        assert spool.pending() == []
    assert not os.path.exists(place)
