"""Looking back at a journal: why a job waited and behind whom, and what another policy would have given.

- `walk`: a journal record by record, with the state beside it; `phases`: the I/O phases of all jobs.
- `explain`: why a job waited; `traffic`, `shadow`: what was asked for, run again under other policies.
"""
