"""One word, one meaning: a class that somebody looks for by its name is in one place."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "src" / "penstock"
# Words that mean the same on two sides of a wire, as the field does (a member, a connection), or that are local to two
# rooms which never meet. A new class does not join them: it says which one it is.
SHARED = {
    "Clock", "Common", "Connection", "Event", "History", "Kind", "Lane", "LinkState", "Looks", "Member",
    "NoAnswer", "Node", "Pace", "Pool", "Record", "Registered", "Resource", "Run", "Seen", "Sight", "Site",
    "SiteFile", "Stage", "Tally", "Task", "Transport", "Verdict", "View", "WakeAt",
}  # fmt: skip
# Kept for one thing each.
SETTLED = {"Advice", "Comparison", "Plan", "Recommendation", "Result", "Scenario", "Schedule"}


@cache
def homes() -> dict[str, list[str]]:
    found = defaultdict(list)
    for file in sorted(PACKAGE.rglob("*.py")):
        for each in ast.parse(file.read_text()).body:
            if isinstance(each, ast.ClassDef) and not each.name.startswith("_"):
                found[each.name].append(str(file.relative_to(PACKAGE)))
    return found


def test_a_class_has_a_name_of_its_own() -> None:
    twice = {name: files for name, files in homes().items() if len(files) > 1}
    assert not {name: files for name, files in twice.items() if name not in SHARED}
    assert not SHARED - twice.keys(), "these have one home again"


def test_settled_words_have_one_meaning() -> None:
    assert all(len(homes()[word]) == 1 for word in SETTLED & homes().keys())
