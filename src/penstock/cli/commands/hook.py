"""`penstock hook`: what a prolog or epilog tells the controller."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer

from penstock.cli.parts.controller import AddressOption, line
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import tell
from penstock.cli.rooms import model
from penstock.errors import InvalidOption

KINDS = {"start": "job_start", "ending": "job_ending", "end": "job_end"}
What = Annotated[str, typer.Argument(metavar="start|ending|end", help="What has happened to the job.")]
Job = Annotated[str | None, typer.Option("--job", metavar="NAME", help="Which job.  [default: SLURM_JOB_ID]")]
Uid = Annotated[int | None, typer.Option("--uid", metavar="N", help="Its user.  [default: SLURM_JOB_UID]")]
Nodes = Annotated[int | None, typer.Option("--nodes", metavar="N", help="start: how many nodes it has.")]
Names = Annotated[str, typer.Option("--names", metavar="A,B", help="start: what its nodes are called.")]
Node = Annotated[str, typer.Option("--node", metavar="NAME", help="end: the node on which it has ended.")]
Restart = Annotated[
    int | None,
    typer.Option("--restart", metavar="N", help="How often it was requeued.  [default: SLURM_JOB_RESTART_COUNT]"),
]
Account = Annotated[
    str | None, typer.Option("--account", metavar="NAME", help="start: its account.  [default: SLURM_JOB_ACCOUNT]")
]
Left = Annotated[str | None, typer.Option("--limit", metavar="TIME", help="start: until its time is over: 2 h.")]


def hook(
    what: What,
    job: Job = None,
    uid: Uid = None,
    nodes: Nodes = None,
    names: Names = "",
    node: Node = "",
    restart: Restart = None,
    account: Account = None,
    limit: Left = None,
    address: AddressOption = None,
    json: Json = False,
) -> None:
    """Tell the controller that a job starts, is about to end, or has ended on a node.

    For prologs and epilogs.

    Only the end of a node frees what the job used there. The end of a job that nobody said to start is ignored.
    """
    if what not in KINDS:
        raise InvalidOption(f"hook is {what!r}; accepted are {', '.join(KINDS)}")
    if what == "end" and not node:
        raise InvalidOption("--node is missing; the end of a job frees what it used on one node, as in --node n17")
    listed = tuple(name.strip() for name in names.split(",")) if names else ()
    told: dict[str, Any] = {
        "job": job or _known("SLURM_JOB_ID", "--job"),
        "uid": uid if uid is not None else _number(os.environ.get("SLURM_JOB_UID"), -1),
        "nodes": nodes or max(1, len(listed)),
        "node_names": listed,
        "node": node,
        "restart": restart if restart is not None else _number(os.environ.get("SLURM_JOB_RESTART_COUNT"), 0),
        "account": account if account is not None else os.environ.get("SLURM_JOB_ACCOUNT", ""),
        "seconds_left": None if limit is None else _seconds(limit),
    }
    with line(address, role="hook") as connected:
        answer = connected.hook(KINDS[what], **told)
    tell(answer, [f"ignored: {answer['ignored']}" if "ignored" in answer else "taken"], json)


def _known(variable: str, option: str) -> str:
    if found := os.environ.get(variable):
        return found
    raise InvalidOption(f"{option} is missing, and {variable} is not set")


def _number(text: str | None, otherwise: int) -> int:
    return int(text) if text and text.isascii() and text.isdigit() else otherwise


def _seconds(text: str) -> float:
    try:
        return model.units.quantity(text, "seconds")
    except model.units.Refusal as refusal:
        raise InvalidOption(f"--limit {refusal}") from None
