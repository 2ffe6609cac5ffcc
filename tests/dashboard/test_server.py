"""The dashboard as a server: events for all who look, from one look a second; who is slow is dropped."""

import asyncio
import json
import socket
import time
from typing import Any
from unittest.mock import patch

import pytest

from dashboard.looks import FakeLine, job, seen
from lookback import stories
from penstock.dashboard import server as serving
from penstock.dashboard.poll import Poll
from penstock.dashboard.server import Dashboard
from penstock.dashboard.viewers import Viewer, Viewers
from penstock.wire.messages import Post

PATIENCE = 60.0


class Known(Viewers):
    """Everybody is one user."""

    def __init__(self, viewer):
        self._viewer = viewer

    def viewer(self, local, remote):
        return self._viewer


ALL, NOBODYS = Known(Viewer(0, all_names=True)), Known(Viewer(5000))


async def opened(dashboard):
    return await asyncio.start_server(dashboard.meet, "127.0.0.1", 0, limit=8192)


async def asked(server, path, host="localhost", verb="GET", **headers):
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    lines = [f"{verb} {path} HTTP/1.1", f"Host: {host}", *(f"{name}: {value}" for name, value in headers.items())]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
    head, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    return int(head.split()[1]), body.decode()


def run(work):
    return asyncio.run(asyncio.wait_for(work, PATIENCE))


def test_paths_verbs_and_names():
    async def work():
        server = await opened(Dashboard([], ALL, ["Dash.Example"]))
        assert (await asked(server, "/"))[0] == 200
        assert (await asked(server, "/", "dash.example:8440"))[0] == 200
        assert (await asked(server, "/", "evil.example"))[0] == 421
        assert (await asked(server, "/", verb="POST"))[0] == 405
        assert (await asked(server, "/../../etc/passwd"))[0] == 404
        assert (await asked(server, "/", **{"Sec-Fetch-Site": "cross-site"}))[0] == 403
        for path in ("/history?seconds=3600", "/job?app=1", "/compare?policy=fcfs&seconds=3600"):
            status, body = await asked(server, path)
            assert status == 200 and "problem" in json.loads(body)
        for path in ("/history?seconds=%C2%B2", "/job?app=%C2%B2", "/job?app=" + "9" * 5000):
            status, body = await asked(server, path)
            assert status == 200 and "problem" in json.loads(body), path
        for path in ("/history?seconds=5", "/history", "/compare?policy=../x&seconds=3600"):
            assert json.loads((await asked(server, path))[1])["problem"]
        server.close()

    run(work())


