"""The load test: how a controller fares with thousands of clients, measured from outside over its real socket."""

from penstock.live.loadtest.arrivals import Arrival, arrive
from penstock.live.loadtest.errors import LoadTestFailed
from penstock.live.loadtest.load_test import Figures, Load, load_test

__all__ = ["Arrival", "Figures", "Load", "LoadTestFailed", "arrive", "load_test"]
