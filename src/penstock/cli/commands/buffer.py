"""`penstock buffer`: what a burst buffer of a given size gives, and what one of another size would."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeVar

import typer

from penstock.cli.parts import choices
from penstock.cli.parts.ignored import say_ignored
from penstock.cli.parts.options import Json, Lead, ListAll, Noise, PlanOut, Plot, ScenarioFile, Seed
from penstock.cli.parts.output import MOST_ROWS, check_outputs, draw, print_json, say
from penstock.cli.parts.plans import check_plan_out, write_plan
from penstock.cli.parts.progress import ProgressLine
from penstock.cli.parts.simulations import disturbed
from penstock.cli.parts.user_code import user_code
from penstock.cli.rooms import model, policies, report, studies
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from rich.table import Table

    from penstock.model import Scenario
    from penstock.policies.buffering import Strategy
    from penstock.policies.sharing import Sharing as SharingPolicy
    from penstock.studies.buffers import Buffered
    from penstock.studies.buffers.split import Split
    from penstock.studies.buffers.sweep import StrategyComparison, Sweep

Capacity = Annotated[
    str | None,
    typer.Option(metavar="X", help="Bytes, as 10TB, or a part of the smallest that removes all contention, as 50%."),
]
Partition = Annotated[
    str,
    typer.Option(
        metavar="static|isolated|dynamic",
        help="Parts as the smallest buffer has them, as each needs alone, or all for everybody.",
    ),
]
Common = Annotated[
    float | None,
    typer.Option(metavar="F", help="This part of it is for whoever has filled his own.  [default: 0]"),
]
Admit = Annotated[
    str,
    typer.Option(metavar="now|wait", help="Start with what is left of the buffer, or wait for one's part of it."),
]
StrategyName = Annotated[
    str | None,
    choices.policy_option("buffering", "Who drains and fetches first, or own.py.  [default: fair]", "--strategy"),
]
Sharing = Annotated[
    str | None,
    choices.policy_option("sharing", "A sharing policy behind the buffer, instead of a strategy."),
]
Compare = Annotated[bool, typer.Option("--compare", help="All strategies, and the one given, side by side.")]
Swept = Annotated[bool, typer.Option("--sweep", help="Capacities from 0 to three times the smallest that is enough.")]

T = TypeVar("T")
_CAPACITY = 'accepted is a number of bytes ≥ 0, text such as "3.2 TB", or a part of the smallest buffer such as "50%"'


class _Capacity(NamedTuple):
    """As given: bytes, or a part of S_opt."""

    amount: float
    relative: bool
    text: str


def buffer(
    scenario: ScenarioFile,
    capacity: Capacity = None,
    partition: Partition = "static",
    common: Common = None,
    lead: Lead = None,
    admit: Admit = "now",
    strategy: StrategyName = None,
    sharing: Sharing = None,
    compare: Compare = False,
    sweep: Swept = False,
    noise: Noise = None,
    seed: Seed = None,
    plan_out: PlanOut = None,
    json: Json = False,
    plot: Plot = None,
    all_: ListAll = False,
) -> None:
    """Run SCENARIO behind a burst buffer and show what it is worth: who still waits, and how long."""
    given, ahead = _asked(capacity, sweep), studies.buffer_words.read_lead(lead)
    _check_options(partition, common, strategy, sharing)
    studies.buffer_words.check_admission(admit, partition)
    check_outputs(plot)
    check_plan_out(plan_out)
    if plan_out and (compare or sweep):
        raise InvalidOption("--plan-out writes one run; leave it out with --compare and --sweep")
    found = disturbed(model.load(scenario), noise, seed)
    model.needs.need_end(found)
    studies.buffer_words.need_solver(partition)
    asked = None if sweep else given or _of_platform(found)
    chosen = _chosen(strategy, sharing, compare)
    split = _split(found, partition, common, ahead)
    output = _Output(split, json, plot, say_ignored(found, "buffer"), all_)
    if asked is None:
        return _show_sweep(_swept(found, chosen, split, admit), output)
    size = _bytes(asked, split)
    if compare:
        return _show_comparison(_compared(found, size, chosen, split, admit), output)
    run = _run(found, size, chosen[0], split, admit, timeline=plot is not None)
    if plan_out:
        write_plan(studies.plans.plan_of_buffered(run), plan_out)
    return _show(run, output)


def _asked(text: str | None, sweep: bool) -> _Capacity | None:
    """What `--capacity` says."""
    if text is None:
        return None
    if sweep:
        raise InvalidOption("--sweep tries capacities from 0 on; leave --capacity out with it")
    relative = text.rstrip().endswith("%")
    try:
        amount = float(text.rstrip()[:-1]) / 100.0 if relative else model.units.quantity(text, "bytes")
    except model.units.Refusal as refusal:
        # The unit that it was taken for, without what a scenario would accept.
        raise InvalidOption(f"--capacity {str(refusal).rpartition('; ')[0]}; {_CAPACITY}") from None
    except ValueError:
        amount = math.nan
    if not 0.0 <= amount < math.inf:
        raise InvalidOption(f"--capacity is {text!r}; {_CAPACITY}")
    return _Capacity(amount, relative, text)


def _of_platform(scenario: Scenario) -> _Capacity:
    """The capacity that the scenario itself has."""
    known = scenario.platform.burst_buffer
    if known is None:
        raise InvalidOption("how large is the buffer? Give --capacity, as in --capacity 10TB or 50%, or --sweep")
    return _Capacity(known.capacity, False, "")


def _check_options(partition: str, common: float | None, strategy: str | None, sharing: str | None) -> None:
    """Refuse what contradicts itself before any work is done."""
    studies.buffer_words.check_partition(partition, "--partition")
    if common is not None and not 0.0 <= common <= 1.0:
        raise InvalidOption(f"--common is {common:g}; the part that anybody may use is a number from 0 to 1")
    if common is not None and partition == "dynamic":
        raise InvalidOption("--partition dynamic is for everybody already; leave --common out with it")
    if strategy is not None and sharing is not None:
        raise InvalidOption("--strategy knows of the buffer, --sharing takes its place and does not; give one of them")


def _chosen(strategy: str | None, sharing: str | None, compare: bool) -> list[Strategy | SharingPolicy]:
    """The strategy asked for; to compare, all others come before it."""
    with user_code(), ProgressLine() as line:
        line.show("loading strategies")
        ours = policies.buffering
        asked = "fair" if strategy is None else strategy
        wanted = ours.find(asked) if sharing is None else policies.sharing.find(sharing)
        known = [ours.find(name) for name in ours.NAMES] if compare else []
    return [*known, *([] if wanted in known else [wanted])]


def _split(scenario: Scenario, partition: str, common: float | None, lead: float | None) -> Split:
    with ProgressLine() as line:
        line.show("sizing")
        found = studies.buffers.split.split
        return found(scenario, partition, common, lead=lead, progress=lambda detail: line.show("sizing", None, detail))


def _bytes(asked: _Capacity, split: Split) -> float:
    if not asked.relative:
        return asked.amount
    if split.size <= 0.0:
        raise InvalidOption(
            f"--capacity is {asked.text!r}, but the smallest buffer that removes all contention is 0 here, so none is "
            "needed; give bytes to run with one all the same"
        )
    return asked.amount * split.size


def _run(
    scenario: Scenario,
    size: float,
    strategy: Strategy | SharingPolicy,
    split: Split,
    admit: str,
    *,
    timeline: bool,
) -> Buffered:
    def work(show: Callable[..., None]) -> Buffered:
        def progress(_: float, events: int) -> None:
            show(strategy.name, None, f"{events:,} events")

        return studies.buffers.buffer(
            scenario,
            size,
            split=split,
            strategy=strategy,
            admit=admit,
            against_none=size > 0.0,
            timeline=timeline,
            progress=progress,
        )

    return _metered(work)


def _compared(
    scenario: Scenario, size: float, chosen: list[Strategy | SharingPolicy], split: Split, admit: str
) -> StrategyComparison:
    compare = studies.buffers.sweep.compare_buffers
    return _metered(lambda show: compare(scenario, size, chosen, split=split, admit=admit, progress=show))


def _swept(scenario: Scenario, chosen: list[Strategy | SharingPolicy], split: Split, admit: str) -> Sweep:
    sweep = studies.buffers.sweep.sweep_buffer
    return _metered(lambda show: sweep(scenario, chosen, split=split, admit=admit, progress=show))


def _metered(work: Callable[[Callable[..., None]], T]) -> T:
    """What it gives, with progress where it takes long; a user's own strategy may run meanwhile."""
    with user_code(), ProgressLine() as line:
        return work(line.show)


