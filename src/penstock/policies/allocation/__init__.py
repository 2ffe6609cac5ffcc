"""Allocation: how many targets for each application. One file per policy; this page is their list."""

from penstock.policies.allocation.catalogue import NAMES, find, policies
from penstock.policies.allocation.demand import Demand
from penstock.policies.allocation.policy import Allocated, Allocation, allocation

__all__ = ["NAMES", "Allocated", "Allocation", "Demand", "allocation", "find", "policies"]
