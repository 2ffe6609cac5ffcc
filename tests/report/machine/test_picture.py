"""The picture of a whole machine: its rows, the bottleneck of each hour, and the same bytes every time."""

from io import BytesIO

import numpy as np
import pytest

from penstock.engine.passage import Passage
from penstock.report.machine.picture import draw_machine
from penstock.report.machine.stages import BUSY, machine_words, row_labels, step_of
from penstock.report.parts.theme import theme
from penstock.report.plots import figure_bytes

HOUR = 3600.0


def passage(hours=4, room=5e12, kinds=("io_node", "io_node", "buffer", "target"), steps=48):
    """The first resource is full in the even hours, the last in the odd ones."""
    names = tuple(f"{kind}:{place}" for place, kind in enumerate(kinds))
    at = np.arange(steps) * hours // steps
    use = np.full((len(kinds), steps), 0.1)
    use[0, at % 2 == 0] = 1.0
    use[-1, at % 2 == 1] = 0.9
    moved = np.linspace(0.0, 9e9, steps)
    return Passage(0.0, hours * HOUR, names, tuple(kinds), use, 1e9 * use, moved, np.full(steps, 1e12), room)


def test_the_bottleneck_of_each_hour():
    found = passage().bottlenecks(HOUR, BUSY)
    assert [(each.start, each.name) for each in found] == [
        (0.0, "io_node:0"), (HOUR, "target:3"), (2 * HOUR, "io_node:0"), (3 * HOUR, "target:3")
    ]  # fmt: skip
    assert [each.use for each in found] == pytest.approx([1.0, 0.9, 1.0, 0.9])


def test_below_half_in_use_nothing_is_a_bottleneck():
    quiet = passage()
    quiet.use[:] = 0.4
    assert {each.name for each in quiet.bottlenecks(HOUR, BUSY)} == {""}
    assert machine_words(quiet, 0.5).endswith("nothing is busy for long")


def test_targets_that_are_alike_are_named_together():
    """Eight stripes of a file are in use alike; the first was called the bottleneck."""
    alike = passage(kinds=("io_node",) + ("target",) * 12)
    alike.use[:] = 0.1
    alike.use[3:8] = 0.9
    assert {each.name for each in alike.bottlenecks(HOUR, BUSY)} == {"target:3–target:7"}
    alike.use[10] = 0.9001
    assert {each.name for each in alike.bottlenecks(HOUR, BUSY)} == {"target:3–target:7, target:10"}
    alike.use[12] = 0.9
    assert {each.name for each in alike.bottlenecks(HOUR, BUSY)} == {"target:3–target:7, target:10 and 1 more"}
    alike.use[0] = 0.9001  # another kind: one of them has to be first
    assert {(each.name, each.kind) for each in alike.bottlenecks(HOUR, BUSY)} == {("io_node:0", "io_node")}


def test_rows_can_be_found_by_the_names_beside_them():
    found = row_labels(passage(kinds=("io_node",) * 2 + ("target",) * 40))
    assert found[:3] == [(0.5, "io_node:0"), (1.5, "io_node:1"), (2.5, "target:2")]
    assert (2 + 4.5, "(40 targets)") in found
    assert [words for _, words in found[-3:]] == ["target:18", "target:26", "target:34"]


def test_the_title_names_who_holds_up_most():
    assert machine_words(passage(hours=3, steps=36), 0.5) == "min yield 0.5000; mostly held up by io_node:0"


def test_what_crosses_a_kind_is_the_sum_of_its_resources():
    found = passage()
    assert found.of_kind("io_node") == pytest.approx(found.rate[:2].sum(axis=0))
    assert found.edges[[0, -1]].tolist() == [found.begin, found.end]


@pytest.mark.parametrize(
    ("kinds", "room", "rows"),
    [
        (("io_node", "io_node", "buffer", "target"), 5e12, 4),
        (("target",) * 40, 0.0, 2),
        (("io_node", "link"), 0.0, 3),
    ],
)
def test_every_stage_has_a_row(kinds, room, rows):
    with theme():
        figure = draw_machine(passage(kinds=kinds, room=room), "fair-share")
    # Stages, the use of resources with its colours, and the strip of bottlenecks.
    assert len(figure.axes) == rows + 3
    assert figure_bytes(figure, "png").startswith(b"\x89PNG")


def test_the_same_picture_is_the_same_file():
    with theme():
        files = [BytesIO(figure_bytes(draw_machine(passage(), "x"), "svg")).getvalue() for _ in range(2)]
    assert files[0] == files[1]


@pytest.mark.parametrize(
    ("length", "step"), [(10.0, 1.0), (3 * HOUR, 1200.0), (12 * HOUR, HOUR), (48 * HOUR, 2 * HOUR)]
)
def test_long_runs_have_long_steps(length, step):
    assert step_of(length) == step
