"""Mesa: VirusOnNetwork draws its network from networkx's own generator, which nothing seeds."""

from mesa.examples.basic.virus_on_network.model import VirusOnNetwork

for run in (1, 2):
    cells = VirusOnNetwork(num_nodes=30, rng=1).grid.all_cells
    print(f"run {run}, rng=1: {sum(len(cell.connections) for cell in cells) // 2} links")
