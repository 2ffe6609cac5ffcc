"""The controller lets policies of a site's own decide in another process, where they can be stopped whatever they do.

Those of penstock's tables decide in the controller. The others are asked over two pipes; a process that is ended by its
own timer has taken too long, and the core has fair-share decide from then on.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from dataclasses import replace
from typing import Any

from penstock.errors import PolicyError
from penstock.kernels.arrays import Floats
from penstock.live.core.decide import OutOfTime
from penstock.live.server.policy_worker import READY, packed, receive, send, unpacked
from penstock.live.server.time_limit import CPU, WALL
from penstock.policies.sharing import NAMES, Sharing, View, find

_ENDED = {-signal.SIGVTALRM: CPU, -signal.SIGALRM: WALL}  # by a timer of its own, after so many seconds


class PolicyProcess:
    """One policy, asked in a process of its own."""

    def __init__(self, name: str) -> None:
        command = [sys.executable, "-m", "penstock.live.server.policy_worker", name]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdin is not None and self._process.stdout is not None
        self._ask, self._hear = self._process.stdin, self._process.stdout
        if self._hear.readline().strip() != READY:
            self.close()
            raise PolicyError(f"sharing policy {name!r} does not start in a process of its own; see standard error")

    @property
    def alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def decide(self, view: View, rates: Floats) -> Any:
        """As the policy's own function; OutOfTime if it took too long."""
        try:
            send(self._ask, packed(view))
            answer = receive(self._hear)
        except (EOFError, BrokenPipeError):
            raise self._ended() from None
        except BaseException:
            self.close()  # an answer that nobody waits for would be taken for that to the next question
            raise
        given, memory, kind, words = answer
        if words is not None:
            raise type(kind, (Exception,), {})(words)
        rates[:], view.memory[:] = unpacked([given, memory])
        return type(kind, (), {})() if kind else None

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._ask, self._hear):
            pipe.close()

    def _ended(self) -> BaseException:
        code = self._process.wait()
        if code in _ENDED:
            return OutOfTime(_ENDED[code])
        return ChildProcessError(f"its process has ended (exit code {code})")


class PolicyProcesses:
    """Finds policies, and starts a process for each that is not penstock's own; one that has ended is started anew."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[PolicyProcess, Sharing]] = {}

    def find(self, name: str) -> Sharing:
        """A policy, ready to be asked."""
        policy = find(name)
        if policy.name in NAMES:
            return policy
        if name not in self._known or not self._known[name][0].alive:
            process = PolicyProcess(name)
            self._known[name] = process, replace(policy, decide=process.decide, compiled=False)
        return self._known[name][1]

    def close(self) -> None:
        """End them all."""
        for process, _ in self._known.values():
            process.close()
        self._known.clear()
