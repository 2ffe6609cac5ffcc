"""JSON Schemas of what `--json` prints and of scenario files, for those who read them with programs.

`samples` and `live_samples` call every command, `documents` says by which types an answer was made, and `derive` makes
a schema of both: keys and nesting are those of real answers, what a value may be is what its type says. So a field
that a dataclass gains needs no change here: `python -m scripts.schemas` writes `docs/reference/schemas` anew.
"""
