"""Imports that the docs of earlier versions showed to users still work, and give the same things as today's."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from penstock._moved import MOVED, home

SHOWN = {
    "penstock.sharing": "sharing NAMES find View",
    "penstock.sharing.order": "coarse fill yield_now",
    "penstock.sharing.policy": "sharing",
    "penstock.sharing.view": "Floats View",
    "penstock.sharing.exclusive": "ranked",
    "penstock.allocation": "allocation Allocated NAMES",
    "penstock.placement": "placement NAMES",
    "penstock.buffering": "strategy NAMES Flows",
    "penstock.buffering.in_turn": "serve_in_turn",
    "penstock.mapping.backfill": "Backfill",
    "penstock.targets": "Allotment allocate compare_allotments improve moves",
    "penstock.targets.export": "export",
    "penstock.sizing": "size_buffer size_curve verify",
    "penstock.schedule": "save_schedule schedule_of",
    "penstock.profiles": "class_of class_profiles fit_profiles read_profiles save_profiles",
    "penstock.packing": "Packing compare_packings pack",
    "penstock.buffers": "buffer",
    "penstock.buffers.sweep": "compare_buffers sweep_buffer",
    "penstock.buffers.split": "Split split",
    "penstock.buffers.bound": "alone_stretch",
    "penstock.exact": "optimum",
    "penstock.runs": "simulate compare",
    "penstock.decision": "decide",
    "penstock.live.wire": "Post Rate frame",
    "penstock.campaign": "Campaign Entry Results load_campaign merge read_results recommend run_campaign summarise",
    "penstock.client": "io_phase open_paced paced begin",
    "penstock.client.aio": "io_phase",
    "penstock.reproduce": "IDS Reproduction reproduce",
    "penstock.report.plots": "comparison_figure run_figure save_figure",
    "penstock.report.allotment_plot": "allotment_figure",
    "penstock.report.pack_plot": "packing_figure",
    "penstock.report.profile_plot": "profiles_figure",
    "penstock.report.campaign_pareto": "pareto_figure",
    "penstock.report.theme": "COLOURS theme",
    "penstock.model": "Application Compute Platform Repeat Window Write Trace",
}


@pytest.mark.parametrize("module", SHOWN)
def test_names_are_found_where_they_were(module: str) -> None:
    found = import_module(module)
    today = import_module(home(module) or module)
    for name in SHOWN[module].split():
        assert getattr(found, name) is getattr(today, name)


@pytest.mark.parametrize("old", MOVED)
def test_every_line_of_the_table_leads_somewhere(old: str) -> None:
    module = import_module(f"penstock.{old}")
    assert module is import_module(f"penstock.{MOVED[old]}")
    assert module.__spec__ is not None and module.__spec__.name == module.__name__ == f"penstock.{MOVED[old]}"


def test_below_a_moved_package_nothing_is_loaded_twice() -> None:
    code = (
        "import penstock.sharing.fcfs, penstock.policies.sharing.fcfs as today, sys;"
        "assert penstock.sharing.fcfs is today;"
        "assert sys.modules['penstock.sharing.fcfs'] is sys.modules['penstock.policies.sharing.fcfs'] is today"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_what_never_was_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"penstock\.policies\.sharing\.nothing"):
        import_module("penstock.sharing.nothing")
