"""What one viewer is told of one look: who is held back, by whom and why, in words; and the numbers beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.dashboard.poll import MOST_JOBS, Seen, few
from penstock.dashboard.viewers import Viewer
from penstock.live.core.status import NEARLY
from penstock.live.core.waiting_words import SURE
from penstock.report.live.table import could_use, leader_lines, mode_words, on_names, rate, state_of, user_name, volume
from penstock.report.parts.policy_words import MEANINGS
from penstock.report.parts.quantities import duration

Job = Mapping[str, Any]
OTHERS = "a job of another user"
MOST_HOLDERS, MOST_BEHIND = 4, 2  # that are named in sentences, and in the table
UNPACED = ("paused", "monitor")  # modes
MOST_HELD = 3  # jobs that a sentence names
MOST_LINES = 4  # sentences about jobs that are held back
LARGE = 0.2  # of a resource: who has so much is named first
NOT_HEARD = ("lost", "expected")  # states: the lease is over
_MODES = {
    "paused": "Pacing is paused by an operator: every job goes as fast as it can.",
    "monitor": "Monitoring only: decisions are written down, and nobody is slowed down.",
    "grace": "The controller has just started: no rate is raised until all leases of the one before are over.",
    "fenced": "Another controller has taken over; this one says nothing to anybody any more.",
}


def view(seen: Seen, viewer: Viewer) -> dict[str, Any]:
    """All of it, for one viewer."""
    if not seen.status:
        return {"time": seen.time, "reachable": False, "since": seen.since, "short": _away(seen), "trouble": True}
    active = Active([job for job in seen.jobs if job["active"]], seen.status["active"])
    slowed = [job for job in active.jobs if held_back(job, seen)]
    told = [_job(job, active, seen, viewer) for job in seen.jobs]
    return {
        "time": seen.time,
        "reachable": seen.reachable,
        "since": seen.since,
        "short": _short(seen, active, slowed, viewer),
        "trouble": bool(slowed) or not seen.reachable,
        "facts": _facts(seen, *_counts(slowed, active, seen)),
        "resources": [_resource(name, each, active.jobs, viewer) for name, each in seen.status["capacity"].items()],
        "jobs": told,
        "more_jobs": max(0, (seen.status["applications"] if few(seen.status) else seen.status["active"]) - MOST_JOBS),
        "warnings": _warnings(seen, viewer),
        "ask": seen.ask,
    }


def shown_name(job: str, uid: int, app: int, viewer: Viewer) -> str:
    """The name of a job, or a number where it is nobody's business."""
    return job if viewer.may_see(uid) else f"job {app} (another user's)"


def held_back(job: Job, seen: Seen) -> bool:
    """Whether a job is told to use less than it would; one that is slow by itself is held back by nobody."""
    paced = seen.status["mode"] not in UNPACED and job["job"] not in seen.status["exempt"]
    most = could_use(job)
    return bool(paced and job["active"] and most > 0.0 and job["rate"] < NEARLY * most)


class Active:
    """The jobs with I/O under way, and for those that use the same resources, once, who has how much there."""

    def __init__(self, jobs: Sequence[Job], all_: int = 0) -> None:
        self.jobs, self.more = jobs, max(0, all_ - len(jobs))  # that are active and not told of
        self._by_way: dict[frozenset[str], list[tuple[Job, float]]] = {}

    def holders(self, job: Job, most: int) -> tuple[list[tuple[Job, float]], int]:
        """Who has most of the bandwidth that a job could use, with what each is granted there; and how many more do."""
        ways = frozenset(job["granted"])
        if ways not in self._by_way:
            granted = [(other, sum(other["granted"].get(name, 0.0) for name in ways)) for other in self.jobs]
            there = [each for each in granted if each[1] > 0.0]
            self._by_way[ways] = sorted(there, key=lambda each: (-each[1], each[0]["app"]))
        known = self._by_way[ways]
        others = [each for each in known[: most + 1] if each[0]["app"] != job["app"]][:most]
        itself = any(job["granted"].values())
        return others, len(known) - itself - len(others)


