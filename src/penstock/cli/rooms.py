"""The rooms that commands call, each module loaded when it is first named: `studies.targets.allocate(…)`.

A command's file is loaded to show its help, to refuse an option or to find that a file is missing. None of these needs
Numba, Rich or Matplotlib, which take ten times as long to load as all else.
"""

# ruff: noqa: F401 - importing a module is how a type checker learns of it

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what is named anywhere in the command line, for those who check types
    import rich.console
    import rich.live
    import rich.progress
    import rich.text

    import penstock.advise
    import penstock.advise.machine
    import penstock.advise.submission
    import penstock.campaign.archive
    import penstock.campaign.document
    import penstock.campaign.executor
    import penstock.campaign.goals
    import penstock.campaign.merging
    import penstock.campaign.ranking
    import penstock.campaign.recommendation
    import penstock.campaign.remote
    import penstock.campaign.results
    import penstock.campaign.runner
    import penstock.campaign.summary
    import penstock.client.agent.checks
    import penstock.client.agent.lock
    import penstock.client.agent.node
    import penstock.client.agent.roster
    import penstock.client.amounts
    import penstock.client.config
    import penstock.client.first_contact
    import penstock.client.segment
    import penstock.client.shim.library
    import penstock.dashboard.server
    import penstock.dashboard.viewers
    import penstock.kernels.cold
    import penstock.live.admin
    import penstock.live.backstops
    import penstock.live.journal.replay
    import penstock.live.loadtest.load_test
    import penstock.live.monitoring
    import penstock.live.server.config
    import penstock.live.server.listeners
    import penstock.live.server.readiness
    import penstock.live.server.serve
    import penstock.live.slurm.bridge
    import penstock.live.slurm.check
    import penstock.live.slurm.files
    import penstock.live.slurm.library
    import penstock.live.slurm.queue
    import penstock.live.standby.promote
    import penstock.lookback.explain
    import penstock.lookback.shadow
    import penstock.model.ignored
    import penstock.model.json_text
    import penstock.model.load
    import penstock.model.needs
    import penstock.model.plan
    import penstock.model.plan_file
    import penstock.model.plan_notes
    import penstock.model.save
    import penstock.model.units
    import penstock.model.yaml_text
    import penstock.policies.buffering
    import penstock.policies.mapping
    import penstock.policies.sharing.catalogue
    import penstock.policies.sharing.groups
    import penstock.report.advice.page
    import penstock.report.advice.table
    import penstock.report.attack
    import penstock.report.buffers.plot
    import penstock.report.buffers.table
    import penstock.report.campaign.latex
    import penstock.report.campaign.page
    import penstock.report.campaign.pareto
    import penstock.report.campaign.plot
    import penstock.report.campaign.ranking
    import penstock.report.campaign.table
    import penstock.report.comparison.page
    import penstock.report.comparison.selection
    import penstock.report.comparison.summary
    import penstock.report.comparison.table
    import penstock.report.comparison.workloads
    import penstock.report.lists
    import penstock.report.live.forecast
    import penstock.report.live.history
    import penstock.report.live.plot
    import penstock.report.live.table
    import penstock.report.machine.planned
    import penstock.report.machine.resources
    import penstock.report.optimum
    import penstock.report.packs.plot
    import penstock.report.packs.table
    import penstock.report.parts.quantities
    import penstock.report.plots
    import penstock.report.profiles.plot
    import penstock.report.profiles.table
    import penstock.report.recommendation.table
    import penstock.report.reference
    import penstock.report.sizing.plot
    import penstock.report.sizing.table
    import penstock.report.targets.plot
    import penstock.report.targets.table
    import penstock.report.traces.plot
    import penstock.report.traces.table
    import penstock.reproduce.catalogue
    import penstock.reproduce.experiment
    import penstock.reproduce.reproduction
    import penstock.reproduce.tables
    import penstock.studies.attack
    import penstock.studies.buffer_words
    import penstock.studies.buffers.needs
    import penstock.studies.buffers.split
    import penstock.studies.buffers.sweep
    import penstock.studies.decision
    import penstock.studies.optimum.result
    import penstock.studies.planning
    import penstock.studies.plans
    import penstock.studies.profiles
    import penstock.studies.reference.clairvoyant
    import penstock.studies.schedules
    import penstock.studies.share
    import penstock.studies.sizing.curve
    import penstock.studies.sizing.lead
    import penstock.studies.sizing.schedule_file
    import penstock.studies.sizing.traffic
    import penstock.studies.tables
    import penstock.studies.target_words
    import penstock.studies.targets.export
    import penstock.studies.targets.local_search
    import penstock.traces.inspecting
    import penstock.traces.io_model
    import penstock.traces.options
    from penstock import (
        advise,
        campaign,
        client,
        dashboard,
        kernels,
        live,
        lookback,
        model,
        policies,
        report,
        reproduce,
        studies,
        traces,
        workloads,
    )

__all__ = [
    "advise",
    "campaign",
    "client",
    "dashboard",
    "kernels",
    "live",
    "lookback",
    "model",
    "policies",
    "report",
    "reproduce",
    "rich",
    "studies",
    "traces",
    "workloads",
]


class Room:
    """A package whose modules are imported when they are named.

    >>> Room("penstock.report").parts.quantities.duration(90.0)
    '90 s'
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python asks of any object
            raise AttributeError(name)
        package = import_module(self._path)
        found = getattr(package, name, None)
        if found is None:
            found = import_module(f"{self._path}.{name}")
        return Room(found.__name__) if hasattr(found, "__path__") else found


if not TYPE_CHECKING:
    rich = Room("rich")
    advise = Room("penstock.advise")
    campaign = Room("penstock.campaign")
    client = Room("penstock.client")
    dashboard = Room("penstock.dashboard")
    kernels = Room("penstock.kernels")
    live = Room("penstock.live")
    lookback = Room("penstock.lookback")
    model = Room("penstock.model")
    policies = Room("penstock.policies")
    report = Room("penstock.report")
    reproduce = Room("penstock.reproduce")
    studies = Room("penstock.studies")
    traces = Room("penstock.traces")
    workloads = Room("penstock.workloads")
