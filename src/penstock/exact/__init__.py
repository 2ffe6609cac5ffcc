"""The exact optimum: the shortest schedule with one operation at a time, with a proof or a bound."""

from penstock.exact.result import Optimum
from penstock.exact.search import optimum

__all__ = ["Optimum", "optimum"]
