"""Whose bandwidth the controller gives out: a tree of accounts and their users, as in a batch system's fair share.

Policies run inside what a user gets. Accounts with something to move get the capacity in proportion to their shares,
and so do the users of an account; what somebody cannot use goes to the others. Nobody gets above its limit, if it has
one. Only the batch system, a signed token or an operator says which account a job belongs to; without their word a job
is in the account "".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from penstock.live.core.filling import water_filled

Owner = tuple[str, int]  # account, uid


@dataclass(frozen=True, slots=True)
class Share:
    """What one account, or one user of it, is given: a weight among its like, and the most that it gets (bytes/s)."""

    account: str = ""
    uid: int | None = None  # None: the account itself
    weight: float = 1.0
    limit: float | None = None


class Tree:
    """All shares; whoever is not named has the weight 1 and no limit."""

    def __init__(self, shares: Iterable[Share]) -> None:
        self._named = {(share.account, share.uid): share for share in shares}

    def divide(self, capacity: float, wanted: Mapping[Owner, float], had: Mapping[Owner, float]) -> dict[Owner, float]:
        """What every owner may use of a capacity, if it can use so much; `had` is what it has by earlier divisions."""
        users: defaultdict[str, list[Owner]] = defaultdict(list)
        for owner in sorted(wanted):
            users[owner[0]].append(owner)
        able = {owner: min(wanted[owner], self._left(*owner, had.get(owner, 0.0))) for owner in wanted}
        accounts = list(users)
        most = [self._most(name, users[name], able, had) for name in accounts]
        parts = water_filled(capacity, [self._weight(name, None) for name in accounts], most)
        given: dict[Owner, float] = {}
        for name, part in zip(accounts, parts, strict=True):
            weights = [self._weight(*owner) for owner in users[name]]
            inside = water_filled(part, weights, [able[owner] for owner in users[name]])
            given.update(zip(users[name], inside, strict=True))
        return given

    def _most(
        self, account: str, users: Sequence[Owner], able: Mapping[Owner, float], had: Mapping[Owner, float]
    ) -> float:
        has = sum(rate for owner, rate in had.items() if owner[0] == account)
        return min(sum(able[owner] for owner in users), self._left(account, None, has))

    def _left(self, account: str, uid: int | None, has: float) -> float:
        share = self._named.get((account, uid))
        return inf if share is None or share.limit is None else max(0.0, share.limit - has)

    def _weight(self, account: str, uid: int | None) -> float:
        share = self._named.get((account, uid))
        return 1.0 if share is None else share.weight
