"""Applications on storage targets: how many, which, and what comes of it. The Python face of `penstock allocate` (P4).

Policies decide by what they are told of the applications; the engine then runs them with their true profiles.
"""

from penstock.studies.targets.allotments import allocate, compare_allotments
from penstock.studies.targets.local_search import improve
from penstock.studies.targets.out_of_service import Move, moves
from penstock.studies.targets.result import Allotment, Striped, TargetUse

__all__ = ["Allotment", "Move", "Striped", "TargetUse", "allocate", "compare_allotments", "improve", "moves"]