def _facts(seen: Seen, held: int, stopped: int) -> list[list[str]]:
    status, server = seen.status, seen.server
    return [
        ["mode", mode_words(status).removeprefix("mode ")],
        ["policy", f"{status['policy']} ({_meaning(status['policy'])})".replace(" ()", "")],
        ["jobs with I/O", f"{status['active']:,} of {status['applications']:,}"],
        ["waiting or slowed", f"{held:,}"],
        ["controller up", f"{duration(server['uptime'])}, epoch {status['epoch']}"],
        ["connections", f"{server['connections']:,}"],
    ]


def _resource(name: str, each: Mapping[str, Any], active: Sequence[Job], viewer: Viewer) -> dict[str, Any]:
    capacity, granted = each["capacity"], each["granted"]
    users = sorted(((job["granted"].get(name, 0.0), job) for job in active), key=lambda one: (-one[0], one[1]["app"]))
    shares = [f"{_name(job, viewer)} {_share(amount, capacity)}" for amount, job in users[:MOST_HOLDERS] if amount > 0]
    shown = _rate(each, granted), _rate(each, capacity)
    words = f"{shown[0]} of {shown[1]} granted" + (f": {', '.join(shares)}" if shares else "")
    out = "" if each["in_service"] else "out of service; "
    title = "The file system" if name == "all" else name
    return {
        "name": name,
        "title": title,
        "capacity": capacity,
        "granted": granted,
        "charged": each["charged"],
        "in_bytes": _in_bytes(each),
        "words": out + words,
    }


def _job(job: Job, active: Active, seen: Seen, viewer: Viewer) -> dict[str, Any]:
    own = viewer.may_see(job["uid"])
    moved, most = job["done"], could_use(job)
    slowed = held_back(job, seen)
    return {
        "app": job["app"],
        "name": _name(job, viewer),
        "user": user_name(job["uid"]) if own else "",
        "open": own,
        "state": _state(job, seen),
        "held": slowed,
        "direction": job["direction"],
        "rate": _rate(job, job["rate"]) if job["active"] else "",
        "rate_value": job["rate"],
        "limit": _rate(job, most) if job["active"] else "",
        "part": min(1.0, job["rate"] / most) if job["active"] and most > 0 else None,
        "progress": min(1.0, moved / job["volume"]) if job["active"] and job["volume"] > 0 else None,
        "moved": f"{_amount(job, moved)} of {_amount(job, job['volume'])}" if job["active"] else "",
        "waited": duration(job["waited"]) if job["waited"] else "",
        "why": why(job, active, seen, viewer),
        "reason": _reason(job, seen) if slowed else why(job, active, seen, viewer),
        "behind": _behind(job, active, viewer) if slowed else "",
        "expected": _expected(job["app"], seen),
    }


def _behind(job: Job, active: Active, viewer: Viewer) -> str:
    """Those who have most of it, in a few words."""
    names, more = active.holders(job, MOST_BEHIND)
    return ", ".join(_name(other, viewer) for other, _ in names) + (f" and {more} more" if more else "")


def _state(job: Job, seen: Seen) -> str:
    state = state_of(job)
    return "slowed" if state == "moving" and held_back(job, seen) else state


def why(job: Job, active: Active, seen: Seen, viewer: Viewer) -> str:
    """In a sentence why a job goes as fast as it does."""
    state = state_of(job)
    if state == "cut off":
        left = duration(job["lease"])
        return f"Its connection is lost: it keeps its rate until its lease ends ({left}), then falls back."
    if state in NOT_HEARD:
        return "Not heard of since its lease ended: if it lives, it goes on at its fallback rate."
    if not job["active"]:
        return "Does no I/O now."
    if not held_back(job, seen):
        return _why_not(job, seen)
    gets = _gets(job, active, viewer)
    return f"{gets[0].upper()}{gets[1:]} {_reason(job, seen)}"


