"""Which document a command prints, and the types that it is made from: a class, a dict by key, or a list of either."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from penstock.campaign.archive import FileHash
from penstock.campaign.recommendation import Recommendation
from penstock.campaign.runner import Report
from penstock.cli.parts.agent_load.cycles import AgentFigures
from penstock.live.backstops import Limit
from penstock.live.loadtest import Figures
from penstock.live.server.capacity_watch import Doubt
from penstock.live.slurm.bridge import Told
from penstock.live.slurm.check import Finding
from penstock.live.standby.promote import HandedOver
from penstock.lookback.explain import Explanation, Limited
from penstock.lookback.shadow import Shadow
from penstock.metrics.result import Result
from penstock.studies.attack import Attack
from penstock.studies.buffers import Buffered
from penstock.studies.buffers.sweep import StrategyComparison, Sweep
from penstock.studies.decision import Decision
from penstock.studies.optimum import Optimum
from penstock.studies.packs import Packing
from penstock.studies.planning import Planned
from penstock.studies.reference import Reference
from penstock.studies.reference.result import GridBound
from penstock.studies.sizing import SizeCurve, Sizing, Violation
from penstock.studies.targets import Allotment
from scripts.schemas.derive import Every, With

# Records that a command or the controller puts together by itself: the types of keys that need one. The others are
# described as they were seen.
Hint = dict[str, Any]
Cell = str | int | float | bool | list[float] | list[str] | None
RESOURCE: Hint = {"capacity": float, "charged": float, "granted": float, "target": str | None, "direction": str | None}
JOB: Hint = {
    "labels": Mapping[str, str],
    "targets": list[str],
    "granted": Mapping[str, float],
    "lease": float | None,
    "posted": float | None,
    "omega": float | None,
    "usable": float | None,
    **dict.fromkeys(("rate", "charge", "wanted", "limit", "volume", "done", "remaining", "progress"), float),
    **dict.fromkeys(("waited", "announced", "moved", "outside"), float),
    "outside_by": list[str],
}
FORECAST: Hint = {
    **dict.fromkeys(("start", "start_earliest", "start_latest", "end", "earliest", "latest"), float | None),
    "ahead": float,
    "own": list[str] | None,
}
CONTROLLER: Hint = {
    "last_policy_failure": str | None,
    "capacity": Every(RESOURCE),
    "members": Mapping[str, int],
    "exempt": list[str],
    "outside": [{"bytes": float, "by": list[str]}],
}
CAMPAIGN: Hint = {
    "versions": list[str],
    "damaged": list[str],
    "failures": [{"parameters": Mapping[str, Cell]}],
    "rows": list[Mapping[str, Cell]],
}
LEADER: Hint = {
    **dict.fromkeys(("since", "lease_left"), float),
    "standbys": [{"host": str, "pid": int, "silent": float}],
}
SERVER: Hint = {
    "capacity_doubts": list[Doubt],
    "journal": {"problem": str | None},
    "warnings": list[str],
    "leader": LEADER,
}
BANDWIDTHS: Hint = {
    "bandwidth": Mapping[str, float],
    "repetitions": Mapping[str, int],
    "fitted": list[int],
    "moved": list[int],
}
APPLICATION: Hint = {
    **dict.fromkeys(("read", "written", "seconds"), float),
    **dict.fromkeys(("error_seconds", "bandwidth", "io_seconds", "metadata_seconds", "rank_imbalance"), float | None),
    **dict.fromkeys(("observed_seconds", "simulated_seconds"), float | None),
    **dict.fromkeys(("source", "quality", "structure", "nodes_origin", "bandwidth_origin"), str | None),
    **dict.fromkeys(("nodes", "opens"), int | None),
    "stripe_counts": Mapping[str, float],
    "flags": list[str],
}
TRACES: Hint = {
    "skipped": [{"file": str, "why": str}],
    "grade": str | None,
    "bandwidth": float | None,
    "bandwidth_origin": str | None,
    "node_hour_coverage": float,
    "notes": list[str],
    "applications": [APPLICATION],
}
ESTIMATE: Hint = dict.fromkeys(("value", "low", "high"), float | None)
GAINS: Hint = {"min_yield_gain": ESTIMATE, "node_hours_gain": ESTIMATE}
GROUP: Hint = {"tied": list[str], **GAINS, "policies": [GAINS], "counts": Mapping[str, int]}
ADVICE: Hint = {
    "data": {
        **dict.fromkeys(("node_hour_coverage", "run_time_error"), float | None),
        "grade": str | None,
        "flags": list[str],
    },
    "assumptions": [{"value": float | int | str}],
    "lost": {
        **dict.fromkeys(("node_hours", "share_low", "share_high"), float | None),
        "by": [{"name": str, "node_hours": float, "job_hours": float}],
    },
    "pressure": ESTIMATE,
    "policy": GROUP,
    "targets": GROUP,
    "buffer": {"capacity": float | None, **GAINS, "sizes": [GAINS]},
    "why_not": Mapping[str, str],
    "sensitivity": [{"from": float | int | str, "to": float | int | str, "gain_from": ESTIMATE, "gain_to": ESTIMATE}],
    "not_seen": list[str],
    "next": list[str],
}
# What classes print otherwise than their fields say.
RECOMMENDED = With(
    Recommendation,
    {
        "next_best": str | None,
        **{f"{name}{end}": float | None for name in ("gain", "lead") for end in ("", "_low", "_high")},
    },
)
REFERRED = With(
    Reference,
    {
        "clairvoyant": {"min_yield": float | None, "trials": int, "seed": int},
        "exact": GridBound | None,
        "chain": GridBound | None,
        "left_out": list[str],
    },
)
ALLOTTED = With(Allotment, {"counts": Mapping[str, int], "targets": Mapping[str, list[int]]})
SIZED = With(
    Sizing,
    {
        "size": float | None,
        "peaks": Mapping[str, float] | None,
        "limits": Mapping[str, float | None],
        "lead": float | str,
        "holds_for": str | None,
    },
)
RUN_BEHIND: Hint = {
    **dict.fromkeys(("completion", "stretch", "stretch_p5"), Mapping[str, float | None]),
    **{f"{name}_{what}": float | None for name in ("max", "mean") for what in ("stretch", "stretch_p5")},
    "cut": Mapping[str, bool],
    "lead": float | str,
    "worse_than_none": list[str],
}
BEHIND = With(Buffered, RUN_BEHIND)


class Document(NamedTuple):
    """One kind of answer; its schema is in the file of this name."""

    name: str
    command: str
    hint: Any
    about: str


DOCUMENTS = (
    Document("simulate", "simulate", Result, "one run"),
    Document(
        "compare",
        "compare",
        {"runs": list[Result], "optimum": Optimum, "reference": REFERRED, "recommendation": RECOMMENDED},
        "runs under several policies; with `--optimum`, `--reference`, `--goal` what these add",
    ),
    Document("optimum", "optimum", Optimum, "the shortest exclusive schedule"),
    Document("reference", "reference", REFERRED, "the best schedule known and the lowest bound"),
    Document("attack", "attack", With(Attack, {"scenario": object}), "where a policy is at its worst"),
    Document("pack", "pack", Packing, "packs on I/O nodes"),
    Document(
        "compare-workloads",
        "compare with several files",
        {"workloads": [{"runs": list[Result]}]},
        "the runs of every policy on each workload",
    ),
    Document("pack-compare", "pack --compare", {"packings": list[Packing]}, "several ways to pack"),
    Document("allocate", "allocate", ALLOTTED, "targets of each application; with `--without` who moves"),
    Document(
        "allocate-compare",
        "allocate --compare",
        {"runs": [ALLOTTED], "refused": list[str]},
        "every pair of policies",
    ),
    Document(
        "plan", "plan", With(Planned, {"plan": object, "run": Result}), "all open decisions, and what each is worth"
    ),
    Document("size-buffer", "size-buffer", SIZED, "the smallest buffer; with `--explain` why"),
    Document("size-buffer-curve", "size-buffer --curve", SizeCurve, "its size under other choices"),
    Document(
        "size-buffer-verify",
        "size-buffer --verify",
        {"shares": Mapping[str, float], "violations": list[Violation]},
        "a schedule, checked",
    ),
    Document("buffer", "buffer", BEHIND, "a run behind a buffer"),
    Document(
        "buffer-compare", "buffer --compare", With(StrategyComparison, {"runs": [BEHIND]}), "strategies side by side"
    ),
    Document("buffer-sweep", "buffer --sweep", Sweep, "capacities from none to plenty"),
    Document(
        "profiles",
        "profiles",
        {"fit": str | None, "notes": list[str], "applications": [BANDWIDTHS], "classes": [BANDWIDTHS]},
        "bandwidths by number of targets",
    ),
    Document("decide", "decide", Decision, "one decision"),
    Document(
        "generate-list",
        "generate",
        [{"settings": Mapping[str, Cell]}],
        "the workloads there are; one of them is a scenario",
    ),
    Document("import", "import darshan", TRACES, "what traces became; all imports print the same"),
    Document("inspect", "inspect", TRACES, "what is in logs or in a scenario; with `--check` simulated, too"),
    Document("advise", "advise", ADVICE, "what to do, how sure that is, and what could not be seen"),
    Document("policies", "policies", [{"parameters": Mapping[str, Cell]}], "the policies there are"),
    Document("reproduce", "reproduce", {"summary": object}, "one experiment; several are an array of these"),
    Document("reproduce-list", "reproduce --list", None, "the experiments there are"),
    Document("campaign", "campaign FILE", Report, "what a start of a campaign did"),
    Document("campaign-status", "campaign status", CAMPAIGN, "how far it is; `merge` prints it without failures"),
    Document("campaign-table", "campaign table", CAMPAIGN, "means; with `--runs` every run"),
    Document(
        "campaign-export",
        "campaign export",
        CAMPAIGN | {"workloads": [Mapping[str, Cell]], "files": Mapping[str, FileHash]},
        "the manifest of an archive; `import` prints the same",
    ),
    Document("campaign-rank", "campaign rank", CAMPAIGN, "plans from best to last, and every pair of them"),
    Document(
        "serve",
        "serve",
        {"tcp": str | None, "resources": Mapping[str, float]},
        "where a controller listens, in one line",
    ),
    Document("run", "run", None, "what became of a command, on the error stream"),
    Document("node", "node", {"jobs": list[str]}, "the agent of a node, in one line"),
    Document("node-check", "node --check", {"problems": list[str]}, "what would keep it from working"),
    Document("pace", "pace", {"rate": float | None, "granted": float | None}, "what was copied, on the error stream"),
    Document(
        "status",
        "status",
        {"status": CONTROLLER, "server": SERVER, "jobs": [JOB]},
        "the controller and its jobs; `top` prints the same",
    ),
    Document(
        "status-mine",
        "status --mine",
        {"capacity": Every(RESOURCE), "jobs": [{**JOB, "forecast": FORECAST}]},
        "one's own jobs",
    ),
    Document("dashboard", "dashboard", None, "where a dashboard is, in one line"),
    Document("monitoring", "monitoring", {"files": list[str]}, "files that were written"),
    Document("policy", "policy", None, "which policy decides"),
    Document("capacity", "capacity", {"capacity": Every(RESOURCE)}, "every resource"),
    Document(
        "capacity-suggest",
        "capacity --suggest",
        {"capacity": Every(RESOURCE), "doubts": list[Doubt]},
        "every resource, and which capacities are in doubt",
    ),
    Document("mode", "mode", None, "the mode; `pause` and `resume` print the same"),
    Document("pause-host", "pause --host", None, "the switch of this host; `resume --host` prints the same"),
    Document("drain", "drain", None, "whether it drains"),
    Document("exempt", "exempt", {"exempt": list[str]}, "jobs that are never paced"),
    Document("evict", "evict", None, "who was sent away"),
    Document("promote", "promote", HandedOver, "who leads now"),
    Document("hook", "hook", None, "whether the batch system's word was taken"),
    Document("tbf", "tbf", {"limits": Mapping[str, Limit], "left_out": list[str]}, "limits in Lustre, as text"),
    Document("mmqos", "mmqos", {"limits": Mapping[str, Limit], "left_out": list[str]}, "limits in GPFS, as text"),
    Document("slurm-files", "slurm files", None, "what a Slurm cluster needs"),
    Document("slurm-check", "slurm check", {"findings": list[Finding]}, "what could fail of it"),
    Document("slurm-bridge", "slurm bridge", Told, "what the bridge to Slurm has done"),
    Document("token", "token", None, "a token, or the file that it is in"),
    Document("loadtest", "loadtest", Figures, "what a controller stands"),
    Document("loadtest-agents", "loadtest --agents", AgentFigures, "how long a control cycle takes"),
    Document("limited", "limited", Limited, "who was held back"),
    Document("explain", "explain JOB", Explanation, "why a job waited"),
    Document("explain-policy", "explain --policy", Shadow, "what other policies would have given"),
    Document("explain-both", "explain JOB --policy", With(Explanation, {"shadow": Shadow}), "both"),
    Document("replay", "replay", {"differences": list[object]}, "decisions taken again"),
)
