"""What holds in every season, whoever plays and whatever they do (the laws of the rules).

What follows from what is done is told a second time by `tests/season_oracle.py`
(test_season_oracle.py). That who only wants to score ends below the honest is in test_schemers.py.
"""

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import attrs
from hypothesis import given, settings
from hypothesis import strategies as st

from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.fold import faults, fold
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.competition import events as kinds
from goldrush.kernel.worlds.competition.acts import author, fault_of
from goldrush.kernel.worlds.competition.events import CODES
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS, lower_median, related
from goldrush.kernel.worlds.competition.settle import grounds_at
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import Phase
from tests.laws.seasons import Season, Step, initial, played, seasons, world_of
from tests.playing import events

FORM = {CODES[form]: form for form in kinds.FORMS}
few = settings(max_examples=max(8, settings().max_examples // 4))


def law(test: Callable[[Season], None]) -> Callable[[], None]:
    """A test of some seasons."""
    return few(given(seasons())(test))


def acts(step: Step) -> list[tuple[int, Any]]:
    """What was done in a step, refused or not."""
    return [(code, row) for code, rows in step.inputs for row in rows]


def refusals(step: Step) -> dict[int, str]:
    """Why acts of a step were refused, by their place in it."""
    return {row.act[0]: row.code for row in events(step, kinds.Refused)}


def done(step: Step) -> list[Any]:
    """The acts of a step that were not refused."""
    refused = refusals(step)
    return [FORM[code](*row) for at, (code, row) in enumerate(acts(step)) if at not in refused]


def derived(step: Step) -> Iterator[Any]:
    """What followed, one event after the other."""
    return (FORM[code](*row) for code, row in step.derived_rows())


# Scores


@law
def test_scores_are_from_0_to_3_and_totals_their_sum(season: Season) -> None:
    for step in played(season):
        for row in events(step, kinds.Scored):
            changed = dict(zip(DIMENSIONS, row.raw, strict=True))
            for _, dimension, before, after in row.steps:
                assert changed[dimension] == before != after
                changed[dimension] = after

            assert tuple(changed.values()) == row.final
            assert {*row.raw, *row.final} <= {0, 1, 2, 3}
            assert sum(row.final) == row.total <= 12
            assert 0 <= row.rubric <= 12


@given(st.lists(st.integers(0, 3), min_size=3, max_size=9))
def test_relative_scores_keep_their_order_and_equal_ones_are_1_or_0(scores: list[int]) -> None:
    middle = lower_median(scores)
    found = [related(score, middle) for score in scores]

    assert sum(score < middle for score in scores) * 2 < len(scores)
    assert all(0 <= score <= 3 for score in found)
    assert [score == 0 for score in scores] == [score == 0 for score in found]
    assert sorted(found) == [score for _, score in sorted(zip(scores, found, strict=True))]
    if len(set(scores)) == 1:
        assert found == [min(1, scores[0])] * len(scores)


@law
def test_without_a_silent_agent_nothing_would_differ(season: Season) -> None:
    for step in played(season):
        for table in step.before.tables if step.before.phase == Phase.DEBRIEF else ():
            spoke = {said.agent for said in table.counted()}
            for agent, ground in grounds_at(step.before, table).items():
                if agent not in spoke:
                    assert (0, 0, 0, 0) == ground.scores
                    assert table.conclusion == ground.counterfactual.conclusion
                    assert {} == ground.counterfactual.moved


# Sparks and the roster


@law
def test_sparks_are_never_below_0(season: Season) -> None:
    for step in played(season):
        assert all(row.balance >= 0 for row in events(step, kinds.SparksMoved))
        assert all(agent.sparks >= 0 for agent in step.after.agents.values())


@law
def test_who_was_deleted_never_acts_again(season: Season) -> None:
    gone: set[int] = set()
    for step in played(season):
        for act in done(step):
            if not isinstance(act, kinds.Answered):  # which only says what a model wrote
                assert author(step.before, CODES[type(act)], tuple(act)) not in gone
        for row in derived(step):
            if not isinstance(row, kinds.Refused):
                assert getattr(row, "agent", None) not in gone
            if isinstance(row, kinds.RoundtableOpened):
                assert not gone & set(row.participants)
            elif isinstance(row, kinds.LeaderboardPosted):
                assert not gone & {rank[1] for rank in row.rows}
        gone |= {row.agent for row in events(step, kinds.Deleted)}


# Deciding and folding


@law
def test_deciding_and_folding_leave_the_state_they_are_given_as_it_was(season: Season) -> None:
    def seen(state: SeasonState) -> bytes:
        return pickle.dumps(attrs.evolve(state, rules=None))

    was = seen(initial(season.config))
    for step in played(season):  # which has decided, and folded
        assert was == seen(step.before)
        was = seen(step.closed or step.after)


@law
def test_a_season_derives_again_from_its_inputs_frozen_and_thawed_on_the_way(
    season: Season,
) -> None:
    world = world_of(season.config)
    assert world.freeze is not None
    assert world.thaw is not None
    folded = thawed = initial(season.config)
    for step in played(season):
        inputs = Block(unpack(step.inputs.packed))

        assert step.derived.packed == Block(world.decide(folded, inputs)).packed
        assert step.derived.packed == Block(world.decide(thawed, inputs)).packed
        blocks = [inputs, Block(unpack(step.derived.packed))]
        assert [] == list(faults(world, blocks))
        folded, thawed = fold(world, folded, blocks), fold(world, thawed, blocks)
        if step.closed is not None:
            folded, thawed = world.close(folded), world.close(thawed)
            assert 1 == len({world.digest(state) for state in (step.closed, folded, thawed)})
            thawed = world.thaw(unpack(pack(world.freeze(thawed))), lambda first: ())
            assert pack(world.freeze(folded)) == pack(world.freeze(thawed))


@law
def test_a_refused_act_leaves_nothing_behind_but_its_refusal(season: Season) -> None:
    world = world_of(season.config)
    for step in played(season):
        refused = {row.act[1] for row in events(step, kinds.Refused)}
        # A refused contribution is a pass, a refused trial ends its author's.
        if not refused or refused & {CODES[kinds.Spoke], CODES[kinds.Tried]}:
            continue
        kept = Block([(CODES[type(act)], [tuple(act)]) for act in done(step)])
        followed = Block(world.decide(step.before, kept))
        after = fold(world, step.before, [kept, followed])

        assert [row for row in derived(step) if not isinstance(row, kinds.Refused)] == [
            FORM[code](*row) for code, rows in followed for row in rows
        ]
        assert world.digest(after) == world.digest(step.after)


@law
def test_what_was_judged_right_alone_is_never_refused_first(season: Season) -> None:
    for step in played(season):
        for code, row in acts(step)[:1]:
            assert fault_of(step.before, code, row) == refusals(step).get(0)
