"""A game whose state has what is hard to draw: numbers of every size, long grids and words."""

import goldrush
from goldrush import Agent, policy, setting, within

WORD = "Donaudampfschifffahrtsgesellschaft" * 4


class Extremes(goldrush.Game):
    """What do extremes look like?"""

    rounds = setting(3, 1, 100)
    agents = setting(13, 1, 100)

    class State(goldrush.State):
        few: list[list[float | None]]
        shades: list[list[float]]
        wide: list[list[int]]
        tall: list[list[int]]
        words: list[list[str]]
        grown: list[list[str]]
        money: list[float]
        largest: float
        smallest: float
        digits: float
        close: float
        whole: int
        a_field_whose_name_has_very_many_letters_and_more_than_a_phone_has_room_for: float

    class Move(goldrush.Submission):
        n: int = within(0, 9)

    class Moved(goldrush.Event):
        agent: Agent
        word: str
        says = "{agent} says {word:plain} and " + WORD

        def apply(self, state):
            sign = (-1) ** self.agent
            state.wide[self.agent % 5][self.agent] = self.agent % 2
            if state.unit > 1:
                state.grown = [["a", "b", "c"], ["c", "b", "a"]]
            state.money[self.agent] = sign * state.unit / 5 * 1e308
            state.largest = sign * state.unit * 8e307
            state.smallest = -1e-300 * (state.unit + 1)
            state.close = 1e16 + 2 * state.unit
            name = "a_field_whose_name_has_very_many_letters_and_more_than_a_phone_has_room_for"
            setattr(state, name, 0.5 * state.unit)

    def start(self):
        return self.State(
            few=[[None, 1e308, -1e-300]],
            shades=[[(-1.0) ** n * 1.7e308 / (n + 1) for n in range(20)]],
            wide=[[0] * 1000 for _ in range(5)],
            tall=[[n % 3] * 5 for n in range(1000)],
            words=[["", "", "b"], ["a", "b", " "]],
            grown=[],
            money=[0.0] * self.agents,
            largest=0.0, smallest=-1e-300, digits=12345678901.23456, close=1e16,
            whole=123456789012,
            a_field_whose_name_has_very_many_letters_and_more_than_a_phone_has_room_for=0.0,
        )  # fmt: skip

    def score(self, state, agent):
        return state.money[agent]

    def decide(self, state, asked, draw):
        for one in asked:
            yield self.Moved(one.agent, WORD)

    @policy
    def zero(self, seen, agent, draw):
        return self.Move(1)
