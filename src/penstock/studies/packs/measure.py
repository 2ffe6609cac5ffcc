"""What a study of packs measures: stretches, the split of the processor time, how far the end is from the bound."""

from __future__ import annotations

import numpy as np

from penstock.kernels.arrays import Floats
from penstock.metrics.losses import Lives, RunLosses, losses_of
from penstock.policies.mapping import MappingPolicy
from penstock.policies.sharing.policy import Sharing
from penstock.studies.packs.batch import Batch
from penstock.studies.packs.execution import PlacedJobs
from penstock.studies.packs.result import Pack, PackedJob, Packing


def measured(
    batch: Batch, mapping: MappingPolicy, sensitivity: float | str | None, policy: Sharing, placed: PlacedJobs
) -> Packing:
    """The packing that came of it."""
    machine, real = batch.machine, batch.real_seconds
    stretch = (placed.end - placed.start) / real
    wait = placed.start - batch.release
    length = float(placed.end.max())
    whole = machine.count * machine.nodes * length
    busy = float(batch.processors @ real) / whole
    delay = float(batch.processors @ np.maximum(0.0, placed.end - placed.start - real)) / whole
    packs = tuple(_one_pack(batch, placed, stretch, number) for number in range(placed.pack.max() + 1))
    return Packing(
        **vars(_losses(batch, placed, stretch)),
        mapping=mapping.label,
        sensitivity=sensitivity,
        io_nodes=machine.count,
        processors=machine.nodes,
        sharing=policy.label,
        alpha=batch.alpha,
        packs=packs,
        begin=batch.begin,
        makespan=batch.begin + length,
        bound=batch.begin + batch.bound,
        mean_pack_max_stretch=float(np.mean([pack.max_stretch for pack in packs])) if packs else None,
        max_stretch=float(stretch.max()),
        mean_stretch=float(stretch.mean()),
        mean_wait=float(wait.mean()),
        max_wait=float(wait.max()),
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
                start=batch.begin + float(placed.start[i]),
                end=batch.begin + float(placed.end[i]),
                stretch=float(stretch[i]),
                io_share=float(batch.io[i] / batch.seconds[i]),
                release=batch.begin + float(batch.release[i]),
                wait=float(wait[i]),
            )
            for i, name in enumerate(batch.names)
        ),
    )


def _losses(batch: Batch, placed: PlacedJobs, stretch: Floats) -> RunLosses:
    """What was lost while jobs ran: waiting in the queue holds no nodes."""
    nodes, there = batch.processors.astype(float), placed.end - placed.start
    nobody = np.zeros(there.size, bool)
    return losses_of(Lives(batch.names, nodes, there, batch.real_seconds, 1.0 / stretch, stretch, nobody))


def _one_pack(batch: Batch, placed: PlacedJobs, stretch: Floats, number: int) -> Pack:
    jobs = np.flatnonzero(placed.pack == number)
    return Pack(
        jobs=tuple(batch.names[job] for job in jobs),
        io_node=int(placed.node[jobs[0]]),
        start=batch.begin + float(placed.start[jobs[0]]),
        end=batch.begin + float(placed.end[jobs].max()),
        max_stretch=float(stretch[jobs].max()),
        processors=int(batch.processors[jobs].sum()),
        load=float(batch.io[jobs].sum() / batch.seconds[jobs].max()),
    )
