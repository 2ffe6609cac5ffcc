"""Progress: nothing at first, then a line now and then where there is no terminal."""

import time

import pytest

from penstock.cli.parts import progress


def test_a_log_gets_a_line_now_and_then(monkeypatch, capsys):
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with progress.ProgressLine() as shown:
        for now in (0.0, 29.0, 31.0, 32.0, 60.0, 61.5):
            shown.show("small", now / 100.0, f"{now:.0f} of 100 runs")
    assert capsys.readouterr().err == "penstock: small, 31%, 31 of 100 runs\npenstock: small, 62%, 62 of 100 runs\n"


@pytest.mark.parametrize(("fraction", "detail", "line"), [(None, "", "loading\n"), (0.5, "", "loading, 50%\n")])
def test_a_line_says_only_what_is_known(monkeypatch, capsys, fraction, detail, line):
    monkeypatch.setattr(progress, "BETWEEN_LINES", 0.0)
    progress.ProgressLine().show("loading", fraction, detail)
    assert capsys.readouterr().err == f"penstock: {line}"
