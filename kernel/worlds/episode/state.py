"""The state of an episode: what can be told of a subject without running it.

It holds no environment. `chain` is a hash of all inputs: it tells a live subject that has come
as far from any other, and `past` has the inputs from which one can be made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, cast

import attrs
from xxhash import xxh3_64_intdigest

from goldrush.kernel.codec import fingerprint, pack
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.rosters import Roster, whole_roster
from goldrush.kernel.world import Batch, Block, Row
from goldrush.kernel.worlds.episode.config import (
    DISABLED,
    MODEL,
    VECTOR,
    About,
    EpisodeConfig,
    about_of,
    config_of,
)
from goldrush.kernel.worlds.episode.events import ARRAY, CLOSED, GAVE, RESET, TURN
from goldrush.kernel.worlds.episode.values import ARRAY as OF_NUMPY
from goldrush.kernel.worlds.episode.values import DICT, Encoded

SEEDS: Final = 1 << 31  # seeds that are drawn lie below: all libraries take them


@attrs.define(eq=False)
class EpisodeState:
    """The state between two units. It changes in place.

    Attributes:
        config, about, roster: what START or the last fork declared.
        unit: the number of closed units, resets and steps.
        episode: the number of the episode, from 1 on; 0 before the first reset.
        step: the number of the step within it.
        acting: the agents that must act next.
        is_over: nothing but a reset can follow.
        is_closed: the recording has ended.
        seeded: the last seed that a reset was given; the settings' seed before the first.
        resets: the number of resets since then.
        returns: by agent, the sum of its rewards in the episode.
        rewards: by agent, its reward in the last unit; 0 for who got none.
        finished: the environments of a vector whose episodes are over.
        shown: the values of the last unit that are recorded, by agent (None: of all) and name.
        chain: 64 bits of all inputs so far.
        outputs: 64 bits of all that was given so far.
        past: the packed inputs of units, from which a subject is made again. States share it: those
            of this one come first (`done`), and another may have added more.
        inputs: those of the open unit, behind the changes that a fork has made.
        declared: 64 bits of config, about and roster.
        is_fresh: nothing of the open unit has been applied.
    """

    config: EpisodeConfig
    about: About
    roster: Roster
    chain: int
    unit: int = 0
    episode: int = 0
    step: int = 0
    acting: tuple[int, ...] = ()
    is_over: bool = True
    is_closed: bool = False
    seeded: int = 0
    resets: int = 0
    returns: tuple[float, ...] = ()
    rewards: tuple[float, ...] = ()
    finished: tuple[int, ...] = ()
    shown: Mapping[tuple[int | None, str], Encoded] = attrs.field(factory=dict)
    outputs: int = 0
    past: list[bytes] = attrs.field(factory=list, repr=False)
    inputs: tuple[Batch, ...] = ()
    declared: int = 0
    is_fresh: bool = True

    @property
    def is_model(self) -> bool:
        """Whether the subject is a model: nobody acts in it."""
        return self.about.kind == MODEL

    @property
    def has_one_episode(self) -> bool:
        """Whether an episode is of all agents: the environments of a vector have each its own."""
        return self.about.kind not in (MODEL, VECTOR)

    @property
    def done(self) -> Sequence[bytes]:
        """The packed inputs of the units before."""
        return self.past[: self.unit]

    @property
    def taken(self) -> int:
        """The number of steps so far, as the setting `steps` counts them."""
        return self.unit - self.episode

    @property
    def has_all_steps(self) -> bool:
        """Whether it has as many steps as the settings say."""
        return 0 < self.config.steps <= self.taken


def initial(setup: Mapping[str, object]) -> EpisodeState:
    """The state before the first reset. Raises BadInput for an invalid setup."""
    if list(setup) != ["config", "subject", "roster"]:
        raise BadInput(
            f"the setup has {', '.join(map(str, setup))}", "it has config, subject, roster"
        )
    about = about_of(setup["subject"])
    if type(setup["config"]) is not dict:
        raise BadInput(f"config is {format_value(setup['config'])}", "give settings by name")
    config = config_of(setup["config"], len(about.agents))
    if pack(config.as_dict()) != pack(setup["config"]):
        raise BadInput("the configuration is incomplete", "give seed, steps, then parameters")
    roster = whole_roster(cast(Sequence[object], setup["roster"]), config.agents)
    state = EpisodeState(config, about, roster, fingerprint([config.as_dict(), about.as_dict()]))
    state.returns = state.rewards = (0.0,) * config.agents
    state.seeded = config.seed
    return declare(state, config, roster)


def declare(state: EpisodeState, config: EpisodeConfig, roster: Roster) -> EpisodeState:
    """The state with another configuration and roster."""
    state.config, state.roster = config, roster
    state.declared = fingerprint([config.as_dict(), state.about.as_dict(), roster])
    return state


def evolve(state: EpisodeState, block: Block) -> EpisodeState:
    """The state after these events."""
    if state.is_fresh:
        state.rewards, state.shown = (0.0,) * len(state.rewards), {}
        state.is_fresh = False
    for code, rows in block:
        if code < TURN:
            state.inputs = (*state.inputs, (code, rows))
            if code == RESET:
                state.episode, state.step = state.episode + 1, -1  # counted when the unit closes
                seed, is_drawn, options = rows[0]
                begun = agents_of_reset(state, options)
                returns = enumerate(state.returns)
                state.returns = tuple([0.0 if agent in begun else x for agent, x in returns])
                state.finished = tuple([agent for agent in state.finished if agent not in begun])
                given = None if is_drawn or seed is None else seed
                state.resets = state.resets + 1 if given is None else 0
                state.seeded = state.seeded if given is None else given
            state.is_closed |= code == CLOSED
            continue
        for row in rows:
            state.outputs = xxh3_64_intdigest(pack((code, row)), state.outputs)
        if code == TURN:
            state.acting, state.is_over = rows[-1]
        elif code == GAVE:
            _give(state, rows)
        elif code == ARRAY:
            values = {(row[0], row[1]): row[3] for row in rows if row[3] is not None}
            state.shown = {**state.shown, **values}
    return state


def agents_of_reset(state: EpisodeState, options: Encoded) -> Sequence[int]:
    """The agents whose episode a reset begins: all, but for a vector environment those that are
    true in its option `reset_mask`, an array of truth values.
    """
    count = len(state.returns)
    if state.about.kind == VECTOR and type(options) is tuple and options[0] == DICT:
        mask = dict(cast("tuple[tuple[Encoded, Encoded], ...]", options[1])).get("reset_mask")
        if type(mask) is tuple and mask[:3] == (OF_NUMPY, "|b1", (count,)):
            return [agent for agent, byte in enumerate(cast(bytes, mask[3])) if byte]
    return range(count)


def _give(state: EpisodeState, rows: Sequence[Row]) -> None:
    returns, rewards = list(state.returns), list(state.rewards)
    resets_itself = state.about.known_autoreset != DISABLED
    finished = {*state.finished}
    for agent, reward, terminated, truncated in rows:
        if agent < 0:
            raise IndexError(f"there is no agent {agent}")
        rewards[agent] += reward
        if agent in finished:
            if not resets_itself:
                continue
            returns[agent] = 0.0
        if resets_itself:
            finished.discard(agent)
        returns[agent] += reward
        if state.about.kind == VECTOR and (terminated or truncated):
            finished.add(agent)
    state.returns, state.rewards = tuple(returns), tuple(rewards)
    state.finished = tuple(sorted(finished))


def drawn_seed(state: EpisodeState) -> int:
    """The seed of the next reset, if it is given none: it follows from the last seed that was
    given and the number of resets since.
    """
    return Draws(state.seeded, state.resets + 1, 0, "reset").below(SEEDS)


def close(state: EpisodeState) -> EpisodeState:
    """The state with the unit closed."""
    packed = Block(state.inputs).packed
    if len(state.past) != state.unit:  # another state that had it has gone on
        state.past = [*state.done]
    state.past.append(packed)
    state.chain = xxh3_64_intdigest(packed, state.chain)
    state.unit += 1
    state.step += not state.is_closed
    state.inputs, state.is_fresh = (), True
    return state


def ended(state: EpisodeState) -> bool:
    """Whether the run is over."""
    if state.is_closed or state.has_all_steps:
        return True
    return state.is_model and state.is_over and state.unit > 0


def digest(state: EpisodeState) -> int:
    """64 bits that cover the state: `past` and `inputs` by `chain`, `shown` by `outputs`,
    `finished` by both.
    """
    return fingerprint(
        (
            state.declared, state.chain, state.outputs, state.unit, state.episode, state.step,
            state.acting, state.is_over, state.is_closed, state.seeded, state.resets,
            state.returns, state.rewards,
        )
    )  # fmt: skip
