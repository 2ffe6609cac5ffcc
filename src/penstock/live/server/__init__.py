"""The controller as a process: sockets, identities, quotas, the log, and the turn that joins core and journal.

`run.serve` is the way in. Nothing is imported here, since jobs read their tokens with `tokens` and must start fast.
"""
