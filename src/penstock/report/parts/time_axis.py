"""Time on the horizontal axis, in the unit that suits its length."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from penstock.report.parts.quantities import significant, time_scale


def time_axis(axes: Axes, begin: float, end: float) -> None:
    """Label the axis, which shows `begin` to `end` in seconds."""
    scale = time_scale(end - begin)
    # Round numbers must be round in the unit that is shown, not in seconds.
    ticks = MaxNLocator(8, steps=[1, 2, 2.5, 5, 10]).tick_values(begin / scale.divisor, end / scale.divisor)
    axes.set_xticks([tick * scale.divisor for tick in ticks if begin <= tick * scale.divisor <= end])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: significant(value / scale.divisor)))
    axes.set_xlabel(f"time ({scale.unit})")
