"""`penstock loadtest` with the agents of a whole machine: some in processes of their own, the others virtual.

- `cycles`: the test: bring all in, change the capacity again and again, and see when the last agent has its new rate.
- `virtual`: agents that share this process, each with its own connection.
- `host`: a process that forks agents, as `penstock node` runs them.
"""
