"""All commands: where each is, and its line in `--help`. A command's file is loaded when the command is called.

To add one: a file in `commands` with a function of its name, and a row here with the first sentence of its docstring.
"""

from __future__ import annotations

from keyword import iskeyword
from typing import NamedTuple

FIRST = "Commands"
JOBS = "Live: the controller and the jobs under it"
OPERATORS = "Live: for operators"
LOOKING_BACK = "Live: looking back"
RUN = "run"


class Row(NamedTuple):
    """One command; where nothing else is said, file and function have its name."""

    name: str
    help: str
    section: str = FIRST
    file: str = ""
    hidden: bool = False
    options_first: bool = False  # in `penstock run ls -l` the -l is for ls

    @property
    def function(self) -> str:
        """The name of its function; `import` is a word of Python and cannot be one."""
        name = self.name.replace("-", "_")
        return f"{name}_" if iskeyword(name) else name


COMMANDS = (
    Row("demo", "Compare all sharing policies on a bundled scenario: eight jobs of a morning on one file system."),
    Row(
        "simulate",
        "Run SCENARIO under one sharing policy, or its whole machine under a plan, and show how each application "
        "fared.",
    ),
    Row("compare", "Run SCENARIO under each sharing policy and show how close each comes to what is possible."),
    Row(
        "optimum",
        "Find the shortest schedule of SCENARIO that serves one operation at a time, and prove it or bound it.",
    ),
    Row(
        "reference",
        "Find how much is left in SCENARIO: the best schedule known, and what no schedule can beat.",
    ),
    Row("attack", "Search for the small scenario on which POLICY does worst against another, and keep it as a file."),
    Row("pack", "Map the jobs of SCENARIO to its I/O nodes, in packs or one by one, and run them there."),
    Row("allocate", "Give the applications of SCENARIO their storage targets, and see how they fare on them."),
    Row(
        "size-buffer",
        "Find the smallest burst buffer with which nobody in SCENARIO is slowed down, and how to share it.",
    ),
    Row("buffer", "Run SCENARIO behind a burst buffer and show what it is worth: who still waits, and how long."),
    Row(
        "plan",
        "Decide for SCENARIO what its plan leaves open: I/O nodes, targets, parts of the buffer, and who shares how.",
    ),
    Row("profiles", "Read measured bandwidths from each FILE, fit and classify them, and write them as profiles."),
    Row("decide", "Ask one sharing policy once: the rates for the applications that are active in STATE."),
    Row("generate", "Make a workload and write it as a scenario file, or to standard output."),
    Row(
        "import",
        "Turn real traces into a scenario: Darshan logs, Slurm accounting, SWF, or tables of what jobs moved.",
    ),
    Row(
        "inspect",
        "Show what logs or a scenario hold: bytes over time per job, how good the evidence is, what could not be seen.",
    ),
    Row(
        "advise",
        "Say what to do on this machine: is there contention, which policy, targets, a buffer, and how sure that is.",
    ),
    Row("policies", "List all policies with their rule, their parameters and where they come from."),
    Row("reproduce", "Run experiments of the papers again: figures (SVG, PNG), their data (CSV) and a summary (JSON)."),
    Row("campaign", "Run the campaign in FILE (workloads × settings × seeds × plans), or show what one has found."),
    Row(
        "serve",
        "Run the controller until it is stopped: jobs announce their I/O, and it says who may move how much when.",
        JOBS,
    ),
    Row(
        RUN,
        "Announce the I/O of COMMAND, wait until it may begin, and run it; its exit code and signals are passed on.",
        JOBS,
        options_first=True,
    ),
    Row(
        "node",
        "Run the agent of this node: it paces jobs that do not ask, all of them through one connection.",
        JOBS,
    ),
    Row(
        "pace",
        "Copy bytes at the rate that the controller grants, as in `tar c results | penstock pace > results.tar`.",
        JOBS,
    ),
    Row(
        "status",
        "Show the jobs that do I/O under a running controller, their rates, and how full each resource is.",
        OPERATORS,
    ),
    Row("top", "Watch the jobs that do I/O, those that use most first, until you press Ctrl-C.", OPERATORS),
    Row(
        "dashboard",
        "Show the controller in a browser: who is slowed down, by whom and why; it only looks.",
        OPERATORS,
    ),
    Row(
        "monitoring",
        "Write recording rules and alerts for Prometheus and a dashboard for Grafana to DIR.",
        OPERATORS,
    ),
    Row("policy", "Switch a running controller to another sharing policy, or show which one decides.", OPERATORS),
    Row("capacity", "Change the capacity of a resource while everyone goes on, or show all resources.", OPERATORS),
    Row("mode", "Switch a running controller between enforcing, monitoring and pausing, or show its mode.", OPERATORS),
    Row("pause", "Pace nobody any more, at once: every job goes on as if there were no controller.", OPERATORS),
    Row("resume", "Pace again after `penstock pause`.", OPERATORS, file="pause"),
    Row(
        "drain",
        "Answer no new announcements (on), so that those jobs go on at their fallback rate, or answer again (off).",
        OPERATORS,
    ),
    Row("exempt", "Let a job go unpaced whatever the policy says, or pace it again.", OPERATORS),
    Row(
        "evict",
        "Forget a job: its members go on at their fallback rate, and what it held is free once its leases are over.",
        OPERATORS,
    ),
    Row(
        "promote",
        "Let the standby that watches DIR lead instead of the controller that does, and wait until it has taken over.",
        OPERATORS,
    ),
    Row("hook", "Tell the controller that a job starts, is about to end, or has ended on a node.", OPERATORS),
    Row("slurm", "Connect a Slurm cluster: make the files that it needs, check them, and run the bridge.", OPERATORS),
    Row(
        "tbf",
        "Print rules for Lustre's token bucket filter, a quarter above what each job is granted; only what changed.",
        OPERATORS,
    ),
    Row(
        "mmqos",
        "Print throttles for GPFS, a quarter above what the jobs of each account are granted; only what changed.",
        OPERATORS,
    ),
    Row("token", "Make the token of a job, for a prolog to hand to it (PENSTOCK_TOKEN names its file).", OPERATORS),
    Row(
        "loadtest",
        "Load a controller with thousands of clients: how fast it registers, answers and restarts, and what it takes.",
        OPERATORS,
    ),
    Row(
        "limited",
        "Show who could have moved more in the last hour, how much that was, and who had the bandwidth instead.",
        LOOKING_BACK,
    ),
    Row(
        "explain",
        "Say from the journal why JOB waited and behind whom, and what other policies would have given on this "
        "traffic.",
        LOOKING_BACK,
    ),
    Row(
        "replay",
        "Take every decision in a controller's journal again, and say which come out otherwise (exit code 1).",
        LOOKING_BACK,
    ),
)

