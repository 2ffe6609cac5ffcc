"""Advice for jobs that wait in a queue: the planners' answers on targets, I/O node and part of the burst buffer.

A site describes its machine and its usual jobs in a scenario. A job in the queue that has the name of one of these is
planned as another one of its kind, with the nodes that it asked for, beside all of them. Whatever the machine does not
have, or a planner cannot answer, is left out: this is advice, and nothing waits for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from penstock.errors import PenstockError
from penstock.model import Scenario
from penstock.studies.buffers.split import split
from penstock.studies.packs import pack
from penstock.studies.targets import allocate

MOST = 50  # jobs that are planned at once
_PREFIX = "queued-"


class Waiting(Protocol):
    """A job that waits for nodes."""

    @property
    def job(self) -> str:
        """Its number."""

    @property
    def name(self) -> str:
        """What its user calls it."""

    @property
    def nodes(self) -> int:
        """How many it asks for."""


def submission_advice(site: Scenario, waiting: Sequence[Waiting]) -> dict[str, dict[str, str]]:
    """For each job by its number: `stripes`, `io_node`, `buffer` (bytes), as far as the planners know."""
    usual = {each.name: each for each in site.applications}
    known = [each for each in waiting if each.name in usual][:MOST]
    if not known:
        return {}
    queued = [
        usual[each.name].model_copy(update={"name": f"{_PREFIX}{each.job}", "nodes": each.nodes}) for each in known
    ]
    scenario = site.model_copy(update={"applications": (*site.applications, *queued)})
    found: dict[str, dict[str, str]] = {each.job: {} for each in known}
    for word, answers in (("stripes", _stripes), ("io_node", _io_nodes), ("buffer", _buffer_parts)):
        for job, answer in _answered(answers, scenario).items():
            if job.startswith(_PREFIX):
                found[job.removeprefix(_PREFIX)][word] = answer
    return {job: words for job, words in found.items() if words}


def _answered(answers: Callable[[Scenario], Mapping[str, str]], scenario: Scenario) -> Mapping[str, str]:
    try:
        return answers(scenario)
    except PenstockError:  # the machine has none of it, or the jobs are not described for it
        return {}


def _stripes(scenario: Scenario) -> dict[str, str]:
    if not scenario.platform.targets:
        return {}
    return {each.name: str(each.count) for each in allocate(scenario).applications}


def _io_nodes(scenario: Scenario) -> dict[str, str]:
    if scenario.platform.io_nodes is None:
        return {}
    return {each.name: str(each.io_node) for each in pack(scenario, mapping="easy").jobs}


def _buffer_parts(scenario: Scenario) -> dict[str, str]:
    buffer: Any = scenario.platform.burst_buffer
    if buffer is None or not buffer.capacity:
        return {}
    parts = split(scenario).parts
    return {name: f"{min(1.0, part) * buffer.capacity:.0f}" for name, part in parts.items()}