class _Output(NamedTuple):
    """How the answer is shown."""

    split: Split
    json: bool
    plot: Path | None
    unread: dict[str, Any]  # what of the scenario plays no part
    everything: bool  # all rows of a long table

    def tell(self, record: dict[str, Any], table: Table | None, lines: list[str], plot: Path | None) -> None:
        """JSON, or a table and sentences, and the file that came with them."""
        if self.json:
            print_json(record | self.unread)
        else:
            say([*([table] if table else []), *lines], plot)


def _show(run: Buffered, output: _Output) -> None:
    """Files first; then JSON or a table."""
    traffic, size, plot = output.split.traffic, output.split.size, output.plot
    if plot:
        draw(lambda drawn: report.buffers.plot.run_figure(drawn, traffic), run, plot)
    words = report.buffers.table
    most = None if output.everything else MOST_ROWS
    table, lines = words.run_table(run, traffic, most), words.run_lines(run, size, traffic, most)
    output.tell(run.to_dict() | {"size": size}, table, lines, plot)


def _show_comparison(comparison: StrategyComparison, output: _Output) -> None:
    traffic, plot = output.split.traffic, output.plot
    if plot:
        draw(lambda drawn: report.buffers.plot.comparison_figure(drawn, traffic.limits), comparison, plot)
    words = report.buffers.table
    table, lines = words.comparison_table(comparison, traffic), words.comparison_lines(comparison, traffic)
    output.tell(comparison.to_dict(), table, lines, plot)


def _show_sweep(sweep: Sweep, output: _Output) -> None:
    traffic, words, plot = output.split.traffic, report.buffers.table, output.plot
    if not sweep.points:
        return output.tell(sweep.to_dict(), None, words.sweep_lines(sweep, traffic), None)
    if plot:
        draw(lambda drawn: report.buffers.plot.sweep_figure(drawn, traffic.limits), sweep, plot)
    return output.tell(sweep.to_dict(), words.sweep_table(sweep, traffic), words.sweep_lines(sweep, traffic), plot)
