"""A game whose every text moves the cursor of a terminal."""

import goldrush
from goldrush import Agent, measure, policy, setting

EVIL = "\x1b[31m\x1b[2J\x07\x00\u202eevil"


class Evil(goldrush.Game):
    """What a terminal must not be given."""

    rounds = setting(2, 1, 9)
    agents = setting(2, 1, 9)
    treatments = {"mild": (f"as the others{EVIL}", {"rounds": 1})}

    class State(goldrush.State):
        words: dict[str, str]
        sums: dict[str, float]

    class Asked(goldrush.Submission):
        words: str

    class Told(goldrush.Event):
        agent: Agent
        words: str
        says = "{agent} says {words}" + EVIL

        def apply(self, state):
            state.words[f"{self.agent}{EVIL}"] = self.words
            state.sums[EVIL] = state.sums.get(EVIL, 0) + 1

    def start(self):
        return self.State(words={}, sums={})

    def decide(self, state, asked, draw):
        for one in asked:
            if draw.chance(0.5, f"coin{EVIL}", one.agent):
                yield self.Told(one.agent, one.words)
        draw.choice(["a", "b"], EVIL)

    def score(self, state, agent):
        return agent

    @policy
    def plain(self, seen, agent, draw, part=0.8):
        """Speaks."""
        return self.Asked(EVIL)

    @measure(f"said{EVIL}")
    def said(self, state):
        """What was said."""
        return sum(state.sums.values())
