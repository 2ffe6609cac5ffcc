"""The workload of P3 Table 1 (§6.1): five applications that P3 ran on the Tucan cluster to compare list policies.

All need the same time alone, 10,500 s per batch, cut into iterations of different length. An iteration batch multiplies
the number of iterations; a fraction shortens the run.

The bandwidth is 1, so that seconds of I/O are volumes. P3 does not say how many nodes an application had, only that
all ran at once: here each has one, on an I/O node for five.
"""

from __future__ import annotations

from typing import Annotated

from penstock.model import IoNodes, Platform, Scenario
from penstock.workloads.chains import chain
from penstock.workloads.registry import Accepted, generator

TABLE_1 = (  # iterations, seconds of compute, seconds of I/O
    (250, 32.0, 10.0),
    (500, 16.0, 5.0),
    (1000, 8.0, 2.5),
    (1000, 8.0, 2.5),
    (500, 16.0, 5.0),
)


@generator("tucan", source="P3 §6.1.1")
def tucan(
    batches: Annotated[float, Accepted("a number from 1e-6 to 10,000", lambda value: 1e-6 <= value <= 10_000)] = 1.0,
) -> Scenario:
    """Five applications of equal length alone but short to long iterations; `batches` multiplies their number."""
    applications = tuple(
        chain(f"a{i}", max(1, round(iterations * batches)), compute, io)
        for i, (iterations, compute, io) in enumerate(TABLE_1, start=1)
    )
    return Scenario(
        version=1,
        platform=Platform(bandwidth=1.0, io_nodes=IoNodes(count=1, bandwidth=1.0, nodes=len(TABLE_1))),
        applications=applications,
    )
