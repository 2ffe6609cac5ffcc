"""What each sharing policy does, in so few words that reports have room for them beside its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.errors import PenstockError
from penstock.policies.sharing.catalogue import find

if TYPE_CHECKING:
    from penstock.metrics.result import Result

MEANINGS = {
    "fair-share": "equal fractions, as file systems do",
    "fcfs": "first come, first served",
    "greedy-yield": "whoever was held back most goes first",
    "greedy-com": "the shortest transfer goes first",
    "lookahead-greedy-yield": "whoever it helps most by the next event goes first",
    "periodic-greedy-yield": "greedy-yield, decided again every few seconds",
    "set-10": "jobs with short iterations get larger shares",
    "best-next-event": "rates that lift the worst job most by an event ahead",
    "credited-yield": "held back most first, short transfers preferred",
    "annealed-credit": "credited-yield, fairer the nearer the end",
    "loss-capped-srpt": "shortest transfer first, unless a job loses too much",
    "reserve-credit": "held back most first, while it can be made good",
    "reserve-srpt": "shortest first, unless a loss cannot be made good",
    "steady-reserve": "held back most first, unless it is an unusual reserve",
    "best-effort": "nobody decides; the same as fair-share",
    "list-fifo": "one at a time: first come",
    "list-johnson": "one at a time: Johnson's order",
    "list-most-remaining": "one at a time: the longest job left",
    "list-shortest-remaining": "one at a time: the shortest job left",
    "list-lowest-id": "one at a time: in the order of the file",
    "list-longest-io": "one at a time: the longest operation",
    "list-shortest-io": "one at a time: the shortest operation",
    "list-bandwidth": "one at a time: whoever did least I/O so far",
    "list-stretch": "one at a time: whoever was held back most",
    "periodic-fifo": "in turns, by the first postings",
    "periodic-johnson": "in turns, in Johnson's order",
    "periodic-most-remaining": "in turns, the longest job first",
    "hierarchical-round-robin": "in turns, short jobs spread between long ones",
}


def meaning(run: Result) -> str:
    """In a few words what the policy of a run does; where we have none, as it describes itself."""
    return MEANINGS.get(run.sharing.partition("(")[0]) or rule(run)


def rule(run: Result) -> str:
    """The sentence with which a policy describes itself; nothing if it does not."""
    if run.rule:
        return run.rule
    try:
        return find(run.sharing).rule
    except PenstockError:
        return ""
