"""The files for a cluster: hooks that cannot fail, and a check that finds what could."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from machine import can_be_others
from penstock.errors import InvalidOption, PenstockError
from penstock.live.slurm.check import ERROR, LUA, check, version_findings
from penstock.live.slurm.files import NAMES, SlurmSite, site_files, write_files
from penstock.wire.spool import Spool

ROOT = Path(__file__).resolve().parents[3]
HOOKS = ("prolog", "epilog", "prolog-slurmctld", "epilog-slurmctld")
JOB = {"SLURM_JOB_ID": "7", "SLURM_JOB_UID": "1000", "SLURMD_NODENAME": "n1", "SLURM_JOB_RESTART_COUNT": "0"}


def elf(number: int) -> bytes:
    """The head of a library for a machine."""
    return b"\x7fELF\2\1\1" + bytes(9) + b"\3\0" + number.to_bytes(2, "little") + bytes(44)


@pytest.fixture
def made(tmp_path):
    """A folder of files whose spools are beside it."""
    site = SlurmSite(
        etc=str(tmp_path / "etc"),
        node_spool=f"{tmp_path}/spool/%n",
        controller_spool=f"{tmp_path}/ctld",
        segments=str(tmp_path),
        shim=f"{tmp_path}/libpenstock.so",
    )
    for folder in ("spool/n1", "ctld"):
        (tmp_path / folder).mkdir(parents=True, mode=0o700)
    write_files(tmp_path / "etc", site)
    (tmp_path / "libpenstock.so").write_bytes(elf(62))
    return tmp_path / "etc"


def run(script: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([script], env=environment, capture_output=True, text=True, timeout=20, check=False)


def has_lua() -> bool:
    return any(shutil.which(name) for name in LUA)


def test_all_files_are_there_complete_and_nothing_is_left_to_fill_in(made):
    assert sorted(path.name for path in made.iterdir()) == sorted(NAMES)
    for each in site_files(SlurmSite()):
        assert not re.search(r"@[A-Z_]+@", each.text), each.name
        assert each.text.endswith("\n")


def test_the_files_pass_their_own_check(made):
    assert check(made).findings == () if has_lua() else check(made).sound


@pytest.mark.parametrize("name", HOOKS)
def test_a_hook_says_nothing_and_succeeds_whatever_is_wrong(made, name):
    odd = {**JOB, "SLURM_JOB_ID": "../../x", "SLURM_JOB_ACCOUNT": "a\nb", "SLURM_JOB_COMMENT": "io-volume=\n"}
    for environment in ({}, JOB, odd, {**JOB, "SLURMD_NODENAME": "nowhere"}):
        done = run(made / name, **environment)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(not can_be_others(), reason="only root can become somebody else")
def test_a_hook_succeeds_where_it_may_not_write(made):
    script = ["/bin/sh", "-c", (made / "epilog").read_text()]
    done = subprocess.run(script, env=JOB, check=False, user=65534, group=65534, extra_groups=[], cwd="/")
    assert done.returncode == 0 and not os.listdir(made.parent / "spool" / "n1")


def events(made, folder):
    return Spool(str(made.parent / folder)).pending()


def test_what_hooks_write_is_what_the_reader_reads(made):
    run(made / "prolog-slurmctld", **JOB, SLURM_JOB_NODELIST="n[1-3]", SLURM_JOB_NUM_NODES="3")
    run(made / "prolog", **JOB, SLURM_NODELIST="n[1-3]")
    run(made / "epilog", **JOB)
    run(made / "epilog-slurmctld", **JOB)
    assert [(each.kind, each.nodes) for each in events(made, "ctld")] == [("job_start", 3), ("job_ending", 1)]
    begin, end = events(made, "spool/n1")
    assert (begin.kind, begin.node, begin.node_names) == ("job_start", "n1", ("n1", "n2", "n3"))
    assert (end.kind, end.node, end.uid) == ("job_end", "n1", 1000)


def test_an_epilog_names_the_life_that_its_prolog_saw_not_the_one_that_slurm_counts_already(made):
    """After a requeue Slurm's count is that of the next run while the epilog of this one runs."""
    run(made / "prolog", **{**JOB, "SLURM_JOB_RESTART_COUNT": "4"})
    run(made / "epilog", **{**JOB, "SLURM_JOB_RESTART_COUNT": "5"})
    assert [each.restart for each in events(made, "spool/n1")] == [4, 4]
    assert not list((made.parent / "spool" / "n1").glob("life.*"))


