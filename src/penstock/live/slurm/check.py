"""Whether the controller's hooks in Slurm can do harm: by failing or waiting, or by a script that slurmctld chokes on.

A finding is an error if a job, a node or slurmctld could fail by it, and a warning if something of ours would not work.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from penstock.errors import PenstockError
from penstock.live.slurm import library
from penstock.live.slurm.configuration import SlurmConfig, read_config

ERROR, WARNING = "error", "warning"
HOOKS = ("prolog", "epilog", "prolog-slurmctld", "epilog-slurmctld", "task-prolog")
OLDEST = (22, 5)  # of Slurm, on which this was tried
LUA = ("lua5.1", "lua5.3", "lua5.4", "lua")  # whichever is there; Slurm has one of them built in
_SECONDS = 5.0  # that a script may take while it is tried
_OURS = "penstock slurm files"
_IN_HOOKS = {
    r"\b(curl|wget|nc|ncat|ssh|scp|socat|telnet|ping|munge|python3?|perl|penstock)\s": "starts a program that may wait",
    r"\b(scontrol|squeue|sacct|sacctmgr|sinfo|sbatch|srun)\b": "asks Slurm, which waits for this hook",
    r"/dev/(tcp|udp)/": "uses the network",
    r"^\s*set\s+-\w*e": "ends at the first failure (set -e)",
    r"\bexit\s+([1-9]|\$)": "may exit with something else than 0",
}
_IN_LUA = {
    r"\b(io|os|package|debug)\s*[.\[:]": "touches files or starts programs",
    r"\b(require|dofile|loadfile|loadstring|load)\b": "loads other code",
    r"\bsocket\b": "uses the network",
    r"slurm\.ERROR\b": "may refuse a job",
}
_TRY_LUA = """
slurm = {SUCCESS = 0, ERROR = -1}
for _, level in ipairs{"info", "debug", "error", "user", "verbose"} do slurm["log_" .. level] = function() end end
io, os, package, require, dofile, loadfile, debug = nil, nil, nil, nil, nil, nil, nil
local script = SCRIPT
local found = assert((loadstring or load)(script, "job_submit.lua"))()
assert(found == slurm.SUCCESS, "it does not return slurm.SUCCESS")
for _, comment in ipairs{"", "io=20", "io=9999999999999999999999", string.rep("io=", 10000), "io=x"} do
    for _, licenses in ipairs{"", "matlab:1", "iobw:5"} do
        local job = {comment = comment ~= "" and comment or nil, licenses = licenses ~= "" and licenses or nil}
        assert(slurm_job_submit(job, {}, 0) == slurm.SUCCESS, "it refuses a job")
        assert(slurm_job_modify(job, {}, {}, 0) == slurm.SUCCESS, "it refuses a change of a job")
    end
end
"""


@dataclass(frozen=True)
class Finding:
    """What is wrong, and where."""

    level: str
    where: str
    text: str


@dataclass(frozen=True)
class Checked:
    """What was looked at, and what came of it."""

    files: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing could fail by it."""
        return all(each.level != ERROR for each in self.findings)


def check(path: Path) -> Checked:
    """A folder of `penstock slurm files`, or a slurm.conf and all that it names."""
    if path.is_dir():
        return check_folder(path)
    if path.is_file():
        config = read_config(path)
        if not config.values:
            raise PenstockError(f"{path} is no slurm.conf: there is no line as ClusterName=NAME in it")
        return check_config(config)
    raise PenstockError(f"{path}: no such file; a slurm.conf or a folder of `penstock slurm files` is expected")


def check_folder(folder: Path) -> Checked:
    """The files as they were made, before anybody installs them."""
    files = [folder / name for name in HOOKS]
    found = [each for hook in files for each in hook_findings(hook, hook.name)]
    found += library_findings(folder / "task-prolog", folder)
    lua = folder / "job_submit.lua"
    found += lua_findings(lua)
    line = folder / "plugstack.conf.line"
    if line.exists():
        found += plugstack_findings(line, installed=False)
    return Checked(tuple(str(each) for each in (*files, lua, line)), tuple(found))


def check_config(config: SlurmConfig) -> Checked:
    """What slurmctld and slurmd would run."""
    files, found = [config.path], [*_key_findings(config), *version_findings(_version())]
    for key in ("Prolog", "Epilog", "TaskProlog", "PrologSlurmctld", "EpilogSlurmctld"):
        for script in config.scripts(key):
            files.append(script)
            found += hook_findings(script, key)
            if key == "TaskProlog":
                found += library_findings(script)
    found += _foreign_findings(config)
    if "lua" in config.words("JobSubmitPlugins"):
        files.append(lua := config.path.parent / "job_submit.lua")
        found += lua_findings(lua)
    plugstack = Path(config.first("PlugStackConfig") or config.path.parent / "plugstack.conf")
    if plugstack.exists():
        files.append(plugstack)
        found += plugstack_findings(plugstack)
    return Checked(tuple(str(each) for each in files), tuple(found))


