"""What `penstock loadtest --agents` says it has run, and what it has not."""

from __future__ import annotations

import pytest

from penstock.cli.commands import loadtest
from penstock.cli.parts.agent_load import cycles
from penstock.cli.parts.agent_load.cycles import AgentFigures, AgentLoad


def test_programs_are_counted_and_said_not_to_be_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measured(load: AgentLoad, say: object) -> AgentFigures:
        processes = cycles.PROCESSES * load.agents
        return AgentFigures(load.agents, load.real, processes, 1, 1.0, 1, 51.0, 60.0, 57.0, 81.0, 70.0, 0.1, 100.0)

    monkeypatch.setattr(cycles, "agent_load", measured)
    loadtest.loadtest(agents=2000)
    first, second, _ = capsys.readouterr().out.splitlines()
    assert first.startswith("2,000 agents, 200 of them processes of their own, were let in within 1.00 s. ")
    assert first.endswith(
        "The 100,000 programs that they could pace are not run: those of a job on a node read one segment."
    )
    assert (
        "told its new rate after 51 ms (60 ms), the last real one has it in its segment after 57 ms (81 ms)" in second
    )
