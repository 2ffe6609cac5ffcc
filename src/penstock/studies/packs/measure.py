"""Measuring a run: stretches, the split of the processor time, and how far the end is from the bound."""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.policies.mapping import MappingPolicy
from penstock.policies.sharing.policy import Sharing
from penstock.studies.packs.batch import Batch
from penstock.studies.packs.execution import Placed
from penstock.studies.packs.result import Pack, PackedJob, Packing


def measured(
    batch: Batch, mapping: MappingPolicy, sensitivity: float | str | None, policy: Sharing, placed: Placed
) -> Packing:
    """The packing that came of it."""
    machine, real = batch.machine, batch.real_seconds
    stretch = (placed.end - placed.start) / real
    makespan = float(placed.end.max())
    whole = machine.count * machine.nodes * makespan
    busy = float(batch.processors @ real) / whole
    delay = float(batch.processors @ np.maximum(0.0, placed.end - placed.start - real)) / whole
    packs = tuple(_one_pack(batch, placed, stretch, number) for number in range(placed.pack.max() + 1))
    return Packing(
        mapping=mapping.label,
        sensitivity=sensitivity,
        io_nodes=machine.count,
        processors=machine.nodes,
        sharing=policy.label,
        alpha=batch.alpha,
        packs=packs,
        makespan=makespan,
        bound=batch.bound,
        mean_pack_max_stretch=float(np.mean([pack.max_stretch for pack in packs])) if packs else None,
        max_stretch=float(stretch.max()),
        mean_stretch=float(stretch.mean()),
        exec=busy,
        delay=delay,
        idle=max(0.0, 1.0 - busy - delay),
        seconds=placed.seconds,
        jobs=tuple(
            PackedJob(
                name=name,
                io_node=int(placed.node[i]),
                pack=int(placed.pack[i]) if packs else None,
                nodes=int(batch.processors[i]),
                start=float(placed.start[i]),
                end=float(placed.end[i]),
                stretch=float(stretch[i]),
                io_share=float(batch.io[i] / batch.seconds[i]),
            )
            for i, name in enumerate(batch.names)
        ),
    )


def _one_pack(batch: Batch, placed: Placed, stretch: Floats, number: int) -> Pack:
    jobs = np.flatnonzero(placed.pack == number)
    return Pack(
        jobs=tuple(batch.names[job] for job in jobs),
        io_node=int(placed.node[jobs[0]]),
        start=float(placed.start[jobs[0]]),
        end=float(placed.end[jobs].max()),
        max_stretch=float(stretch[jobs].max()),
        processors=int(batch.processors[jobs].sum()),
        load=float(batch.io[jobs].sum() / batch.seconds[jobs].max()),
    )
