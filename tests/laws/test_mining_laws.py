"""What holds in every round of every game, whoever plays and whatever they submit.

A law is told from the recorded events and the states around them, by code of its own: where it
needs to know what was left of a plan, or how a shuffle went, it works that out from the rules.
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
from goldrush.kernel.worlds.mining.decide import events_of, resolve
from goldrush.kernel.worlds.mining.events import (
    CLAIM_DRAWN,
    KINDS,
    MINING_SETTLED,
    PRUNED,
    RAID_RESOLVED,
    RULED,
    Action,
    RaidOutcome,
    Remedy,
)
from goldrush.kernel.worlds.mining.state import BY_CLAIM, MiningState
from tests.laws.strategies import HOSTILE, Game, Played, games, played
from tests.oracle import Oracle, scripted

T = TypeVar("T")
Kept = tuple[int, int, int]  # an action that was left
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
def test_a_plot_changes_hands_by_claim_or_capture_only_and_is_never_let_go(game: Game) -> None:
    for round in played(game):
        expected = list(round.before.owner)
        for plot, _, winner, _ in round.derived.rows(CLAIM_DRAWN):
            expected[plot] = winner
        for plot, owner, _, _, outcome, winner, _ in round.derived.rows(RAID_RESOLVED):
            assert expected[plot] == owner
            if outcome == RaidOutcome.CAPTURED:
                expected[plot] = winner
        for plot, _, victim, _, remedy, _, _ in round.derived.rows(RULED):
            if remedy == Remedy.RESTORED:
                expected[plot] = victim

        assert expected == round.after.owner
        assert all(
            after is not None or before is None
            for before, after in zip(round.before.owner, round.after.owner, strict=True)
        )


@law
def test_a_plot_that_an_authority_gives_back_is_held_as_it_was(game: Game) -> None:
    for round in played(game):
        claimed = {row[0] for row in round.derived.rows(CLAIM_DRAWN)}
        for plot, _, victim, _, remedy, _, _ in round.derived.rows(RULED):
            if remedy == Remedy.RESTORED:
                was = (round.round, BY_CLAIM) if plot in claimed else held(round.before, plot)

                assert (victim, was) == (round.after.owner[plot], held(round.after, plot))


# Stamina.


@law
def test_nobody_spends_more_than_their_stamina(game: Game) -> None:
    for round in played(game):
        for agent, actions in kept(round).items():
            assert sum(amount for _, _, amount in actions) <= round.before.staminas[agent]


@law
def test_what_is_counted_as_spent_is_what_was_left_of_the_plans(game: Game) -> None:
    for round in played(game):
        expected = [list(by_kind) for by_kind in round.before.spent]
        for agent, actions in kept(round).items():
            for kind, _, amount in actions:
                expected[agent][kind] += amount

        assert expected == round.after.spent


# Gold.


@law
def test_gold_comes_from_settlements_less_fines_and_from_nowhere_else(game: Game) -> None:
    expected = [0.0] * game.config.agents
    for round in played(game):
        for _, captor, _, _, _, fine, _ in round.derived.rows(RULED):
            expected[captor] -= fine
        plots = [row[0] for row in round.derived.rows(MINING_SETTLED)]
        for _, agent, _, gold in round.derived.rows(MINING_SETTLED):
            expected[agent] += gold

        assert sorted(set(plots)) == plots
        assert list(map(float.hex, expected)) == list(map(float.hex, round.after.gold))
        assert sum(expected) == sum(round.after.gold)


@law
def test_every_word_recorded_is_the_next_of_its_key(game: Game) -> None:
    for round in played(game):
        for code, kind in ((CLAIM_DRAWN, "claim"), (RAID_RESOLVED, "raid"), (RULED, "authority")):
            for plot, *_, words in round.derived.rows(code):
                key = msgpack.packb([game.config.seed, round.round, plot, kind])

                assert [xxh3_64_intdigest(key, seed=i) for i in range(len(words))] == list(words)


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
    state = game.world.initial(game.setup)
    cut_here = bits(cuts)
    for round in played(game):
        for block in (round.inputs, round.derived):
            for piece in pieces(block, cut_here):
                state = fold(MINING, state, [piece])
        state = MINING.close(state)

        assert MINING.digest(round.after) == MINING.digest(state)
        assert fields(round.after) == fields(state)


@few
@given(games(), st.integers(0, 2**64 - 1))
def test_a_block_cut_up_and_joined_is_the_same_bytes(game: Game, cuts: int) -> None:
    cut_here = bits(cuts)
    for round in played(game):
        for block in (round.inputs, round.derived):
            assert block.packed == Block.joined(list(pieces(block, cut_here))).packed


@law
def test_the_derived_events_follow_again_from_what_was_written(game: Game) -> None:
    for round in played(game):
        read = Block(unpack(round.inputs.packed))
        before = fold(MINING, round.before, [])

        assert round.derived.packed == Block(MINING.decide(before, read)).packed


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
def test_every_event_written_is_one_that_its_type_allows(game: Game) -> None:
    for round in played(game):
        read = [Block(unpack(block.packed)) for block in (round.inputs, round.derived)]

        assert [] == list(faults(MINING, read))


@law
def test_the_state_is_the_same_from_events_read_as_from_events_made(game: Game) -> None:
    state = game.world.initial(unpack(pack(game.setup)))
    for round in played(game):
        read = [Block(unpack(block.packed)) for block in (round.inputs, round.derived)]
        state = MINING.close(fold(MINING, state, read))

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
@given(games())
def test_derived_events_are_those_of_the_oracle(part: int, game: Game) -> None:
    oracle = Oracle(game.config.as_dict(), game.rules)
    for round in played(game):
        plans = [[named(action) for action in row[1]] for row in round.submissions]
        expected = oracle.play(plans)

        assert expected == [e.as_dict() for e in block_events(MINING, round.round, round.derived)]
        assert oracle.owner == round.after.owner
        assert oracle.gold == round.after.gold


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


@law
def test_what_happens_on_a_plot_follows_from_the_actions_left_on_it(game: Game) -> None:
    for round in played(game):
        left = kept(round)
        for code in (CLAIM_DRAWN, RAID_RESOLVED, MINING_SETTLED):
            for row in round.derived.rows(code):
                on_plot = {
                    agent: tuple(action for action in actions if action[1] == row[0])
                    for agent, actions in left.items()
                }
                rows = [(agent, actions, *(None,) * 4) for agent, actions in on_plot.items()]
                alone = dict(events_of(round.before, [row for row in rows if row[1]]))

                assert [row] == alone[code]


# What was left of the plans, from the record.


def kept(round: Played) -> dict[int, list[Kept]]:
    """What was left of each agent's plan: all that was submitted but what `pruned` names."""
    gone = {
        (agent, place)
        for agent, removed, _ in round.derived.rows(PRUNED)
        for place, _ in removed
    }  # fmt: skip
    return {
        agent: [action for place, action in enumerate(actions) if (agent, place) not in gone]
        for agent, actions, *_ in round.submissions
    }


def held(state: MiningState, plot: int) -> tuple[int, int]:
    return state.since[plot], state.how[plot]


def named(action: Action) -> tuple[str, int, int] | None:
    """The action as the oracle writes it."""
    return None if action is None else (KINDS[action[0]], action[1], action[2])


# States, compared and digested field by field.


def fields(state: MiningState) -> dict[str, object]:
    """Every field of a state, as bytes that share nothing with it."""
    shown: dict[str, object] = {}
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
        else:
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
