"""A whole machine under one plan: who goes where is resolved, the loop that fits is chosen, and the run is measured.

- `tier`: a buffer alone runs on the loop made for it.
- `layout`: the plan's tables, or what the policies that it names decide.
- `study`: the machine compiled, and what is true of it whatever the policies.

Start reading with `run`.
"""

from penstock.studies.machine.run import Chosen, as_link, is_mixed, run_plan
from penstock.studies.machine.study import MachineStudy

__all__ = ["Chosen", "MachineStudy", "as_link", "is_mixed", "run_plan"]
