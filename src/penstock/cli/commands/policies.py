"""`penstock policies`: what there is to choose from."""

from __future__ import annotations

from penstock.cli.parts.options import Json


def policies(json: Json = False) -> None:
    """List all policies with their rule, their parameters and where they come from."""
    from penstock.cli.parts.output import output, print_json  # noqa: PLC0415
    from penstock.cli.parts.progress import ProgressLine  # noqa: PLC0415
    from penstock.policies import allocation, buffering, placement, sharing  # noqa: PLC0415
    from penstock.report.lists import policies_table, strategies_table, target_policies_table  # noqa: PLC0415

    with ProgressLine() as line:
        line.show("loading policies")
        shared, allocated, placed = sharing.policies(), allocation.policies(), placement.policies()
        buffered = buffering.policies()
    if json:
        print_json(
            [
                {"decision": "sharing", "name": each.name, "rule": each.rule, "source": each.source}
                | {"parameters": dict(each.settings)}
                for each in shared
            ]
            + [
                {"decision": decision, "name": each.name, "rule": each.rule, "source": each.source, "needs": each.needs}
                for decision, policies in (("allocation", allocated), ("placement", placed))
                for each in policies
            ]
            + [
                {"decision": "buffering", "name": each.name, "rule": each.rule, "source": each.source}
                for each in buffered
            ]
        )
        return
    output().print(policies_table(shared))
    output().print(target_policies_table("allocation policy", allocated))
    output().print(target_policies_table("placement policy", placed))
    output().print(strategies_table(buffered))
