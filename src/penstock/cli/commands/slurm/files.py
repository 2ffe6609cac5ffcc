"""`penstock slurm files`: everything that a Slurm cluster needs of ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from penstock.cli.parts.options import Json
from penstock.cli.parts.output import tell
from penstock.cli.rooms import client, live
from penstock.errors import InvalidOption

Folder = Annotated[Path | None, typer.Argument(metavar="[DIR]", help="Where to write them; else they are printed.")]
Etc = Annotated[
    str | None, typer.Option("--etc", metavar="PATH", help="Where they will be installed.  [default: DIR's path]")
]
Spool = Annotated[
    str | None, typer.Option("--spool", metavar="PATH", help="Of nodes; %n is the node.  [/run/penstock/spool]")
]
ControllerSpool = Annotated[
    str | None, typer.Option("--controller-spool", metavar="PATH", help="Of slurmctld.  [/run/penstock/slurmctld]")
]
Shim = Annotated[
    str | None, typer.Option("--shim", metavar="PATH", help="The library; %m is the machine.  [ours, copied into DIR]")
]
Address = Annotated[
    str | None, typer.Option("--address", metavar="WHERE", help="The controller, for the units: tcp://host:port.")
]
Penstock = Annotated[
    str | None,
    typer.Option("--penstock", metavar="PATH", help="The command, for the units.  [/opt/penstock/bin/penstock]"),
]
License = Annotated[str | None, typer.Option("--license", metavar="NAME:N", help="Of bandwidth.  [iobw:100]")]
User = Annotated[str | None, typer.Option("--slurm-user", metavar="NAME", help="Who slurmctld runs as.  [slurm]")]


def files(
    folder: Folder = None,
    etc: Etc = None,
    spool: Spool = None,
    controller_spool: ControllerSpool = None,
    shim: Shim = None,
    address: Address = None,
    penstock: Penstock = None,
    license: License = None,
    slurm_user: User = None,
    json: Json = False,
) -> None:
    """Write all that a Slurm cluster needs into DIR: hooks, lines of configuration, units; or print it.

    Nothing is installed: copy what you need to where --etc says.
    """
    license_name, total = _license(license)
    etc = etc or (str(folder.absolute()) if folder is not None else None)
    place = live.slurm.library.PLACE
    libraries = _libraries() if shim is None and folder is not None else {}
    given: dict[str, Any] = {
        "etc": etc,
        "node_spool": spool,
        "controller_spool": controller_spool,
        "shim": shim or (f"{etc}/{place}" if libraries else None),
        "address": address,
        "penstock": penstock,
        "license": license_name,
        "total": total,
        "slurm_user": slurm_user,
    }
    site = live.slurm.files.SlurmSite(**{key: value for key, value in given.items() if value is not None})
    if folder is None:
        made = live.slurm.files.site_files(site)
        words = [line for each in made for line in (f"##### {each.name}", each.text)]
    else:
        if folder.exists() and not folder.is_dir():
            raise InvalidOption(f"{folder} is a file; the name of a folder is accepted")
        made = live.slurm.files.write_files(folder, site)
        copies = {str(live.slurm.library.found_at(place, name)): path for name, path in libraries.items()}
        for name, path in copies.items():
            live.slurm.files.put(folder / name, path.read_bytes(), 0o644)
        names = [*(each.name for each in made), *copies]
        words = [*(f"{folder / each}" for each in names), f"Next: penstock slurm check {folder}"]
    listed = [{"name": each.name, "mode": f"{each.mode:04o}", "text": each.text} for each in made]
    where = str(folder) if folder is not None else None
    tell({"folder": where, "files": listed, "shim": site.shim}, words, json)


def _libraries() -> dict[str, Path]:
    """The libraries that pace programs which do not ask, by machine; none, and why, where there is not one."""
    try:
        return client.shim.library.libraries()
    except client.shim.library.NoLibrary as error:
        typer.echo(f"penstock: {error}; programs that do not ask are not paced", err=True)
        return {}


def _license(text: str | None) -> tuple[str | None, int | None]:
    if text is None:
        return None, None
    name, colon, count = text.partition(":")
    if not colon or not count.isascii() or not count.isdigit() or len(count) > 9:
        raise InvalidOption(f"--license is {text!r}; a name and a number are accepted, as iobw:100")
    return name, int(count)
