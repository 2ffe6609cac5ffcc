"""The modules whose mutants are tried, each with the tests that should notice them; doctests of its own count, too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "penstock"

_ENGINE = ("tests/engine/test_rows.py", "tests/engine/link", "tests/engine/targets", "tests/policies/sharing")
_ORDERS = ("tests/engine/link", "tests/policies/sharing", "tests/live/core/test_decisions.py")
_MACHINE = ("tests/engine/machine",)
_ALLOCATION = ("tests/policies/allocation",)
_PLACEMENT = ("tests/policies/placement",)
_MAPPING = ("tests/policies/mapping", "tests/studies/packs")
_CORE = ("tests/live/core",)
_MEMBER = ("tests/client/test_member.py", "tests/client/test_member_rules.py", "tests/client/test_phases.py")
_BUCKET = ("tests/client/test_bucket.py",)

TARGETS: dict[str, tuple[str, ...]] = {
    "engine/link/losses.py": _ENGINE,
    "engine/rows.py": _ENGINE,
    "engine/targets/losses.py": _ENGINE,
    "engine/machine/filling.py": _MACHINE,
    "engine/machine/levels.py": _MACHINE,
    "engine/machine/motion.py": _MACHINE,
    "engine/machine/standing.py": _MACHINE,
    "policies/sharing/rounds.py": ("tests/policies/sharing/test_rounds.py",),
    "policies/sharing/rules.py": _ORDERS,
    "policies/sharing/order.py": _ORDERS,
    "policies/sharing/exclusive.py": _ORDERS,
    "policies/sharing/turns.py": _ORDERS,
    "policies/allocation/demand.py": _ALLOCATION,
    "policies/allocation/mckp.py": _ALLOCATION,
    "policies/allocation/presence.py": _ALLOCATION,
    "policies/allocation/static.py": _ALLOCATION,
    "policies/allocation/steps.py": _ALLOCATION,
    "policies/allocation/tcpu.py": _ALLOCATION,
    "policies/allocation/tcpu_in_time.py": _ALLOCATION,
    "policies/placement/greedy_clairvoyant.py": _PLACEMENT,
    "policies/mapping/backfill.py": _MAPPING,
    "policies/mapping/easy.py": _MAPPING,
    "policies/mapping/longest_first.py": _MAPPING,
    "policies/mapping/packs.py": _MAPPING,
    "policies/mapping/waiting_packs.py": _MAPPING,
    "kernels/heap.py": ("tests/kernels/test_heap.py",),
    "kernels/tournament.py": ("tests/kernels/test_tournament.py",),
    "live/core/charges.py": _CORE,
    "live/core/dispatch.py": _CORE,
    "live/core/apply/operations.py": _CORE,
    "live/core/apply/presence.py": _CORE,
    "live/core/apply/rates.py": _CORE,
    "live/core/apply/steps.py": _CORE,
    "live/core/losses.py": _CORE,
    "live/core/decide.py": _CORE,
    "client/member.py": _MEMBER,
    "client/announcing.py": _MEMBER,
    "client/pacing.py": _MEMBER,
    "client/bucket.py": _BUCKET,
}


def groups(modules: list[str]) -> Iterator[tuple[list[str], list[str]]]:
    """Paths for pytest, and the modules that these tests are for."""
    for tests in dict.fromkeys(TARGETS[module] for module in modules):
        alike = [module for module in modules if TARGETS[module] == tests]
        yield [*(str(ROOT / each) for each in tests), *(str(PACKAGE / module) for module in alike)], alike
