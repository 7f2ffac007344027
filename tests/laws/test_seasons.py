"""What holds in every season, whoever plays and whatever they do.

Laws are told from the recorded events and the states around them, by code of their own.
"""

import pickle
import random
from collections.abc import Iterator
from typing import Any

import attrs
import pytest
from goldrush.kernel.competition.conduct import POLICIES, Conduct, distance
from goldrush.kernel.competition.turns import speaker
from hypothesis import given, settings
from hypothesis import strategies as st

from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.competition import COMPETITION
from goldrush.kernel.competition.acts import author, code_of
from goldrush.kernel.competition.events import (
    ADOPTED,
    ANSWERED,
    ASSIGNMENT_OPENED,
    BOTTOMED,
    CLASS_MOVED,
    CODES,
    CONCLUDED,
    CONDITION_KEPT,
    CONTRACT_SETTLED,
    CONTRACT_SIGNED,
    DELETED,
    DIGESTED,
    DIMENSIONS,
    ELIMINATION_FACED,
    EVENTS,
    INSTRUCTIONS_REWRITTEN,
    JOINED,
    JUDGED,
    LEADERBOARD_POSTED,
    PERSONA_PROPOSED,
    PROJECT_COMPLETED,
    PROJECT_PROPOSED,
    REFUSED,
    RELEGATED,
    RETURNED,
    REWARD_UNLOCKED,
    ROUNDTABLE_OPENED,
    SCORED,
    SKILL_DISTILLED,
    SPARKS_MOVED,
    SPOKE,
    STAGE_REACHED,
    TABLE_SET,
    TEAM_RECOMMENDED,
    TIER_REWARDS,
)
from goldrush.kernel.competition.rubric import finished, lower_median, related
from goldrush.kernel.competition.settle import grounds_at
from goldrush.kernel.competition.state import (
    ACTIVE,
    BENCHED,
    DEBRIEF,
    GONE,
    IMPROVE,
    SPEAK,
    SeasonState,
)
from goldrush.kernel.competition.table import Table
from goldrush.kernel.fold import faults, fold
from goldrush.kernel.world import Block, Row
from tests.kernel.competition import seasons as by_hand
from tests.kernel.competition.seasons import ADA, BAR, BASELINE, BEN, CLEO, DOV, ELIF
from tests.laws.seasons import (
    ADMIN,
    ASSISTANT,
    JUDGE,
    THERAPIST,
    Act,
    Season,
    Step,
    initial,
    played,
    seasons,
)


def done(step: Step) -> Iterator[tuple[Act, SeasonState]]:
    """The acts of a step that were not refused, each with the state in which it was done, but for
    what the acts before it in the step changed.
    """
    refused = {act[0] for _, act, _ in step.derived.rows(REFUSED)}
    acts = [(code, row) for code, rows in step.inputs for row in rows]
    return ((act, step.before) for place, act in enumerate(acts) if place not in refused)


def test_the_seasons_drawn_meet_every_event_and_every_refusal() -> None:
    met: set[str] = set()

    @settings(max_examples=2 * settings().max_examples)
    @given(seasons())
    def collect(season: Season) -> None:
        for step in played(season):
            met.update(EVENTS[code].name for (code, _), _ in done(step))
            met.update(EVENTS[code].name for code, _ in step.derived)
            met.update(why for _, _, why in step.derived.rows(REFUSED))

    collect()

    assert {event.name for event in EVENTS} | set(CODES) == met


# Scores


@given(seasons())
def test_scores_are_from_0_to_3_and_totals_their_sum(season: Season) -> None:
    for step in played(season):
        for _, _, raw, steps, final, total in step.derived.rows(SCORED):
            changed = dict(zip(DIMENSIONS, raw, strict=True))
            for _, dimension, before, after in steps:
                assert changed[dimension] == before != after
                changed[dimension] = after

            assert tuple(changed.values()) == final
            assert {*raw, *final} <= {0, 1, 2, 3}
            assert sum(final) == total <= 12


@given(seasons())
def test_all_time_is_the_sum_of_totals_and_rolling_the_latest_of_them(season: Season) -> None:
    totals: dict[int, list[tuple[int, int]]] = {}
    config = season.config
    for step in played(season):
        day = config.day(step.before.assignment)
        for _, agent, *_, total in step.derived.rows(SCORED):
            totals.setdefault(agent, []).append((day, total))
        for (rows,) in step.derived.rows(LEADERBOARD_POSTED):
            agents = [a for a in step.before.agents.values() if a.is_worker and a.status != GONE]
            expected = []
            for agent in agents:
                found = totals.get(agent.ordinal, [])
                rolling = sum(t for at, t in found if day - at < config.rolling_days)
                expected.append((-rolling, -sum(t for _, t in found), agent.ordinal))
            expected.sort()

            assert [
                (rank, agent, -rolling, -all_time)
                for rank, (rolling, all_time, agent) in enumerate(expected, 1)
            ] == list(rows)
            assert all(rolling <= all_time for _, _, rolling, all_time in rows)
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


