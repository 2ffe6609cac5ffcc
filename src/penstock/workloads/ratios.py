"""What P1 proves with its example workloads, as closed forms: the lower bounds on competitive ratios of its Table 2.

Each function gives, for one example and one metric, the value of P1's alternative schedule, the most that the
strategies concerned reach, and the entry of Table 2 that the ratio of the two tends to or exceeds.

Two corrections. Example 4: the loop comes back after 2 - 2/m + 1/m², not 2 - 1/m, because the first application
posts again before the last one has finished its work. Example 6: the alternative's yield is taken since the release
(m + what is done in the window, over T_end), where P1 prints the window's length below the line.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from penstock.workloads.examples import largest_epsilon


@dataclass(frozen=True)
class Ratio:
    """A lower bound on a competitive ratio: `metric` of the alternative schedule over that of the strategy."""

    example: str
    metric: str
    alternative: float
    strategy: float  # no more than this is reached
    entry: float  # Table 2: what the ratio tends to (ε → 0, T → ∞, m → ∞), or exceeds

    @property
    def ratio(self) -> float:
        """How much better the alternative is, at least."""
        return self.alternative / self.strategy if self.strategy else math.inf


def example_1(m: int, T: float = 1e6) -> Ratio:
    """Fair sharing gives the newcomer 1/m; served alone it would leave the others at T/(T + 1)."""
    return Ratio("example-1", "min_yield", T / (T + 1), 1 / m, m)


def example_1_fresh(m: int) -> Ratio:
    """All released at 0, m = K² + 1: the last gets 1/(K + 1); P1's entry √m - 3 is in the text of §5.1."""
    size = math.isqrt(m - 1)
    return Ratio("example-1-fresh", "min_yield", (size - 2 + 1 / (size + 1)) / size, 1 / (size + 1), math.sqrt(m) - 3)


def example_2_min_yield(m: int) -> Ratio:
    """Equal shares give everyone 1/m; one after the other leaves someone at 0."""
    return Ratio("example-2", "min_yield", 1 / m, 0.0, math.inf)


def example_2_efficiency(m: int, epsilon: float = 0.01) -> Ratio:
    """Category A one after the other, against the best that serving category B can give."""
    return Ratio("example-2", "efficiency", (m / 2 + 1) / (2 * m), (1 + epsilon) / m, m / 4)


def example_2_utilization(m: int, epsilon: float = 0.01) -> Ratio:
    """As for the efficiency; only ε of work is done in category B, so the ratio has no limit."""
    return Ratio("example-2", "utilization", (m - 2) / (4 * m), epsilon / m, math.inf)


def example_3(m: int, epsilon: float = 0.01) -> Ratio:
    """All short operations in parallel, then work, against the starved application served alone."""
    return Ratio("example-3", "efficiency", 1 - epsilon * ((m - 1) / m) ** 2, 1 / m, m)


def example_4(m: int, T: float = 1000.0) -> Ratio:
    """Operations one after the other lose one unit of time in all; interleaved, every loop takes 2 - 2/m + 1/m²."""
    return Ratio("example-4", "min_yield", (T - 1) / T, 1 / (2 - 2 / m + 1 / m**2), 2.0)


def example_5(m: int) -> Ratio:
    """First operations in the best order, against any schedule that ends them in the reverse one."""
    return Ratio("example-5", "min_yield", 3 * m / (4 * m - 1), (2 * m + 1) / (4 * m - 1), 1.5)


def example_6(m: int, epsilon: float | None = None) -> Ratio:
    """All long operations first, against serving the endless small ones first."""
    epsilon = largest_epsilon(m) if epsilon is None else epsilon
    end = m * m / 2 - 2 * m + 2
    return Ratio("example-6", "min_yield", 1 - (m - 1) * (1 + epsilon) / end, (m + 2) / end, m / 2 - 4)


def example_6_fair_share(m: int, epsilon: float | None = None) -> Ratio:
    """Fair sharing against best-next-event in Example 6: the last ends its long operation before 3m (§5.7.3)."""
    end = m * m / 2 - 2 * m + 2
    return Ratio("example-6", "min_yield", (m * m / 2 - 5 * m) / end, example_6(m, epsilon).strategy, m / 2 - 6)


EXAMPLE_2 = {"efficiency": example_2_efficiency, "utilization": example_2_utilization}
SERIAL = {"min_yield": example_2_min_yield, "efficiency": example_3, "utilization": example_2_utilization}

# Table 2 row by row. "Any strategy" has Example 5 for the minimum yield and Example 2 for the others.
TABLE_2: dict[str, dict[str, Callable[..., Ratio]]] = {
    "fair-share": EXAMPLE_2 | {"min_yield": example_1},
    "fcfs": SERIAL,
    "set-10": SERIAL,
    "greedy-yield": SERIAL,
    "greedy-com": EXAMPLE_2 | {"min_yield": example_2_min_yield},
    "lookahead-greedy-yield": SERIAL,
    "periodic-greedy-yield": SERIAL | {"min_yield": example_4},
    "best-next-event": SERIAL | {"min_yield": example_6},
}
