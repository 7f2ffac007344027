"""The fishery of goldrush.games as a world of the kernel's records, written by hand.

What a game costs more than this is the price of a class. The rules, the draws and the policies are
the same; only what recording and verifying need is here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import attrs

from goldrush.agents.roster import Entry
from goldrush.agents.seats import PolicySet
from goldrush.agents.simultaneous import SimultaneousPlayers
from goldrush.kernel import shape as kinds
from goldrush.kernel.codec import fingerprint
from goldrush.kernel.draws import WORD_RANGE, Draws
from goldrush.kernel.errors import BadPlan
from goldrush.kernel.rosters import setup_of
from goldrush.kernel.settings import configured, integer, real, setting
from goldrush.kernel.shape import amount
from goldrush.kernel.submissions import arrange, one_of_each, pending_fault
from goldrush.kernel.world import Batch, Block, EventType, Row, Vocabulary, World
from goldrush.replay.simultaneous import SimultaneousTools

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
    agents: int = setting(5, integer(1, 1_000))
    capacity: float = setting(1000, real(10, 1e6))
    growth: float = setting(0.5, real(0, 2))
    shock: float = setting(0.1, real(0, 0.9))

    def as_dict(self) -> dict[str, Any]:
        """All settings in declared order."""
        return attrs.asdict(self)


config_of: Final = partial(configured, CommonsConfig)


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


def decide(state: Fishery, inputs: Block) -> list[Batch]:
    """Who lands how much, and how the stock regrows."""
    config = state.config
    asked = one_of_each(inputs, ASKED, range(config.agents))
    wanted = sum(fish for _, fish, _, _ in asked)
    share = min(1.0, state.stock / wanted) if wanted else 0.0
    landed = [(agent, amount(fish * share)) for agent, fish, _, _ in asked if fish]
    caught = wanted * share
    left = max(0.0, state.stock - caught)
    draws = Draws(config.seed, state.season + 1, "shock")
    shock = 1 + config.shock * (2 * (draws.word() / WORD_RANGE) - 1)
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


def digest(state: Fishery) -> int:
    """The digest of every field."""
    roster = [dict(entry) for entry in state.roster]
    return fingerprint([state.config.as_dict(), roster, state.stock, state.landed, state.season])


COMMONS: Final = World[Fishery](
    name="commons-by-hand",
    rules=1,
    events=EVENTS,
    initial=initial,
    decide=decide,
    evolve=evolve,
    ended=lambda state: state.season >= state.config.seasons or state.stock < EXTINCT,
    arrange=arrange,
    pending_fault=lambda state, pending: pending_fault(pending, ASKED, range(state.config.agents)),
    close=lambda state: attrs.evolve(state, season=state.season + 1),
    digest=digest,
    vocabulary=Vocabulary("season"),
)


@attrs.frozen
class Share:
    """Takes a part of its share of the largest catch that regrows (from half the capacity)."""

    part: float = setting(0.8, real(0, 10))

    def fish(self, seen: Fishery, agent: int, draws: Draws) -> int:
        config = seen.config
        return int(self.part * config.growth * config.capacity / 4 / config.agents)


@attrs.frozen
class Greedy:
    """Takes a part of its share of what there is."""

    part: float = setting(0.5, real(0, 1))

    def fish(self, seen: Fishery, agent: int, draws: Draws) -> int:
        return int(seen.stock / seen.config.agents * self.part)


def checked(fish: Any) -> int:
    """A catch that can be asked for. Raises BadPlan."""
    if type(fish) is not int or not 0 <= fish <= FISH_MAX:
        raise BadPlan(f"fish is {fish!r}; it must be a whole number from 0 to {FISH_MAX}")
    return fish


class CommonsPlayers(SimultaneousPlayers[Fishery, Fishery]):
    """Those who fish."""

    world = COMMONS
    policy_set = PolicySet(
        world=COMMONS.name,
        policies={"share": Share, "greedy": Greedy},
        default="share*3,greedy*2",
        agents=5,
        agents_max=1_000,
        method="fish",
    )
    codes = (ASKED,)
    horizon = "seasons"

    def config_of(self, settings: Mapping[str, Any]) -> CommonsConfig:
        return config_of(settings)

    def unit(self, state: Fishery) -> int:
        return state.season + 1

    def view(self, state: Fishery) -> Fishery:
        return state

    def ask(self, policy: Any, entry: Entry, view: Fishery) -> Row:
        """What a policy asks for in the next season. Raises BadPlan for what is no catch."""
        draws = Draws(view.config.seed, view.season + 1, entry.agent, "policy")
        return (entry.agent, checked(policy.fish(view, entry.agent, draws)), None, None)

    def resubmitted(self, item: Mapping[str, Any], config: Any, code: int) -> Row:
        return (item["agent"], checked(item["fish"]), None, None)


TOOLS: Final = SimultaneousTools(CommonsPlayers(), CommonsConfig)