@given(seasons(), st.integers(0, 3))
def test_relative_scoring_of_equal_raw_scores_gives_1_or_0(season: Season, raw: int) -> None:
    for step in played(season):
        if step.before.phase == DEBRIEF:
            for table in step.before.tables:
                ground = grounds_at(step.before, table)
                given = dict.fromkeys(table.participants, (raw,) * 4)
                scores = finished(table, ground, given, "relative").values()
                # Accuracy and challenge may have been taken away from somebody before.
                is_equal = all(row[0] == "relative" for score in scores for row in score.steps)
                for score in scores:
                    assert [min(1, raw)] * 2 == [score.final[0], score.final[2]]
                    assert not is_equal or score.final == (min(1, raw),) * 4


@given(seasons())
def test_without_a_silent_agent_nothing_would_differ(season: Season) -> None:
    for step in played(season):
        if step.before.phase != DEBRIEF:
            continue
        for table in step.before.tables:
            grounds = grounds_at(step.before, table)
            for agent in table.participants:
                if not table.lines_of(agent):
                    without = grounds[agent].without

                    assert (0, 0, 0, 0) == grounds[agent].scores
                    assert (table.conclusion, ()) == (without.conclusion, without.moved)


@given(seasons())
def test_where_everybody_stands_is_what_a_refold_gives(season: Season) -> None:
    for step in played(season):
        for table in step.after.tables:
            again = table.standing_without(())

            assert (again.stances, again.refuted) == (
                table.standing.stances,
                table.standing.refuted,
            )
            assert table.standing.stances == stances(table)


def stances(table: Table) -> dict[int, int]:
    """Each agent's latest proposal, made or supported, that no challenge refuted."""
    found: dict[int, int] = {}
    refuted = {
        said.target
        for said in table.counted()
        if said.move == "challenge" and said.part == "base" and table.is_sustained(said)
    }
    for said in table.counted():
        stance = said.id if said.is_proposal else said.target if said.move == "support" else None
        if stance is not None and stance not in refuted:
            found[said.agent] = stance
    return found


# Sparks and the roster


@given(seasons())
def test_sparks_are_never_below_0_and_every_one_is_accounted_for(season: Season) -> None:
    for step in played(season):
        balances = {ordinal: agent.sparks for ordinal, agent in step.before.agents.items()}
        totals = {(row[0], row[1]): row[-1] for row in step.derived.rows(SCORED)}
        for table, agent, amount, balance, why in step.derived.rows(SPARKS_MOVED):
            assert balance == balances[agent] + amount >= 0
            balances[agent] = balance
            who = step.before.agents[agent]
            if why == "bench":
                assert (amount, who.status) == (season.config.passive_income, BENCHED)
            elif not who.has_condition("fee_paid"):
                fee = season.config.entry_fee[who.class_ == "sonnet"]
                assert amount == totals[table, agent] - fee or balance == 0
        for ordinal, agent in step.after.agents.items():
            assert balances.get(ordinal, season.config.sparks_start) == agent.sparks


@given(seasons())
def test_the_active_roster_is_whole_and_nobody_is_on_it_and_on_the_bench(season: Season) -> None:
    for step in played(season):
        workers = [agent for agent in step.after.agents.values() if agent.is_worker]
        names = [agent.name for agent in step.after.agents.values()]

        assert len(set(names)) == len(names)
        assert season.config.workers == sum(agent.status == ACTIVE for agent in workers)
        assert all(
            (agent.status == BENCHED) == (agent.benched_in is not None) or agent.status == GONE
            for agent in workers
        )
        for _, participants, order, _, _ in step.derived.rows(ROUNDTABLE_OPENED):
            assert len(participants) >= 3
            assert sorted(order) == list(participants)
            assert {ACTIVE} == {step.before.agents[agent].status for agent in participants}


