"""The loop of the whole machine against the slow, obvious one: the same ends of everything, whatever the plan."""

from hypothesis import example, given

from machines import machines
from outcomes import METRICS, close
from penstock import simulate
from penstock.model import Plan, Scenario
from reference import machine

OF_EACH = ("yield", "completion", "stretch", "compute_done", "transferred", "cut")


def check(document, plan, tolerance=1e-9):
    """Run both and compare all that they tell."""
    known = machine.simulate(document, plan)
    found = simulate(Scenario.from_document(document), plan=Plan.model_validate(plan))
    told = found.to_dict()
    for key in OF_EACH:
        rows = zip(told["applications"], known["applications"], strict=True)
        pairs = [(one[key], other[key]) for one, other in rows]
        close([one for one, _ in pairs], [other for _, other in pairs], tolerance, key)
    close([told[key] for key in METRICS], [known[key] for key in METRICS], tolerance, "all")


def read_or_write(name, kind, volume, bandwidth, release=0.0):
    return {"name": name, "bandwidth": bandwidth, "release": release, "phases": [{kind: volume}]}


# Who passes through is found with as few counted as move, not with all who ask.
DISTURBED = (
    {
        "version": 1,
        "platform": {
            "io_nodes": {"count": 2, "bandwidth": 2.1, "nodes": 64, "interference": [1.0, 0.9, 0.5]},
            "burst_buffer": {"capacity": 3, "bandwidth": 7},
        },
        "applications": [
            read_or_write("a", "read", 6, 5.0),
            read_or_write("b", "write", 1, 5.0, release=0.032165),
            read_or_write("c", "write", 5, 2.0),
            read_or_write("d", "read", 6, 5.0),
        ],
    },
    {
        "mapping": {"a": 1, "b": 0, "c": 1, "d": 1},
        "buffering": {"shares": {"a": 0.0, "b": 0.05, "c": 0.05, "d": 0.0}},
        "sharing": "greedy-com",
    },
)


@example(DISTURBED)
@given(machines())
def test_the_machine_is_the_reference(drawn):
    check(*drawn)
