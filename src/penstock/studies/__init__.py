"""Studies: the Python faces, one per question that a user asks. Each compiles, runs, measures, and returns a result.

- `share`: what each sharing policy gives (`simulate`, `compare`); `decision`: one decision.
- `optimum`: the shortest exclusive schedule; `schedules`: schedules as files, to keep and to follow.
- `packs`: which jobs together on which I/O node; `targets`: how many storage targets, and which.
- `sizing`: how large a burst buffer must be; `buffers`: what one of a given size gives.
- `profiles`: bandwidth against the number of targets, from measurements.

`study` is a scenario compiled once for all runs of a study. Start reading with `share`: all others have its shape.
"""
