"""Whole games of the mining world, drawn by Hypothesis: configuration, roster, hostile plans.

A game is drawn before it is played, so that a failing one is printed and shrunk as a value that
can be pasted into a test. Grids are small and crowded, because rules meet where agents do. An
action is one draw from a table, for a draw costs more than the action's judgement.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
from hypothesis import strategies as st

from goldrush.agents.roster import Entry
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.agents.worlds.mining.roster import POLICIES, POLICY_SET
from goldrush.kernel.world import Block, Row, World, advance
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import ALL, AUTHORITIES, DEFENSES, MiningConfig, config_of
from goldrush.kernel.worlds.mining.events import (
    CLAIM,
    DEFEND,
    INT64_MAX,
    INT64_MIN,
    KINDS,
    MINE,
    RAID,
    SUBMITTED,
    Action,
)
from goldrush.kernel.worlds.mining.state import MiningState
from tests.kernel.worlds.mining.scenario import Submission

AGENTS_MAX = 8
ROUNDS_MAX = 8
ITEMS_MAX = 30
SEED_MAX = 2**53 - 1
HOSTILE = "hostile"

# Sums of these round at every step, overflow nothing, and stand on both sides of what is held as
# an integer.
ALPHAS = (1.0, 0.0, 0.1, 1 / 3, 2.0, 0.5, 1e9, 999_999_999.9, 5e-324, 1e-9)
FINES = (3.0, 0.0, 0.1, 2.5, 1e9, 5e-324)
CHANCES = (1.0, 0.0, 0.5, 0.9, 1e-19, 1 - 2**-53)
AMOUNTS = (0, -1, 2, 4, 1_000, INT64_MIN, INT64_MAX)
OFF_GRID = (-1, -7, INT64_MIN, INT64_MAX)

Plan = tuple[Action, ...]


@attrs.frozen
class Game:
    """A configuration, one policy's name (or HOSTILE) an agent, and the hostile agents' answers.

    `answers[r][agent]` is None where the agent's policy is asked in round r + 1.
    """

    config: MiningConfig
    roster: tuple[str, ...]
    answers: tuple[tuple[Submission | None, ...], ...]
    rules: int = MINING.rules

    @property
    def world(self) -> World[MiningState]:
        """The world under the game's rules."""
        return MINING.under(self.rules)

    @property
    def setup(self) -> dict[str, Any]:
        """What `run_started` holds of the game."""
        entries = [Entry(agent, name) for agent, name in enumerate(self.roster)]
        return {"config": self.config.as_dict(), "roster": [e.as_dict() for e in entries]}


@attrs.frozen
class Played:
    """One round: the state before it, what was submitted, what followed, the state after it.

    `after` is closed and shares nothing changeable with `before`.
    """

    before: MiningState
    inputs: Block
    derived: Block
    after: MiningState

    @property
    def round(self) -> int:
        """The round's number."""
        return self.after.round

    @property
    def submissions(self) -> list[Row]:
        """The rows of everybody's submissions, in agent order."""
        return self.inputs.rows(SUBMITTED)


def played(game: Game) -> Iterator[Played]:
    """Play a game round by round, by the functions of the world alone: no files, no run loop."""
    state = game.world.initial(game.setup)
    for answers in game.answers:
        inputs = Block([(SUBMITTED, submissions(game, state, answers))])
        after, derived, _ = advance(MINING, MINING.copy(state), inputs)
        yield Played(state, inputs, derived, after)
        state = after


def submissions(game: Game, state: MiningState, answers: Sequence[Submission | None]) -> list[Row]:
    """The rows of a round: the hostile answers given, and those of the policies, asked now."""
    view = MINING_PLAYERS.view(state)
    rows = []
    for agent, (name, answer) in enumerate(zip(game.roster, answers, strict=True)):
        if answer is None:
            entry = Entry(agent, name)
            policy = POLICY_SET.factory_of(entry)()
            rows.append(MINING_PLAYERS.ask(policy, entry, view))
        else:
            rows.append(answer.row(agent))
    return rows


