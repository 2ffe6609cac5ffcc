"""Sharing: who gets which rate now. One file per policy; this page is their list and how names are found."""

from penstock.policies.sharing.catalogue import NAMES, find, policies
from penstock.policies.sharing.policy import Sharing, sharing
from penstock.policies.sharing.view import View

__all__ = ["NAMES", "Sharing", "View", "find", "policies", "sharing"]
