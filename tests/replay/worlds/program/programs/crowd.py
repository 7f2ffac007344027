"""Two hundred agents at once with the same prompt, and a question that depends on the answer."""

import asyncio
import os

from openai import AsyncOpenAI

AGENTS, ROUNDS = int(os.environ.get("AGENTS", "200")), 2
client = AsyncOpenAI(api_key="sk-secret-of-crowd", max_retries=20)


async def agent(number: int) -> str:
    chat = [{"role": "user", "content": f"Round {number}: will you pay the tax?"}]
    answer = await client.chat.completions.create(model="m", messages=chat)
    chat.append({"role": "assistant", "content": answer.choices[0].message.content})
    chat.append({"role": "user", "content": "Why?"})
    why = await client.chat.completions.create(model="m", messages=chat)
    return f"{chat[1]['content']}: {why.choices[0].message.content}"


async def main() -> None:
    for number in range(ROUNDS):
        for k, said in enumerate(await asyncio.gather(*[agent(number) for _ in range(AGENTS)])):
            print(number, k, said)


asyncio.run(main())
