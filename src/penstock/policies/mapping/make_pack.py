"""make-pack: jobs that run together promise no more I/O than an I/O node can carry (P3 §5.2, algorithm 1).

`sensitivity` is S, the most average I/O occupation that a pack may have: above 1 packs are fuller and their jobs wait
for each other, below 1 they are calmer still.
"""

from __future__ import annotations

from penstock.policies.mapping.policy import Starts, mapping
from penstock.policies.mapping.view import View
from penstock.policies.mapping.waiting_packs import start_packs


@mapping("make-pack", source="P3 §5.2, algorithm 1", packs=True, sensitivity=1.0)
def make_pack(view: View) -> Starts:
    """Packs by processors and I/O: longest job first, into the fullest pack whose average I/O stays at most S."""
    return start_packs(view, view.settings["sensitivity"])
