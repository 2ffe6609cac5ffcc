"""Applications behind a burst buffer of any size: what a buffer gives. The Python face of `penstock buffer` (P5 §7)."""

from penstock.studies.buffers.execution import buffer
from penstock.studies.buffers.result import Buffered, Filling

__all__ = ["Buffered", "Filling", "buffer"]
