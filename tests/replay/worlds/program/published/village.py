"""A village of Mesa-LLM 0.2: its agents think and act at once, over LiteLLM."""

import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the network when imported

from mesa import Model
from mesa.space import MultiGrid
from mesa_llm.llm_agent import LLMAgent
from mesa_llm.parallel_stepping import enable_automatic_parallel_stepping
from mesa_llm.reasoning.cot import CoTReasoning
from mesa_llm.tools.tool_decorator import tool


@tool
def pay(agent, gold: int) -> str:
    """Pay a tax.

    Args:
        agent: provided automatically
        gold: how much
    """
    agent.internal_state.append(f"paid {gold}")
    return f"agent {agent.unique_id} paid {gold}"


class Villager(LLMAgent):
    async def astep(self) -> None:
        plan = await self.reasoning.aplan(obs=self.generate_obs(), prompt="Pay the tax.")
        print(self.model.steps, self.unique_id, self.apply_plan(plan))


class Village(Model):
    parallel_stepping = True

    def __init__(self) -> None:
        super().__init__(seed=3)
        self.grid = MultiGrid(3, 3, torus=False)
        for number in range(4):
            villager = Villager(self, CoTReasoning, "openai/m", "You live here.", vision=-1)
            villager.tool_manager.tools = {"pay": pay}
            self.grid.place_agent(villager, (number % 3, 0))

    def step(self) -> None:
        self.agents.shuffle_do("step")


enable_automatic_parallel_stepping()
village = Village()
for _ in range(3):
    village.step()
