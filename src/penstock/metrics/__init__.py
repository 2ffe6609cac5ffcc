"""Metrics: what a run is worth, and what no policy could beat. Names are those of the JSON.

- `measure`: from what happened in a run to a `result`; `losses`: node-hours lost, the worst job;
  `evenness`: how even a run was over time, for those who ask.
- `bounds`: upper bounds on the minimum yield, with `earliest_deadline` and `capped_fit`; `weight`: P2's I/O weight.

Reads the engine's arrays and knows no scenario. Start reading with `measure`.
"""
