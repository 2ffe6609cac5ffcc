"""Advice out: from logs or a scenario to a decision, with its uncertainty.

`site` holds the jobs and makes the scenario for any choice of what is unknown (`unknowns`). `runs` simulates them,
`sample` pairs policies day by day (`estimate`), `policies` forms groups that nobody can tell apart, and `sensitivity`
asks whether the answer holds at all ends. `limits` says what the data cannot tell. Start with `advising.py`; pages and
tables are in `penstock.report.advice`.

(`penstock.campaign.recommendation` is about variants of one scenario; this is about what a site measured.)
"""

from penstock.advise.advice import Advice
from penstock.advise.advising import advise

__all__ = ["Advice", "advise"]
