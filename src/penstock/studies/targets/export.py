"""What a study of targets gave out, in a form that a site can use: commands for Lustre and BeeGFS, and a plan as JSON.

Lustre binds a directory to a list of OSTs (`lfs setstripe -o`). BeeGFS does not: a directory takes its targets from one
storage pool, and a target is in one pool only. So applications that share no target with others, or all of them, get a
pool; of the rest only the number of targets can be set for a directory, and the list for one file at a time.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.errors import InvalidOption
from penstock.files import reading
from penstock.model import Plan, json_text
from penstock.model.plan import TARGET
from penstock.model.plan_file import load_plan, plan_text
from penstock.model.units import shown

if TYPE_CHECKING:
    from penstock.studies.targets.result import Allotment, Striped

DIRECTORY = "{name}"

_OST = re.compile(r".*OST([0-9a-fA-F]{4})(?:_UUID)?")  # as Lustre names them, the index in hexadecimal
_NUMBERED = re.compile(r"(?:.*[^0-9])?([0-9]{1,5})")
_NUMBER = re.compile(r"[0-9]{1,5}")
_ALIAS = re.compile(r"[a-zA-Z][a-zA-Z0-9._-]*")  # of a BeeGFS target
_HIGHEST = 65535  # both systems count targets in 16 bits
_NO_TARGETS = "the plan has no table of targets; expected placement: {name: [target, …]}"
_PLAN = "a plan is what `penstock allocate --export json` or `--json` writes"


def export(allotment: Allotment, kind: str, directory: str = DIRECTORY) -> str:
    """The text for one of `KINDS`; `directory` says where an application's files are, {name} being its name."""
    check_export(kind, directory)
    return KINDS[kind](allotment, directory)


def check_export(kind: str, directory: str | None = None) -> None:
    """Refuse what `export` would; a directory is for commands only."""
    if kind not in KINDS:
        raise InvalidOption(f"--export is {kind!r}; accepted: {', '.join(KINDS)}")
    if directory is not None and kind == "json" and directory != DIRECTORY:
        raise InvalidOption("--directory is for commands of a file system; leave it out with --export json")
    if directory is not None and "{name}" not in directory:
        raise InvalidOption(f"--directory is {directory!r}; it holds {{name}}, so that each application has its own")


def plan_of_allotment(allotment: Allotment) -> Plan:
    """Which targets every application has, by name, and how these are shared."""
    names = [target.name for target in allotment.targets]
    placed = {each.name: tuple(names[place] for place in each.targets) for each in allotment.applications}
    counts = {each.name: each.count for each in allotment.applications}
    return Plan(allocation=counts, placement=dict(placed), sharing={TARGET: allotment.sharing})


def _json(allotment: Allotment, _: str) -> str:
    return plan_text(plan_of_allotment(allotment), "plan.json")


def _lustre(allotment: Allotment, directory: str) -> str:
    indices, source = ost_indices([target.name for target in allotment.targets])
    lines = [
        *_opening(allotment),
        "# New files in a directory get its layout; files that are there keep theirs until `lfs migrate` moves them.",
        f"# OST indices are {source}; `lfs osts` lists those of your file system.",
        "set -eu",
    ]
    for each in allotment.applications:
        osts = ",".join(str(indices[place]) for place in each.targets)
        place = _place(directory, each)
        lines += ["", _heading(allotment, each), f"mkdir -p -- {place}"]
        lines.append(f"lfs setstripe -c {each.count} -o {osts} -- {place}")
    return "\n".join(lines) + "\n"


def ost_indices(names: Sequence[str]) -> tuple[list[int], str]:
    """The OST index of every target, and where it comes from: the names if all of them tell, else places in the list.

    >>> ost_indices(["work-OST0009", "work-OST000a"])
    ([9, 10], "from the targets' names")
    """
    found = [_index(name) for name in names]
    told = [index for index in found if index is not None and index <= _HIGHEST]
    if len(set(told)) == len(names):
        return told, "from the targets' names"
    return list(range(len(names))), "the places of the targets in the scenario's list, counted from 0"


