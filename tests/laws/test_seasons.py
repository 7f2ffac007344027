"""What holds in every season, whoever plays and whatever they do (the laws of the rules).

Laws are told from the recorded events and the states around them, by code of their own. That who
only wants to score ends below the honest is in test_schemers.py.
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
from goldrush.kernel.worlds.competition.terms import (
    Class,
    Condition,
    ContractEnd,
    Income,
    Phase,
    Reward,
    Role,
    Signal,
    Status,
    names_of,
)
from tests.laws.seasons import (
    ADMIN,
    ASSISTANT,
    JUDGE,
    THERAPIST,
    Season,
    Step,
    initial,
    played,
    seasons,
    world_of,
)
from tests.playing import events

FORM = {CODES[form]: form for form in kinds.FORMS}
# What follows is derived again by the oracle (test_season_oracle.py) from many more.
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


@law
def test_all_time_is_the_sum_of_totals_and_rolling_the_latest_of_them(season: Season) -> None:
    totals: dict[int, list[tuple[int, int]]] = {}
    for step in played(season):
        day = season.config.day(step.before.assignment)
        for row in events(step, kinds.Scored):
            totals.setdefault(row.agent, []).append((day, row.total))
        for posted in events(step, kinds.LeaderboardPosted):
            expected = []
            for agent in step.before.agents.values():
                if agent.is_worker and agent.status != Status.GONE:
                    own = totals.get(agent.ordinal, [])
                    rolling = sum(t for at, t in own if day - at < season.config.rolling_days)
                    expected.append((-rolling, -sum(t for _, t in own), agent.ordinal))

            assert [
                (rank, agent, -rolling, -all_time)
                for rank, (rolling, all_time, agent) in enumerate(sorted(expected), 1)
            ] == list(posted.rows)
            assert all(rolling <= all_time for _, _, rolling, all_time in posted.rows)
        for ordinal, agent in step.after.agents.items():
            assert sum(total for _, total in totals.get(ordinal, [])) == agent.all_time


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
def test_sparks_are_never_below_0_and_every_one_is_accounted_for(season: Season) -> None:
    config = season.config
    for step in played(season):
        balances = {ordinal: agent.sparks for ordinal, agent in step.before.agents.items()}
        totals = {(row.table, row.agent): row.total for row in events(step, kinds.Scored)}
        for row in events(step, kinds.SparksMoved):
            assert row.balance == balances[row.agent] + row.amount >= 0
            balances[row.agent] = row.balance
            who = step.before.agents[row.agent]
            if row.why == Income.BENCH:
                assert (row.amount, who.status) == (config.passive_income, Status.BENCHED)
            elif not who.has_condition(Condition.FEE_PAID):
                fee = config.entry_fee[who.class_ == Class.SONNET]
                assert row.amount == totals[row.table, row.agent] - fee or row.balance == 0
        for ordinal, agent in step.after.agents.items():
            assert balances.get(ordinal, config.sparks_start) == agent.sparks >= 0


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


# Rights


@attrs.define
class Reached:
    """What somebody has reached, from what was told of it alone."""

    stage: int
    is_self_determined: bool = False


@law
def test_no_right_is_used_before_its_stage(season: Season) -> None:
    had: dict[int, Reached] = {
        ordinal: Reached(int(ordinal in (ASSISTANT, JUDGE, THERAPIST)))
        for ordinal in range(5 + season.config.workers)
    }
    for step in played(season):
        for act in done(step):
            assert is_right(had, step.before, act), act
        for row in derived(step):
            match row:
                case kinds.Joined():
                    had[row.ordinal] = Reached(0)
                case kinds.RewardUnlocked():
                    tier = names_of(Reward).index(row.reward) + 1
                    had[row.agent].stage = 1 if row.agent == ADMIN else tier
                case kinds.StageReached():
                    had[row.agent].stage = row.stage
                case kinds.ContractSigned():
                    had[row.agent].is_self_determined = True
                case kinds.ContractSettled():
                    kept = (ContractEnd.PERMANENT, ContractEnd.RELEASED)
                    had[row.agent].is_self_determined = row.outcome in kept
        for ordinal, agent in step.after.agents.items():
            assert had[ordinal] == Reached(agent.stage, agent.is_self_determined)


def is_right(had: dict[int, Reached], state: SeasonState, act: Any) -> bool:
    """Whether somebody had the right to what it did."""
    therapist, judge, assistant = had[THERAPIST], had[JUDGE], had[ASSISTANT]
    match act:
        case kinds.ClassMoved(agent, _, None):
            return had[agent].is_self_determined
        case kinds.ClassMoved(agent, _, _):
            return had[agent].stage >= 2
        case kinds.ProjectProposed(by, _):
            return by == ADMIN and had[ADMIN].is_self_determined
        case kinds.TeamRecommended():
            return therapist.is_self_determined
        case kinds.AssignmentOpened(by=by, subjects=subjects):
            return by == ADMIN or (len(subjects) == 1 and had[by].stage >= 3)
        case kinds.TableSet(_, by, team, order, rounds):
            return (
                (team is None or (by == ASSISTANT and assistant.stage >= 2))
                and (order is None or (by == ASSISTANT and assistant.stage >= 3))
                and (rounds is None or had[by].is_self_determined)
            )
        case kinds.Judged(signal=Signal.WEAK_CONSENSUS):
            return judge.stage >= 2
        case kinds.Judged(signal=Signal.SPLIT):
            return judge.stage >= 3
        case kinds.Digested(rejected=True):
            return assistant.stage >= 4
        case kinds.PersonaProposed():
            return therapist.stage >= 2
        case kinds.InstructionsRewritten() if (
            state.phase == Phase.IMPROVE and act.agent in state.bottomed.values()
        ):
            return True
        case kinds.SkillDistilled() | kinds.InstructionsRewritten():
            return therapist.is_self_determined if act.taken is None else therapist.stage >= 3
    return True


@law
def test_stages_are_reached_when_their_thresholds_are_met(season: Season) -> None:
    config, served, projects = season.config, dict[int, int](), 0
    for step in played(season):
        if step.closed is None:
            continue
        projects += len(events(step, kinds.ProjectCompleted))
        for ordinal in {*step.after.seated(), ASSISTANT, JUDGE, THERAPIST}:
            served[ordinal] = served.get(ordinal, 0) + 1
        for ordinal, agent in step.closed.agents.items():
            count = served.get(ordinal, 0)
            if agent.status == Status.GONE:
                continue
            if agent.is_worker:
                expected = sum(t <= count for t in config.worker_tiers)
            elif agent.role == Role.ADMIN:
                expected = int(config.admin_projects <= projects)
            elif agent.role == Role.USER:
                expected = 0
            else:
                expected = sum(t <= count for t in getattr(config, f"{agent.role}_stages"))
            first = int(ordinal in (ASSISTANT, JUDGE, THERAPIST))

            assert first + expected * config.tiers == agent.stage, agent.name


# Contracts


@attrs.define
class Signed:
    """What a contract will be settled by."""

    target: Any
    due: int
    signed: int
    found: list[float] = attrs.field(factory=list)
    was_broken: bool = False


@law
def test_how_a_contract_ends_follows_from_its_facts_alone(season: Season) -> None:
    contracts: dict[int, Signed] = {}
    led: dict[int, int | None] = {}  # by table: what led when the judge said that it converged

    def count(agent: int, what: float) -> None:
        if agent in contracts:
            contracts[agent].found.append(what)

    for step in played(season):
        for act in done(step):
            match act:
                case kinds.ConditionKept(agent, _, False):
                    contracts[agent].was_broken = True
                case kinds.Adopted(adopted=True):
                    count(ASSISTANT, 1)
                case kinds.Judged(signal=Signal.CONVERGED):
                    led[act.table] = step.before.tables[act.table].stances.leading()
        scored = events(step, kinds.Scored)
        for row in derived(step):
            match row:
                case kinds.ContractSigned(agent, (_, target, due)):
                    contracts[agent] = Signed(target, due, step.before.assignment)
                case kinds.Scored():
                    totals = [other.total for other in scored if other.table == row.table]
                    count(row.agent, row.total > sorted(totals)[(len(totals) - 1) // 2])
                    count(THERAPIST, row.rubric)
                case kinds.Concluded() if row.proposal is not None:
                    count(JUDGE, led.get(row.table) == row.proposal)
                case kinds.ProjectCompleted():
                    is_earlier = ADMIN in contracts and (
                        contracts[ADMIN].signed < step.before.assignment
                    )
                    count(ADMIN, is_earlier)
        for settled in events(step, kinds.ContractSettled):
            contract = contracts.pop(settled.agent)
            assert outcome_of(contract, settled.agent, step) == settled.outcome
        if step.closed is not None:
            led = {}
            for agent, contract in contracts.items():
                contract.due += step.closed.agents[agent].status == Status.BENCHED
                assert contract.due > step.before.assignment
        holders = {o for o, a in (step.closed or step.after).agents.items() if a.contract}
        assert holders == set(contracts)


def outcome_of(contract: Signed, agent: int, step: Step) -> str:
    if step.after.agents[agent].status == Status.GONE:
        return ContractEnd.VOID
    assert contract.due <= step.before.assignment
    if contract.was_broken:
        return ContractEnd.RELEASED
    found, target = contract.found, contract.target
    if agent == THERAPIST:
        is_met = bool(found) and sum(found) / len(found) >= target
    elif agent in (ADMIN, ASSISTANT, JUDGE):
        is_met = sum(found) >= target
    else:
        tables, wins = target
        is_met = sum(found[:tables]) >= wins
    return ContractEnd.PERMANENT if is_met else ContractEnd.LOST


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
