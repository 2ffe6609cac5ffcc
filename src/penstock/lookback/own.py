"""`python -m penstock.lookback.own DIR JOB UID`: why a job of a user waited, as the controller tells that user.

A process of its own: a journal of a week takes seconds to read, and leases must not wait for that.
"""

from __future__ import annotations

import json
import os
import sys

from penstock.errors import PenstockError
from penstock.lookback.explain import explain

MOST = 1000  # operations, the last ones


def main(folder: str, job: str, uid: str) -> int:
    """Print the explanation, or in one sentence why there is none."""
    os.nice(10)
    try:
        told = explain(folder, job, int(uid)).to_dict()
    except PenstockError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps({**told, "operations": told["operations"][-MOST:]}))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
