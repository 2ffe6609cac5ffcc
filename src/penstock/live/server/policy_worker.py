"""The process in which a policy of a site's own decides: `python -m penstock.live.server.policy_worker NAME`.

It reads Views and writes rates, one after the other. For each decision it sets two timers on itself whose signals it
does not handle, so the kernel ends it when they run out, wherever it is: in Python, asleep, or in a compiled loop that
nothing else could leave.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from traceback import extract_tb
from typing import IO, Any

import msgspec
import numpy as np

from penstock.live.server.time_limit import CPU, WALL
from penstock.policies.sharing import Sharing, View, find
from penstock.policies.sharing.view import empty_view, shut

READY = b"ready"
WARMING = 60.0  # seconds that the first call may take, which compiles
_NUMBER = 4  # bytes of a length


def send(pipe: IO[bytes], document: Any) -> None:
    """Write one document."""
    body = msgspec.msgpack.encode(document)
    pipe.write(len(body).to_bytes(_NUMBER, "big") + body)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Any:
    """Read one; EOFError when there are no more."""
    head = pipe.read(_NUMBER)
    body = pipe.read(int.from_bytes(head, "big")) if len(head) == _NUMBER else b""
    if not body:
        raise EOFError
    return msgspec.msgpack.decode(body)


def packed(fields: Sequence[Any]) -> list[Any]:
    """Numbers, and arrays as their kind and their bytes."""
    return [[each.dtype.char, each.tobytes()] if isinstance(each, np.ndarray) else float(each) for each in fields]


def unpacked(fields: Sequence[Any]) -> list[Any]:
    """The same back; the arrays can be written."""
    return [np.frombuffer(each[1], each[0]).copy() if isinstance(each, list) else each for each in fields]


def decided(policy: Sharing, view: View) -> list[Any]:
    """The rates and what the policy remembers, or what it did wrong: the error's kind, its words, what it returned."""
    rates = np.zeros(view.limit.size)
    try:
        given: Any = policy.decide(shut(view), rates)  # type: ignore[func-returns-value]
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in extract_tb(error.__traceback__)[1:]]
        words = " ".join(str(error).split()) + (f" (line {lines[-1]})" if lines else "")
        return [None, None, type(error).__name__, words]
    return [*packed([rates, view.memory]), "" if given is None else type(given).__name__, None]


def _limit(cpu: float, wall: float) -> None:
    signal.setitimer(signal.ITIMER_VIRTUAL, cpu)
    signal.setitimer(signal.ITIMER_REAL, wall)


def _warm_up(policy: Sharing) -> None:
    """Compile what is compiled at the first call, on a View of one job."""
    _limit(0.0, WARMING)
    view = empty_view(1, policy.settings_array(), np.zeros(policy.memory))
    one = np.ones(1)
    with suppress(Exception, SystemExit):
        policy.decide(
            shut(view._replace(capacity=1.0, nodes=one, limit=one, remaining=one, bandwidth=one)), np.zeros(1)
        )
    _limit(0.0, 0.0)


def main(name: str) -> None:
    """Decide until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the controller sees to its own end, and so to ours
    source, answers = os.fdopen(0, "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a policy prints is no answer
    policy = find(name)
    _warm_up(policy)
    answers.write(READY + b"\n")
    answers.flush()
    with suppress(EOFError, BrokenPipeError):
        while True:
            view = View(*unpacked(receive(source)))
            _limit(CPU, WALL)
            answer = decided(policy, view)
            _limit(0.0, 0.0)
            send(answers, answer)


if __name__ == "__main__":
    main(sys.argv[1])
