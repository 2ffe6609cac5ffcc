"""Kernels: compiled functions on plain arrays, and what they are built with. Nothing here knows a scenario or a policy.

- `compile`: the decorators `kernel`, `inlined` and `inner`, and where compiled code is kept. Start reading here.
- `arrays`: the names of array types, and the tolerance of instants and rates.
- `sources`: which files a module is made of: compiled code is good while these stay as they are.
- `fingerprint`: what a compiled function is made of, so that the same one is compiled once.
- `numba_types`: Numba's type of a NamedTuple, from its annotations.
- `pieces`: helpers that are compiled with the kernels that they become part of, and not by themselves.
- `records`: a record that kernels take by its address, however many arrays it has.
- `heap`, `tournament`: which of many times comes next.
"""
