"""Mesa: a Network lays its cells out by numpy's global generator, whatever its `random` is."""

import random

import networkx as nx
from mesa.discrete_space import Network

for run in (1, 2):
    grid = Network(nx.path_graph(3), random=random.Random(1))
    print(f"run {run}, random.Random(1):", [float(x) for x in next(iter(grid.all_cells)).position])
