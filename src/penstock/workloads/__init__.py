"""Workloads to run: the papers' generators, by name.

`generators()` lists them, `generate(kind, seed, **settings)` makes a scenario.
"""

from penstock.workloads.registry import Generator, Parameter, generate, generator, generators

__all__ = ["Generator", "Parameter", "generate", "generator", "generators"]
