"""A job whose segment cannot be made: it is not paced, and everybody is told."""

from __future__ import annotations

from pathlib import Path

from penstock.client.agent.node import Node, NodeConfig
from penstock.client.agent.roster import JobStarted, Roster
from penstock.client.agent.segment_pool import Always
from penstock.client.config import parse_address
from penstock.wire.spool import Spool


def test_it_is_named_to_the_controller_and_has_a_phase_for_as_long_as_it_is_here(tmp_path: Path) -> None:
    """As a job on a platform that there is no library for: the controller counts it with all that it can use."""
    (tmp_path / "file").touch()
    config = NodeConfig(
        "n1", parse_address(str(tmp_path / "socket")), folder=tmp_path / "file", off_file=tmp_path / "off"
    )
    node = Node(config, Roster(Spool(str(tmp_path / "spool")), tmp_path / "node.json"))
    node._begin(JobStarted("7", 1000, 1000))
    (slot,) = node.agent.slots.values()
    reason = f"no segment ({tmp_path}/file/penstock-job.1000.0.7: not a directory)"
    assert slot.job.member.settings.labels["unpaced"] == reason[:200]
    assert isinstance(slot.job.pool, Always)
