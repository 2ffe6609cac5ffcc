"""Mapping: which jobs run together, on which I/O node, and when. One file per policy; this page is their list."""

from penstock.policies.mapping.catalogue import NAMES, find, policies
from penstock.policies.mapping.policy import MappingPolicy, mapping
from penstock.policies.mapping.view import View

__all__ = ["NAMES", "MappingPolicy", "View", "find", "mapping", "policies"]
