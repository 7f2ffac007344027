"""OpenAI's Agents SDK 0.24: traders at once, each with a tool, and a handoff."""

import asyncio

from agents import Agent, Runner, function_tool, set_default_openai_api, set_tracing_disabled

set_default_openai_api("chat_completions")
set_tracing_disabled(True)


@function_tool
def price(good: int) -> str:
    """The price of a good."""
    return f"good {good} costs {good % 9} gold"


async def main() -> None:
    trader = Agent(name="Trader", instructions="You trade.", model="m", tools=[price])
    for number in range(3):
        trades = [Runner.run(trader, f"Day {number}: what do you sell?") for _ in range(4)]
        for result in await asyncio.gather(*trades):
            print(number, result.final_output, len(result.new_items))


asyncio.run(main())
