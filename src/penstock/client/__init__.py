"""For jobs: announce I/O phases and keep to the granted rate. Light to import, and harmless without a controller."""

from penstock.client.files import Paced, open_paced
from penstock.client.phases import Phase, io_phase, paced
from penstock.client.process import begin

__all__ = ["Paced", "Phase", "begin", "io_phase", "open_paced", "paced"]
