"""`penstock generate`: a workload of a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penstock.cli.parts import choices
from penstock.cli.parts.options import Json
from penstock.cli.parts.output import check_text_file, output, print_json
from penstock.cli.parts.user_code import user_code
from penstock.cli.rooms import model, report, workloads
from penstock.errors import InvalidOption

Kind = Annotated[
    str | None,
    typer.Argument(help="Which workload; without it, the list of them.", **choices.one_of(choices.workloads)),
]
Rest = Annotated[list[str] | None, typer.Argument(metavar="[NAME=VALUE]…", help="More settings.")]
Setting = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting; several may follow one --set.")
]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="A .yaml file (long traces go to Parquet beside it) or .json."),
]
ProfilesFile = Annotated[
    Path | None,
    typer.Option("--profiles", metavar="FILE", help="Measured bandwidths, for `targets`: as in --set profiles=FILE."),
]

_NOT_SETTINGS = {"kind": "the first argument, as in penstock generate synthetic", "seed": "--seed, as in --seed 7"}


def generate(
    kind: Kind = None,
    settings: Rest = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same workload.")] = 0,
    set_: Setting = None,
    profiles: ProfilesFile = None,
    output: Output = None,
    json: Json = False,
) -> None:
    """Make a workload and write it as a scenario file, or to standard output."""
    if kind is None:
        return _list(json)
    if output:
        check_text_file(output)
    given = dict(_split(text) for text in [*(set_ or []), *(settings or [])])
    if profiles:
        given["profiles"] = str(profiles)
    with user_code():
        scenario = workloads.generate(kind, seed=seed, **given)
    if output:
        model.save(scenario, output)
        typer.echo(f"written: {output} ({len(scenario.applications)} applications)", err=True)
        return None

    typer.echo((model.json_text if json else model.yaml_text).write(scenario.to_document()), nl=False)
    return None


def _split(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise InvalidOption(f"--set: {text!r} is no setting; one is written name=value, as in pressure=1.1")
    name = name.strip()
    if name in _NOT_SETTINGS:
        raise InvalidOption(f"--set: {name} is no setting; it is given as {_NOT_SETTINGS[name]}")
    return name, value.strip()


def _list(json: bool) -> None:
    known = workloads.generators()
    if json:
        print_json(
            [
                {"name": each.name, "rule": each.rule, "source": each.source}
                | {"settings": {setting.name: setting.default for setting in each.parameters}}
                for each in known
            ]
        )
        return
    output().print(report.lists.generators_list(known))
