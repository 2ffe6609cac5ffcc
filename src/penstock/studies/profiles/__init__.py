"""Profiles b(n), how fast an application is on n targets: read from measurements, fitted, sorted into classes (P4)."""

from penstock.studies.profiles.classes import CLASSES, ClassProfile, class_of, class_profiles, fastest, known
from penstock.studies.profiles.fit import SHAPES, fit_profiles
from penstock.studies.profiles.profiles import Profiles
from penstock.studies.profiles.read import TAKES, read_profiles
from penstock.studies.profiles.save import save_profiles

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
