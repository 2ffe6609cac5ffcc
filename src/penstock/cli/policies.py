"""`penstock policies`: what there is to choose from."""

from __future__ import annotations

from penstock.cli.options import Json


def policies(json: Json = False) -> None:
    """List all policies with their rule, their parameters and where they come from."""
    from penstock.cli.meter import Meter  # noqa: PLC0415
    from penstock.cli.show import output, print_json  # noqa: PLC0415
    from penstock.report.lists import policies_table  # noqa: PLC0415
    from penstock.sharing import policies as known  # noqa: PLC0415

    with Meter() as meter:
        meter.show("loading policies")
        found = known()
    if json:
        print_json(
            [
                {"decision": "sharing", "name": each.name, "rule": each.rule, "source": each.source}
                | {"parameters": dict(each.settings)}
                for each in found
            ]
        )
        return
    output().print(policies_table(found))
