"""Fair share: everyone gets the same fraction of what it could use (P1 §4.1). What file systems do unasked."""

from penstock.kernels.arrays import Floats
from penstock.kernels.compile import total
from penstock.policies.sharing.policy import sharing
from penstock.policies.sharing.view import View


@sharing("fair-share", source="P1 §4.1")
def fair_share(view: View, rates: Floats) -> None:
    """Everyone gets the same fraction of its limit: min(1, B / Σ b)."""
    fraction = min(1.0, view.capacity / total(view.limit, rates.size))
    for row in range(rates.size):
        rates[row] = fraction * view.limit[row]
