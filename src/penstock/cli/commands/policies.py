"""`penstock policies`: what there is to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.cli import rooms
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import output, print_json
from penstock.cli.parts.progress import ProgressLine
from penstock.cli.rooms import report

if TYPE_CHECKING:
    from penstock.policies.mapping import MappingPolicy
    from penstock.policies.sharing import Sharing


def policies(json: Json = False) -> None:
    """List all policies with their rule, their parameters and where they come from."""
    with ProgressLine() as line:
        line.show("loading policies")
        known = rooms.policies
        shared, buffered = known.sharing.policies(), known.buffering.policies()
        allocated, placed = known.allocation.policies(), known.placement.policies()
        mapped = known.mapping.policies()
    if json:
        print_json(
            [_with_parameters("sharing", each) for each in shared]
            + [
                {"decision": decision, "name": each.name, "rule": each.rule, "source": each.source, "needs": each.needs}
                for decision, policies in (("allocation", allocated), ("placement", placed))
                for each in policies
            ]
            + [
                {"decision": "buffering", "name": each.name, "rule": each.rule, "source": each.source}
                for each in buffered
            ]
            + [_with_parameters("mapping", each) for each in mapped]
        )
        return
    lists = report.lists
    for each in (
        *lists.sharing_lists(shared),
        lists.targets_list("Allocation. How many storage targets for each job", allocated),
        lists.targets_list("Placement. Which targets", placed),
        lists.strategies_list(buffered),
        lists.mapping_list(mapped),
    ):
        output().print(each)
        output().print()


def _with_parameters(decision: str, policy: Sharing | MappingPolicy) -> dict[str, Any]:
    plain = {"decision": decision, "name": policy.name, "rule": policy.rule, "source": policy.source}
    return plain | {"parameters": dict(policy.settings)}