def test_an_epilog_that_cannot_know_its_life_names_an_earlier_one_which_frees_nothing(made):
    for count in ("0", "5", ""):
        run(made / "epilog", **{**JOB, "SLURM_JOB_RESTART_COUNT": count})
    assert sorted(each.restart for each in events(made, "spool/n1")) == [0, 0, 4]


def timed(script: Path) -> float:
    started = time.monotonic()
    assert run(script, **JOB).returncode == 0
    return time.monotonic() - started


def test_a_prolog_waits_for_an_agent_that_lives_until_the_segment_is_there_and_for_no_other(made):
    spool = made.parent / "spool" / "n1"
    (spool / "agent").write_text("999999999\n")  # nobody
    alone = min(timed(made / "prolog") for _ in range(3))
    (spool / "agent").write_text(f"{os.getpid()}\n")
    waiting = subprocess.Popen([made / "prolog"], env=JOB)
    while len(events(made, "spool/n1")) < 4:
        time.sleep(0.001)
    (made.parent / "penstock-job.1000.0.7").touch()
    assert waiting.wait(20) == 0
    (made.parent / "penstock-job.1000.0.7").unlink()
    assert timed(made / "prolog") > max(0.4, alone)  # an agent that hangs, for half a second


@pytest.mark.parametrize(
    "comment, spank, volume",
    [
        ("io-volume=10GB", "", "10GB"),
        ("x; io-volume=1.5TiB, y", "", "1.5TiB"),
        ("io-volume=10GB", "7GB", "10GB"),
        ("", "7GB", "7GB"),
        ("io-volume=", "", ""),
        ("io-volume=`id`", "", ""),
        ("io-volume=1GB\nuid=0", "", "1GB"),
    ],
)
def test_a_volume_in_the_comment_or_by_the_plugin(made, comment, spank, volume):
    run(made / "prolog", **JOB, SLURM_JOB_COMMENT=comment, SPANK_PENSTOCK_VOLUME=spank)
    (event,) = events(made, "spool/n1")
    assert (event.volume, event.uid) == (volume, 1000)


def test_the_task_prolog_prints_nothing_without_an_agent_and_adds_itself_once(made):
    here = made.parent
    known = {"SLURM_JOB_ID": "7", "SLURM_JOB_UID": "1000"}
    (here / "libpenstock.so").unlink()
    assert run(made / "task-prolog", **known).stdout == ""
    (here / "libpenstock.so").touch()
    assert run(made / "task-prolog", **known).stdout == ""
    (here / "penstock-job.1000.0.7").touch()
    lines = [f"export PENSTOCK_BUCKET={here}/penstock-job.1000.0.7", f"export LD_PRELOAD={here}/libpenstock.so"]
    assert run(made / "task-prolog", **known).stdout.splitlines() == lines
    after = run(made / "task-prolog", **known, LD_PRELOAD="/usr/lib/libdarshan.so").stdout
    assert f"LD_PRELOAD=/usr/lib/libdarshan.so:{here}/libpenstock.so" in after
    for had in (f"{here}/libpenstock.so", "/a.so:/else/libpenstock.so", "/else/libpenstock.so /a.so", "libpenstock.so"):
        assert "LD_PRELOAD" not in run(made / "task-prolog", **known, LD_PRELOAD=had).stdout  # one copy is enough
    assert "LD_PRELOAD" in run(made / "task-prolog", **known, LD_PRELOAD="/else/notlibpenstock.so").stdout
    assert run(made / "task-prolog", **known, PENSTOCK="off").stdout == ""
    assert run(made / "task-prolog", **known, SLURM_RESTART_COUNT="1").stdout == ""  # another life, another segment


def test_the_task_prolog_takes_the_library_of_its_machine(tmp_path):
    site = SlurmSite(segments=str(tmp_path), shim=f"{tmp_path}/lib/%m/libpenstock.so")
    write_files(tmp_path / "etc", site)
    (tmp_path / "penstock-job.1000.0.7").touch()
    known = {"SLURM_JOB_ID": "7", "SLURM_JOB_UID": "1000"}
    for machine in ("another", os.uname().machine):
        library = tmp_path / "lib" / machine / "libpenstock.so"
        library.parent.mkdir(parents=True)
        library.touch()
        told = run(tmp_path / "etc" / "task-prolog", **known).stdout
        assert (f"LD_PRELOAD={library}\n" in told) == (machine != "another")


