"""The plot of what other policies would have given: yields of all jobs, and how long each waited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from penstock.report.live.history import policy_name, traffic_words
from penstock.report.parts.quantities import time_scale
from penstock.report.parts.theme import FAINT, INK, label, look, theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from penstock.lookback.shadow import Account, Shadow


def shadow_figure(found: Shadow) -> Figure:
    """One row for each policy, what really happened first: a dot for every job, a line at the mean."""
    with theme():
        accounts = (found.real, *found.would)
        figure = Figure(figsize=(9.0, max(2.6, 1.5 + 0.42 * len(accounts))), layout="constrained")
        left, right = figure.subplots(1, 2, sharey=True)
        longest = max((abs(job.wait) for account in accounts for job in account.jobs), default=0.0)
        scale = time_scale(longest)
        _draw(left, accounts, [[job.yield_ for job in account.jobs] for account in accounts])
        _draw(right, accounts, [[job.wait / scale.divisor for job in account.jobs] for account in accounts])
        left.set_title("yield")
        left.set_xlim(0.0, 1.05)
        left.set_xlabel("a dot for each job, a line at the mean")
        right.set_title("longer than alone")
        right.set_xlabel(f"time ({scale.unit})")
        right.set_xlim(left=min(0.0, right.get_xlim()[0]))
        right.tick_params(axis="y", left=False)
        left.set_yticks(range(len(accounts)), [label(policy_name(found, account)) for account in accounts])
        left.set_ylim(len(accounts) - 0.5, -0.5)
        figure.suptitle(label(traffic_words(found), 90), x=0.01, ha="left", fontsize=10)
        return figure


def _draw(axes: Axes, accounts: tuple[Account, ...], values: list[list[float]]) -> None:
    for row, (account, of) in enumerate(zip(accounts, values, strict=True)):
        colour = INK if account.sharing is None else look(row - 1)[0]
        axes.plot(of, [row] * len(of), "o", color=colour, alpha=0.6, markersize=6, markeredgewidth=0)
        mean = sum(of) / len(of)
        axes.plot([mean, mean], [row - 0.3, row + 0.3], color=colour, linewidth=2)
    axes.grid(color=FAINT, linewidth=0.6, axis="x")
    axes.set_axisbelow(True)
