"""The judge of the exclusive orders judged: cases worked out by hand, P2's Figure 2, and the closed form of P2 §5.3."""

from __future__ import annotations

import random
from typing import Any

import pytest

from . import ORDERS, follow, simulate
from .orders import blocks_of, jobs_of, round_robin_makespan

Document = dict[str, Any]
LISTS = [name for name in ORDERS if name.startswith("list-")]


def app(name: str, *phases: tuple[str, float], times: int | str = 1, **more: float) -> Document:
    listed: list[Document] = [dict([phase]) for phase in phases]
    return {"name": name, "phases": listed if times == 1 else [{"repeat": times, "phases": listed}], **more}


def scenario(*apps: Document, end: float | None = None, **more: float) -> Document:
    document: Document = {"version": 1, "platform": {"bandwidth": 1.0}, "applications": list(apps), **more}
    return document | ({"window": {"begin": 0.0, "end": end}} if end else {})


def served(document: Document, sharing: Any) -> list[tuple[str, float]]:
    """Who is served from when; one entry for operations of one application that follow each other at once."""
    found: list[tuple[str, float]] = []
    for time, rates in simulate(document, sharing)["trace"]:
        names = [name for name, rate in rates.items() if rate > 0]
        assert len(names) <= 1
        if names and (not found or found[-1][0] != names[0]):
            found.append((names[0], time))
    return found


def completions(document: Document, sharing: Any) -> list[float]:
    return [row["completion"] for row in simulate(document, sharing)["applications"]]


THREE_WAIT = scenario(
    app("hold", ("write", 4)),
    app("a", ("compute", 1), ("write", 3), ("compute", 1)),
    app("b", ("compute", 2), ("write", 1), ("compute", 6)),
    app("c", ("compute", 0.5), ("write", 2), release=1),
)


@pytest.mark.parametrize(
    ("sharing", "order"),
    [
        ("list-fifo", "a c b"),  # posted at 1, 1.5, 2
        ("list-johnson", "c a b"),  # (0.5, 2), (2, 3); then (8, 1)
        ("list-most-remaining", "b a c"),  # 7, 4, 2
        ("list-shortest-remaining", "c a b"),
        ("list-lowest-id", "a b c"),
        ("list-longest-io", "a c b"),
        ("list-shortest-io", "b c a"),
        ("list-bandwidth", "a b c"),  # nobody has been served yet
        ("list-stretch", "c a b"),  # at 4: 0.5/3, 1/4, 2/4; at 6: 1/6, 2/6
    ],
)
def test_lists_by_hand(sharing: str, order: str) -> None:
    assert " ".join(name for name, _ in served(THREE_WAIT, sharing)) == f"hold {order}"


def test_list_bandwidth_prefers_who_was_served_least() -> None:
    again = app("again", ("write", 1), ("compute", 1), ("write", 1))
    document = scenario(again, app("hold", ("compute", 1), ("write", 4)), app("late", ("compute", 3), ("write", 1)))
    assert served(document, "list-bandwidth") == [("again", 0), ("hold", 1), ("late", 5), ("again", 6)]
    assert served(document, "list-fifo") == [("again", 0), ("hold", 1), ("again", 5), ("late", 6)]


def test_no_order_interrupts() -> None:
    short = app("short", ("compute", 1), ("write", 0.5))
    document = scenario(app("long", ("write", 3)), short)
    for name in LISTS:
        assert served(document, name) == [("long", 0), ("short", 3)]


def test_ties_skip_the_posting_time() -> None:
    later, earlier = app("later", ("compute", 2), ("write", 1)), app("earlier", ("compute", 1), ("write", 1))
    document = scenario(app("hold", ("write", 3)), later, earlier)
    assert served(document, "list-shortest-io") == [("hold", 0), ("later", 3), ("earlier", 4)]


@pytest.mark.parametrize("name", LISTS)
def test_the_tight_example_of_theorem_3(name: str) -> None:
    # Whoever does not wait for ε takes 2 + ε; waiting gives 1 + 2ε.
    document = scenario(app("one", ("write", 1)), app("two", ("compute", 0.01), ("write", 0.01), ("compute", 1)))
    assert simulate(document, name)["makespan"] == pytest.approx(2 + 0.01)
    assert simulate(document, follow(["two", "one"]))["makespan"] == pytest.approx(1 + 2 * 0.01)


def test_durations_are_nominal_and_runs_are_noisy() -> None:
    apps = app("hold", ("write", 4)), app("b", ("compute", 1), ("write", 3.1)), app("a", ("compute", 1), ("write", 3))
    runs = [served(scenario(*apps, noise=0.5, seed=seed), "list-shortest-io") for seed in range(8)]
    assert [[name for name, _ in run] for run in runs] == [["hold", "a", "b"]] * 8
    assert len({b - a for _, (_, a), (_, b) in runs}) == 8


