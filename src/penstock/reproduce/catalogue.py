"""All experiments of the papers by id. Modules are imported when asked for: campaigns load kernels."""

from __future__ import annotations

from importlib import import_module

from penstock.errors import InvalidOption, nearest
from penstock.reproduce.experiment import Experiment

MODULES = {
    "P1.fig5": "p1_pressure",
    "P1.fig6": "p1_ranks",
    "P1.fig7": "p1_ranks",
    "P1.fig8": "p1_apex",
    "P1.fig9": "p1_apex",
    "P1.fig10": "p1_apex",
    "P1.fig11": "p1_apex",
    "P1.fig12": "p1_apex",
    "P1.fig13": "p1_apex",
    "P1.fig14": "p1_robustness",
    "P1.fig15": "p1_robustness",
    "P1.fig16": "p1_robustness",
    "P1.fig17": "p1_robustness",
    "P1.fig18": "p1_robustness",
    "P1.fig19": "p1_robustness",
    "P1.fig20": "p1_windows",
    "P1.fig21": "p1_windows",
    "P1.fig22": "p1_windows",
    "P1.table2": "p1_ratios",
    "P2.fig3": "p2",
    "P2.fig4": "p2",
    "P2.fig5": "p2",
    "P3.fig1": "p3_link",
    "P3.fig5": "p3_tucan",
    "P3.fig6": "p3_tucan",
    "P3.fig7": "p3_tucan",
    "P3.fig8": "p3_tucan",
    "P3.fig9": "p3_link",
    "P3.fig10": "p3_packs",
    "P3.fig11": "p3_packs",
    "P3.fig12": "p3_packs",
    "P3.fig13": "p3_packs",
    "P3.fig14": "p3_packs",
    "P3.fig15": "p3_packs",
    "P4.fig3": "p4",
    "P4.fig4": "p4",
    "P4.fig5": "p4",
    "P4.fig6": "p4",
    "P4.osts": "p4_osts",
    "P5.table2": "p5",
    "P5.fig8": "p5",
}
IDS = tuple(MODULES)
ALL = "all"


def find(name: str) -> Experiment:
    """The experiment with an id; capitals do not matter.

    >>> find("p1.FIG5").id
    'P1.fig5'
    """
    known = {each.lower(): each for each in IDS}
    if name.lower() not in known:
        paper = name.partition(".")[0].upper()
        near = nearest(name, [each for each in IDS if each.startswith(f"{paper}.")], most=3)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise InvalidOption(f"no experiment named {name!r}; {hint}`penstock reproduce --list` has them all")
    found = known[name.lower()]
    experiments: tuple[Experiment, ...] = import_module(f"penstock.reproduce.{MODULES[found]}").EXPERIMENTS
    return next(each for each in experiments if each.id == found)


def chosen(names: list[str]) -> list[Experiment]:
    """The experiments with these ids, each once; `all` stands for every one."""
    ids = [each for name in names for each in (IDS if name.lower() == ALL else (name,))]
    return list({each.id: each for each in map(find, ids)}.values())