def _why_not(job: Job, seen: Seen) -> str:
    if job["job"] in seen.status["exempt"]:
        return "Exempt by an operator: goes as fast as it can."
    if seen.status["mode"] in UNPACED:
        return "Nobody is slowed down in this mode."
    if could_use(job) < NEARLY * job["limit"]:
        return f"Goes at its own pace: it could have up to {_rate(job, job['limit'])}, and was seen to use less."
    return "Has all that it can use."


def _gets(job: Job, active: Active, viewer: Viewer) -> str:
    """What a job that is held back has, and who has the rest."""
    found, more = active.holders(job, MOST_HOLDERS)
    by = [f"{_name(other, viewer)} ({_rate(other, granted)})" for other, granted in found]
    those = ", ".join(by) + (f" and {more} more" if more else "")
    if job["rate"] > 0.0:
        beside = f", beside {those}" if by else ""
        return f"gets {_rate(job, job['rate'])} of the {_rate(job, could_use(job))} it could use{beside}."
    return f"waits behind {those}." if by else "waits."


def _reason(job: Job, seen: Seen) -> str:
    """Why it does not get more."""
    policy = seen.status["policy"]
    words = _meaning(policy)
    if seen.status["mode"] == "grace":
        return "The controller has just started and raises no rate yet."
    if seen.status["frozen"]:
        return "The controller cannot write its journal, so it raises no rate."
    if job["wanted"] > max(job["rate"] * 1.02, 0.0):
        return (
            f"The policy gives it {_rate(job, job['wanted'])}, as soon as others have confirmed that they slowed down."
        )
    return f"The policy {policy} decides so{f': {words}' if words else ''}."


def _short(seen: Seen, active: Active, slowed: Sequence[Job], viewer: Viewer) -> list[str]:
    if not seen.reachable:
        return _away(seen)
    lines = [_MODES[seen.status["mode"]]] if seen.status["mode"] in _MODES else []
    if seen.status["draining"]:
        lines.append("Draining: jobs that announce I/O now are not answered and go on at their fallback rate.")
    if not active.jobs:
        return [*lines, "No job does I/O now."]
    if not slowed:
        one = "1 job does I/O, and has all the bandwidth it can use."
        many = f"{len(active.jobs):,} jobs do I/O, and each has all the bandwidth it can use."
        nobody = f"{one if len(active.jobs) == 1 else many} Nobody is slowed down."
        return [*lines, nobody, *_lost_words(active, viewer)]
    worst = sorted(slowed, key=lambda job: (job["rate"] / could_use(job), -job["waited"], job["app"]))
    held, stopped = _counts(slowed, active, seen)
    lines.append(f"{_how_many(held, stopped)}: {_who_has(worst[0], active, seen, viewer)}.")
    lines += _held_words(worst, active, viewer)
    return [*lines, *dict.fromkeys(_reason(job, seen) for job in worst[:MOST_HELD]), *_lost_words(active, viewer)]


def _counts(slowed: Sequence[Job], active: Active, seen: Seen) -> tuple[int, int]:
    """How many jobs are held back, and how many of these get nothing: of all, also where not all are told of."""
    if active.more:
        return seen.status["held_back"], seen.status["stopped"]
    return len(slowed), sum(job["rate"] <= 0.0 for job in slowed)


def _how_many(held: int, waiting: int) -> str:
    """As in: 5 jobs wait and 1 is slowed down."""
    some = held - waiting
    waits = f"{waiting:,} job{' waits' if waiting == 1 else 's wait'}" if waiting else ""
    slow = f"{some:,}{'' if waiting else ' job' if some == 1 else ' jobs'} {'is' if some == 1 else 'are'} slowed down"
    return " and ".join(part for part in (waits, slow if some else "") if part)


