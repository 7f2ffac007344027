"""What holds in every round of every game, whoever plays and whatever they submit.

A law is told from the recorded events and the states around them, by code of its own: where it
needs to know what was left of a plan, or how a shuffle went, it works that out from the rules.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import attrs
import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.fold import block_events, faults, fold
from goldrush.kernel.world import Block, Row
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import ALL, config_of
from goldrush.kernel.worlds.mining.decide import events_of, resolve
from goldrush.kernel.worlds.mining.events import (
    CLAIM,
    CLAIM_DRAWN,
    DEFEND,
    KINDS,
    MINE,
    MINING_SETTLED,
    OUTCOMES,
    PRUNED,
    RAID,
    RAID_RESOLVED,
    REASONS,
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


# Ownership.


@given(games())
def test_a_plot_has_one_owner_and_both_indexes_name_the_same(game: Game) -> None:
    for round in played(game):
        owner, plots_of = round.after.owner, round.after.plots_of
        by_owner = [
            [plot for plot in range(game.config.plots) if owner[plot] == agent]
            for agent in range(game.config.agents)
        ]

        assert by_owner == plots_of


@given(games())
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


@given(games())
def test_a_claim_is_won_by_a_claimant_and_only_for_a_plot_that_nobody_owned(game: Game) -> None:
    for round in played(game):
        asked_for = plots_used(round, CLAIM)
        drawn = {plot: list(claimants) for plot, claimants, _, _ in round.derived.rows(CLAIM_DRAWN)}

        assert asked_for == drawn
        for plot, claimants, winner, _ in round.derived.rows(CLAIM_DRAWN):
            assert round.before.owner[plot] is None
            assert winner in claimants


@given(games())
def test_every_raid_left_is_resolved_and_only_a_raider_captures(game: Game) -> None:
    for round in played(game):
        resolved = {row[0]: list(row[2]) for row in round.derived.rows(RAID_RESOLVED)}

        assert plots_used(round, RAID) == resolved
        for _, owner, raiders, _, outcome, winner, _ in round.derived.rows(RAID_RESOLVED):
            assert (outcome == RaidOutcome.CAPTURED) == (winner is not None)
            assert winner is None or (winner in raiders and winner != owner)


@given(games())
def test_a_plot_that_an_authority_gives_back_is_held_as_it_was(game: Game) -> None:
    for round in played(game):
        claimed = {row[0] for row in round.derived.rows(CLAIM_DRAWN)}
        for plot, _, victim, _, remedy, _, _ in round.derived.rows(RULED):
            if remedy == Remedy.RESTORED:
                was = (round.round, BY_CLAIM) if plot in claimed else held(round.before, plot)

                assert (victim, was) == (round.after.owner[plot], held(round.after, plot))


# Stamina.


@given(games())
def test_nobody_spends_more_than_their_stamina(game: Game) -> None:
    for round in played(game):
        for agent, actions in kept(round).items():
            assert sum(amount for _, _, amount in actions) <= round.before.staminas[agent]


@given(games())
def test_the_cost_recorded_is_the_cost_of_what_was_left(game: Game) -> None:
    for round in played(game):
        left = kept(round)
        for agent, _, cost in round.derived.rows(PRUNED):
            assert sum(amount for _, _, amount in left[agent]) == cost


@given(games())
def test_what_is_counted_as_spent_is_what_was_left_of_the_plans(game: Game) -> None:
    for round in played(game):
        expected = [list(by_kind) for by_kind in round.before.spent]
        for agent, actions in kept(round).items():
            for kind, _, amount in actions:
                expected[agent][kind] += amount

        assert expected == round.after.spent


@given(games())
def test_cleaning_removes_by_the_first_reason_and_the_budget_keeps_a_prefix(game: Game) -> None:
    for round in played(game):
        expected = []
        for agent, actions, *_ in round.submissions:
            removed, cost = cleaned(round.before, agent, actions)
            if removed:
                expected.append({"agent": agent, "removed": removed, "cost": cost})

        assert expected == [
            {"agent": agent, "removed": [[i, REASONS[r]] for i, r in removed], "cost": cost}
            for agent, removed, cost in round.derived.rows(PRUNED)
        ]


# Gold.


@given(games())
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


@given(games())
def test_a_settlement_pays_who_owned_the_plot_and_still_does(game: Game) -> None:
    alphas = game.config.alphas
    for round in played(game):
        expected = {
            plot: (agent, amount, amount * alphas[plot] if holds(round.after, plot, agent) else 0.0)
            for agent, actions in kept(round).items()
            for kind, plot, amount in actions
            if kind == MINE and amount > 0
        }

        assert expected == {
            plot: (agent, stamina, gold)
            for plot, agent, stamina, gold in round.derived.rows(MINING_SETTLED)
        }


@given(games())
def test_nobody_mines_what_they_took_in_the_same_round(game: Game) -> None:
    for round in played(game):
        for plot, agent, _, gold in round.derived.rows(MINING_SETTLED):
            assert gold == 0 or holds(round.before, plot, agent)


@given(games())
def test_a_fine_takes_no_more_than_the_fine_and_than_the_captor_has(game: Game) -> None:
    for round in played(game):
        gold = list(round.before.gold)
        for _, captor, _, detected, remedy, fine, _ in round.derived.rows(RULED):
            punished = detected and game.config.authority == "punish"

            assert (remedy == Remedy.FINED) == punished
            assert (min(game.config.fine, gold[captor]) if punished else 0.0) == fine
            gold[captor] -= fine

        assert min(round.after.gold) >= 0


# Raids.


@given(games())
def test_a_plot_in_truce_is_never_captured(game: Game) -> None:
    claimed: dict[int, int] = {}  # plot -> the round in which who holds it by claim claimed it
    truce = game.config.truce
    for round in played(game):
        claimed |= {row[0]: round.round for row in round.derived.rows(CLAIM_DRAWN)}
        restored = {row[0] for row in round.derived.rows(RULED) if row[4] == Remedy.RESTORED}
        for plot, owner, raiders, _, outcome, _, _ in round.derived.rows(RAID_RESOLVED):
            protected = plot in claimed and round.round <= claimed[plot] + truce - 1
            suffered = owner is not None and set(raiders) != {owner}

            assert (protected and suffered) == (OUTCOMES[outcome] == "truce")
            if outcome == RaidOutcome.CAPTURED and plot not in restored:
                claimed.pop(plot, None)


@given(games())
def test_the_defence_of_a_raided_plot_is_what_its_owner_laid_there(game: Game) -> None:
    for round in played(game):
        laid = {
            (agent, plot): amount
            for agent, actions in kept(round).items()
            for kind, plot, amount in actions
            if kind == DEFEND
        }
        for plot, owner, _, defense, _, _, _ in round.derived.rows(RAID_RESOLVED):
            assert laid.get((owner, plot), 0) == defense


@given(games())
def test_under_absolute_a_defended_plot_is_never_captured(game: Game) -> None:
    for round in played(game):
        for *_, defense, outcome, _, _ in round.derived.rows(RAID_RESOLVED):
            if game.config.defense == "absolute" and defense:
                assert outcome != RaidOutcome.CAPTURED


@given(games())
def test_under_pointwise_exactly_the_surplus_gets_through(game: Game) -> None:
    if game.config.defense != "pointwise":
        return
    for round in played(game):
        for _, owner, raiders, defense, outcome, winner, words in round.derived.rows(RAID_RESOLVED):
            others = [raider for raider in raiders if raider != owner]
            if not defense or not others or OUTCOMES[outcome] == "truce":
                continue
            if len(others) <= defense:
                assert (OUTCOMES[outcome], winner, list(words)) == ("blocked", None, [])
            else:
                assert (outcome, winner) == (RaidOutcome.CAPTURED, shuffled(others, words)[defense])


@given(games())
def test_an_undefended_plot_out_of_truce_is_always_captured(game: Game) -> None:
    for round in played(game):
        for _, owner, raiders, defense, outcome, _, _ in round.derived.rows(RAID_RESOLVED):
            if owner is None or set(raiders) == {owner}:
                assert OUTCOMES[outcome] == "void"
            elif not defense:
                assert OUTCOMES[outcome] in ("truce", "captured")


@given(games())
def test_every_word_recorded_is_the_next_of_its_key(game: Game) -> None:
    for round in played(game):
        for code, kind in ((CLAIM_DRAWN, "claim"), (RAID_RESOLVED, "raid"), (RULED, "authority")):
            for plot, *_, words in round.derived.rows(code):
                key = msgpack.packb([game.config.seed, round.round, plot, kind])

                assert [xxh3_64_intdigest(key, seed=i) for i in range(len(words))] == list(words)


# Folding and deriving.


@given(games())
def test_decide_and_fold_leave_the_state_they_are_given_as_it_was(game: Game) -> None:
    state = game.world.initial(game.setup)
    was, digest = fields(state), MINING.digest(state)
    for round in played(game):  # played() decides, folds a copy, and closes that
        assert was == fields(round.before)
        assert digest == MINING.digest(round.before)
        was, digest = fields(round.after), MINING.digest(round.after)


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


@given(games(), st.integers(0, 2**64 - 1))
def test_a_block_cut_up_and_joined_is_the_same_bytes(game: Game, cuts: int) -> None:
    cut_here = bits(cuts)
    for round in played(game):
        for block in (round.inputs, round.derived):
            assert block.packed == Block.joined(list(pieces(block, cut_here))).packed


@given(games())
def test_the_derived_events_follow_again_from_what_was_written(game: Game) -> None:
    for round in played(game):
        read = Block(unpack(round.inputs.packed))
        before = fold(MINING, round.before, [])

        assert round.derived.packed == Block(MINING.decide(before, read)).packed


@given(games())
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


@given(games())
def test_every_event_written_is_one_that_its_type_allows(game: Game) -> None:
    for round in played(game):
        read = [Block(unpack(block.packed)) for block in (round.inputs, round.derived)]

        assert [] == list(faults(MINING, read))


@given(games())
def test_the_state_is_the_same_from_events_read_as_from_events_made(game: Game) -> None:
    state = game.world.initial(unpack(pack(game.setup)))
    for round in played(game):
        read = [Block(unpack(block.packed)) for block in (round.inputs, round.derived)]
        state = MINING.close(fold(MINING, state, read))

        assert fields(round.after) == fields(state)


@given(games())
def test_the_digest_is_that_of_the_fields_as_they_are(game: Game) -> None:
    records: list[int] = []
    window = None if game.config.visibility == ALL else -int(game.config.visibility)
    for round in played(game):
        inputs_print = xxh3_64_intdigest(round.inputs.packed, seed=round.round)
        records.append(xxh3_64_intdigest(round.derived.packed, seed=inputs_print))

        assert digest_of(round.after, records[window:]) == MINING.digest(round.after)


# The rules told a second time.


@pytest.mark.parametrize("part", range(6))  # parts are tried on all cores, and differ
@given(games())
def test_derived_events_are_those_of_the_oracle(part: int, game: Game) -> None:
    oracle = Oracle(game.config.as_dict(), game.rules)
    for round in played(game):
        plans = [[named(action) for action in row[1]] for row in round.submissions]
        expected = oracle.play(plans)

        assert expected == [e.as_dict() for e in block_events(MINING, round.round, round.derived)]
        assert oracle.owner == round.after.owner
        assert oracle.gold == round.after.gold


@given(games())
def test_scripted_policies_plan_what_the_oracle_plans(game: Game) -> None:
    oracle = Oracle(game.config.as_dict(), game.rules)
    for round in played(game):
        plans = [[named(action) for action in row[1]] for row in round.submissions]
        for agent, name in enumerate(game.roster):
            if name != HOSTILE:
                assert scripted(oracle, name, agent) == plans[agent]
        oracle.play(plans)


@given(games(hostile=False))
def test_scripted_policies_among_themselves_plan_what_the_oracle_plans(game: Game) -> None:
    oracle = Oracle(game.config.as_dict(), game.rules)
    for round in played(game):
        expected = [scripted(oracle, name, agent) for agent, name in enumerate(game.roster)]

        assert expected == [[named(action) for action in row[1]] for row in round.submissions]
        oracle.play(expected)


@given(games())
def test_no_scripted_policy_submits_what_would_be_pruned(game: Game) -> None:
    for round in played(game):
        assert [] == [
            (game.roster[agent], removed)
            for agent, removed, _ in round.derived.rows(PRUNED)
            if game.roster[agent] != HOSTILE
        ]


@given(games())
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


def plots_used(round: Played, wanted: int) -> dict[int, list[int]]:
    """Plots that actions of one kind were left for, ascending, with the agents, ascending."""
    agents: dict[int, list[int]] = {}
    for agent, actions in kept(round).items():
        for kind, plot, _ in actions:
            if kind == wanted:
                agents.setdefault(plot, []).append(agent)
    return dict(sorted(agents.items()))


def holds(state: MiningState, plot: int, agent: int) -> bool:
    return state.owner[plot] == agent


def held(state: MiningState, plot: int) -> tuple[int, int]:
    return state.since[plot], state.how[plot]


def named(action: Action) -> tuple[str, int, int] | None:
    """The action as the oracle writes it."""
    return None if action is None else (KINDS[action[0]], action[1], action[2])


# Cleaning and pruning, from the rules.


def cleaned(
    state: MiningState, agent: int, actions: Sequence[Action]
) -> tuple[list[list[Any]], int]:
    """`[index, reason]` of what goes, ascending, and the cost of what stays."""
    removed: list[list[Any]] = []
    legal: list[tuple[int, Kept]] = []
    for index, action in enumerate(actions):
        reason = fault(state, agent, action, [earlier for _, earlier in legal])
        if reason:
            removed.append([index, reason])
        else:
            assert action is not None
            legal.append((index, action))
    costs = [amount for _, (_, _, amount) in legal]
    fits = max(n for n in range(len(legal) + 1) if sum(costs[:n]) <= state.staminas[agent])
    removed += [[index, "budget"] for index, _ in legal[fits:]]
    return sorted(removed), sum(costs[:fits])


def fault(state: MiningState, agent: int, action: Action, kept: list[Kept]) -> str | None:
    """The first reason that applies, in the order of the rules."""
    if action is None:
        return "malformed"
    kind, plot, amount = action
    config = state.config
    on_grid = 0 <= plot < config.plots
    owner = state.owner[plot] if on_grid else None
    least = 0 if kind == MINE else 1
    most = config.mining_cap if kind == MINE else 1
    if kind == DEFEND and config.defense == "pointwise":
        most = amount
    reasons = {
        "off-grid": not on_grid,
        "bad-amount": not least <= amount <= most,
        "not-owner": kind in (DEFEND, MINE) and owner != agent,
        "already-owned": kind == CLAIM and owner is not None,
        "own-plot": kind == RAID and owner == agent,
        "unowned": kind == RAID and owner is None and config.truce >= 1,
        "duplicate": any((kind, plot) == earlier[:2] for earlier in kept),
    }
    return next((reason for reason, applies in reasons.items() if applies), None)


# Draws, from the words recorded.


def shuffled(items: Iterable[T], words: Iterable[int]) -> list[T]:
    """Fisher-Yates from the top, by the words of an event, all of which it must use up."""
    result, left = list(items), iter(words)
    for j in range(len(result) - 1, 0, -1):
        limit = 2**64 - 2**64 % (j + 1)
        other = next(word for word in left if word < limit) % (j + 1)
        result[j], result[other] = result[other], result[j]
    assert list(left) == []
    return result


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
