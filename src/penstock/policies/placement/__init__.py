"""Placement: which targets for each application. One file per policy; this page is their list."""

from penstock.policies.placement.catalogue import NAMES, find, policies
from penstock.policies.placement.policy import Placement, placement

__all__ = ["NAMES", "Placement", "find", "placement", "policies"]
