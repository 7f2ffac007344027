"""A game whose state has a field of every kind that a page draws in its own way."""

import goldrush
from goldrush import Agent, phase, policy, setting, within

TEXT = '</script><img src=x onerror="document.title=1">\x1b[2J\u202e'


class Board(goldrush.Game):
    """Who marks how many squares of a board?"""

    rounds = setting(6, 1, 100_000)
    agents = setting(3, 1, 10_000)
    side = setting(6, 1, 1000)

    class State(goldrush.State):
        squares: list[list[int | None]]
        heat: list[list[float]]
        lit: list[list[bool]]
        pairs: list[tuple[int, int]]
        codes: list[int]
        marks: list[int]
        luck: list[float | None]
        notes: list[str]
        partner: list[Agent]
        last: Agent
        marked: int
        mean: float | None
        title: str
        history: list[int]
        ragged: list[list[int]]

    class Square(goldrush.Submission):
        square: int = within(0, 999_999)

    class Marked(goldrush.Event):
        agent: Agent
        row: int
        column: int
        luck: float
        says = "{agent} marks row {row}, column {column}"

        def apply(self, state):
            state.squares[self.row][self.column] = self.agent
            state.heat[self.row][self.column] += self.luck
            state.lit[self.row][self.column] ^= True
            state.marks[self.agent] += self.agent + 1
            state.luck[self.agent] = self.luck
            state.notes[self.agent] = f"{state.unit}{TEXT}"
            state.partner[self.agent] = self.row % len(state.marks)
            state.last = self.agent
            state.marked += 1
            state.mean = sum(state.marks) / len(state.marks)
            state.codes[state.unit % 60] = state.unit % 3
            state.history.append(self.row)
            state.ragged.append([self.row] * self.column)

    def start(self):
        side, agents = self.side, self.agents
        return self.State(
            squares=[[None] * side for _ in range(side)],
            heat=[[0.0] * (side + 20) for _ in range(side)],
            lit=[[False] * side for _ in range(side)],
            pairs=[(1, 2), (3, 4), (5, 600)],
            codes=[0] * 60,
            marks=[0] * agents, luck=[None] * agents, notes=[""] * agents, partner=[0] * agents,
            last=0, marked=0, mean=None, title=TEXT, history=[], ragged=[],
        )  # fmt: skip

    def score(self, state, agent):
        return state.marks[agent] / 2 if agent else None

    @phase(Square)
    def mark(self, state, asked, draw):
        for one in asked:
            place = one.square % self.side**2
            luck = draw.between(0, 1, "luck", one.agent)
            yield self.Marked(one.agent, place // self.side, place % self.side, luck)

    @phase
    def rest(self, state, draw):
        draw.chance(0.5, "rain")
        return ()

    @policy
    def random(self, seen, agent, draw):
        return self.Square(draw.below(self.side**2, "place"))
