"""Mesa 3.3: which alliance an agent joins depends on addresses in memory."""

from mesa.examples.advanced.alliance_formation.model import MultiLevelAllianceModel

for run in (1, 2):
    model = MultiLevelAllianceModel(seed=1)
    for _ in range(5):
        model.step()
    edges = sorted(tuple(sorted(edge)) for edge in model.network.edges)
    print(f"run {run}, seed=1: {len(edges)} edges, sum of products {sum(a * b for a, b in edges)}")