def library_findings(task_prolog: Path, folder: Path | None = None) -> Iterator[Finding]:
    """Of the library that a task prolog of ours puts into every program."""
    try:
        text = task_prolog.read_text(encoding="utf-8", errors="replace")
    except OSError:  # which is said of the hook itself
        return
    if _OURS in text and (path := library.named_in(text)):
        for place, words, complains in library.problems(path, folder):
            yield Finding(ERROR if complains else WARNING, str(place), words)


def _foreign_findings(config: SlurmConfig) -> Iterator[Finding]:
    """Of a slurm.conf, or another text, that has nothing of ours."""
    scripts = [script for key in _MISSING for script in config.scripts(key)]
    if not any(_is_ours(script) for script in scripts):
        yield Finding(WARNING, str(config.path), "none of its hooks is ours: nothing of penstock is installed by it")


def _is_ours(script: Path) -> bool:
    try:
        return _OURS in script.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def _key_findings(config: SlurmConfig) -> Iterator[Finding]:
    where = str(config.path)
    for key in ("Prolog", "Epilog", "PrologSlurmctld", "EpilogSlurmctld", "TaskProlog"):
        if not config.first(key):
            yield Finding(WARNING, where, f"{key} is not set: {_MISSING[key]}")
    if config.first("Prolog") and not {"alloc", "contain", "nohold"} & set(config.words("PrologFlags")):
        yield Finding(
            WARNING, where, "PrologFlags has no Alloc: a node is told of a job only when its first step starts"
        )
    if "lua" in config.words("JobSubmitPlugins") and not config.first("Licenses"):
        yield Finding(WARNING, where, "Licenses is not set: nobody waits for bandwidth")
    if config.first("Licenses") and not re.search(r"[\w]+[:*]\d+", config.first("Licenses")):
        yield Finding(
            WARNING, where, f"Licenses is {config.first('Licenses')!r}, which counts nothing, as iobw:100 does"
        )
    yield from _license_findings(config)
    for line in config.unread:
        yield Finding(WARNING, where, f"{line!r} was not read")


def _license_findings(config: SlurmConfig) -> Iterator[Finding]:
    """A job that is given a licence which Slurm does not have is refused when it is submitted."""
    script = config.path.parent / "job_submit.lua"
    if "lua" not in config.words("JobSubmitPlugins") or not script.is_file():
        return
    text = script.read_text(encoding="utf-8", errors="replace")
    name, total = (re.search(rf"(?m)^local {word} = \"?(\w+)\"?$", text) for word in ("LICENSE", "TOTAL"))
    if name is None or total is None or _OURS not in text:
        return
    counts = dict(re.findall(r"([\w@.-]+)[:*](\d+)", config.first("Licenses")))
    if name[1] not in counts:
        yield Finding(ERROR, str(config.path), f"Licenses has no {name[1]}: jobs with --comment=io=20 would be refused")
    elif int(counts[name[1]]) < int(total[1]):
        found = f"Licenses has {counts[name[1]]} of {name[1]}, job_submit.lua counts {total[1]}"
        yield Finding(ERROR, str(config.path), f"{found}: jobs that ask for more than there are would be refused")


def version_findings(told: str) -> Iterator[Finding]:
    """Of what `sinfo --version` says; nothing where there is no Slurm on this host."""
    found = re.search(r"(\d+)\.(\d+)", told)
    if found is not None and (int(found[1]), int(found[2])) < OLDEST:
        oldest = ".".join(f"{part:02}" for part in OLDEST)
        yield Finding(
            WARNING, "sinfo", f"this is Slurm {found[0]}; hooks are known to be told the run of a job since {oldest}"
        )


