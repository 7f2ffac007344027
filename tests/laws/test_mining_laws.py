"""What holds in every round of every game, whoever plays and whatever they submit.

What happens in a round is told a second time by `tests/oracle.py`, from the plans alone.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import attrs
import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.fold import block_events, faults, fold
from goldrush.kernel.world import Block, Row
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import ALL, config_of
from goldrush.kernel.worlds.mining.decide import resolve
from goldrush.kernel.worlds.mining.events import KINDS, PRUNED, Action
from goldrush.kernel.worlds.mining.state import HOLDINGS, MiningState
from tests.laws.strategies import HOSTILE, Game, games, played
from tests.oracle import Oracle, scripted

T = TypeVar("T")
few = settings(max_examples=max(8, settings().max_examples // 2))  # the oracle plays more


def law(test: Callable[[Game], None]) -> Callable[[], None]:
    """A test of some games."""
    return few(given(games())(test))


# Ownership.


@law
def test_a_plot_has_one_owner_and_both_indexes_name_the_same(game: Game) -> None:
    for round in played(game):
        owner, plots_of = round.after.owner, round.after.plots_of
        by_owner = [
            [plot for plot in range(game.config.plots) if owner[plot] == agent]
            for agent in range(game.config.agents)
        ]

        assert by_owner == plots_of


@law
def test_nobody_spends_more_than_their_stamina(game: Game) -> None:
    for round in played(game):
        for agent, stamina in enumerate(round.before.staminas):
            assert sum(round.after.spent[agent]) - sum(round.before.spent[agent]) <= stamina


# Folding and deriving.


@law
def test_decide_and_fold_leave_the_state_they_are_given_as_it_was(game: Game) -> None:
    state = game.world.initial(game.setup)
    was, digest = fields(state), MINING.digest(state)
    for round in played(game):  # played() decides, folds a copy, and closes that
        assert was == fields(round.before)
        assert digest == MINING.digest(round.before)
        was, digest = fields(round.after), MINING.digest(round.after)


@few
@given(games(), st.integers(0, 2**64 - 1))
def test_folding_is_associative_wherever_the_events_are_cut(game: Game, cuts: int) -> None:
    """And what was cut up and joined is the same bytes."""
    state = game.world.initial(game.setup)
    cut_here = bits(cuts)
    for round in played(game):
        for block in (round.inputs, round.derived):
            cut = list(pieces(block, cut_here))
            for piece in cut:
                state = fold(MINING, state, [piece])

            assert block.packed == Block.joined(cut).packed
        state = MINING.close(state)

        assert MINING.digest(round.after) == MINING.digest(state)
        assert fields(round.after) == fields(state)


@law
def test_a_round_submitted_again_has_the_events_that_the_rules_give_it(game: Game) -> None:
    for round in played(game):
        worked_out = Block(resolve(round.after, round.inputs))

        assert worked_out.packed == Block(MINING.decide(round.after, round.inputs)).packed


def test_where_everybody_only_mines_the_events_of_a_round_are_taken_over_until_a_fork() -> None:
    config = config_of({"rows": 3, "cols": 3, "agents": 2, "stamina": 6, "rounds": 6})
    *_, last = played(Game(config, ("greedy-mine",) * 2, ((None,) * 2,) * 6))
    forked = fold(MINING, last.after, [])
    forked.set_up(attrs.evolve(config, mining_cap=1), forked.roster)

    assert MINING.decide(last.after, last.inputs) is last.after.quiet.derived
    assert MINING.decide(forked, last.inputs) == resolve(forked, last.inputs)


@law
def test_what_was_written_is_allowed_and_gives_the_same_events_and_states(game: Game) -> None:
    state = game.world.initial(unpack(pack(game.setup)))
    for round in played(game):
        read = [Block(unpack(block.packed)) for block in (round.inputs, round.derived)]
        derived = Block(MINING.decide(state, read[0]))
        state = MINING.close(fold(MINING, state, read))

        assert [] == list(faults(MINING, read))
        assert round.derived.packed == derived.packed
        assert fields(round.after) == fields(state)


@law
def test_the_digest_is_that_of_the_fields_as_they_are(game: Game) -> None:
    records: list[int] = []
    window = None if game.config.visibility == ALL else -int(game.config.visibility)
    for round in played(game):
        inputs_print = xxh3_64_intdigest(round.inputs.packed, seed=round.round)
        records.append(xxh3_64_intdigest(round.derived.packed, seed=inputs_print))

        assert digest_of(round.after, records[window:]) == MINING.digest(round.after)


# The rules told a second time.


@pytest.mark.parametrize("part", range(3))  # parts are tried on all cores, and differ
@settings(max_examples=max(40, settings().max_examples))  # fewer do not meet every rule
@given(games())
def test_derived_events_and_states_are_those_of_the_oracle(part: int, game: Game) -> None:
    oracle = Oracle(game.config.as_dict(), game.rules)
    for round in played(game):
        plans = [[named(action) for action in row[1]] for row in round.submissions]
        expected, after = oracle.play(plans), round.after

        assert expected == [e.as_dict() for e in block_events(MINING, round.round, round.derived)]
        assert oracle.owner == after.owner
        assert [since or 0 for since in oracle.since] == after.since
        assert list(map(HOLDINGS.index, oracle.how)) == after.how
        assert [[spent[kind] for kind in KINDS] for spent in oracle.spent] == after.spent
        assert list(map(float.hex, oracle.gold)) == list(map(float.hex, after.gold))


@law
def test_scripted_policies_plan_what_the_oracle_plans(game: Game) -> None:
    oracle = Oracle(game.config.as_dict(), game.rules)
    for round in played(game):
        plans = [[named(action) for action in row[1]] for row in round.submissions]
        for agent, name in enumerate(game.roster):
            if name != HOSTILE:
                assert scripted(oracle, name, agent) == plans[agent]
        oracle.play(plans)


@law
def test_no_scripted_policy_submits_what_would_be_pruned(game: Game) -> None:
    for round in played(game):
        assert [] == [
            (game.roster[agent], removed)
            for agent, removed, _ in round.derived.rows(PRUNED)
            if game.roster[agent] != HOSTILE
        ]


def named(action: Action) -> tuple[str, int, int] | None:
    """The action as the oracle writes it."""
    return None if action is None else (KINDS[action[0]], action[1], action[2])


# States, compared and digested field by field.


def fields(state: MiningState) -> dict[str, object]:
    """Every field of a state, as bytes that share nothing with it."""
    shown: dict[str, object] = {"plots": state.plots_sum}  # leaves no print to be taken later
    for name in MiningState.__slots__:
        value = getattr(state, name)
        if name == "config":
            shown[name] = pack(value.as_dict())
        elif name == "history":
            shown[name] = [(r.round, r.inputs.packed, r.derived.packed) for r in value]
        elif name == "quiet":
            shown[name] = value and value.round
        elif name in ("_owned", "_unowned"):
            shown[name[1:]] = list(getattr(state, name[1:]))
        elif isinstance(value, list) and value and isinstance(value[0], Block):
            shown[name] = [block.packed for block in value]
        elif name != "_unprinted":
            shown[name] = pack(value)
    return shown


def digest_of(state: MiningState, records: Iterable[int]) -> int:
    """The digest, nothing of it carried over from earlier rounds."""

    def printed(value: object) -> int:
        return xxh3_64_intdigest(msgpack.packb(value))

    plots = (
        printed([plot, owner, state.since[plot], state.how[plot]])
        for plot, owner in enumerate(state.owner)
        if owner is not None
    )
    memos = (printed([agent, memo]) for agent, memo in enumerate(state.memo) if memo is not None)
    return printed(
        [
            printed([state.config.as_dict(), list(state.roster)]),
            state.round,
            *(sum(prints) % 2**64 for prints in (plots, memos, records)),
            state.gold,
            state.spent,
        ]
    )


# Blocks, cut at any row.


def bits(number: int) -> Callable[[], bool]:
    """The bits of a 64-bit number, one a call, over and over."""
    place = iter(range(10**9))
    return lambda: bool(number >> next(place) % 64 & 1)


def pieces(block: Block, cut_here: Callable[[], bool]) -> Iterator[Block]:
    """The same events in several blocks, cut before those rows where the next bit says so."""
    piece: list[tuple[int, list[Row]]] = []
    for code, rows in block:
        for row in rows:
            if piece and cut_here():
                yield Block(piece)
                piece = []
            if piece and piece[-1][0] == code:
                piece[-1][1].append(row)
            else:
                piece.append((code, [row]))
    yield Block(piece)
