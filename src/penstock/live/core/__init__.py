"""The core of the live controller, without any input or output of its own."""

from penstock.live.core.core import Core
from penstock.live.core.decide import Decider
from penstock.live.core.members import App, Member, Stage
from penstock.live.core.settings import Resource, Settings
from penstock.live.core.state import State

__all__ = ["App", "Core", "Decider", "Member", "Resource", "Settings", "Stage", "State"]
