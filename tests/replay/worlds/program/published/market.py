"""Pydantic AI 2: buyers at once whose answers must have a form."""

import asyncio

from pydantic import BaseModel
from pydantic_ai import Agent


class Offer(BaseModel):
    good: int
    gold: int


buyer = Agent("openai-chat:m", output_type=Offer, instructions="You buy.", retries=3)


async def main() -> None:
    for number in range(4):
        offers = [buyer.run(f"Day {number}: what do you offer?") for _ in range(4)]
        print(number, [result.output for result in await asyncio.gather(*offers)])


asyncio.run(main())
