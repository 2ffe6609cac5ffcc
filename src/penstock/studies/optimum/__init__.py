"""The exact optimum: the shortest schedule with one operation at a time, with a proof or a bound."""

from penstock.studies.optimum.result import Optimum
from penstock.studies.optimum.search import optimum

__all__ = ["Optimum", "optimum"]
