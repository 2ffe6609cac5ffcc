"""Periodic greedy yield: greedy yield that thinks again every δ seconds (P1 §4.1).

Long transfers make greedy yield hold on to a decision that has become a bad one; ticks bound how long. The default δ is
P1's, and counts the operations of the whole window, those to come included.
"""

from collections.abc import Mapping

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.greedy_yield import greedy_yield
from penstock.policies.sharing.policy import Outlook, sharing
from penstock.policies.sharing.view import View

_decide = greedy_yield.decide


def every_delta(outlook: Outlook, settings: Mapping[str, float]) -> float | None:
    """δ as given; else as many ticks in the window as I/O can cause events (P1 §3.2.2); none without a window."""
    if np.isfinite(settings["delta"]):
        return settings["delta"]
    if np.isfinite(outlook.end) and outlook.operations > 0:
        return (outlook.end - outlook.begin) / (2 * outlook.operations)
    return None


@sharing("periodic-greedy-yield", source="P1 §4.1", ticks=every_delta, delta=np.nan)
def periodic_greedy_yield(view: View, rates: Floats) -> None:
    """Greedy yield, decided anew every δ seconds as well."""
    _decide(view, rates)
