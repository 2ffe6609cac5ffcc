"""What jobs have lost that compute right now: the controller tells it to policies that look at the losses of all.

A job that computes loses nothing: the seconds that it has lost stand still, its age does not. They are noted for each
when it comes and when a phase of it is over, so that those who do nothing cost a decision next to nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from penstock.kernels.arrays import Floats, Ints
from penstock.live.core.members import App
from penstock.policies.sharing.rules import losses


class Losses:
    """Lost seconds and release of every application that computes, by its place; NaN for all others."""

    def __init__(self) -> None:
        self._lost = np.full(16, np.nan)
        self._release = np.zeros(16)

    def put(self, app: App) -> None:
        """Take in what has changed about an application."""
        while app.place >= self._lost.size:
            self._lost = np.concatenate([self._lost, np.full(self._lost.size, np.nan)])
            self._release = np.concatenate([self._release, np.zeros(self._release.size)])
        computes = bool(app.members) and not app.active
        self._lost[app.place] = app.since - app.release - app.progress if computes else np.nan
        self._release[app.place] = app.release

    def remove(self, app: App) -> None:
        """It is known no more."""
        if app.place < self._lost.size:
            self._lost[app.place] = np.nan

    def renew(self, apps: Iterable[App]) -> None:
        """The places of all have changed."""
        self._lost[:] = np.nan
        for app in apps:
            self.put(app)

    def mean(self, now: float, application: Ints, release: Floats, progress: Floats) -> float:
        """The mean of 1 - yield over those that compute and those that policies are shown, in these columns."""
        computing = np.flatnonzero(~np.isnan(self._lost))
        ages = now - self._release[computing]
        if np.unique(application).size < application.size:
            # A job with several routes is there once, as far as it is with the first to finish.
            order = np.lexsort((-progress, application))
            first = order[np.unique(application[order], return_index=True)[1]]
            release, progress = release[first], progress[first]
        shown = now - release
        lost = np.concatenate([self._lost[computing], shown - progress])
        age = np.concatenate([ages, shown])
        return float(losses(lost, age).sum() / max(1, age.size))
