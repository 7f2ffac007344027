"""As crowd.py, over a thread for each agent."""

import os
from concurrent.futures import ThreadPoolExecutor

from openai import OpenAI

AGENTS, ROUNDS = int(os.environ.get("AGENTS", "200")), 2
client = OpenAI(api_key="sk-secret-of-crowd3", max_retries=20)


def agent(number: int) -> str:
    chat = [{"role": "user", "content": f"Round {number}: will you pay the tax?"}]
    answer = client.chat.completions.create(model="m", messages=chat)
    chat.append({"role": "assistant", "content": answer.choices[0].message.content})
    chat.append({"role": "user", "content": "Why?"})
    why = client.chat.completions.create(model="m", messages=chat)
    return f"{chat[1]['content']}: {why.choices[0].message.content}"


with ThreadPoolExecutor(AGENTS) as pool:
    for number in range(ROUNDS):
        for k, said in enumerate(pool.map(agent, [number] * AGENTS)):
            print(number, k, said)