def _version() -> str:
    try:
        return subprocess.run(
            ["sinfo", "--version"], capture_output=True, text=True, timeout=_SECONDS, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""


def spool_findings(script: str, text: str) -> Iterator[Finding]:
    """Of the folder that a hook writes to, if it is on this host."""
    line = re.search(r"(?m)^spool=([\w./+-]+)$", text)
    folder = Path(line[1]) if line is not None else None
    if folder is None or not folder.exists():
        return
    found = folder.stat()
    if found.st_mode & 0o022 or not stat.S_ISDIR(found.st_mode):
        yield Finding(WARNING, script, f"{folder} is not read, for others may write there; chmod 700 mends it")


_MISSING = {
    "Prolog": "the agents of nodes hear of no job",
    "Epilog": "what a job used is free only when its leases are over",
    "PrologSlurmctld": "the controller is not told which nodes a job has",
    "EpilogSlurmctld": "a job that is being cancelled may still announce I/O",
    "TaskProlog": "programs that do not ask are not paced",
}


def hook_findings(script: Path, key: str) -> Iterator[Finding]:
    """Of one hook. One that is not ours is asked only whether it is there and who may change it."""
    where = str(script)
    try:
        text, found = script.read_text(encoding="utf-8", errors="replace"), script.stat()
    except OSError as error:
        drains = "every task fails without it" if "task" in key.lower() else "a hook that is missing fails jobs"
        yield Finding(ERROR, where, f"cannot be read ({(error.strerror or '').lower()}); {drains}")
        return
    yield from _permission_findings(where, found, run=True)
    if _OURS not in text:
        return
    code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    for pattern, why in _IN_HOOKS.items():
        if hit := re.search(pattern, code, re.MULTILINE):
            yield Finding(ERROR, where, f"{hit[0].strip()!r}: it {why}")
    yield from spool_findings(where, text)
    if not text.startswith("#!/bin/sh\n") or not code.rstrip().endswith("\nexit 0"):
        yield Finding(ERROR, where, "it does not begin with #!/bin/sh and end with exit 0")
    else:
        yield from _tried(script, text)


def _permission_findings(where: str, found: os.stat_result, run: bool = False) -> Iterator[Finding]:
    if run and not found.st_mode & 0o111:
        yield Finding(ERROR, where, "cannot be executed; chmod 755 mends it")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        yield Finding(ERROR, where, "can be changed by others than its owner, and runs as root; chmod go-w mends it")


def _tried(script: Path, text: str) -> Iterator[Finding]:
    """Run a copy that writes elsewhere: with and without a folder to write in, and with nothing known of the job."""
    with tempfile.TemporaryDirectory(prefix="penstock-") as scratch:
        for place in (scratch, f"{scratch}/nowhere"):
            copy = re.sub(r"(?m)^(spool|segment)=.*$", rf"\1={place}", text)
            for known in ({}, {"SLURM_JOB_ID": "1", "SLURMD_NODENAME": "n1"}):
                try:
                    done = subprocess.run(
                        ["/bin/sh", "-c", copy], env=known, capture_output=True, timeout=_SECONDS, check=False
                    )
                except (OSError, subprocess.TimeoutExpired):
                    yield Finding(ERROR, str(script), f"does not end within {_SECONDS:g} s")
                    return
                if done.returncode != 0:
                    yield Finding(ERROR, str(script), f"exits with {done.returncode}; a hook must exit with 0")
                    return


def lua_findings(script: Path) -> Iterator[Finding]:
    """Of job_submit.lua: slurmctld stops with a fatal error if it cannot be loaded."""
    where = str(script)
    try:
        text, found = script.read_text(encoding="utf-8", errors="replace"), script.stat()
    except OSError as error:
        yield Finding(ERROR, where, f"cannot be read ({(error.strerror or '').lower()}); slurmctld would not start")
        return
    yield from _permission_findings(where, found)
    code = re.sub(r"--.*", "", text)
    for pattern, why in _IN_LUA.items():
        if hit := re.search(pattern, code):
            yield Finding(ERROR, where, f"{hit[0].strip()!r}: it {why} while slurmctld holds its locks")
    program = next((path for name in LUA if (path := shutil.which(name))), None)
    if program is None:
        yield Finding(WARNING, where, f"was not loaded: there is no {' or '.join(LUA)} on the PATH")
        return
    level = next(each for each in ("", "=", "==", "===") if f"]{each}]" not in text)
    attempt = _TRY_LUA.replace("SCRIPT", f"[{level}[\n{text}]{level}]")
    try:
        done = subprocess.run(
            [program, "-"], input=attempt, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        yield Finding(ERROR, where, f"does not end within {_SECONDS:g} s")
        return
    if done.returncode != 0:
        yield Finding(ERROR, where, f"does not work in {Path(program).name}: {done.stderr.strip().splitlines()[0]}")


def plugstack_findings(file: Path, installed: bool = True) -> Iterator[Finding]:
    """Of plugstack.conf: only an optional plugin may be missing."""
    for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
        words = line.split()
        if len(words) < 2 or words[0].startswith("#") or "penstock" not in words[1]:
            continue
        if words[0] == "required":
            yield Finding(
                ERROR, str(file), f"{line.strip()!r}: every srun fails when that file is missing; write optional"
            )
        if installed and not Path(words[1]).exists():
            yield Finding(WARNING, str(file), f"{words[1]} is not there, so --io-volume is not; the rest works")
