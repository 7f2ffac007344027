"""LiteLLM 1.110: an auction with equal bidders at once."""

import asyncio
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the network when imported

import litellm


async def bid(number: int) -> str:
    chat = [{"role": "user", "content": f"Round {number}: what do you bid?"}]
    answer = await litellm.acompletion("openai/m", chat, max_retries=9)
    return answer.choices[0].message.content


async def main() -> None:
    for number in range(4):
        print(number, await asyncio.gather(*[bid(number) for _ in range(5)]))


asyncio.run(main())
