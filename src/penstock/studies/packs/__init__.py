"""Jobs on I/O nodes: which run together, where and when, and what comes of it. The Python face of `penstock pack` (P3).

A mapping decides by what was announced: times alone and volumes without noise. The engine then runs each I/O node with
the real ones. Nodes do not disturb each other.
"""

from penstock.studies.packs.mappings import compare_packings, pack
from penstock.studies.packs.result import Pack, PackedJob, Packing

__all__ = ["Pack", "PackedJob", "Packing", "compare_packings", "pack"]
