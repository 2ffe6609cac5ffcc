"""What the controller needs in a Slurm cluster: hooks, lines of configuration, a plugin's source, units for systemd."""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from penstock.errors import InvalidOption
from penstock.live.slurm.library import MACHINE, NAME, in_shell
from penstock.wire.spool import FOLDER

CONTROLLER_FOLDER = "/run/penstock/slurmctld"  # the spool of PrologSlurmctld and EpilogSlurmctld
ETC = "/etc/penstock/slurm"
LICENSE, TOTAL = "iobw", 100
_NODE = "penstock node"
_BRIDGE = "penstock slurm bridge"
_HOOKS = {
    "prolog": ("job_start", _NODE, "the agent of this node is to expect a job"),
    "epilog": ("job_end", _NODE, "a job is over on this node, and what it used here is free"),
    "prolog-slurmctld": ("job_start", _BRIDGE, "a job begins, and these are its nodes"),
    "epilog-slurmctld": (
        "job_ending",
        _BRIDGE,
        "a job will begin nothing new; it frees nothing, for it may still write",
    ),
}
# After a requeue Slurm counts the next run already while the epilog of this one runs; its prolog knew better. Without
# what the prolog wrote, an earlier life is named: it frees nothing, and leases end by themselves.
_LIVES = {
    "prolog": """\
    [ -d "$spool" ] && echo "$restart" >"$spool/life.${SLURM_JOB_ID-}"
""",
    "epilog": """\
    # Slurm counts the next run already while the epilog of one that was requeued runs; its prolog knew better.
    life=$spool/life.${SLURM_JOB_ID-}
    if [ -r "$life" ]; then
        read -r restart <"$life"
        rm -f "$life"
    elif [ "${restart:-0}" -gt 0 ]; then
        restart=$((restart - 1))
    fi
""",
}
_AFTER = {
    "prolog": """\
    # The programs of the job are to find their segment. Only an agent that lives is waited for, half a second at most.
    segment=@SEGMENTS@/penstock-job.${SLURM_JOB_UID-}.${restart:-0}.${SLURM_JOB_ID-}
    if read -r agent <"$spool/agent" && [ -d "/proc/$agent" ]; then
        tries=25
        while [ ! -e "$segment" ] && [ "$tries" -gt 0 ]; do
            sleep 0.02
            tries=$((tries - 1))
        done
    fi
""",
}
_RUN_BY_SLURM = 0o755
_READ = 0o644
_OTHERS = {
    "task-prolog": _RUN_BY_SLURM,
    "job_submit.lua": _READ,
    "slurm.conf.lines": _READ,
    "plugstack.conf.line": _READ,
    "spank_penstock.c": _READ,
    "tmpfiles.conf": _READ,
    "penstock-serve.service": _READ,
    "penstock-node.service": _READ,
    "penstock-bridge.service": _READ,
}
NAMES = (*_HOOKS, *_OTHERS)
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,40}")


@dataclass(frozen=True)
class SlurmSite:
    """Where things are at a site. In a spool's path %n stands for the node's name, as in slurm.conf.

    In the library's, %m stands for the node's machine, as `uname -m` says.
    """

    etc: str = ETC
    node_spool: str = FOLDER
    controller_spool: str = CONTROLLER_FOLDER
    segments: str = "/dev/shm"
    shim: str = f"/usr/lib/penstock/{MACHINE}/{NAME}"
    address: str = "unix:/run/penstock/penstock.sock"
    penstock: str = "/opt/penstock/bin/penstock"
    license: str = LICENSE
    total: int = TOTAL
    slurm_user: str = "slurm"

    def __post_init__(self) -> None:
        for name in ("etc", "node_spool", "controller_spool", "segments", "shim", "penstock"):
            if not re.fullmatch(r"/[\w./%+-]*", path := getattr(self, name), re.ASCII):
                raise InvalidOption(f"{name.replace('_', ' ')} is {path!r}; a full path without spaces is accepted")
        for name in ("license", "slurm_user"):
            if not _WORD.fullmatch(word := getattr(self, name)):
                raise InvalidOption(f"{name.replace('_', ' ')} is {word!r}; a word of letters and digits is accepted")
        if not re.fullmatch(r"[\w./:,\[\]-]+", self.address, re.ASCII):
            raise InvalidOption(f"address is {self.address!r}; unix:/path or tcp://host:port is accepted")
        if not 5 <= self.total <= 100_000:
            raise InvalidOption(f"{self.total} licences; 5 to 100000 are accepted")


@dataclass(frozen=True)
class SiteFile:
    """One file, with its permissions."""

    name: str
    text: str
    mode: int


def site_files(site: SlurmSite) -> list[SiteFile]:
    """All of them, in the order in which somebody would read them."""
    hooks = [SiteFile(name, _hook(name, site), _RUN_BY_SLURM) for name in _HOOKS]
    return [*hooks, *(SiteFile(name, _filled(name, site), mode) for name, mode in _OTHERS.items())]


def write_files(folder: Path, site: SlurmSite) -> list[SiteFile]:
    """Write all of them, each complete before it is found."""
    made = site_files(site)
    for each in made:
        put(folder / each.name, each.text.encode(), each.mode)
    return made


def put(path: Path, content: bytes, mode: int) -> None:
    """Write a file with its permissions, and the folders that it is in."""
    new = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new.write_bytes(content)
        new.chmod(mode)
        os.replace(new, path)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InvalidOption(f"{path} cannot be written ({reason}); give a folder that can be written to") from None


def template(name: str) -> str:
    """The text of a template."""
    return resources.files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def _hook(name: str, site: SlurmSite) -> str:
    kind, reader, what = _HOOKS[name]
    spool = site.node_spool if reader is _NODE else site.controller_spool
    values = {"NAME": name, "WHAT": what, "READER": reader, "KIND": kind, "SPOOL": _in_shell(spool)}
    values |= {"LIFE": _LIVES.get(name, ""), "SEGMENTS": shlex.quote(site.segments)}
    return _replaced(template("hook.sh").replace("@AFTER@", _AFTER.get(name, "")), values)


def _in_shell(path: str) -> str:
    """A path as a word of sh, with the node's name in place of %n."""
    return '"${SLURMD_NODENAME-}"'.join(shlex.quote(part) if part else "" for part in path.split("%n"))


def _filled(name: str, site: SlurmSite) -> str:
    shell = name == "task-prolog"
    values = {
        "ETC": site.etc,
        "NODE_SPOOL": site.node_spool,
        "CONTROLLER_SPOOL": site.controller_spool,
        "SEGMENTS": shlex.quote(site.segments) if shell else site.segments,
        "SHIM": in_shell(site.shim) if shell else site.shim,
        "ADDRESS": site.address,
        "PENSTOCK": site.penstock,
        "LICENSE": site.license,
        "TOTAL": str(site.total),
        "SLURM_USER": site.slurm_user,
    }
    return _replaced(template(name), values)


def _replaced(text: str, values: dict[str, str]) -> str:
    return re.sub("@([A-Z_]+)@", lambda found: values[found[1]], text)
