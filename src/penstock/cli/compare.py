"""`penstock compare`: every policy on one scenario."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli.options import Follow, Html, Json, Noise, Plot, ScenarioFile, Seed, SharingList, TimeLimit


def compare(
    scenario: ScenarioFile,
    sharing: SharingList = None,
    follow: Follow = None,
    noise: Noise = None,
    seed: Seed = None,
    json: Json = False,
    plot: Plot = None,
    html: Html = None,
    optimum: Annotated[
        bool, typer.Option("--optimum", help="Find the exact optimum, too, and the ratios to it.")
    ] = False,
    time_limit: TimeLimit = "60 s",
) -> None:
    """Run SCENARIO under each sharing policy and show how close each comes to what is possible."""
    from penstock.cli.running import find_optimum, run_all, time_given  # noqa: PLC0415
    from penstock.cli.show import check_outputs, print_comparison, print_json, write_comparison  # noqa: PLC0415

    check_outputs(plot, html)
    seconds = time_given(time_limit)
    best = find_optimum(scenario, noise, seed, seconds) if optimum else None
    results = run_all(scenario, sharing, follow, noise, seed, timeline=html is not None)
    if best:
        results = best.judged(results)
    write_comparison(results, scenario.name, plot, html)
    if json:
        found = {"optimum": best.to_dict()} if best else {}
        print_json({"scenario": str(scenario), **found, "runs": [result.to_dict() for result in results]})
    else:
        print_comparison(results, scenario.name, plot, html)