def _who_has(job: Job, active: Active, seen: Seen, viewer: Viewer) -> str:
    """Who has the bandwidth that a job could use, on the fullest resource on its way."""
    resources = {name: each for name, each in seen.status["capacity"].items() if name in job["granted"]}
    if not resources:
        return "together they could use more than there is"
    name, full = max(resources.items(), key=lambda one: one[1]["granted"] / max(one[1]["capacity"], 1e-9))
    what = "the file system" if name == "all" else name
    users = sorted(active.jobs, key=lambda each: (-each["granted"].get(name, 0.0), each["app"]))
    most = [each for each in users if each["granted"].get(name, 0.0) >= LARGE * full["capacity"]][:MOST_BEHIND]
    if job["rate"] > 0.0 and _even(users, name, active):
        return f"{len(users):,} jobs share {what} evenly, {_share(users[0]['granted'][name], full['capacity'])} each"
    if most:
        shares = [f"{_whose(each, viewer)} has {_share(each['granted'][name], full['capacity'])}" for each in most]
        return ", ".join([f"{shares[0]} of {what}", *shares[1:]])
    moving = sum(each["granted"].get(name, 0.0) > 0.0 for each in users)
    if not moving:
        return f"nobody has been granted anything of {what}"
    if active.more:  # on all resources together
        moving = max(moving, seen.status["active"] - seen.status["stopped"])
    most_of = users[0]["granted"][name]
    if most_of < 0.01 * full["capacity"]:
        return f"{moving:,} jobs share {what}, and none has as much as 1 %"
    return f"{moving:,} jobs share {what}, and none has more than {_share(most_of, full['capacity'])}"


def _even(users: Sequence[Job], name: str, active: Active) -> bool:
    """Whether all that could use a resource have the same of it; they are in the order of that."""
    have = [each["granted"][name] for each in users if name in each["granted"]]
    return not active.more and len(users) == len(have) > 1 and have[-1] >= NEARLY * have[0]


def _whose(job: Job, viewer: Viewer) -> str:
    """A job, and whose it is if that may be told."""
    return f"{_name(job, viewer)} of user {user_name(job['uid'])}" if viewer.may_see(job["uid"]) else _name(job, viewer)


def _held_words(worst: Sequence[Job], active: Active, viewer: Viewer) -> list[str]:
    """Who waits, together if behind the same, and who gets a part; those that have least first, and not all of many."""
    waiting: dict[str, list[str]] = {}
    for job in worst:
        if job["rate"] <= 0.0:
            waiting.setdefault(_gets(job, active, viewer), []).append(_name(job, viewer))
    found = [_together(names, words) for words, names in waiting.items()]
    parts = [job for job in worst if job["rate"] > 0.0]
    if len(parts) > 1 and len({(_rate(job, job["rate"]), _rate(job, could_use(job))) for job in parts}) == 1:
        each = f"gets {_rate(parts[0], parts[0]['rate'])} of the {_rate(parts[0], could_use(parts[0]))} it could use"
        return [*found[:MOST_LINES], f"Each of {'these' if not waiting else f'{len(parts):,} jobs'} {each}."]
    found += [f"{_name(job, viewer)} {_gets(job, active, viewer)}" for job in parts[:MOST_HELD]]
    hidden = max(0, len(parts) - MOST_HELD)
    if len(found) > MOST_LINES:
        found, hidden = found[:MOST_LINES], hidden + len(found) - MOST_LINES
    return [*found, *(["The others that are slowed down are in the table of jobs."] if hidden else [])]


def _together(names: Sequence[str], words: str) -> str:
    if len(names) == 1:
        return f"{names[0]} {words}"
    more = len(names) - MOST_HELD
    last = f"{more:,} more" if more > 0 else names[-1]
    those = f"{', '.join(names[: min(MOST_HELD, len(names) - (more <= 0))])} and {last}"
    return f"{those} {words.replace('waits', 'wait', 1)}"


