"""A group chat of AutoGen 0.7: three farmers with a tool, one of whom streams."""

import asyncio

from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.conditions import MaxMessageTermination
from autogen_agentchat.teams import RoundRobinGroupChat
from autogen_ext.models.openai import OpenAIChatCompletionClient

INFO = {
    "vision": False, "function_calling": True, "json_output": False, "family": "unknown",
    "structured_output": False,
}  # fmt: skip


def harvest(field: int) -> str:
    """Harvest a field."""
    return f"field {field} gave {field % 7} bushels"


async def main() -> None:
    client = OpenAIChatCompletionClient(model="m", model_info=INFO, max_retries=9)
    farmers = [
        AssistantAgent(name, client, tools=[harvest], model_client_stream=name == "Bram")
        for name in ("Ada", "Bram", "Cleo")
    ]
    team = RoundRobinGroupChat(farmers, termination_condition=MaxMessageTermination(25))
    async for message in team.run_stream(task="Which field do you harvest?"):
        print(getattr(message, "source", None), getattr(message, "content", None))


asyncio.run(main())
