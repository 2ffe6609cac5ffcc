"""Darshan logs: read through the C library of the `darshan` wheel, each file's bytes counted once, logs made jobs.

Start with `log.read_log` (one file), then `layers` (which records count), `evidence` (when the bytes moved) and `jobs`
(which logs are one job). Nothing here imports PyDarshan's Python, which would load pandas.
"""
