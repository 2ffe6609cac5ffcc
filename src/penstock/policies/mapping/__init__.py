"""Mapping: which jobs run together, on which I/O node, and when (P3). One small file per rule, on plain arrays."""
