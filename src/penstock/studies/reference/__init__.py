"""References: how much of what is possible a policy gets, where the truth lies between a schedule and a bound.

`reference.py` is the Python face of `penstock reference`: the best schedule found by any method (`clairvoyant.py`
searches with knowledge of the future, `delays.py` is exact for few applications) and the lowest of the bounds
(`metrics/bounds.py`, `delays.py`, `chain_bound.py`). All schedules are steered runs of the engine (`steering.py`).
"""

from penstock.studies.reference.reference import reference
from penstock.studies.reference.result import Reference

__all__ = ["Reference", "reference"]
