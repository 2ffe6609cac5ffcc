"""First-fit: packs fill the processors and ignore I/O (P3 §6.2.3)."""

from __future__ import annotations

import numpy as np

from penstock.policies.mapping.policy import Starts, mapping
from penstock.policies.mapping.view import View
from penstock.policies.mapping.waiting_packs import start_packs


@mapping("first-fit", source="P3 §6.2.3", packs=True)
def first_fit(view: View) -> Starts:
    """Packs by processors only: make-pack with S = infinity."""
    return start_packs(view, np.inf)
