"""Applications behind a burst buffer of any size: what a buffer gives. The Python face of `penstock buffer` (P5 §7)."""

from penstock.buffers.result import Buffered, Filling
from penstock.buffers.runs import buffer

__all__ = ["Buffered", "Filling", "buffer"]
