"""A loop over LiteLLM: an auction with equal bidders, first one by one, then at once."""

import asyncio
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else it asks the network when imported

import litellm

ROUNDS, BIDDERS = 4, 5
COMMON = {"model": "openai/m", "api_key": "sk-secret-of-lite", "max_retries": 9}


async def bid(number: int) -> str:
    chat = [{"role": "user", "content": f"Round {number}: what do you bid?"}]
    answer = await litellm.acompletion(messages=chat, **COMMON)
    return answer.choices[0].message.content


async def bids(number: int) -> list[str]:
    return await asyncio.gather(*[bid(number) for _ in range(BIDDERS)])


for number in range(ROUNDS):
    opening = litellm.completion(
        messages=[{"role": "user", "content": f"Open auction {number}."}], **COMMON
    )
    print(number, opening.choices[0].message.content, asyncio.run(bids(number)))
