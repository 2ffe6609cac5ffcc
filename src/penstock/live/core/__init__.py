"""The core of the live controller, without any input or output of its own."""

from penstock.live.core.core import Core
from penstock.live.core.decide import Decider
from penstock.live.core.members import App, Member, Stage
from penstock.live.core.settings import ControllerSettings, Resource
from penstock.live.core.state import ControllerState

__all__ = ["App", "ControllerSettings", "ControllerState", "Core", "Decider", "Member", "Resource", "Stage"]