# `penstock campaign FILE` runs it; these are the commands of the group.
CAMPAIGN = (
    Row(RUN, "Run what the campaign in FILE asks for and DIR does not have yet.", hidden=True),
    Row("status", "Show how far a campaign is, and what failed."),
    Row("table", "Show means with their 95 % intervals, and each plan paired with a reference plan, or with several."),
    Row("rank", "Rank all plans over all workloads in one metric, and say which cannot be told apart."),
    Row("plot", "Draw one metric of every plan, or one against another, with intervals."),
    Row("html", "Write a report with tables, plots and failures that needs no network."),
    Row("merge", "Put the runs of several directories into one."),
    Row("export", "Write results, versions, seeds and hashes of a campaign to one file that can be published."),
    Row("import", "Check every hash of an archive and unpack it, for tables, plots, or to go on with it."),
)

IMPORT = (
    Row("darshan", "Read Darshan logs: one application per job, with how well its bytes could be placed in time."),
    Row(
        "slurm",
        "Read Slurm's accounting: jobs, nodes and bytes as counted; when bytes moved is the model that --io states.",
    ),
    Row("swf", "Read a Standard Workload Format file."),
    Row("table", "Read a table of what jobs moved when: transfers, a time series, Lustre's job_stats or Prometheus."),
)

SLURM = (
    Row("files", "Write all that a Slurm cluster needs into DIR: hooks, lines of configuration, units; or print it."),
    Row("check", "Say what could fail of the hooks and scripts in DIR, or of those that a slurm.conf names."),
    Row("bridge", "Tell the controller what Slurm knows of jobs, and hold back licences while bandwidth is short."),
)