def _index(name: str) -> int | None:
    if match := _OST.fullmatch(name):
        return int(match[1], 16)
    match = _NUMBERED.fullmatch(name)
    return int(match[1]) if match else None


def _beegfs(allotment: Allotment, directory: str) -> str:
    names, source = _beegfs_names([target.name for target in allotment.targets])
    pools = _pools(allotment)
    lines = [
        *_opening(allotment),
        "# For BeeGFS 8 and its tool `beegfs`, as root. New files in a directory get its pattern, others keep theirs.",
        "# (BeeGFS 7 has beegfs-ctl --addstoragepool, --setpattern and --createfile instead, with target numbers.)",
        f"# Targets are {source}; `beegfs target list` lists those of your file system.",
        "set -eu",
        *_pool_lines(pools, names),
    ]
    for each in allotment.applications:
        place = _place(directory, each)
        lines += ["", _heading(allotment, each), f"mkdir -p -- {place}"]
        pool = pools.get(each.targets)
        if pool:
            lines.append(f"beegfs entry set --pool={pool} --num-targets={each.count} -- {place}")
            continue
        listed = ",".join(names[i] for i in each.targets)
        lines += [
            f"beegfs entry set --num-targets={each.count} -- {place}",
            "# That is the number alone. For these targets, create each file before the application opens it:",
            f"#   beegfs entry create file --num-targets={each.count} --targets={listed} -- {place}/FILE",
        ]
    return "\n".join(lines) + "\n"


def _beegfs_names(names: Sequence[str]) -> tuple[list[str], str]:
    if all(_ALIAS.fullmatch(name) or (_NUMBER.fullmatch(name) and 0 < int(name) <= _HIGHEST) for name in names):
        return list(names), "named as in the scenario, by alias or number"
    return [str(i + 1) for i in range(len(names))], "numbered by their places in the scenario's list, counted from 1"


def _pools(allotment: Allotment) -> dict[tuple[int, ...], str]:
    """A pool for every set of targets that overlaps with no other set."""
    sets = list(dict.fromkeys(each.targets for each in allotment.applications))
    users: dict[int, int] = {}
    for places in sets:
        for place in places:
            users[place] = users.get(place, 0) + 1
    alone = [places for places in sets if all(users[place] == 1 for place in places)]
    return {places: f"penstock-{number}" for number, places in enumerate(alone, start=1)}


def _pool_lines(pools: dict[tuple[int, ...], str], names: Sequence[str]) -> Iterator[str]:
    if not pools:
        yield "# Every application shares some of its targets with another one, so no storage pool can hold them."
        return
    yield ""
    yield "# A target is in one storage pool only: these leave the one in which they are now, for all other files, too."
    yield "# Storage pools are an enterprise feature of BeeGFS."
    for places, pool in pools.items():
        yield f"beegfs pool create --targets={','.join(names[place] for place in places)} {pool}"


def _opening(allotment: Allotment) -> list[str]:
    return ["#!/bin/sh", f"# penstock: allocation {allotment.allocation}, placement {allotment.placement}."]


def _heading(allotment: Allotment, each: Striped) -> str:
    names = ", ".join(allotment.targets[place].name for place in each.targets)
    return f"# {each.name}: {each.count} of {len(allotment.targets)} targets: {names}"


def _place(directory: str, each: Striped) -> str:
    """An application's directory as a shell's word; with some names it would be that of somebody else."""
    place = directory.replace("{name}", each.name)
    own = [step.replace("{name}", each.name) for step in directory.split("/") if "{name}" in step]
    if "/" in each.name or any(step in ("", ".", "..") for step in own):
        raise InvalidOption(
            f"--export: {each.name!r} would have the directory {place!r}, which is not its own; "
            "a name there is neither . nor .. and has no / in it"
        )
    return shlex.quote(place)


KINDS: dict[str, Callable[[Allotment, str], str]] = {"lustre": _lustre, "beegfs": _beegfs, "json": _json}


