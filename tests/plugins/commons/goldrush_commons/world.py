"""The rules of the fishery.

Each season every agent says how much it takes. Where that is more than there is, everybody gets the
same share of what it asked for. Then the stock regrows logistically,

    stock + growth × stock × (1 - stock ÷ capacity),

times a shock between 1 - shock and 1 + shock, drawn with the key [seed, season, "shock"]. A run
ends after its last season, or when no fish is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import attrs

from goldrush.kernel import shape as kinds
from goldrush.kernel.codec import fingerprint
from goldrush.kernel.draws import WORD_RANGE, Draws
from goldrush.kernel.forking import Forks
from goldrush.kernel.rosters import setup_of
from goldrush.kernel.settings import configured, integer, real, setting
from goldrush.kernel.shape import amount
from goldrush.kernel.submissions import arrange, one_of_each, pending_fault
from goldrush.kernel.treatments import BASELINE, Treatment, by_name
from goldrush.kernel.world import Batch, Block, EventType, Past, Vocabulary, World

ASKED, LANDED, REGROWN = range(3)
EVENTS: Final = (
    EventType(
        "asked",
        {"agent": kinds.AGENT, "fish": kinds.NATURAL, **kinds.FROM_MODELS},
        is_input=True,
        text="{agent} asks for {fish}",
    ),
    EventType(
        "landed",
        {"agent": kinds.AGENT, "fish": kinds.AMOUNT},
        text="{agent} lands {fish:amount}",
    ),
    EventType(
        "regrown",
        {"caught": kinds.AMOUNT, "stock": kinds.AMOUNT, "words": kinds.several(kinds.WORD)},
        drawn=frozenset({"stock"}),
        text="{caught:amount} caught; the stock is {stock:amount}",
    ),
)
EXTINCT: Final = 1.0  # below it, no fish is left
FISH_MAX: Final = 10**9  # that anybody can ask for


@attrs.frozen
class CommonsConfig:
    """The settings of a run. Fish are counted in tonnes."""

    seed: int = setting(0, integer(0, 2**53 - 1))
    seasons: int = setting(50, integer(1, 10_000))
    agents: int = setting(5, integer(1, 100))
    capacity: float = setting(1000, real(10, 1e6))
    growth: float = setting(0.5, real(0, 2))
    shock: float = setting(0.1, real(0, 0.9))

    def as_dict(self) -> dict[str, Any]:
        """All settings in declared order."""
        return attrs.asdict(self)


config_of: Final = partial(configured, CommonsConfig)
TREATMENTS: Final = by_name(
    [
        Treatment(BASELINE, "the default configuration"),
        Treatment("high-growth", "the stock regrows twice as fast", {"growth": 1.0}),
        Treatment("small-stock", "half the capacity", {"capacity": 500}),
    ]
)


@attrs.frozen
class Fishery:
    """The state: `season` is the last one closed, `landed` the catch of each agent in all."""

    config: CommonsConfig
    roster: Sequence[Mapping[str, Any]]
    stock: float
    landed: tuple[float, ...]
    season: int = 0


def initial(setup: Mapping[str, Any]) -> Fishery:
    """The state before the first season. Raises BadInput for a setup that is none."""
    config, roster = setup_of(setup, config_of)
    return Fishery(config, roster, float(config.capacity), (0.0,) * config.agents)


def shock_of(config: CommonsConfig, word: int) -> float:
    """By what the growth of a season is multiplied, given the word that was drawn."""
    return 1 + config.shock * (2 * (word / WORD_RANGE) - 1)


def decide(state: Fishery, inputs: Block) -> list[Batch]:
    """Who lands how much, and how the stock regrows."""
    config, season = state.config, state.season + 1
    asked = one_of_each(inputs, ASKED, config.agents)
    wanted = sum(fish for _, fish, _, _ in asked)
    share = min(1.0, state.stock / wanted) if wanted else 0.0
    landed = [(agent, amount(fish * share)) for agent, fish, _, _ in asked if fish]
    caught = wanted * share
    left = max(0.0, state.stock - caught)
    draws = Draws(config.seed, season, "shock")
    shock = shock_of(config, draws.word())
    grown = (left + config.growth * left * (1 - left / config.capacity)) * shock
    regrown = (amount(caught), amount(max(0.0, grown)), draws.words())
    return [(LANDED, landed), (REGROWN, [regrown])]


def evolve(state: Fishery, block: Block) -> Fishery:
    """The state after these events."""
    landed, stock = list(state.landed), state.stock
    for agent, fish in block.rows(LANDED):
        landed[agent] += fish
    for _, left, _ in block.rows(REGROWN):
        stock = left
    return attrs.evolve(state, landed=tuple(landed), stock=float(stock))


def ended(state: Fishery) -> bool:
    """Whether the last season is over, or no fish is left."""
    return state.season >= state.config.seasons or state.stock < EXTINCT


def plain(state: Fishery) -> list[Any]:
    """Every field of the state as plain values."""
    roster = [dict(entry) for entry in state.roster]
    return [state.config.as_dict(), roster, state.stock, state.landed, state.season]


def thaw(frozen: Any, past: Past) -> Fishery:
    """The state that `plain` was made of."""
    config, roster, stock, landed, season = frozen
    return Fishery(config_of(config), roster, stock, tuple(landed), season)


FORKS: Final = Forks(CommonsConfig, config_of, [EVENTS[ASKED]], "seasons", Vocabulary("season"))


def fork(state: Fishery, facts: Mapping[str, Any], past: Past) -> Fishery:
    """The state with what a fork changes."""
    config, roster = FORKS.forked(state.config, facts, state.season)
    return attrs.evolve(state, config=config, roster=roster or state.roster)


COMMONS: Final = World[Fishery](
    name="commons",
    rules=1,
    events=EVENTS,
    initial=initial,
    decide=decide,
    evolve=evolve,
    ended=ended,
    arrange=arrange,
    pending_fault=lambda state, pending: pending_fault(pending, ASKED, state.config.agents),
    close=lambda state: attrs.evolve(state, season=state.season + 1),
    digest=lambda state: fingerprint(plain(state)),
    fork=fork,
    show_fork=FORKS.show,
    freeze=plain,
    thaw=thaw,
    vocabulary=FORKS.vocabulary,
)
