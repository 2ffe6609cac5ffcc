"""`penstock tbf` and `penstock mmqos`: text for a site's own tool."""

import json

import pytest

from cli.controlled import Controller


@pytest.mark.slow
def test_limits_of_running_jobs_are_printed_and_then_only_what_changed(penstock, folder, tmp_path, monkeypatch):
    with Controller(tmp_path) as controller, controller.holding("job_1"):
        monkeypatch.setenv("PENSTOCK_ADDRESS", controller.address)
        words = ("tbf", "--servers", "1", "--rpc", "1MiB", "--state", "tbf.json")
        (line,) = penstock(*words).out.splitlines()
        assert line.startswith('lctl set_param ost.OSS.ost_io.nrs_tbf_rule="start ps_job_1 jobid={job_1} rate=')
        again = json.loads(penstock(*words, "--json").out)
        assert list(again["limits"]) == ["ps_job_1"]
        lines = penstock("mmqos", "--device", "fs1", "--classes", "physics=phys").out.splitlines()
        assert lines == ["mmqos throttle create fs1 --pool system --class phys -C all --maxmbs 16"]
    assert (folder / "tbf.json").exists()


@pytest.mark.parametrize(
    "words, refusal",
    [
        ("tbf --servers 0", "--servers is 0; 1 to 100000 are accepted"),
        ("tbf --servers 1 --rpc 1kB", "--rpc is '1kB'; 4 KiB to 1 GiB are accepted"),
        ("tbf --servers 1 --rpc x", "--rpc is 'x'"),
        ("tbf --servers 1 --every 10s --state s", "--every is '10s'; at least 30 s are accepted"),
        ("tbf --servers 1 --every 60s", "--every needs --state FILE"),
        ("tbf --servers 1 --state jobs.yaml --address /nowhere", "jobs.yaml: is no state of an earlier run"),
        ("mmqos --device fs1 --classes physics", "--classes is 'physics'"),
        ("mmqos --device fs1 --classes a=x,b=x", "it names an account or a class twice"),
        ("mmqos --device f;s --classes a=x", "'f;s' is no name of GPFS"),
    ],
)
def test_what_cannot_be_taken_is_refused_in_one_sentence(penstock, words, refusal):
    outcome = penstock(*words.split())
    assert outcome.code == 2 and refusal in outcome.err and outcome.err.count("\n") == 1