def read_decisions(path: str | Path) -> dict[str, Any]:
    """What a plan says of targets, as arguments of `allocate`: a table, or names of policies; and who shares them."""
    if _is_earlier(Path(path)):
        return {"plan": read_plan(path)}
    with reading(Path(path), InvalidOption, _PLAN):
        plan = load_plan(path)
    shared: dict[str, Any] = {} if plan.sharing is None else {"sharing": plan.policy_of("", TARGET)}
    if isinstance(plan.placement, dict):
        return shared | {"plan": read_plan(path)}
    named = {key: getattr(plan, key) for key in ("allocation", "placement")}
    if not any(named.values()) or isinstance(plan.allocation, dict):
        raise InvalidOption(f"{path}: {_NO_TARGETS}, or the names of policies for allocation and placement")
    return shared | {key: name for key, name in named.items() if name is not None}


def read_plan(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Which targets every application uses, by name, from a plan or the JSON of `penstock allocate`."""
    if (found := _placed(Path(path))) is not None:
        return found
    document = _document(Path(path))
    if "runs" in document and "targets" not in document:
        raise InvalidOption(f"{path}: holds a comparison of many plans; {_PLAN} for one pair of policies")
    targets = document.get("targets")
    if not isinstance(targets, dict) or not targets:
        raise InvalidOption(f"{path}: 'targets' is {shown(targets)}; {_PLAN}, with a list of targets per application")
    names = _names(document, path)
    return {application: tuple(_listed(chosen, application, names, path)) for application, chosen in targets.items()}


def _placed(path: Path) -> dict[str, tuple[str, ...]] | None:
    """The placement of a plan of the whole machine, or of a scenario that has one; None if it is neither."""
    if _is_earlier(path):
        return None
    with reading(path, InvalidOption, _PLAN):
        plan = load_plan(path)
    if not isinstance(plan.placement, dict):
        raise InvalidOption(f"{path}: {_NO_TARGETS}")
    return {name: tuple(map(str, chosen)) for name, chosen in plan.placement.items()}


def _is_earlier(path: Path) -> bool:
    """Whether it is JSON as `allocate` prints it, or wrote it before there were plans: these have `targets`."""
    return path.suffix.lower() not in (".yaml", ".yml") and not _is_plan(_document(path))


def _is_plan(document: dict[str, Any]) -> bool:
    known = {"mapping", "start", "allocation", "placement", "sharing", "buffering", "plan"} & document.keys()
    return isinstance(document.get("placement"), dict) or bool(known and not {"targets", "runs"} & document.keys())


def _document(path: Path) -> dict[str, Any]:
    with reading(path, InvalidOption, _PLAN):
        text = path.read_text(encoding="utf-8-sig")
    document = json_text.parse(text, str(path))
    if not isinstance(document, dict):
        raise InvalidOption(f"{path}: is {shown(document)}; {_PLAN}")
    version = document.get("version", 1)
    if isinstance(version, bool) or version != 1:
        raise InvalidOption(f"{path}: version is {shown(version)}; this release reads version 1")
    return document


def _names(document: dict[str, Any], path: str | Path) -> list[str]:
    """The names of all targets in their order, where the file has them: there, applications list places."""
    uses = document.get("target_use", [])
    if not isinstance(uses, list) or not all(
        isinstance(use, dict) and isinstance(use.get("name"), str) for use in uses
    ):
        raise InvalidOption(f"{path}: 'target_use' is not a list of targets with names; {_PLAN}")
    return [use["name"] for use in uses]


def _listed(chosen: object, application: str, names: Sequence[str], path: str | Path) -> Iterator[str]:
    where = f"{path}: targets of {application!r}"
    if not isinstance(chosen, list) or not chosen:
        found = "an empty list" if chosen == [] else shown(chosen)
        raise InvalidOption(f"{where}: {found}; expected a list with at least one target")
    seen: set[str] = set()
    for target in chosen:
        name = _name(target, names, where)
        if name in seen:
            raise InvalidOption(f"{where}: {name!r} is there twice; an application uses a target once")
        seen.add(name)
        yield name


def _name(target: object, names: Sequence[str], where: str) -> str:
    if isinstance(target, str):
        return target
    if isinstance(target, int) and not isinstance(target, bool) and 0 <= target < len(names):
        return names[target]
    places = f" or a place from 0 to {len(names) - 1}" if names else ""
    raise InvalidOption(f"{where}: {shown(target)} is no target; expected a name{places}")
