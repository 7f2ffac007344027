"""A village as papers simulate them: memory, gossip, reflection, and gold that changes hands.

Each agent acts on what it remembers, all at once; then pairs talk, and each remembers what the
other said. Every third round an agent sums up its memory. Notes are taken where goldrush is.
"""

import asyncio
import random
from dataclasses import dataclass, field

from openai import AsyncOpenAI

try:
    from goldrush import note
except ImportError:

    def note(name: str, value: object) -> None:
        pass


ROUNDS = 6
NAMES = ("Ada", "Bram", "Cleo", "Dmitri", "Esra")
client = AsyncOpenAI(api_key="sk-secret-of-society", max_retries=9)


@dataclass
class Villager:
    name: str
    gold: int = 10
    memory: list[str] = field(default_factory=list)

    async def ask(self, question: str) -> str:
        remembered = "\n".join(self.memory[-6:]) or "Nothing yet."
        system = f"You are a villager with {self.gold} gold. You remember:\n{remembered}"
        chat = [{"role": "system", "content": system}, {"role": "user", "content": question}]
        answer = await client.chat.completions.create(model="m", messages=chat, temperature=1)
        return answer.choices[0].message.content

    async def talk(self, other: "Villager") -> str:
        said = await self.ask(f"What do you tell {other.name}?")
        replied = await other.ask(f"{self.name} says: {said}. What do you answer?")
        other.memory.append(f"{self.name} said: {said}")
        self.memory.append(f"{other.name} said: {replied}")
        return f"{self.name} to {other.name}: {said} / {replied}"

    async def reflect(self) -> None:
        self.memory = [await self.ask("Sum up what you remember in one sentence.")]


async def main() -> None:
    rng, village = random.Random(3), [Villager(name) for name in NAMES]
    for number in range(ROUNDS):
        note("round", number)
        moves = await asyncio.gather(
            *[one.ask("Share with the others or take?") for one in village]
        )
        for one, move in zip(village, moves, strict=True):
            takes = move.startswith("defect")
            one.gold += 2 if takes else -1
            one.memory.append(f"Round {number}: I {'took' if takes else 'shared'}.")
            print(number, one.name, move)
        rng.shuffle(village)
        pairs = zip(village[::2], village[1::2], strict=False)
        for line in await asyncio.gather(*[one.talk(other) for one, other in pairs]):
            print(number, line)
        if number % 3 == 2:
            await asyncio.gather(*[one.reflect() for one in village])
        note("gold", [one.gold for one in sorted(village, key=lambda one: one.name)])
    for one in sorted(village, key=lambda one: one.name):
        print(one.name, one.gold, one.memory)


asyncio.run(main())