@pytest.mark.parametrize(
    "spoil, level, words",
    [
        (lambda path: path.unlink(), "warning", "is not there: programs that do not ask are not paced"),
        (lambda path: path.chmod(0o600), "warning", "cannot be read by all users"),
        (lambda path: path.chmod(0o666), ERROR, "can be changed by others"),
        (lambda path: path.write_bytes(b"no library at all"), ERROR, "every program of a job would complain"),
        (lambda path: path.write_bytes(elf(243)), ERROR, "is no library for x86_64 or aarch64"),
    ],
)
def test_the_check_looks_at_the_library(made, tmp_path, spoil, level, words):
    spoil(made.parent / "libpenstock.so")
    conf = tmp_path / "slurm.conf"
    conf.write_text(f"TaskProlog={made}/task-prolog\n")
    for place in (made, conf):
        found = [each for each in check(place).findings if each.where.endswith("libpenstock.so")]
        assert [each.level for each in found] == [level] and words in found[0].text


def test_the_check_looks_at_the_library_of_each_machine_before_it_is_installed(tmp_path):
    write_files(tmp_path, SlurmSite(shim="/nowhere/lib/%m/libpenstock.so"))
    here, other = sorted(("x86_64", "aarch64"), key=lambda name: name != os.uname().machine)
    numbers = {"x86_64": 62, "aarch64": 183}
    for machine, number, words in ((other, numbers[other], "like this one"), (here, numbers[other], f"not for {here}")):
        (tmp_path / "lib" / machine).mkdir(parents=True)
        (tmp_path / "lib" / machine / "libpenstock.so").write_bytes(elf(number))
        (found,) = (each for each in check(tmp_path).findings if each.where.endswith("libpenstock.so"))
        assert found.where == f"{tmp_path}/lib/{here}/libpenstock.so" and words in found.text


def test_a_slurm_conf_that_has_nothing_of_ours_is_named_and_another_text_refused(tmp_path):
    (tmp_path / "slurm.conf").write_text("ClusterName=x\nProlog=/bin/true\n")
    assert any("nothing of penstock is installed" in each.text for each in check(tmp_path / "slurm.conf").findings)
    (tmp_path / "text").write_text("Dear reader,\nall is well.\n")
    with pytest.raises(PenstockError, match=r"is no slurm.conf"):
        check(tmp_path / "text")


BROKEN = {
    "prolog": [
        ("exit 0\n", "exit 1\n", "exit"),
        ("exit 0\n", "exit $?\n", "exit"),
        ("exit 0\n", "", "end with exit 0"),
        ("PATH=/usr/bin:/bin\n", "set -e\n", "set -e"),
        ("PATH=/usr/bin:/bin\n", "curl -s http://controller/start\n", "curl"),
        ("PATH=/usr/bin:/bin\n", "penstock hook start\n", "penstock"),
        ("PATH=/usr/bin:/bin\n", "scontrol show job\n", "scontrol"),
        ("PATH=/usr/bin:/bin\n", "echo x >/dev/tcp/controller/7440\n", "/dev/tcp"),
        ("} >/dev/null", "} ) >/dev/null", "exits with"),
    ],
    "task-prolog": [("exit 0\n", "exit 3\n", "exit"), ("#!/bin/sh", "#!/usr/bin/env python3", "#!/bin/sh")],
    "job_submit.lua": [
        ("pcall(advise, job_desc)", "local f = io.open('/tmp/x')", "io."),
        ("pcall(advise, job_desc)", "os.execute('true')", "os."),
        ("pcall(advise, job_desc)", "local s = require('socket')", "require"),
        ("return slurm.SUCCESS\nend\n", "return slurm.ERROR\nend\n", "refuse"),
    ],
    "plugstack.conf.line": [("\noptional ", "\nrequired ", "optional")],
}
NEED_LUA = [
    ("return slurm.SUCCESS\nend\n", "return slurm.SUCCESS\n", "does not work"),
    ("function slurm_job_modify", "function something_else", "does not work"),
]


def break_it(folder, name, old, new):
    path = folder / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


