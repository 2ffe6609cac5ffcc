"""Sharing: who gets which rate now. One file per policy; this page is their list and how names are found."""

from penstock.sharing.catalogue import NAMES, find, policies
from penstock.sharing.policy import Sharing, sharing
from penstock.sharing.view import View

__all__ = ["NAMES", "Sharing", "View", "find", "policies", "sharing"]
