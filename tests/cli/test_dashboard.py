"""`penstock dashboard` and `penstock monitoring` as commands: what is refused, and what is told."""

import json
import subprocess
import urllib.request

import pytest

from cli.controlled import PATIENCE, no_controller
from cli.user import command


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--names", "some"), "--names is 'some'; accepted are own and all"),
        (("--listen", "8440"), "--listen is '8440'; accepted is HOST:PORT"),
        (("--listen", "localhost:99999"), "accepted is HOST:PORT"),
        (("--listen", "192.0.2.1:0"), "cannot use port 0 of 192.0.2.1"),
        (("--journal", "missing"), "missing: there is no journal"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(penstock, folder, options, words):
    told = penstock("dashboard", "--address", "p.sock", *options)
    assert told.code == 2 and words in told.err


def test_without_a_controller_or_a_journal_it_shows_that(tmp_path):
    asked = command("dashboard", "--address", str(tmp_path / "none.sock"), "--listen", "127.0.0.1:0", "--json")
    with subprocess.Popen(asked, env=no_controller(), stdout=subprocess.PIPE, text=True) as process:
        try:
            told = json.loads(process.stdout.readline())
            assert told["pid"] == process.pid
            with urllib.request.urlopen(told["url"], timeout=PATIENCE) as page:
                assert page.headers["Content-Security-Policy"].startswith("default-src 'none'")
            with urllib.request.urlopen(f"{told['url']}history?seconds=3600", timeout=PATIENCE) as answer:
                assert "journal" in json.load(answer)["problem"]
            with urllib.request.urlopen(f"{told['url']}events", timeout=PATIENCE) as stream:
                lines = (line.decode() for line in stream)
                look = next(json.loads(line[6:]) for line in lines if line.startswith("data: ") and '"short"' in line)
            assert not look["reachable"] and "nobody listens" in " ".join(look["short"])
        finally:
            process.terminate()
        assert process.wait(PATIENCE) == 0


def test_monitoring_files_are_written(penstock, folder):
    told = json.loads(penstock("monitoring", "rules", "--json").out)
    assert [name.removeprefix("rules/") for name in told["files"]] == [
        "penstock-records.yml",
        "penstock-alerts.yml",
        "penstock-grafana.json",
    ]
    assert "alerts, each with what it means" in penstock("monitoring", "rules").out
    (folder / "file").write_text("")
    refused = penstock("monitoring", "file")
    assert refused.code == 2 and "cannot be made" in refused.err
