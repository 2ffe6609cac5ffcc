"""What a worker elsewhere does with a chunk of a campaign, and how it makes sure that its results are ours."""

from __future__ import annotations

import contextlib
import pickle
import platform
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from socket import gethostname

from penstock.campaign.canonical import digest
from penstock.campaign.executor import Perform
from penstock.campaign.tasks import find_task
from penstock.campaign.units import PlannedRun, Unit
from penstock.campaign.versions import versions

Identity = tuple[tuple[str, str], ...]
SOURCES = "sources"

_turn = threading.Lock()
_loaded: set[str] = set()


@cache
def identity() -> Identity:
    """What results depend on besides the campaign: versions and, since checkouts of one version differ, the sources."""
    folder = Path(__file__).parent.parent
    pieces: list[str | bytes] = []
    for path in sorted(folder.rglob("*.py")):
        pieces += [str(path.relative_to(folder)), path.read_bytes()]
    python = ".".join(platform.python_version_tuple()[:2])
    return (("Python", python), *versions(), (SOURCES, digest(*pieces)))


class Call:
    """To unpickle it is to call `far_perform`.

    Whoever unpickles a function must have its module. A Dask scheduler without penstock, or a worker, would break over
    ours; so Dask is given `pickle.loads` to call, and what goes wrong in it is a failure like others.
    """

    def __init__(self, perform: Perform, units: tuple[Unit, ...], asker: Identity) -> None:
        self._arguments = (pickle.dumps((perform, units)), asker)

    def __reduce__(self) -> tuple[Callable[..., bytes], tuple[bytes, Identity]]:
        return far_perform, self._arguments


def far_perform(message: bytes, asker: Identity) -> bytes:
    """Pickled: the rows of each unit and the seconds that these took, or a sentence that says why there are none.

    A process does one chunk at a time: the threads of a worker would only wait for each other.
    """
    with _turn:
        if asker != identity():
            return pickle.dumps(_difference(asker))
        perform, units = pickle.loads(message)
        for run in {run.identity: run for unit in units for run in unit.runs}.values():
            _load(run)
        begun = time.perf_counter()
        rows = [perform(unit) for unit in units]
        return pickle.dumps((rows, time.perf_counter() - begun))


def _difference(asker: Identity) -> str:
    """In a sentence, the first thing that is not the same here."""
    pairs = zip(asker, identity(), strict=True)
    name, theirs, ours = next((name, theirs, ours) for (name, theirs), (_, ours) in pairs if theirs != ours)
    found = (
        "other sources of penstock than this machine" if name == SOURCES else f"{name} {ours}, this machine {theirs}"
    )
    return f"the worker on {gethostname()} has {found}; install the same on both, since results must be the same"


def _load(run: PlannedRun) -> None:
    """Load the kernels of a plan, or compile them, so that this counts for no run."""
    if run.identity not in _loaded:
        _loaded.add(run.identity)
        # A policy that cannot be found fails in each of its runs, which say so.
        with contextlib.suppress(Exception, SystemExit):
            find_task(run.plan.task).load(run.plan.options)
