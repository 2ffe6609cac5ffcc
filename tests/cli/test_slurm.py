"""`penstock slurm`: files, and what is wrong with them."""

import json

import pytest

from cli.controlled import Controller


def test_files_are_written_and_pass_the_check(penstock, folder):
    outcome = penstock("slurm", "files", "there", "--license", "bw:200", "--etc", "/opt/hooks")
    assert outcome.code == 0 and outcome.out.splitlines()[-1] == "Next: penstock slurm check there"
    lines = (folder / "there" / "slurm.conf.lines").read_text()
    assert "Licenses=bw:200\n" in lines and "Prolog=/opt/hooks/prolog\n" in lines
    assert list((folder / "there" / "lib").glob("*/libpenstock.so"))
    assert "libpenstock.so" not in (checked := penstock("slurm", "check", "there")).out and checked.code == 0
    (folder / "there" / "epilog").write_text("#!/bin/sh\n# penstock slurm files\nexit 1\n")
    outcome = penstock("slurm", "check", "there")
    assert outcome.code == 1 and "error: there/epilog: 'exit 1': it may exit with something else" in outcome.out
    found = json.loads(penstock("slurm", "check", "there", "--json").out)
    assert not found["sound"] and found["findings"][0]["level"] == "error"


def test_without_a_folder_everything_is_printed(penstock):
    shown = penstock("slurm", "files").out
    assert all(f"##### {name}\n" in shown for name in ("prolog", "job_submit.lua", "penstock-bridge.service"))
    assert len(json.loads(penstock("slurm", "files", "--json").out)["files"]) == 13


@pytest.mark.parametrize(
    "words, refusal",
    [
        ("slurm files --license bw", "--license is 'bw'; a name and a number are accepted, as iobw:100"),
        ("slurm files --shim lib.so", "shim is 'lib.so'; a full path without spaces is accepted"),
        ("slurm files jobs.yaml", "jobs.yaml is a file; the name of a folder is accepted"),
        ("slurm files jobs.yaml/there", "there/prolog cannot be written (not a directory); give a folder that can be"),
        ("slurm files /proc/there", "/proc/there/prolog cannot be written (no such file or directory); give a folder"),
        (
            "slurm check nowhere",
            "nowhere: no such file; a slurm.conf or a folder of `penstock slurm files` is expected",
        ),
        ("slurm bridge --address tcp://x", "--address is 'tcp://x'"),
    ],
)
def test_what_cannot_be_taken_is_refused_in_one_sentence(penstock, words, refusal):
    outcome = penstock(*words.split())
    assert outcome.code == 2 and refusal in outcome.err and outcome.err.count("\n") == 1


@pytest.mark.slow
def test_a_bridge_without_slurm_forwards_all_the_same(penstock, folder, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    spool = tmp_path / "spool"
    spool.mkdir(mode=0o700)
    (spool / "00000000.1.00.1").write_text("kind=job_start\njob=77\nuid=1000\nnode_list=n[1-2]\nnodes=2\n")
    with Controller(tmp_path) as controller:
        outcome = penstock(
            "slurm", "bridge", "--once", "--spool", str(spool), "--address", controller.address, "--json"
        )
        (job,) = controller.ask("batch")["jobs"]
    told = json.loads(outcome.out)
    assert (outcome.code, told["forwarded"], job["names"]) == (1, 1, ["n1", "n2"])
    assert "squeue is not on the PATH" in told["problems"]["squeue"] and not list(spool.iterdir())


def test_a_bridge_that_could_not_forward_says_so_by_its_exit_code(penstock, tmp_path, monkeypatch):
    """Here there is no controller, and others may write into the spool."""
    spool = tmp_path / "spool"
    spool.mkdir()
    spool.chmod(0o777)
    outcome = penstock("slurm", "bridge", "--once", "--spool", str(spool), "--address", str(tmp_path / "none"))
    assert outcome.code == 1
    assert "controller: " in outcome.out and "spool: " in outcome.out
