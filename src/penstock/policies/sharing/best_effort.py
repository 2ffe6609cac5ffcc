"""Best effort: nobody schedules anything, which is fair share (P2 §5.1)."""

from dataclasses import replace

from penstock.policies.sharing.fair_share import fair_share

best_effort = replace(fair_share, name="best-effort", source="P2 §5.1", rule="No order at all: the same as fair-share.")
