"""What each record does to the state of the controller.

controller: starts, policies and operators; presence: who is there; operations: what they move; rates: what they are
told; steps: what several of these do.
"""

from __future__ import annotations

from penstock.live.core.apply import controller, operations, presence, rates
from penstock.live.core.apply.steps import Changes

CHANGES: Changes = controller.CHANGES | presence.CHANGES | operations.CHANGES | rates.CHANGES