def _lost_words(active: Active, viewer: Viewer) -> list[str]:
    lost = [_name(job, viewer) for job in active.jobs if state_of(job) in NOT_HEARD]
    if not lost:
        return []
    more = f" and {len(lost) - MOST_HELD:,} more" if len(lost) > MOST_HELD else ""
    goes = "it goes" if len(lost) == 1 else "they go"
    return [f"Not heard of any more: {', '.join(lost[:MOST_HELD])}{more}; {goes} on at the fallback rate."]


def _away(seen: Seen) -> list[str]:
    gone = about(max(0.0, seen.time - seen.since))
    return [
        f"The controller has not answered for {gone}.",  # since when, the browser says in its own time zone
        "Jobs keep their rates until their leases end, then go on at their fallback rates; none of them stops.",
        f"The reason: {seen.problem}",
        *(["What is below is the last that was seen."] if seen.status else []),
    ]


def _warnings(seen: Seen, viewer: Viewer) -> list[str]:
    failed = seen.status["last_policy_failure"]
    said = [f"The policy failed {seen.status['policy_failures']:,} times: {failed}"] if failed else []
    leads = [line.removeprefix("Warning: ") for line in leader_lines(seen.server.get("leader")) if "Warning" in line]
    return [*said, *map(str, seen.server["warnings"]), *leads, *_past_pacers(seen, viewer)]


def _past_pacers(seen: Seen, viewer: Viewer) -> list[str]:
    """Jobs that move bytes of which the controller decides nothing."""
    found = [
        f"{each['job'] if viewer.may_see(each['uid']) else OTHERS} ({volume(each['bytes'])})"
        for each in seen.status.get("outside", ())
    ]
    return (
        [f"Bytes go past the pacers, and nobody slows them down: {', '.join(found[:MOST_HOLDERS])}."] if found else []
    )


def _expected(app: int, seen: Seen) -> dict[str, str] | None:
    """When its phase begins and ends by the controller's forecast, and how sure that is."""
    found = seen.foreseen.get(app) if seen.reachable else None
    if found is None:
        return None
    if found["sure"] == "none":
        return {"start": "cannot be foreseen", "end": "cannot be foreseen", "sure": "not at all"}
    since = seen.time - seen.foreseen_at
    names = ("start_earliest", "start_latest", "earliest", "latest")
    first, last, early, late = (max(0.0, found[name] - since) for name in names)
    return {"start": _between(first, last), "end": _between(early, late), "sure": SURE[found["sure"]]}


def _between(early: float, late: float) -> str:
    if late < 0.5:
        return "now"
    if about(early) == about(late):
        return f"in about {about(late)}"
    return f"in {about(early)} to {about(late)}" if early >= 0.5 else f"within {about(late)}"


def about(seconds: float) -> str:
    """A time that is not known to the second.

    >>> about(8.4), about(100), about(250), about(9000)
    ('8 s', '100 s', '4 min', '2.5 h')
    """
    if seconds < 120.0:
        return f"{seconds:.0f} s"
    return f"{seconds / 60.0:.0f} min" if seconds < 7200.0 else f"{seconds / 3600.0:.1f} h"


def _in_bytes(what: Mapping[str, Any]) -> bool:
    """Whether a resource or a job moves bytes; others do operations on names."""
    return bool(what.get("kind", "bytes") == "bytes")


def _rate(what: Mapping[str, Any], value: float) -> str:
    return rate(value) if _in_bytes(what) else on_names(value)


def _amount(job: Job, value: float) -> str:
    return volume(value) if _in_bytes(job) else f"{value:,.0f} operations"


def _name(job: Job, viewer: Viewer) -> str:
    return shown_name(job["job"], job["uid"], job["app"], viewer)


def _meaning(policy: str) -> str:
    """In a few words; of a site's own policy nothing, since its file would have to be run to know."""
    return MEANINGS.get(policy.partition("(")[0], "")


def _share(amount: float, capacity: float) -> str:
    if capacity <= 0.0:
        return rate(amount)
    return "<1 %" if 0.0 < amount < 0.005 * capacity else f"{100.0 * amount / capacity:.0f} %"
