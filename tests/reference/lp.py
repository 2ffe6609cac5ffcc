"""The best minimum yield at a fixed event time as a linear program: an independent judge of `next_event`.

Variables are the bytes x_i moved until t+u and the yield y; maximise y subject to T_i + x_i/b_i ≥ y·(a_i + u),
0 ≤ x_i ≤ min(b_i·u, V_i), Σ x ≤ B·u, and x_k = V_k if k completes.
"""

from __future__ import annotations

from typing import Any

from scipy.optimize import linprog


def best_min_yield(state: dict[str, Any], u: float, completing: str | None = None) -> float:
    """Highest minimum yield at now + u, nobody completing earlier and `completing` (if named) right then."""
    active = state["active"]
    rows, room, bounds = [], [], []
    for i, flow in enumerate(active):
        row = [0.0] * len(active) + [state["now"] - flow["release"] + u]
        row[i] = -1 / flow["bandwidth"]
        rows.append(row)
        room.append(flow["progress"])
        least = flow["remaining"] if flow["name"] == completing else 0.0
        bounds.append((least, min(flow["bandwidth"] * u, flow["remaining"])))
    rows.append([1.0] * len(active) + [0.0])
    room.append(state["capacity"] * u)
    result = linprog([0.0] * len(active) + [-1.0], A_ub=rows, b_ub=room, bounds=[*bounds, (0, None)])
    assert result.status == 0, result.message
    return float(-result.fun)
