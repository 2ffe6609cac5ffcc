"""Attacks: small scenarios on which one sharing policy does as badly as can be found against another.

`search.py` is the Python face of `penstock attack`; `draws.py` makes and changes the scenarios that it tries.
"""

from penstock.studies.attack.search import Attack, attack

__all__ = ["Attack", "attack"]