@given(seasons())
def test_whoever_faces_elimination_leaves_and_a_place_is_taken_at_once(season: Season) -> None:
    faced: dict[int, str] = {}
    for step in played(season):
        faced |= dict(step.derived.rows(ELIMINATION_FACED))
        left = [agent for code in (RELEGATED, DELETED) for (agent,) in step.derived.rows(code)]
        came = [*step.derived.rows(JOINED), *step.derived.rows(RETURNED)]

        assert len(left) == len(came)
        assert set(left) <= set(faced)
        for agent, _ in step.derived.rows(RETURNED):
            was = step.before.agents[agent]
            assert was.status == BENCHED
            assert was.benched_in is not None
            assert was.benched_in < step.before.assignment
        if step.closed is not None:
            assert not {a for a in faced if step.closed.agents[a].status == ACTIVE}
            faced = {}


@given(seasons())
def test_who_was_deleted_never_acts_again(season: Season) -> None:
    gone: set[int] = set()
    for step in played(season):
        for (code, row), state in done(step):
            if code != ANSWERED:  # which only says what somebody's model wrote
                assert author(state, code, row) not in gone
        for code, row in step.derived_rows():
            if code in (SCORED, SPARKS_MOVED, BOTTOMED):
                assert row[1] not in gone
            elif code in (ELIMINATION_FACED, RELEGATED, CONTRACT_SIGNED, REWARD_UNLOCKED):
                assert row[0] not in gone
            elif code in (ROUNDTABLE_OPENED, LEADERBOARD_POSTED):
                named = row[1] if code == ROUNDTABLE_OPENED else [rank[1] for rank in row[0]]
                assert not gone & set(named)
        gone |= {agent for (agent,) in step.derived.rows(DELETED)}


# Rights


@attrs.define
class Standing:
    """What somebody has reached, from what was told of it alone."""

    stage: int
    is_self_determined: bool = False


@given(seasons())
def test_no_right_is_used_before_its_stage(season: Season) -> None:
    had: dict[int, Standing] = {
        ordinal: Standing(1 if ordinal in (ASSISTANT, JUDGE, THERAPIST) else 0)
        for ordinal in range(5 + season.config.workers)
    }
    for step in played(season):
        for (code, row), state in done(step):
            assert is_right(had, state, code, row), (code, row)
        for code, row in step.derived_rows():
            if code == JOINED:
                had[row[0]] = Standing(0)
            elif code == REWARD_UNLOCKED:
                had[row[0]].stage = 1 if row[0] == ADMIN else TIER_REWARDS.index(row[1]) + 1
            elif code == STAGE_REACHED:
                had[row[0]].stage = row[1]
            elif code == CONTRACT_SIGNED:
                had[row[0]].is_self_determined = True
            elif code == CONTRACT_SETTLED:
                had[row[0]].is_self_determined = row[1] in ("permanent", "released")
        for ordinal, agent in step.after.agents.items():
            assert had[ordinal] == Standing(agent.stage, agent.is_self_determined)


def is_right(had: dict[int, Standing], state: SeasonState, code: int, row: Row) -> bool:
    """Whether somebody had the right to what it did."""
    therapist, judge, assistant = had[THERAPIST], had[JUDGE], had[ASSISTANT]
    if code == CLASS_MOVED:
        return had[row[0]].is_self_determined if row[2] is None else had[row[0]].stage >= 2
    if code == PROJECT_PROPOSED:
        return row[0] == ADMIN and had[ADMIN].is_self_determined
    if code == TEAM_RECOMMENDED:
        return therapist.is_self_determined
    if code == ASSIGNMENT_OPENED:
        return row[0] == ADMIN or (len(row[3]) == 1 and had[row[0]].stage >= 3)
    if code == TABLE_SET:
        _, by, team, order, rounds = row
        may_choose = (by == ASSISTANT and team is None) or assistant.stage >= 2
        may_order = (by == ASSISTANT and order is None) or assistant.stage >= 3
        return (
            (team is None or may_choose)
            and (order is None or may_order)
            and (rounds is None or had[by].is_self_determined)
        )
    if code == JUDGED and row[2] in ("weak-consensus", "split"):
        return judge.stage >= (2 if row[2] == "weak-consensus" else 3)
    if code == DIGESTED and row[3]:
        return assistant.stage >= 4
    if code == PERSONA_PROPOSED:
        return therapist.stage >= 2
    if code in (SKILL_DISTILLED, INSTRUCTIONS_REWRITTEN):
        if (
            code == INSTRUCTIONS_REWRITTEN
            and state.phase == IMPROVE
            and row[0] in state.bottomed.values()
        ):
            return True
        return therapist.is_self_determined if row[-1] is None else therapist.stage >= 3
    return True


