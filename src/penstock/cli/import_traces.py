"""`penstock import`: real traces to a scenario."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from penstock.cli.options import Json
from penstock.errors import InvalidOption

if TYPE_CHECKING:
    from penstock.traces import Imported, Options

import_traces = typer.Typer(
    name="import",
    help="Turn real traces into a scenario: Darshan logs, Slurm accounting, SWF, or tables of what jobs moved.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Logs = Annotated[list[Path], typer.Argument(metavar="LOG|DIR …", help="Darshan logs, or folders of them.")]
SacctFile = Annotated[Path, typer.Argument(metavar="FILE", help="What `sacct -P` or `sacct --json` printed.")]
SwfFile = Annotated[Path, typer.Argument(metavar="FILE", help="A Standard Workload Format file, .gz or not.")]
TableFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="CSV or Parquet of job,start,end,bytes,direction[,nodes] or time,job,read,written; a dump of Lustre's "
        "job_stats; JSON of Prometheus' query_range.",
    ),
]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="The scenario to write: .yaml or .json.")
]
Slurm = Annotated[
    Path | None, typer.Option(metavar="FILE", help="What sacct printed of the same time: nodes, starts and ends.")
]
Io = Annotated[
    str | None,
    typer.Option(
        "--io",
        metavar="MODEL",
        help="When jobs move bytes: period=1h (bytes as counted), period=1h,fraction=10%, apex, or classes.csv.",
    ),
]
Fields = Annotated[
    str | None, typer.Option(metavar="A,B,…", help="The fields of a sacct file without a header, in their order.")
]
Cores = Annotated[int, typer.Option("--cores-per-node", metavar="N", help="Processors of SWF that make a node.")]
Label = Annotated[
    str | None, typer.Option(metavar="NAME", help="The label of Prometheus that names the job.  [default: jobid, …]")
]
Bandwidth = Annotated[
    str | None,
    typer.Option(metavar="B", help="Of the file system: 160 GB/s.  [default: the highest seen, a lower bound]"),
]
NodeBandwidth = Annotated[str | None, typer.Option(metavar="b", help="What one node can move: 2 GB/s.")]
WindowOption = Annotated[
    str | None, typer.Option("--window", metavar="A..B", help="Dates (UTC), or times since the first start.")
]
Tolerance = Annotated[
    str, typer.Option(metavar="SHARE", help="By how much of its run time merging may displace a byte, on average.")
]
SlackOption = Annotated[
    str,
    typer.Option("--slack", metavar="compute|contention", help="What a transfer took beyond bytes over cap counts as."),
]
CapOption = Annotated[
    str,
    typer.Option("--cap", metavar="alone|median|max|FILE", help="How fast an application can be, from its runs."),
]
UnseenOption = Annotated[
    str, typer.Option("--unseen", metavar="keep|drop", help="Jobs that Slurm knows and of which no bytes are known.")
]
Anonymise = Annotated[
    bool, typer.Option("--anonymise", help="Stable pseudonyms for users, executables, jobs and files.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Fail where input is damaged, instead of leaving it out.")]


@import_traces.command()
def darshan(
    logs: Logs,
    slurm: Slurm = None,
    output: Output = None,
    bandwidth: Bandwidth = None,
    node_bandwidth: NodeBandwidth = None,
    window: WindowOption = None,
    tolerance: Tolerance = "0.5%",
    slack: SlackOption = "compute",
    cap: CapOption = "alone",
    unseen: UnseenOption = "keep",
    anonymise: Anonymise = False,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Read Darshan logs: one application per job, with how well its bytes could be placed in time."""
    from penstock.cli.meter import Meter  # noqa: PLC0415
    from penstock.traces import import_darshan  # noqa: PLC0415

    options = given(bandwidth, node_bandwidth, window, tolerance, slack, cap, unseen, anonymise, strict)

    def run() -> Imported:
        with Meter() as meter:
            return import_darshan(logs, options, slurm=slurm, progress=_follow(meter))

    _import(run, output, json, ", ".join(str(path) for path in logs[:2]))


