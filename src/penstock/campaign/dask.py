"""The workers of a Dask scheduler that somebody has started: `--on dask=ADDRESS`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from penstock.campaign.executor import Executor, LostUnit, Perform
from penstock.campaign.perform import RunRow
from penstock.campaign.remote import Elsewhere, need, say
from penstock.campaign.units import Unit
from penstock.errors import InvalidOption


def make(argument: str, workers: int | None) -> Executor:
    """The workers at an address."""
    need("dask", "distributed")
    if not argument:
        raise InvalidOption("--on dask lacks the address of a scheduler, as in --on dask=tcp://10.0.0.1:8786")
    if workers is not None:
        raise InvalidOption("--workers is for processes of this machine; a Dask scheduler has the workers it has")
    return Dask(argument)


class Dask(Elsewhere):
    """Workers that others start and end."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.address = address
        self._most = 0
        self._warned = False

    @property
    def words(self) -> str:
        """As in the protocol."""
        return f"{self._most} workers at {self.address}"

    def feed(self, perform: Perform, units: Iterator[Unit]) -> Iterator[tuple[Unit, list[RunRow] | LostUnit]]:
        """Hand units to whatever workers there are."""
        from penstock.campaign.dask_feeder import Feeder, connect  # noqa: PLC0415

        self.show(f"connecting to {self.address}")
        try:
            client = connect(self.address)
        except (OSError, ValueError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise InvalidOption(f"no Dask scheduler answers at {self.address!r} ({reason})") from None
        with client:
            yield from Feeder(client, perform, units, self._watch).outcomes()

    def _watch(self, threads: Mapping[str, int]) -> None:
        if not threads:
            self.waits(f"the scheduler at {self.address} has no workers")
            return
        self.goes_on()
        self._most = max(self._most, len(threads))
        if max(threads.values()) > 1 and not self._warned:
            self._warned = True
            say(
                f"a worker at {self.address} has {max(threads.values())} threads but does one run at a time; start "
                "workers as `dask worker ADDRESS --nthreads 1 --nworkers CORES`"
            )