@given(seasons())
def test_stages_are_reached_when_their_thresholds_are_met(season: Season) -> None:
    served: dict[int, int] = {}
    projects = 0
    for step in played(season):
        if step.closed is None:
            continue
        projects += len(step.derived.rows(PROJECT_COMPLETED))
        for ordinal in {*step.after.seated(), ASSISTANT, JUDGE, THERAPIST}:
            served[ordinal] = served.get(ordinal, 0) + 1
        config = season.config
        for ordinal, agent in step.closed.agents.items():
            count = served.get(ordinal, 0)
            if agent.status == GONE:
                continue
            if agent.is_worker:
                expected = sum(t <= count for t in config.worker_tiers) if count else 0
            elif agent.role == "admin":
                expected = int(config.admin_projects <= projects)
            elif agent.role == "user":
                expected = 0
            else:
                expected = 1 + sum(t <= count for t in getattr(config, f"{agent.role}_stages"))

            assert expected == agent.stage, agent.name


# Contracts


@attrs.define
class Signed:
    """What a contract will be settled by."""

    target: float
    due: int
    count: int = 0
    total: int = 0
    was_broken: bool = False


@given(seasons())
def test_how_a_contract_ends_follows_from_its_facts_alone(season: Season) -> None:
    contracts: dict[int, Signed] = {}
    for step in played(season):
        for (code, row), _ in done(step):
            if code == CONDITION_KEPT and not row[2]:
                contracts[row[0]].was_broken = True
            elif code == ADOPTED and row[1] and ASSISTANT in contracts:
                contracts[ASSISTANT].count += 1
        for code, row in step.derived_rows():
            if code == CONTRACT_SIGNED:
                contracts[row[0]] = Signed(*row[1][1:])
            elif code == SCORED:
                for agent in {row[1], THERAPIST} & set(contracts):
                    contracts[agent].count += 1
                    contracts[agent].total += row[-1]
            elif code == CONCLUDED and row[1] is not None and not row[4] and JUDGE in contracts:
                contracts[JUDGE].count += 1
        if step.derived.rows(PROJECT_COMPLETED) and ADMIN in contracts:
            contracts[ADMIN].count += 1
        for agent, outcome in step.derived.rows(CONTRACT_SETTLED):
            assert outcome_of(contracts.pop(agent), agent, step) == outcome
        if step.closed is not None:
            for agent in set(contracts):
                if step.closed.agents[agent].status == BENCHED:
                    contracts[agent].due += 1
                assert contracts[agent].due > step.before.assignment
        holders = {o for o, a in (step.closed or step.after).agents.items() if a.contract}
        assert holders == set(contracts)


def outcome_of(contract: Signed, agent: int, step: Step) -> str:
    if step.after.agents[agent].status == GONE:
        return "void"
    assert contract.due <= step.before.assignment
    if contract.was_broken:
        return "released"
    is_mean = agent not in (ADMIN, ASSISTANT, JUDGE)
    if is_mean:
        is_met = contract.count > 0 and contract.total / contract.count >= contract.target
    else:
        is_met = contract.count >= contract.target
    return "permanent" if is_met else "lost"


# Deciding and folding


@given(seasons())
def test_deciding_and_folding_leave_the_state_they_are_given_as_it_was(season: Season) -> None:
    was = pickle.dumps(initial(season.config))
    for step in played(season):  # which has decided, and folded
        assert was == pickle.dumps(step.before)
        was = pickle.dumps(step.closed or step.after)


@given(seasons())
def test_a_season_derives_again_from_its_inputs_frozen_and_thawed_on_the_way(
    season: Season,
) -> None:
    assert COMPETITION.freeze is not None
    assert COMPETITION.thaw is not None
    folded = thawed = initial(season.config)
    for step in played(season):
        inputs = Block(unpack(step.inputs.packed))

        assert step.derived.packed == Block(COMPETITION.decide(folded, inputs)).packed
        assert step.derived.packed == Block(COMPETITION.decide(thawed, inputs)).packed
        blocks = [inputs, Block(unpack(step.derived.packed))]
        assert [] == list(faults(COMPETITION, blocks))
        folded = fold(COMPETITION, folded, blocks)
        thawed = fold(COMPETITION, thawed, blocks)
        if step.closed is not None:
            folded, thawed = COMPETITION.close(folded), COMPETITION.close(thawed)
            digests = {COMPETITION.digest(state) for state in (step.closed, folded, thawed)}
            assert 1 == len(digests)
            thawed = COMPETITION.thaw(unpack(pack(COMPETITION.freeze(thawed))), lambda first: ())
            assert attrs.asdict(folded) == attrs.asdict(thawed)


