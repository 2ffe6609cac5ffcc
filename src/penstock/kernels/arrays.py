"""The arrays that kernels and everything around them pass to each other, and when two numbers in them are the same."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
FloatTable = Annotated[NDArray[np.float64], "two dimensions"]
IntTable = Annotated[NDArray[np.int64], "two dimensions"]

SAME = 1e-9  # relative: times and rates closer than this are the same
