"""`penstock simulate`: one run."""

from __future__ import annotations

from penstock.cli.options import Json, Plot, ScenarioFile, Sharing


def simulate(scenario: ScenarioFile, sharing: Sharing = "fair-share", json: Json = False, plot: Plot = None) -> None:
    """Run SCENARIO under one sharing policy and show how each application fared."""
    from penstock.cli.running import run_one  # noqa: PLC0415
    from penstock.cli.show import check_outputs, draw, print_json, print_run  # noqa: PLC0415
    from penstock.report.plots import run_figure  # noqa: PLC0415

    check_outputs(plot)
    result = run_one(scenario, sharing, timeline=plot is not None)
    if plot:
        draw(run_figure, result, plot)
    if json:
        print_json(result.to_dict())
    else:
        print_run(result, plot)