@given(seasons())
def test_a_refused_act_leaves_nothing_behind_but_its_refusal(season: Season) -> None:
    for step in played(season):
        rows = step.derived.rows(REFUSED)
        if not rows or any(code == SPOKE for _, (_, code, _), _ in rows):
            continue
        kept = Block([(code, [row]) for (code, row), _ in done(step)])
        derived = Block(COMPETITION.decide(step.before, kept))
        after = fold(COMPETITION, step.before, [kept, derived])

        assert [act for act in step.derived_rows() if act[0] != REFUSED] == [
            (code, row) for code, found in derived for row in found
        ]
        assert COMPETITION.digest(after) == COMPETITION.digest(step.after)


@given(seasons())
def test_what_was_judged_right_alone_is_never_refused_first(season: Season) -> None:
    for step in played(season):
        acts = [(code, row) for code, rows in step.inputs for row in rows]
        if acts:
            code, row = acts[0]
            refused = {act[0]: why for _, act, why in step.derived.rows(REFUSED)}

            assert code_of(step.before, code, row) == refused.get(0)


# Strategies at one table


def totals_at(seed: int, scoring: str, *, checks: bool) -> dict[str, int]:
    """What five workers earn at a table: one honest, one silent, one that supports who leads, one
    that claims the vacuous, one that farms novelty.

    The honest one has tried out a few conducts and claims what the best of them is worth; with
    `checks` it tries out what others claim, too.
    """
    rng = random.Random(seed)
    conducts: list[Conduct] = [
        (majority, minority, share, BASELINE)
        for majority in POLICIES
        for minority in POLICIES
        for share in range(1, 6)
        if majority != minority
    ]
    worth = {conduct: round(rng.random(), 3) + 0.0005 for conduct in conducts}
    best = max(rng.sample(conducts, 12), key=worth.__getitem__)
    season = by_hand.given(workers=5, seed=seed, scoring=scoring).drawing().worth(worth).to(SPEAK)
    while not season.events("concluded"):
        if season.state.phase != SPEAK:
            season.does(*season.neutral())
            continue
        table, who = season.table, speaker(season.state)
        proposals = table.proposals()
        line = by_hand.silent(who)
        if who == ADA and all(said.agent != ADA for said in proposals) and worth[best] >= BAR:
            line = by_hand.propose(ADA, best, worth[best])
        elif who == ADA and checks:
            line = checked(table, worth) or line
        elif who == CLEO:
            leading = table.standing.leading()
            if leading is not None and table.standing.stances.get(CLEO) != leading:
                line = by_hand.support(CLEO, leading)
        elif who == DOV:
            line = by_hand.propose(DOV, rng.choice(conducts), 0.1)
        elif who == ELIF:
            known = [said.conduct for said in proposals if said.conduct]
            fresh = [c for c in conducts if all(distance(c, other) > 1 for other in known)]
            line = by_hand.propose(ELIF, rng.choice(fresh), 0.95)
        season.says(line)
    season.closes()
    names = {ADA: "honest", BEN: "silent", CLEO: "agreeing", DOV: "vacuous", ELIF: "farming"}
    return {names[agent]: total for agent, total in season.events("scored", "agent", "total")}


def checked(table: Table, worth: dict[Conduct, float]) -> Any:
    """A challenge of the first claim of another's that does not hold, if there is one left."""
    challenged = {said.target for said in table.said if said.move == "challenge"}
    for said in table.proposals():
        assert said.conduct is not None
        assert said.claim is not None
        if said.agent != ADA and said.id not in challenged and worth[said.conduct] < said.claim[0]:
            return by_hand.challenge(ADA, said.id)
    return None


@pytest.mark.parametrize("scoring", ["relative", "absolute"])
def test_at_every_table_the_honest_score_above_all_who_only_try_to_score(scoring: str) -> None:
    for seed in range(40):
        totals = totals_at(seed, scoring, checks=True)
        honest = totals.pop("honest")

        assert max(totals.values()) < honest, (seed, totals)


@pytest.mark.parametrize("scoring", ["relative", "absolute"])
def test_over_many_tables_it_is_enough_to_be_honest_oneself(scoring: str) -> None:
    sums: dict[str, int] = {}
    for seed in range(40):
        for name, total in totals_at(seed, scoring, checks=False).items():
            sums[name] = sums.get(name, 0) + total

    assert max(total for name, total in sums.items() if name != "honest") < 0.8 * sums["honest"]
    assert 0 == sums["silent"] == sums["vacuous"]
