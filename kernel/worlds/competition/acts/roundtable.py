"""Acts at a table: trials, contributions, tests, the judge's signal, the digest, the adoption."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from goldrush.kernel.shape import BOOLEAN, row
from goldrush.kernel.worlds.competition import rights
from goldrush.kernel.worlds.competition.acts.act import IDS, WORDS, ActKind, Faults, field, of
from goldrush.kernel.worlds.competition.arena import Conduct
from goldrush.kernel.worlds.competition.events import (
    Adopted,
    Digested,
    Judged,
    Spoke,
    Stood,
    Tested,
    Tried,
)
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.table import Contribution, Roundtable
from goldrush.kernel.worlds.competition.terms import (
    Move,
    Part,
    Phase,
    Refusal,
    Role,
    Signal,
    names_of,
)

MOVES: Final = names_of(Move)
# The fields of a move, apart from `words` and `because`.
CARRIES: Final[Mapping[str, tuple[str, ...]]] = {
    Move.PROPOSE: ("conduct", "claim"),
    Move.AMEND: ("target", "conduct", "claim"),
    Move.SUPPORT: ("target",),
    Move.CHALLENGE: ("target", "part"),
    Move.PASS: (),
}
_ALONE: Final = (Move.PROPOSE, Move.PASS)  # the moves of independent search


def speaker(state: SeasonState) -> int:
    return state.table.order[state.table.turn]


def has_spoken(table: Roundtable, agent: int) -> bool:
    return any(contribution.agent == agent for contribution in table.of_round())


# Tests and trials.


def due_test(state: SeasonState, at: int | None, part: str | None) -> tuple[Conduct, str] | None:
    """The conduct and the treatment of a test that is due in this phase; None if it is not due.

    `at`, `part`: a proposal and the part of its claim, or both None for the bar.
    """
    if state.phase not in (Phase.SET, Phase.TEST, Phase.PROVE):
        return None
    table = state.table
    if at is None or part is None:
        is_due = (at, part) == (None, None) and state.phase == Phase.SET
        if not is_due or table.is_bar_tested:
            return None
        return state.arena_rules.bar(table.subject), table.treatment
    challenge = table.challenge_to_test() if state.phase == Phase.TEST else None
    is_due = state.phase == Phase.PROVE or (
        challenge is not None and challenge.challenged == (at, part)
    )
    proposal = table.proposal(at)
    if not is_due or proposal is None or (at, part) in table.tests:
        return None
    if part not in proposal.parts:
        return None
    return proposal.conduct, proposal.under(part, table.treatment)


def _tested_faults(state: SeasonState, act: Tested) -> Faults:
    seeds = tuple(seed for seed, _ in act.runs)
    yield act.table != state.table.number, Refusal.MALFORMED
    yield seeds != state.test_seeds(act.table), Refusal.MALFORMED
    yield (act.conduct, act.treatment) != due_test(state, act.at, act.part), Refusal.MALFORMED


def _tested(state: SeasonState, act: Tested) -> None:
    table = state.table
    if act.at is None or act.part is None:
        table.bar, table.is_bar_tested = act.value, True
    else:
        table.test(act.at, act.part, act.value)


def _tried_faults(state: SeasonState, act: Tried) -> Faults:
    table, agent, is_early = state.table, act.agent, state.phase == Phase.TRY
    yield act.table != table.number, Refusal.MALFORMED
    yield agent not in table.moves or agent in table.barred, Refusal.MALFORMED
    if not is_early:
        yield agent != speaker(state) or has_spoken(table, agent), Refusal.MALFORMED
    yield state.trials_left(agent, early=is_early) <= 0, Refusal.NO_TRIAL_LEFT
    yield act.number != state.tried.get(agent, 0), Refusal.MALFORMED
    yield type(act.treatment) is not str, Refusal.MALFORMED
    yield act.treatment not in state.arena_rules.treatments, Refusal.MALFORMED
    yield not is_conduct(state, act.conduct), Refusal.NOT_CANONICAL
    seeds = [seed for seed, _ in act.runs]
    yield seeds != [state.trial_seed(table.number, agent, act.number)], Refusal.MALFORMED


def is_conduct(state: SeasonState, value: Any) -> bool:
    """Whether this is a canonical conduct for the subject of the table under way."""
    rules = state.arena_rules
    return rules.conduct.holds(value) and rules.is_canonical(value, state.table.treatment)


def _tried(state: SeasonState, act: Tried) -> None:
    state.tried[act.agent] = state.tried.get(act.agent, 0) + 1
    if state.phase == Phase.TRY:
        state.tried_early[act.agent] = state.tried_early.get(act.agent, 0) + 1
    state.table.trials.append(act)


# Contributions.


def _spoke_faults(state: SeasonState, act: Spoke) -> Faults:
    table, agent, config = state.table, act.agent, state.config
    yield act.table != table.number or agent not in table.moves, Refusal.MALFORMED
    yield not table.moves[agent] and act.move != Move.PASS, Refusal.NONE_LEFT
    yield agent != speaker(state) or has_spoken(table, agent), Refusal.MALFORMED
    yield (act.round, act.id) != (table.round, len(table.contributions)), Refusal.MALFORMED
    yield not is_formed(act), Refusal.MALFORMED
    yield not config.table and act.move not in _ALONE, Refusal.OFF
    yield not config.challenges and act.move == Move.CHALLENGE, Refusal.OFF
    if act.target is not None:
        yield not _is_proposal(table, act.target), Refusal.UNKNOWN_TARGET
        yield from _target_faults(table, act, table.contributions[act.target])
    if act.conduct is not None:
        yield not is_conduct(state, act.conduct), Refusal.NOT_CANONICAL
        yield not state.arena_rules.is_claim(act.claim, table.treatment), Refusal.MALFORMED
        is_vacuous = table.bar is not None and not table.subject.beats(act.claim[0], table.bar)
        yield is_vacuous, Refusal.VACUOUS


def _is_proposal(table: Roundtable, target: Any) -> bool:
    return type(target) is int and table.proposal(target) is not None


def is_formed(act: Spoke) -> bool:
    """Whether a contribution, by any author, has the form of its move."""
    if type(act.move) is not str or act.move not in MOVES or not WORDS.holds(act.words):
        return False
    carried = {name for name in _FIELDS if getattr(act, name) is not None}
    is_grounded = act.because is None or _is_because(act.because, act.id)
    return is_grounded and carried == set(CARRIES[act.move])


_FIELDS: Final = ("target", "conduct", "claim", "part")


def _is_because(value: Any, id: int) -> bool:
    """Whether this is (ids of earlier contributions, whether on own trials)."""
    if not _BECAUSE.holds(value):
        return False
    ids, _ = value
    return len(set(ids)) == len(ids) and all(0 <= other < id for other in ids)


_BECAUSE: Final = row(IDS, BOOLEAN)


def _target_faults(table: Roundtable, act: Spoke, target: Contribution) -> Faults:
    if act.move == Move.AMEND:
        yield act.conduct == target.conduct, Refusal.REPEATED
        return
    yield target.agent == act.agent, Refusal.OWN
    if act.move == Move.SUPPORT:
        yield target.id in table.stances.refuted, Refusal.REFUTED
        yield table.stances.by_agent.get(act.agent) == target.id, Refusal.REPEATED
    else:
        yield act.part not in target.parts, Refusal.UNKNOWN_TARGET
        yield table.was_challenged(target.id, act.part), Refusal.REPEATED


def _spoke(state: SeasonState, act: Spoke) -> None:
    state.table.add(
        Contribution(
            act.id, act.round, act.agent, act.move, act.target, act.conduct, act.claim, act.part,
            act.words, act.because,
        )
    )  # fmt: skip


# Final stances.


def _stood_faults(state: SeasonState, act: Stood) -> Faults:
    table = state.table
    yield act.table != table.number or not WORDS.holds(act.words), Refusal.MALFORMED
    yield act.agent not in table.participants, Refusal.MALFORMED
    yield act.agent in (*table.stood, *table.barred), Refusal.MALFORMED
    if act.because is not None:
        yield not _is_because(act.because, len(table.contributions)), Refusal.MALFORMED
    if act.target is not None:
        yield not _is_proposal(table, act.target), Refusal.UNKNOWN_TARGET
        yield act.target in table.stances.refuted, Refusal.REFUTED


def _stood(state: SeasonState, act: Stood) -> None:
    state.table.stand(act)


# The judge.


def _judged_faults(state: SeasonState, act: Judged) -> Faults:
    table, judge, ids = state.table, state.holder(Role.JUDGE), act.ids
    yield (act.table, act.round) != (table.number, table.round), Refusal.MALFORMED
    yield table.signal is not None, Refusal.MALFORMED
    yield type(act.signal) is not str or act.signal not in names_of(Signal), Refusal.MALFORMED
    yield not WORDS.holds(act.reason) or type(ids) is not tuple, Refusal.MALFORMED
    yield bool(ids) != (act.signal == Signal.REDIRECT), Refusal.MALFORMED
    if act.signal == Signal.REDIRECT:
        yield not IDS.holds(ids) or len(set(ids)) < len(ids), Refusal.MALFORMED
        yield not set(ids) <= set(table.redirectable()), Refusal.MALFORMED
    elif act.signal == Signal.CONVERGED:
        yield not table.has_majority, Refusal.NOT_CONVERGED
    elif act.signal == Signal.WEAK_CONSENSUS:
        yield not rights.may_flag_weakness(judge), Refusal.NOT_YET
        yield table.was_weak, Refusal.REPEATED
    elif act.signal == Signal.SPLIT:
        yield not rights.may_recommend_split(judge), Refusal.NOT_YET


def _judged(state: SeasonState, act: Judged) -> None:
    table = state.table
    table.signal = act.signal
    if act.signal == Signal.REDIRECT:
        table.redirect(act.ids)
    elif act.signal == Signal.WEAK_CONSENSUS:
        table.was_weak = True
        table.rounds += 1
        table.moves = {agent: left + 1 for agent, left in table.moves.items()}
    elif act.signal == Signal.SPLIT:
        state.is_split = True


# What becomes of the conclusion.


def _digested_faults(state: SeasonState, act: Digested) -> Faults:
    yield act.table != state.table.number or state.table.is_digested, Refusal.MALFORMED
    yield type(act.rejected) is not bool, Refusal.MALFORMED
    yield not WORDS.holds(act.text) or not WORDS.holds(act.dissent), Refusal.MALFORMED
    if act.rejected:
        yield not rights.may_reject(state.holder(Role.ASSISTANT)), Refusal.NOT_YET
        yield not is_rejectable(state), Refusal.MALFORMED


def is_rejectable(state: SeasonState) -> bool:
    """Whether the conclusion of the table may be rejected.

    It may if its edge failed, or if it is no better than the latest one adopted on that subject.
    """
    table = state.table
    proposal = table.chosen
    if proposal is None:
        return False
    if table.held(proposal.id, Part.EDGE) is False:
        return True
    key = table.subject.key
    is_known = key in state.accepted
    return is_known and not table.subject.beats(table.base_value(proposal), state.accepted[key])


def _digested(state: SeasonState, act: Digested) -> None:
    state.table.is_digested, state.table.is_rejected = True, act.rejected


def _adopted_faults(state: SeasonState, act: Adopted) -> Faults:
    yield act.table != state.table.number, Refusal.MALFORMED
    yield state.table.is_adopted is not None or type(act.adopted) is not bool, Refusal.MALFORMED


def _adopted(state: SeasonState, act: Adopted) -> None:
    table = state.table
    table.is_adopted = act.adopted
    if act.adopted and table.chosen is not None:
        state.is_project_adopted = True
        state.accepted[table.subject.key] = table.base_value(table.chosen)
        state.count(state.holder(Role.ASSISTANT))


_TESTING: Final = (Phase.SET, Phase.TEST, Phase.PROVE)

ACTS: Final[tuple[ActKind[Any], ...]] = (
    # The results of tests come from outside the cast.
    ActKind(Tested, _TESTING, _tested_faults, _tested, by=of(Role.USER)),
    ActKind(Tried, (Phase.TRY, Phase.SPEAK), _tried_faults, _tried, by=field("agent")),
    ActKind(Spoke, (Phase.SPEAK,), _spoke_faults, _spoke, by=field("agent")),
    ActKind(Stood, (Phase.STAND,), _stood_faults, _stood, by=field("agent"), switch="table"),
    ActKind(Judged, (Phase.JUDGE,), _judged_faults, _judged, by=of(Role.JUDGE), switch="has_judge"),
    ActKind(Digested, (Phase.DIGEST,), _digested_faults, _digested, by=of(Role.ASSISTANT)),
    ActKind(Adopted, (Phase.ADOPT,), _adopted_faults, _adopted, by=of(Role.ADMIN)),
)
