"""A public goods game over asyncio: six equal requests that race, a stream, retries."""

import asyncio

from openai import AsyncOpenAI

ROUNDS, AGENTS = 12, 6
client = AsyncOpenAI(api_key="sk-secret-of-sim", max_retries=9)


async def decide(number: int) -> str:
    messages = [{"role": "user", "content": f"round {number}: cooperate or defect?"}]
    answer = await client.chat.completions.create(model="m", messages=messages)
    return answer.choices[0].message.content


async def gossip(gold: list[int]) -> str:
    messages = [{"role": "user", "content": f"what do they say about {gold}?"}]
    for _ in range(9):
        said = ""
        try:
            stream = await client.chat.completions.create(
                model="m", messages=messages, stream=True, stream_options={"include_usage": True}
            )
            async for chunk in stream:
                said += chunk.choices[0].delta.content or "" if chunk.choices else ""
            return said
        except Exception:  # a stream that was cut
            await asyncio.sleep(0)
    raise SystemExit("nobody gossips")


async def main() -> None:
    gold = [10] * AGENTS
    for number in range(ROUNDS):
        moves = await asyncio.gather(*[decide(number) for _ in range(AGENTS)])
        for agent, move in enumerate(moves):
            gold[agent] += 2 if move.startswith("defect") else 1
            print(number, agent, move)
        print(number, "gossip", await gossip(gold))
    print(gold)


asyncio.run(main())