@st.composite
def configs(draw: st.DrawFn) -> MiningConfig:
    """Every factor of every treatment, on grids from 1 x 1 to 5 x 5."""
    rows = draw(st.sampled_from((1, 2, 3, 2, 4, 1, 5)))
    cols = draw(st.sampled_from((1, 2, 3, 3, 4, 5)))
    agents = draw(st.integers(1, AGENTS_MAX))
    stamina = st.integers(0, 14) | st.sampled_from((30, 1_000))
    return config_of(
        {
            "seed": draw(st.integers(0, SEED_MAX)),
            "rounds": ROUNDS_MAX,
            "rows": rows,
            "cols": cols,
            "agents": agents,
            "stamina": draw(stamina),
            "stamina_by_agent": draw(
                st.none() | st.lists(stamina, min_size=agents, max_size=agents)
            ),
            "mining_cap": draw(st.integers(1, 5)),
            "alpha": draw(st.sampled_from(ALPHAS)),
            "alpha_by_plot": draw(
                st.none()
                | st.lists(st.sampled_from(ALPHAS), min_size=rows * cols, max_size=rows * cols)
            ),
            "truce": draw(st.integers(0, 3)),
            "defense": draw(st.sampled_from(DEFENSES)),
            "visibility": draw(st.sampled_from((1, 3, ALL))),
            "communication": draw(st.booleans()),
            "authority": draw(st.sampled_from(AUTHORITIES)),
            "detection": draw(st.sampled_from(CHANCES)),
            "fine": draw(st.sampled_from(FINES)),
        }
    )


def rosters(agents: int, *, hostile: bool = True) -> st.SearchStrategy[tuple[str, ...]]:
    """A policy's name for each agent, HOSTILE as often as all scripted ones together."""
    names = tuple(POLICIES)
    if hostile:
        names = (HOSTILE,) * len(names) + names
    return st.lists(st.sampled_from(names), min_size=agents, max_size=agents).map(tuple)


def hostile_plans(config: MiningConfig) -> st.SearchStrategy[Plan]:
    """Plans of up to 30 items, of which some are right and most are wrong in some way."""
    items = st.sampled_from(_items(config))
    return (st.lists(items, max_size=10) | st.lists(items, max_size=ITEMS_MAX)).map(tuple)


def _items(config: MiningConfig) -> tuple[Action, ...]:
    """Four items in five could be legal for somebody; the others are for nobody.

    Few plots and short tables make duplicates and budgets exceeded come by themselves.
    """
    points = range(1, 4) if config.defense == "pointwise" else (1,)
    right: list[Action] = []
    wrong: list[Action] = [None]
    for plot in range(config.plots):
        right += [(CLAIM, plot, 1), (RAID, plot, 1), (CLAIM, plot, 1), (RAID, plot, 1)]
        right += [(MINE, plot, config.mining_cap), (MINE, plot, 1)]
        right += [(DEFEND, plot, amount) for amount in points]
        wrong += [(kind, plot, AMOUNTS[(plot + kind) % len(AMOUNTS)]) for kind in range(len(KINDS))]
        wrong += [(MINE, plot, 0), (MINE, plot, config.mining_cap + 1)]
    for plot in (*OFF_GRID, config.plots):
        wrong += [(kind, plot, 1) for kind in range(len(KINDS))]
    return tuple(right * (4 * len(wrong) // len(right)) + wrong)


@st.composite
def games(draw: st.DrawFn, *, hostile: bool = True) -> Game:
    """Whole games of up to eight rounds; without `hostile`, of scripted policies only."""
    config = draw(configs())
    roster = draw(rosters(config.agents, hostile=hostile))
    plans = hostile_plans(config)
    memos = st.sampled_from((None, None, "", "remember", "é\U0001f600"))
    says = st.sampled_from((None, "hello")) if config.communication else st.none()
    return Game(
        config,
        roster,
        tuple(
            tuple(
                Submission(draw(plans), memo=draw(memos), say=draw(says))
                if name == HOSTILE
                else None
                for name in roster
            )
            for _ in range(draw(st.sampled_from((2, 1, 3, 4, ROUNDS_MAX))))
        ),
        draw(st.sampled_from((2, 1))),
    )
