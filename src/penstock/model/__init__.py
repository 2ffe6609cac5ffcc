"""Platform, applications, window: the frozen, validated scenario, and its files (YAML, JSON, Parquet beside them)."""

from penstock.model.application import Application
from penstock.model.load import load, load_moment
from penstock.model.moment import Busy, Moment, Pending
from penstock.model.phases import FOREVER, Compute, Phase, Read, Repeat, Write
from penstock.model.plan import Buffering, Plan
from penstock.model.plan_file import load_plan, save_plan, with_plan
from penstock.model.platform import BurstBuffer, IoNodes, Platform, Target
from penstock.model.save import save
from penstock.model.scenario import Scenario, Window
from penstock.model.trace import COMPUTE, READ, WRITE, Trace
from penstock.model.units import parse_quantity

__all__ = [
    "COMPUTE",
    "FOREVER",
    "READ",
    "WRITE",
    "Application",
    "Buffering",
    "BurstBuffer",
    "Busy",
    "Compute",
    "IoNodes",
    "Moment",
    "Pending",
    "Phase",
    "Plan",
    "Platform",
    "Read",
    "Repeat",
    "Scenario",
    "Target",
    "Trace",
    "Window",
    "Write",
    "load",
    "load_moment",
    "load_plan",
    "parse_quantity",
    "save",
    "save_plan",
    "with_plan",
]
