"""For jobs: announce I/O phases and keep to the granted rate. Light to import, and harmless without a controller.

- `phases`, `files`, `aio`: what programs use; `operation`: what all open phases share; `process`: the one link.
- `member`: what the process knows of its grant, without clock or socket: events in, outputs out. Start reading here.
- `link`, `handshake`, `transport`: the thread that talks to the controller.
- `bucket`, `shared_bucket`, `node_bucket`: letting bytes through at a rate, for one process or all of a node.
- `segment`, `lanes`, `bells`, `shim`: shared memory between the owner of a connection and the processes of a job.

Imports `wire` and nothing else of penstock: it is loaded into other people's programs.
"""

from penstock.client.files import Paced, open_paced
from penstock.client.phases import Phase, io_phase, paced
from penstock.client.process import begin

__all__ = ["Paced", "Phase", "begin", "io_phase", "open_paced", "paced"]
