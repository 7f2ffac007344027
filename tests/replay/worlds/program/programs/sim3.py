"""The same game over a pool of four threads, with a chat that grows."""

from concurrent.futures import ThreadPoolExecutor

from openai import OpenAI

ROUNDS, AGENTS = 12, 6
client = OpenAI(api_key="sk-secret-of-sim3", max_retries=9)
gold = [10] * AGENTS
chat = [{"role": "system", "content": "You play a public goods game with five others."}]


def decide(agent: int) -> str:
    answer = client.chat.completions.create(model="m", messages=chat)
    return answer.choices[0].message.content


with ThreadPoolExecutor(4) as pool:
    for number in range(ROUNDS):
        chat.append({"role": "user", "content": f"Round {number}: cooperate or defect?"})
        moves = list(pool.map(decide, range(AGENTS)))
        for agent, move in enumerate(moves):
            gold[agent] += 2 if move.startswith("defect") else 1
            print(number, agent, move)
        chat.append({"role": "assistant", "content": f"They played: {', '.join(moves)}"})
print(gold)