def test_what_lies_beyond_the_window_counts() -> None:
    hold, large = app("hold", ("write", 2)), app("large", ("compute", 1), ("write", 50))
    far = app("far", ("compute", 1), ("write", 1), ("compute", 100))
    assert [name for name, _ in served(scenario(hold, large, far, end=6), "list-most-remaining")][1] == "far"
    endless = app("endless", ("compute", 1), ("write", 1), times="forever")
    assert [name for name, _ in served(scenario(hold, far, endless, end=6), "list-most-remaining")][1] == "endless"
    assert [name for name, _ in served(scenario(hold, endless, far, end=6), "list-shortest-remaining")][1] == "far"


def test_an_endless_job_is_judged_by_its_loop() -> None:
    once = [{"compute": 9.0}, {"write": 1.0}]
    loop = {"repeat": "forever", "phases": [{"compute": 1.0}, {"write": 2.0}, {"write": 0.0}, {"compute": 0.5}]}
    jobs = jobs_of(scenario({"name": "a", "phases": [*once, loop]}, end=99))
    assert jobs["a"].mean() == (1.5, 2.0)
    assert jobs["a"].first_posting() == 9
    assert [jobs["a"].started_alone(end) for end in (9, 14.5, 18, 18.1)] == [0, 2, 3, 4]  # at 9, 11, 14.5, 18


TWO_TURNS = scenario(
    app("slow", ("compute", 3), ("write", 1), times=2), app("quick", ("compute", 1), ("write", 1), times=2)
)


def test_turns_wait() -> None:
    for sharing in ("periodic-fifo", "periodic-johnson"):
        assert served(TWO_TURNS, sharing) == [("quick", 1), ("slow", 3), ("quick", 4), ("slow", 7)]
    # slow first: its second operation is posted at 7, quick's at 6, which waits.
    sharing = "periodic-most-remaining"
    assert served(TWO_TURNS, sharing) == [("slow", 3), ("quick", 4), ("slow", 7), ("quick", 8)]
    assert completions(TWO_TURNS, sharing) == [8, 9]


def test_the_turn_stays_while_nobody_is_there() -> None:
    document = scenario(
        app("first", ("write", 3), release=10), app("middle", ("write", 2)), app("last", ("write", 1), release=10)
    )
    # The order is first, middle, last; after middle it is last's turn, whenever that comes.
    assert served(document, "periodic-most-remaining") == [("middle", 0), ("last", 10), ("first", 11)]


def test_who_is_released_joins_at_its_place() -> None:
    # By first posting: a, b, late, c. After b it would be c's turn, but late is there by then, and computes until 3.5.
    document = scenario(
        app("a", ("write", 1)),
        app("b", ("write", 1)),
        app("late", ("compute", 2.5), ("write", 1), release=1),
        app("c", ("compute", 4), ("write", 1)),
    )
    assert served(document, "periodic-fifo") == [("a", 0), ("b", 1), ("late", 3.5), ("c", 4.5)]
    document["applications"][3]["phases"][0]["compute"] = 3  # now before late
    assert served(document, "periodic-fifo") == [("a", 0), ("b", 1), ("c", 3), ("late", 4)]


def test_figure_2_of_p2() -> None:
    counts = {"J1": 4, "J2": 4, "J3": 2, "J4": 2, "J5": 1}
    blocks = blocks_of(counts, dict.fromkeys(counts, 1.0))
    assert [" ".join(block) for block in blocks] == ["J2 J1", "J4 J3 J2 J1", "J5 J3 J2 J1", "J4 J2 J1"]


def test_inside_a_block_the_shortest_compute_is_served_first() -> None:
    assert blocks_of({"x": 1, "y": 1, "z": 1}, {"x": 2.0, "y": 3.0, "z": 1.0}) == [["z", "x", "y"]]


def uniform(a: float, b: float, counts: list[int]) -> Document:
    return scenario(*(app(f"j{i}", ("compute", a), ("write", b), times=n) for i, n in enumerate(counts)))


def test_round_robin_takes_what_the_closed_form_says() -> None:
    draw = random.Random(1)
    for _ in range(300):
        a, b = draw.choice([0.0, draw.randint(1, 9), draw.uniform(0, 9)]), draw.choice([1, draw.uniform(0.1, 5)])
        counts = [draw.randint(1, draw.choice([1, 3, 6])) for _ in range(draw.randint(1, 6))]
        result = simulate(uniform(a, b, counts), "hierarchical-round-robin")
        assert result["makespan"] == pytest.approx(round_robin_makespan(a, b, counts), rel=1e-12), (a, b, counts)


def test_round_robin_waits_for_a_release() -> None:
    document = scenario(app("x", ("write", 1)), app("y", ("write", 1), release=5))
    assert served(document, "hierarchical-round-robin") == [("y", 5), ("x", 6)]


def test_after_the_plan_the_oldest_posting_is_next() -> None:
    jobs = app("a", ("compute", 2), ("write", 1)), app("b", ("compute", 1), ("write", 1)), app("c", ("write", 1))
    assert [name for name, _ in served(scenario(*jobs), follow(["a"]))] == ["a", "c", "b"]
    assert [name for name, _ in served(scenario(*jobs), follow([]))] == ["c", "b", "a"]
    assert served(scenario(*jobs), follow(["a", "b", "c"])) == [("a", 2), ("b", 3), ("c", 4)]
