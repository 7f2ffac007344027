"""Wolves and sheep of Mesa 3.3, which need a simulator."""

from mesa.examples.advanced.wolf_sheep.model import WolfSheep
from mesa.experimental.devs import ABMSimulator


def wolf_sheep(seed):
    return WolfSheep(simulator=ABMSimulator(), seed=seed)
