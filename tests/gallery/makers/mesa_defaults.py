"""A model of Mesa 3.5 as it is made without arguments: its scenario declares a seed of its own."""

from mesa.examples.advanced.epstein_civil_violence.model import EpsteinCivilViolence


def epstein_civil_violence(seed):
    return EpsteinCivilViolence()