@pytest.mark.parametrize(
    "name, old, new, word", [(name, *each) for name, changes in BROKEN.items() for each in changes]
)
def test_the_check_finds_what_could_fail(made, name, old, new, word):
    break_it(made, name, old, new)
    checked = check(made)
    assert not checked.sound and any(word in each.text for each in checked.findings), checked.findings


@pytest.mark.skipif(not has_lua(), reason="no lua on the PATH")
@pytest.mark.parametrize("old, new, word", NEED_LUA)
def test_the_check_loads_job_submit_lua_before_slurmctld_does(made, old, new, word):
    break_it(made, "job_submit.lua", old, new)
    checked = check(made)
    assert not checked.sound and any(word in each.text for each in checked.findings)


def test_permissions_and_files_that_are_missing_are_found(made):
    (made / "epilog").chmod(0o775)
    (made / "prolog").chmod(0o644)
    (made / "task-prolog").unlink()
    texts = {Path(each.where).name: each.text for each in check(made).findings if each.level == ERROR}
    assert (
        "changed by others" in texts["epilog"]
        and "executed" in texts["prolog"]
        and "every task" in texts["task-prolog"]
    )


def test_a_check_leaves_nothing_in_the_spools(made):
    check(made)
    assert not any(path.is_file() for path in (made.parent / "spool").rglob("*"))


def test_a_slurm_conf_is_read_with_all_that_it_names(made, tmp_path):
    conf = tmp_path / "slurm.conf"
    conf.write_text((made / "slurm.conf.lines").read_text() + "Include other.conf\n")
    shutil.copy(made / "job_submit.lua", tmp_path)
    checked = check(conf)
    assert checked.sound and len(checked.files) == 7
    assert ["was not read" in each.text for each in checked.findings if each.level != ERROR][-1]
    (tmp_path / "job_submit.lua").unlink()
    assert any("slurmctld would not start" in each.text for each in check(conf).findings)
    conf.write_text("prolog = /nowhere/prolog  # ours\nPROLOGFLAGS=X11\n")
    checked = check(conf)
    assert not checked.sound and any("Alloc" in each.text for each in checked.findings)
    assert sum("is not set" in each.text for each in checked.findings) == 4


def test_licences_that_slurm_does_not_have_would_refuse_jobs(made, tmp_path):
    conf = tmp_path / "slurm.conf"
    shutil.copy(made / "job_submit.lua", tmp_path)
    lines = (made / "slurm.conf.lines").read_text()
    for given, word in (("matlab:5", "has no iobw"), ("matlab:5,iobw:50", "50 of iobw"), ("iobw:100", "")):
        conf.write_text(lines.replace("Licenses=iobw:100", f"Licenses={given}"))
        errors = [each.text for each in check(conf).findings if each.level == ERROR]
        assert len(errors) == bool(word) and all(word in each for each in errors)


def test_an_old_slurm_and_a_spool_that_is_not_read_are_named(made):
    assert [each.text for each in version_findings("slurm-wlm 22.05.8\n")] == []
    assert "Slurm 20.11" in next(version_findings("slurm 20.11.9")).text
    (made.parent / "ctld").chmod(0o770)
    assert any("chmod 700" in each.text for each in check(made).findings) and check(made).sound


def test_a_place_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(PenstockError, match="no such file"):
        check(tmp_path / "nowhere")


@pytest.mark.parametrize(
    "given",
    [{"etc": "relative"}, {"shim": "/a b"}, {"shim": "/a$(id)"}, {"license": "a:b"}, {"address": "x y"}, {"total": 0}],
)
def test_what_would_break_a_script_is_refused(given):
    with pytest.raises(InvalidOption):
        SlurmSite(**given)


def test_the_unit_of_the_controller_is_the_one_of_the_examples():
    example = (ROOT / "examples" / "live" / "penstock.service").read_text().partition("[Unit]")[2]
    (unit,) = (
        each.text.partition("[Unit]")[2] for each in site_files(SlurmSite()) if each.name == "penstock-serve.service"
    )
    assert unit == example


@pytest.mark.skipif(
    shutil.which("gcc") is None or not Path("/usr/include/slurm/spank.h").exists(), reason="no libslurm-dev"
)
def test_the_plugin_compiles_without_a_warning(made):
    command = ["gcc", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o", "spank.so", "spank_penstock.c"]
    subprocess.run(command, cwd=made, check=True, capture_output=True)
