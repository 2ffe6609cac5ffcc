"""All decisions together: the Python face of `penstock plan`.

- `draft`: what is open of a scenario's plan, and a draft of it; `needs`: what applications ask of the machine;
- `starts`: what a machine does unasked, and what the papers' policies say; `changes`: what a step changes;
- `yardstick`: what all plans of a search are judged by;
- `search`: trying, keeping what is better, and what each decision is worth; `result`: what comes of it.
"""

from penstock.studies.planning.result import Contribution, Planned
from penstock.studies.planning.search import plan

__all__ = ["Contribution", "Planned", "plan"]
