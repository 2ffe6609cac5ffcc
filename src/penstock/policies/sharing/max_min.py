"""Max-min: everyone gets the same rate, and who cannot use it leaves the rest to the others (P5 §7.1)."""

from penstock.kernels.arrays import Floats
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View


@sharing("max-min", source="P5 §7.1")
def max_min(view: View, rates: Floats) -> None:
    """Everyone gets the same rate, as far as it can use it."""
    level = 0.0
    while True:
        # Those that can use no more drop out, which lets the level of the others rise.
        left, rising = view.capacity, 0
        for row in range(rates.size):
            if view.limit[row] <= level:
                left -= view.limit[row]
            else:
                rising += 1
        if rising == 0 or left / rising <= level:
            break
        level = left / rising
    for row in range(rates.size):
        rates[row] = min(level, view.limit[row])