async def events(server, count):
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname(), limit=1 << 22)
    writer.write(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    found: list[dict[str, Any]] = []
    while len(found) < count:
        line = (await reader.readline()).decode()
        assert line, "the stream ended"
        if line.startswith("data: "):
            found.append(json.loads(line[6:]))
    return found, writer


def test_who_comes_late_hears_the_past_and_then_every_look():
    async def work():
        dashboard = Dashboard([], ALL)
        server = await opened(dashboard)
        for number in range(3):
            dashboard.heard(seen(job(1, 50.0, "mine"), time=1000.0 + number))
        (past, now), writer = await events(server, 2)
        assert [sample[0] for sample in past["samples"]] == [1000.0, 1001.0, 1002.0] and past["names"] == {"1": "mine"}
        assert now["time"] == 1002.0 and now["sample"] == past["samples"][-1]
        writer.close()
        server.close()

    run(work())


def test_after_a_takeover_the_past_keeps_its_names():
    """The new leader begins with a journal of its own: its number 1 is another job."""

    async def work():
        dashboard = Dashboard([], ALL)
        server = await opened(dashboard)
        dashboard.heard(seen(job(1, 50.0, "old", uid=7), job(2, 50.0, "both", uid=8)))
        dashboard.heard(seen(job(1, 50.0, "new", uid=9), job(3, 50.0, "both", uid=8), time=1001.0, epoch=4))
        (past, now), writer = await events(server, 2)
        before, after = ([past["names"][str(row[0])] for row in sample[2]] for sample in past["samples"])
        assert (before, after) == (["old", "both"], ["new", "both"])
        assert past["samples"][0][2][1][0] == past["samples"][1][2][1][0], "one job, one number"
        assert {each["name"]: past["names"][str(each["app"])] for each in now["jobs"]} == {"new": "new", "both": "both"}
        writer.close()
        server.close()

    run(work())


@pytest.mark.usefixtures("forking")
def test_history_is_of_all_journals_and_says_if_none_is_the_leaders(tmp_path):
    """Two controllers, one after the other, each with its own journal, in which number 1 is another job."""
    now = time.time()
    for name, wall, jobs in (("one", now - 100.0, "ab"), ("two", now - 50.0, "cb")):
        with patch.object(stories, "WALL", wall):
            told = stories.Story(tmp_path / name)
            for each in jobs:
                told.register(each)
                told.say(each, Post(2, 1, 1, 400.0))
            told.wait(20, **dict.fromkeys(jobs, 400.0))
            told.end()

    async def work(*folders, epoch, **part):
        dashboard = Dashboard([tmp_path / each for each in folders], ALL)
        server = await opened(dashboard)
        dashboard.heard(seen(job(1, 50.0, "c", uid=1001), epoch=epoch))
        query = "&".join(["seconds=3600", *(f"{name}={value}" for name, value in part.items())])
        answer = json.loads((await asked(server, f"/history?{query}"))[1])
        server.close()
        return answer

    found = run(work("one", "two", epoch=1))
    assert sorted(found["names"].values()) == ["a", "b", "c"] and found["note"] == ""
    early, late = (
        {found["names"][str(row[0])] for at, _, rows in found["samples"] if (at < now - 60) == first for row in rows}
        for first in (True, False)
    )
    assert (early, late) == ({"a", "b"}, {"b", "c"})
    part = run(work("one", "two", epoch=1, begin=int(now) - 60, end=int(now) - 20))
    assert part["width"] == pytest.approx(40 / 360) and sorted(part["names"].values()) == ["b", "c"]
    assert "problem" in run(work("one", epoch=1, begin=5, end=4))
    stale = run(work("one", epoch=5))
    assert sorted(stale["names"].values()) == ["a", "b"] and "ends in epoch 1" in stale["note"]


def test_others_names_are_not_in_the_past_either_and_their_jobs_are_not_explained():
    async def work():
        dashboard = Dashboard([], NOBODYS)
        server = await opened(dashboard)
        dashboard.heard(seen(job(1, 50.0, "secret", uid=1001)))
        told, writer = await events(server, 2)
        assert "secret" not in json.dumps(told)
        _, body = await asked(server, "/job?app=1")
        assert "another user" in json.loads(body)["problem"]
        writer.close()
        server.close()

    run(work())


def test_a_viewer_that_does_not_read_is_dropped_and_the_others_go_on(monkeypatch):
    monkeypatch.setattr(serving, "MOST_UNREAD", 50_000)

    async def work():
        dashboard = Dashboard([], ALL)
        server = await opened(dashboard)
        address = server.sockets[0].getsockname()
        deaf = socket.create_connection(address)
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        many = [job(number, name="n" * 200) for number in range(100)]
        dashboard.heard(seen(*many))
        (_, first), writer = await events(server, 2)
        for number in range(2000):
            dashboard.heard(seen(*many, time=2000.0 + number))
            await asyncio.sleep(0.001)
            if dashboard.dropped:
                break
        assert dashboard.dropped >= 1 and first["time"] == 1000.0
        (_, last), other = await events(server, 2)
        assert last["time"] == 2000.0 + number
        deaf.close()
        for each in (writer, other):
            each.close()
        server.close()

    run(work())


def test_when_it_is_stopped_streams_end_without_a_word(capfd):
    async def work():
        dashboard = Dashboard([], ALL)
        server = await opened(dashboard)
        dashboard.heard(seen(job(1, 50.0)))
        _, writer = await events(server, 2)
        server.close()
        dashboard.close()
        await asyncio.sleep(0)
        writer.close()

    run(work())
    assert capfd.readouterr().err == ""


def test_too_many_at_once_are_refused(monkeypatch):
    monkeypatch.setattr(serving, "MOST_AT_ONCE", 2)

    async def work():
        server = await opened(Dashboard([], ALL))
        idle = [await asyncio.open_connection(*server.sockets[0].getsockname()) for _ in range(2)]
        await asyncio.sleep(0.05)
        assert (await asked(server, "/"))[0] == 503
        for _, writer in idle:
            writer.close()
        server.close()

    run(work())


@pytest.mark.parametrize("viewers", [1, 20])
def test_the_controller_is_asked_once_a_look_however_many_watch(viewers):
    line = FakeLine({"jobs": [job(1, 50.0)]})
    dialled = []

    async def work():
        loop = asyncio.get_running_loop()
        dashboard = Dashboard([], ALL)
        server = await opened(dashboard)
        looks = []

        def heard(look):
            looks.append(look)
            loop.call_soon_threadsafe(dashboard.heard, look)

        def dial():
            dialled.append(1)
            return line

        poll = Poll(dial, heard, every=0.05)
        poll.start()
        watching = await asyncio.gather(*(events(server, 4) for _ in range(viewers)))
        await asyncio.to_thread(poll.stop)
        foreseen = len({look.foreseen_at for look in looks})
        assert line.asked == 3 * len(looks) + foreseen and foreseen < len(looks) and len(dialled) == 1
        for _, writer in watching:
            writer.close()
        server.close()

    run(work())


def test_a_controller_that_goes_away_is_dialled_again_and_since_when_it_was_away_is_kept():
    now: dict[str, Any] = {"jobs": [job(1, 50.0)]}
    looks: list[Any] = []
    poll = Poll(lambda: FakeLine(now), looks.append, every=0.02)
    poll.start()

    def until(true):
        deadline = time.monotonic() + PATIENCE
        while not (looks and true(looks[-1])):
            assert time.monotonic() < deadline
            time.sleep(0.01)

    until(lambda look: look.reachable)
    now["away"] = True
    until(lambda look: not look.reachable)
    since = looks[-1].since
    until(lambda look: look.time > since)
    assert looks[-1].since == since and looks[-1].jobs
    now["away"] = False
    until(lambda look: look.reachable)
    poll.stop()
