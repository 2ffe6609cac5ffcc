"""make-pack: which jobs run together, by the processors they need and by the I/O they bring (P3 §5.2, algorithm 1).

A pack runs on one I/O node with P processors. Its average I/O occupation is L = (I/O seconds of its jobs) / T, where T
is the longest time alone among them. Jobs are taken longest first; each goes into the fullest pack that has processors
left for it and in which L stays at most S, the sensitivity. If there is none it opens a new one, whatever its own I/O.
With S = infinity only processors count: first-fit.
"""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import SAME, Floats, Ints
from penstock.policies.sharing.order import ranked


def make_pack(seconds: Floats, io: Floats, processors: Ints, room: int, sensitivity: float) -> Ints:
    """The pack of each job; packs are numbered as they were opened, so by falling time alone.

    For each job, `seconds` is its time alone and `io` how long its volume keeps a whole I/O node busy.

    >>> seconds, io, processors = np.array([9.0, 8.0, 6.0]), np.array([6.0, 4.0, 3.0]), np.array([2, 1, 1])
    >>> make_pack(seconds, io, processors, room=4, sensitivity=1.0)
    array([0, 1, 0])
    >>> make_pack(seconds, io, processors, room=4, sensitivity=np.inf)
    array([0, 0, 0])
    """
    pack = np.empty(seconds.size, np.int64)
    # Room for a pack per job; those from `opened` on are not there yet.
    used, occupied, longest = np.zeros(seconds.size), np.zeros(seconds.size), np.zeros(seconds.size)
    opened = 0
    for job in ranked(-seconds):
        fits = used[:opened] + processors[job] <= room
        fits &= occupied[:opened] + io[job] <= sensitivity * longest[:opened] * (1.0 + SAME)
        if fits.any():
            # The first of the fullest ones: an older pack goes before a younger one.
            chosen = int(np.where(fits, used[:opened], 0.0).argmax())
        else:
            chosen, opened = opened, opened + 1
        pack[job] = chosen
        used[chosen] += processors[job]
        occupied[chosen] += io[job]
        longest[chosen] = max(longest[chosen], seconds[job])
    return pack
