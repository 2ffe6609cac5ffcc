"""Follow: serve operations in an order that was fixed elsewhere, and wait for whose turn it is (P2, definition 1)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from penstock.errors import PolicyError
from penstock.kernels.arrays import Floats
from penstock.policies.sharing.fixed_order import keep_to_plan, planned
from penstock.policies.sharing.foresight import Foresight
from penstock.policies.sharing.policy import Sharing, sharing
from penstock.policies.sharing.view import View


@sharing("follow", source="P2 §2.3")
def follow(view: View, rates: Floats) -> None:
    """The order of a given plan, one at a time, waiting for whose turn it is."""
    keep_to_plan(view, rates)


def in_order(names: Sequence[str], label: str) -> Sharing:
    """A policy that serves the applications in the order in which `names` lists them, once for each operation."""

    def prepare(foresight: Foresight, settings: Mapping[str, float]) -> Floats:
        foresight.known_starts(label)
        place = {name: i for i, name in enumerate(foresight.names)}
        for name, count in Counter(names).items():
            if name not in place and name not in foresight.elsewhere:
                raise PolicyError(f"{label}: the plan names {name!r}, which is no application of the scenario")
            if name in place and count > foresight.operations[place[name]]:
                has = foresight.operations[place[name]]
                raise PolicyError(f"{label}: the plan has {count} operations of {name!r}; the scenario has {has:g}")
        return planned(foresight, [place[name] for name in names if name in place])

    return replace(follow, name=label, prepare=prepare)
