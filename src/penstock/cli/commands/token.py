"""`penstock token`: what a job on another machine shows the controller."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts.options import Json
from penstock.cli.rooms import model
from penstock.errors import InvalidOption
from penstock.report.parts.json_text import as_json
from penstock.wire.tokens import Claims, make_token, read_key

Job = Annotated[str, typer.Option("--job", metavar="NAME", help="The job that it speaks for.")]
Uid = Annotated[int, typer.Option("--uid", metavar="N", help="The job's user.")]
Nodes = Annotated[int, typer.Option("--nodes", metavar="N", help="How many nodes the job has.")]
Account = Annotated[str, typer.Option("--account", metavar="NAME", help="The account that the job belongs to.")]
Key = Annotated[
    str, typer.Option("--key", metavar="NAME=FILE", help="The site's key, as `keys` in the controller's configuration.")
]
Valid = Annotated[str, typer.Option("--valid", metavar="TIME", help="How long it is good for: 90 min, 12 h, 2 d.")]
Into = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write it to a file that only the job's user can read."),
]


def token(
    job: Job,
    uid: Uid,
    key: Key,
    nodes: Nodes = 1,
    account: Account = "",
    valid: Valid = "1 d",
    output: Into = None,
    json: Json = False,
) -> None:
    """Make the token of a job, for a prolog to hand to it (PENSTOCK_TOKEN names its file)."""
    kid, equals, file = key.partition("=")
    if not (kid and equals and file):
        raise InvalidOption(f"--key is {key!r}; accepted is NAME=FILE, as in a=/etc/penstock/a.key")
    try:
        seconds = model.units.quantity(valid, "seconds")
    except model.units.Refusal as refusal:
        raise InvalidOption(f"--valid {refusal}") from None
    if seconds <= 0.0:
        raise InvalidOption(f"--valid is {valid!r}; a time above 0 is accepted")
    claims = Claims(job, uid, nodes, time.time() + seconds, kid, account)
    text = make_token(read_key(Path(file)), claims).text()
    if output is not None:
        _write(output, text, uid)
    if json:
        where = {"token": text.strip()} if output is None else {"file": str(output)}
        print(
            as_json(
                {"job": job, "uid": uid, "nodes": nodes, "account": account, "expires": claims.exp, "key": kid, **where}
            )
        )
    elif output is None:
        print(text, end="")
    else:
        print(f"written: {output}")


def _write(path: Path, text: str, uid: int) -> None:
    """A new file of the job's user, readable by nobody else at any moment."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o400), "w") as file:
                file.write(text)
            if os.geteuid() == 0:
                os.chown(draft, uid, -1)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except (OSError, ValueError, OverflowError) as error:
        reason = str(getattr(error, "strerror", None) or error).lower()
        raise InvalidOption(f"{path} cannot be written ({reason}); give a file in a writable directory") from None
