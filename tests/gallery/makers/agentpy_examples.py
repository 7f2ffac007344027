"""agentpy's examples as objects with `step()`: a step of theirs is only a part of one."""

import agentpy
from agentpy.examples import SegregationModel, WealthModel


class Running:
    """A model between its steps."""

    def __init__(self, model: agentpy.Model, seed: int) -> None:
        self.model = model
        model.sim_setup(steps=1000, seed=seed)
        del model.output.info["time_stamp"]  # of the run, on purpose

    def step(self) -> None:
        """A step of the simulation."""
        self.model.sim_step()


def wealth(seed):
    return Running(WealthModel({"agents": 100}), seed)


def segregation(seed):
    parameters = {"want_similar": 0.3, "n_groups": 2, "density": 0.95, "size": 30}
    return Running(SegregationModel(parameters), seed)
