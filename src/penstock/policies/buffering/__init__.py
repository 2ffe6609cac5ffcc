"""Buffering: who drains and fetches at which rate behind a burst buffer. One file per strategy; this is their list."""

from penstock.policies.buffering.catalogue import NAMES, find, policies
from penstock.policies.buffering.policy import Strategy, strategy
from penstock.policies.buffering.view import Flows

__all__ = ["NAMES", "Flows", "Strategy", "find", "policies", "strategy"]
