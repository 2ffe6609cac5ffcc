"""The controller as a process: sockets, identities, quotas, the log, and the turn that joins core and journal.

- `serve`: from a configuration to a controller that listens; `config`: what it is told; `readiness`: what stops it.
- `turn`: gather, step, write, send; start reading here. `protocol`: one connection.
- `listeners`, `tls_listener`, `handshake`, `munge`, `quotas`: who may come in, and how much of it.
- `counters`, `post_times`, `tally`, `metrics`, `log`, `unpaced`: what operators see.
"""
