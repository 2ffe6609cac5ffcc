"""`penstock compare`: every policy on one scenario."""

from __future__ import annotations

from penstock.cli.options import Follow, Html, Json, Noise, Plot, ScenarioFile, Seed, SharingList


def compare(
    scenario: ScenarioFile,
    sharing: SharingList = None,
    follow: Follow = None,
    noise: Noise = None,
    seed: Seed = None,
    json: Json = False,
    plot: Plot = None,
    html: Html = None,
) -> None:
    """Run SCENARIO under each sharing policy and show how close each comes to what is possible."""
    from penstock.cli.running import run_all  # noqa: PLC0415
    from penstock.cli.show import check_outputs, print_comparison, print_json, write_comparison  # noqa: PLC0415

    check_outputs(plot, html)
    results = run_all(scenario, sharing, follow, noise, seed, timeline=html is not None)
    write_comparison(results, scenario.name, plot, html)
    if json:
        print_json({"scenario": str(scenario), "runs": [result.to_dict() for result in results]})
    else:
        print_comparison(results, scenario.name, plot, html)
