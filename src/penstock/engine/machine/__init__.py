"""The loop of a whole machine: I/O nodes, burst buffer, targets and file system under one plan (models §9).

- `network` (what does not change: resources, flows, paths), `state`, `pool` (who holds what in the buffer) and `rules`
  (which policy shares what), all in one record: `whole`.
- `loop`: from event to event; `lives`: what happens to an application; `motion`: flows come, move and go; `buffer`.
- Decisions: `deciding`, of all that flows join, with `through` behind a buffer. Rates: `levels` where all share alike,
  `solve` in rounds, of which `asking` has the policies' part; `standing` is what these are told; `filling`.
- `execution` is the Python face, `watching` looks where bytes are meanwhile.
"""
