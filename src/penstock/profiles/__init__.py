"""Profiles b(n), how fast an application is on n targets: read from measurements, fitted, sorted into classes (P4)."""

from penstock.profiles.classes import CLASSES, ClassProfile, class_of, class_profiles, fastest, known
from penstock.profiles.fit import SHAPES, fit_profiles
from penstock.profiles.profiles import Profiles
from penstock.profiles.read import TAKES, read_profiles
from penstock.profiles.save import save_profiles

__all__ = [
    "CLASSES",
    "SHAPES",
    "TAKES",
    "ClassProfile",
    "Profiles",
    "class_of",
    "class_profiles",
    "fastest",
    "fit_profiles",
    "known",
    "read_profiles",
    "save_profiles",
]
