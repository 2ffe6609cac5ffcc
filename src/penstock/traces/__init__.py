"""Real logs in: Darshan logs, Slurm accounting, SWF and tables, each turned into an ordinary scenario.

Every source tells jobs (`job.Job`) with pieces of time in which bytes moved (`pieces.IoPieces`) and how far these may
be from the truth. `build` makes bursts, caps and phases of them and writes down, for every number, where it comes from.
Start with `build.py`; a source is a folder or file of its own (`darshan/`, `slurm/`, `swf.py`, `tables/`).
"""

from penstock.traces.darshan.reading import import_darshan
from penstock.traces.options import Options
from penstock.traces.result import Imported, ImportedApplication, Skipped
from penstock.traces.slurm.importing import import_slurm
from penstock.traces.swf import import_swf
from penstock.traces.tables.importing import import_table

__all__ = [
    "Imported",
    "ImportedApplication",
    "Options",
    "Skipped",
    "import_darshan",
    "import_slurm",
    "import_swf",
    "import_table",
]
