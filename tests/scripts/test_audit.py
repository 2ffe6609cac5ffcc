"""The audit of dependencies: red for a known hole, and for nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.audit import audit

LOCK = Path("requirements/run.txt")


def said(script: str) -> tuple[int, str]:
    return audit(["sh", "-c", script], LOCK)


def test_without_the_tool_it_says_so() -> None:
    assert audit([], LOCK) == (0, "dependencies not audited: pip-audit is not installed")
    code, text = audit(["/nowhere/pip-audit"], LOCK)
    assert code == 0 and "not audited: pip-audit gave no answer (FileNotFoundError)" in text


def test_without_a_network_it_says_so() -> None:
    code, text = said("echo 'ConnectionError: no route to host' >&2; exit 1")
    assert code == 0 and "could not ask (ConnectionError: no route to host)" in text


@pytest.mark.parametrize("known", ["Found 1 known vulnerability in 1 package", "requests 2.0 GHSA-x84v-xcm2-53pg"])
def test_a_known_hole_is_an_error(known: str) -> None:
    code, text = said(f"echo '{known}'; exit 1")
    assert code == 1 and known in text


def test_when_nothing_is_known() -> None:
    assert said("echo No known vulnerabilities found >&2") == (0, "dependencies audited, nothing is known: run.txt")
