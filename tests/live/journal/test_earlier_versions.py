"""A journal of an earlier version comes back: `written_by_0_1_0` is what a controller left that was killed.

It ran before modules and classes were renamed, at 100 MB/s under greedy-yield: alpha, beta and gamma moved 40 MB each,
and delta was at it when the controller died. The hash of the state was taken with that version's own code.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import msgspec

from penstock.live.core import ControllerSettings, ControllerState, Resource
from penstock.live.core.snapshots import _OF_APP, _OF_OP
from penstock.live.journal import recover
from penstock.live.journal.replay import replay

LEFT = Path(__file__).with_name("written_by_0_1_0")
LATER = {"seen_on", "program", "volumes", "most_nodes", "period", "said", "kind"}  # fields of today
SETTINGS = ControllerSettings(resources=(Resource("all", 1e8),), sharing="greedy-yield")


def test_it_recovers_to_the_state_that_its_own_version_had(tmp_path: Path) -> None:
    found = recover(Path(shutil.copytree(LEFT, tmp_path / "journal")), SETTINGS)
    assert (found.epoch, found.last_seq) == (1, 34)  # whether it is warm depends on the machine: it was another boot
    assert found.state is not None
    assert {app.job: len(app.members) for app in found.state.apps.values()} == {
        "alpha": 0,
        "beta": 0,
        "gamma": 0,
        "delta": 1,
    }
    assert _hash_of(found.state) == "c4ec4a0e900b724a"


def _hash_of(state: ControllerState) -> str:
    """Of what the state had then: fields that came later are left out."""
    document = msgspec.msgpack.decode(state.snapshot())
    del document["state"]["out_of_service"], document["history"], document["rows"][2]["confidence"]
    document["version"] = 3
    document["apps"] = [column for name, column in zip(_OF_APP, document["apps"], strict=True) if name not in LATER]
    ops = zip(_OF_OP, document["members"][3], strict=True)
    document["members"][3] = [column for name, column in ops if name not in LATER]
    return hashlib.sha256(msgspec.msgpack.encode(document)).hexdigest()[:16]


def test_its_decisions_are_taken_again_alike(tmp_path: Path) -> None:
    found = replay(Path(shutil.copytree(LEFT, tmp_path / "journal")))
    assert found.decisions > 0
    assert not found.differences
