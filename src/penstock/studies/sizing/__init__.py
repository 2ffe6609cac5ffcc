"""How large a burst buffer must be so that nobody waits, and how to share it: the Python face of `size-buffer`.

With a buffer of the size found, every application ends when it would with the file system for itself and all its phases
at full cap (P5 §6); with a smaller one, somebody does not.
"""

from penstock.studies.buffer_words import PARTITIONS
from penstock.studies.sizing.curve import SizeCurve, size_curve
from penstock.studies.sizing.replay import Violation, verify
from penstock.studies.sizing.result import Burst, Proof, Sizing
from penstock.studies.sizing.schedule import BufferSchedule
from penstock.studies.sizing.sizes import size_buffer

__all__ = [
    "PARTITIONS",
    "BufferSchedule",
    "Burst",
    "Proof",
    "SizeCurve",
    "Sizing",
    "Violation",
    "size_buffer",
    "size_curve",
    "verify",
]
