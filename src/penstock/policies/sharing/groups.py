"""Which sharing policies belong together, for lists, campaigns, and what a comparison shows first."""

from __future__ import annotations

from penstock.policies.sharing.catalogue import known_names

ALL = "all"
PRACTICE = ("fair-share", "fcfs")  # what file systems and their users do today
_TURNS = ("periodic-fifo", "periodic-johnson", "periodic-most-remaining", "hierarchical-round-robin")

GROUPS = {
    "practice": "In use today",
    "online": "Decided anew at every event, by what jobs have had and need",
    "orders": "One operation at a time, in an order; for jobs that end",
    "turns": "One operation at a time, in turns fixed ahead; for jobs that end",
}


def group_of(label: str) -> str:
    """The group of a policy, with or without parameters behind its name; a user's own counts as online.

    >>> group_of("fcfs"), group_of("list-fifo"), group_of("periodic-greedy-yield(delta=5)")
    ('practice', 'orders', 'online')
    """
    name = label.partition("(")[0]
    if name in (*PRACTICE, "best-effort"):
        return "practice"
    if name in _TURNS:
        return "turns"
    return "orders" if name.startswith("list-") else "online"


def members(group: str) -> tuple[str, ...]:
    """The policies of a group, or `all`; none if there is no such group.

    >>> members("practice")
    ('fair-share', 'fcfs', 'best-effort')
    """
    known = known_names() if group == ALL or group in GROUPS else ()
    return tuple(name for name in known if group in (ALL, group_of(name)))


def for_jobs_that_end(label: str) -> bool:
    """Whether a policy was made for jobs that run to their end, and says little where they go on forever."""
    return group_of(label) in ("orders", "turns")
