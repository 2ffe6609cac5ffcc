"""Kernels: compiled functions on plain arrays, and what they are built with. Nothing here knows a scenario or a policy.

- `compile`: the decorators `kernel` and `inlined`, and where compiled code is kept. Start reading here.
- `arrays`: the names of array types, and the tolerance of instants and rates.
- `fingerprint`: what a compiled function is made of, so that the same one is compiled once.
- `heap`, `tournament`: which of many times comes next.
"""
