"""The core of the live controller, without any input or output of its own: events in, records and messages out.

- `core`: `step(time, inputs) → outputs`; start reading here. `events`: what goes in and comes out.
- `handlers` (members), `admin` (operators), `checks`: words become `records`; `apply`: records change the `state`.
- `decide`: the policy is asked, with `rows`, `losses`, `policy_memory`; `dispatch`, `charges`: no more than there is.
- `snapshots`: a state as bytes; `status`, `job_status`, `forecast`: a state for people, in `pieces`.
"""

from penstock.live.core.core import Core
from penstock.live.core.decide import Decider
from penstock.live.core.members import App, Member, Stage
from penstock.live.core.settings import ControllerSettings, Resource
from penstock.live.core.state import ControllerState

__all__ = ["App", "ControllerSettings", "ControllerState", "Core", "Decider", "Member", "Resource", "Stage"]