@import_traces.command()
def slurm(
    file: SacctFile,
    io: Io = None,
    fields: Fields = None,
    output: Output = None,
    bandwidth: Bandwidth = None,
    node_bandwidth: NodeBandwidth = None,
    window: WindowOption = None,
    slack: SlackOption = "compute",
    unseen: UnseenOption = "keep",
    anonymise: Anonymise = False,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Read Slurm's accounting: jobs, nodes and bytes as counted; when bytes moved is the model that --io states."""
    from penstock.traces import import_slurm  # noqa: PLC0415

    options = given(bandwidth, node_bandwidth, window, "0.5%", slack, "alone", unseen, anonymise, strict)
    named = fields.split(",") if fields is not None else None
    _import(lambda: import_slurm(file, options, io=io, fields=named), output, json, str(file))


@import_traces.command()
def swf(
    file: SwfFile,
    io: Io = None,
    cores_per_node: Cores = 1,
    output: Output = None,
    bandwidth: Bandwidth = None,
    node_bandwidth: NodeBandwidth = None,
    window: WindowOption = None,
    anonymise: Anonymise = False,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Read a Standard Workload Format file. It has no I/O: all of that is the model that --io states."""
    from penstock.traces import import_swf  # noqa: PLC0415

    if cores_per_node < 1:
        raise InvalidOption(f"--cores-per-node is {cores_per_node}; accepted is a whole number ≥ 1")
    options = given(bandwidth, node_bandwidth, window, "0.5%", "compute", "alone", "keep", anonymise, strict)
    _import(lambda: import_swf(file, options, io=io, cores_per_node=cores_per_node), output, json, str(file))


@import_traces.command()
def table(
    file: TableFile,
    label: Label = None,
    output: Output = None,
    bandwidth: Bandwidth = None,
    node_bandwidth: NodeBandwidth = None,
    window: WindowOption = None,
    tolerance: Tolerance = "0.5%",
    slack: SlackOption = "compute",
    cap: CapOption = "alone",
    anonymise: Anonymise = False,
    strict: Strict = False,
    json: Json = False,
) -> None:
    """Read a table of what jobs moved when: transfers, a time series, Lustre's job_stats or Prometheus."""
    from penstock.traces import import_table  # noqa: PLC0415

    options = given(bandwidth, node_bandwidth, window, tolerance, slack, cap, "keep", anonymise, strict)
    _import(lambda: import_table(file, options, label=label), output, json, str(file))


def given(
    bandwidth: str | None,
    node_bandwidth: str | None,
    window: str | None,
    tolerance: str,
    slack: Any,
    cap: str,
    unseen: Any,
    anonymise: bool,
    strict: bool,
) -> Options:
    """What the options say."""
    from penstock.traces import Options  # noqa: PLC0415
    from penstock.traces.options import share  # noqa: PLC0415

    return Options(
        bandwidth=_rate(bandwidth, "--bandwidth"),
        node_bandwidth=_rate(node_bandwidth, "--node-bandwidth"),
        window=window,
        tolerance=share(tolerance, "--tolerance"),
        slack=slack,
        cap=cap,
        unseen=unseen,
        anonymise=anonymise,
        strict=strict,
    )


def _rate(text: str | None, option: str) -> float | None:
    from penstock.model.units import Refusal, quantity  # noqa: PLC0415

    try:
        return None if text is None else quantity(text, "bytes/s")
    except Refusal as refusal:
        raise InvalidOption(f"{option} {refusal}") from None


def _follow(meter: Any) -> Callable[[int, int], None]:
    def show(done: int, logs: int) -> None:
        meter.show("reading logs", done / logs if logs else None, f"{done:,} of {logs:,}")

    return show


def _import(run: Callable[[], Imported], output: Path | None, json: bool, what: str) -> None:
    """Check where the result goes, read, write, and say what was found."""
    from penstock.cli.show import print_json, say  # noqa: PLC0415
    from penstock.files import check_place  # noqa: PLC0415
    from penstock.model import save  # noqa: PLC0415
    from penstock.model.load import text_format  # noqa: PLC0415
    from penstock.report.trace_table import trace_lines, trace_table  # noqa: PLC0415
    from penstock.traces.inspecting import inspect_import  # noqa: PLC0415

    if output is None:
        raise InvalidOption("-o is missing; an import writes a scenario, as in -o week.yaml (inspect only looks)")
    text_format(output)
    check_place(output)
    found = run()
    save(found.scenario, output)
    if json:
        print_json(found.to_dict())
    else:
        seen = inspect_import(found)
        say([trace_table(seen, what), *trace_lines(seen)], output)
