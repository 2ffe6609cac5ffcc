"""The live controller: running jobs announce their I/O, and it grants rates by the policies of the simulator.

- `core`: all rules, without input or output: events in, records and messages out. Start reading with `core.core`.
- `server`: the process around it: listeners, handshake, quotas, log, metrics, and the turn that joins core and journal.
- `journal`: every change written before anybody is told of it; recovery, replay, retention.
- `loadtest`: thousands of clients against a controller; `admin`: how operators' commands speak to it.

Never imports the engine: the two share policies. Looking back at a journal is `penstock.lookback`.
"""
