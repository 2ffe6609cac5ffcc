"""What many applications do, as an image: where single spans cannot be told apart, every pixel mixes their colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.report.parts.bands import present_shares, time_shares
from penstock.report.parts.groups import GROUP_COLOURS
from penstock.report.parts.theme import COMPUTE, WAITING

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.engine.timeline import Timeline
    from penstock.kernels.arrays import Ints

_SHADES = 16  # of a pixel between two states: enough for the eye, and files compress well


def state_pixels(timeline: Timeline, groups: Ints, columns: int) -> NDArray[np.uint8]:
    """Five lines for each application, the last of them empty, by `columns`, by red, green, blue and opacity."""
    at = np.linspace(timeline.begin, timeline.end, columns + 1)
    moving, waiting = (np.round(_SHADES * share) / _SHADES for share in time_shares(timeline, at))
    computing = np.clip(present_shares(timeline, at) - moving - waiting, 0.0, 1.0)
    colours = np.array([_rgb(colour) for colour in GROUP_COLOURS])[groups]
    weights = np.stack([moving, waiting, COMPUTE[3] * computing])
    alpha = np.clip(weights.sum(axis=0), 0.0, 1.0)
    mixed = (
        weights[0][..., None] * colours[:, None, :]
        + weights[1][..., None] * np.array(_rgb(WAITING))
        + weights[2][..., None] * np.array(COMPUTE[:3])
    )
    picture = np.dstack([mixed / np.maximum(alpha, 1e-12)[..., None], alpha])
    stacked = np.stack([picture] * 4 + [np.zeros_like(picture)], axis=1).reshape(-1, columns, 4)
    pixels: NDArray[Any] = np.clip(255 * stacked, 0, 255).astype(np.uint8)
    return pixels


def _rgb(colour: str) -> tuple[float, ...]:
    """The parts of "#rrggbb", each from 0 to 1."""
    return tuple(int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
