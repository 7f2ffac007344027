"""Acts at a table: trials, contributions, tests, the judge's signal, the digest, the adoption."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from goldrush.kernel.shape import BOOLEAN, row
from goldrush.kernel.worlds.competition import rights
from goldrush.kernel.worlds.competition.acts.act import IDS, WORDS, ActKind, field, of
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
from goldrush.kernel.worlds.competition.state import AgentState, SeasonState, TrialCount
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


def _tested_fault(state: SeasonState, act: Tested) -> str | None:
    table = state.table
    seeds = tuple(seed for seed, _ in act.runs)
    if act.table != table.number or seeds != state.test_seeds(table.number):
        return Refusal.MALFORMED
    is_due = (act.conduct, act.treatment) == due_test(state, act.at, act.part)
    return None if is_due else Refusal.MALFORMED


def _tested(state: SeasonState, act: Tested) -> None:
    table = state.table
    if act.at is None or act.part is None:
        table.bar, table.is_bar_tested = act.value, True
    else:
        table.test(act.at, act.part, act.value)


def _tried_fault(state: SeasonState, act: Tried) -> str | None:
    table, agent, is_early = state.table, act.agent, state.phase == Phase.TRY
    if act.table != table.number or agent not in table.moves or agent in table.barred:
        return Refusal.MALFORMED
    if not is_early and (agent != speaker(state) or has_spoken(table, agent)):
        return Refusal.MALFORMED
    if state.trials_left(agent, early=is_early) <= 0:
        return Refusal.NO_TRIAL_LEFT
    if act.number != state.tried.get(agent, TrialCount()).count:
        return Refusal.MALFORMED
    rules = state.arena_rules
    if type(act.treatment) is not str or act.treatment not in rules.treatments:
        return Refusal.MALFORMED
    if not is_conduct(state, act.conduct):
        return Refusal.NOT_CANONICAL
    seeds = [seed for seed, _ in act.runs]
    is_right = seeds == [state.trial_seed(table.number, agent, act.number)]
    return None if is_right else Refusal.MALFORMED


def is_conduct(state: SeasonState, value: Any) -> bool:
    """Whether this is a canonical conduct for the subject of the table under way."""
    rules = state.arena_rules
    return rules.conduct.holds(value) and rules.is_canonical(value, state.table.treatment)


def _tried(state: SeasonState, act: Tried) -> None:
    count = state.tried.get(act.agent, TrialCount())
    early = count.early + (state.phase == Phase.TRY)
    state.tried[act.agent] = TrialCount(count.count + 1, early)
    state.table.trials.append(act)


# Contributions.


def _spoke_fault(state: SeasonState, act: Spoke) -> str | None:
    table, agent = state.table, act.agent
    if act.table != table.number or agent not in table.moves:
        return Refusal.MALFORMED
    if not table.moves[agent] and act.move != Move.PASS:
        return Refusal.NONE_LEFT
    if agent != speaker(state) or has_spoken(table, agent):
        return Refusal.MALFORMED
    if (act.round, act.id) != (table.round, len(table.contributions)):
        return Refusal.MALFORMED
    return form_fault(act) or _off_fault(state, act) or _move_fault(state, act)


def form_fault(act: Spoke) -> str | None:
    """What is wrong with the form of a contribution by any author, as a code; None if valid."""
    if type(act.move) is not str or act.move not in MOVES or not WORDS.holds(act.words):
        return Refusal.MALFORMED
    carried = {name for name in _FIELDS if getattr(act, name) is not None}
    if carried != set(CARRIES[act.move]):
        return Refusal.MALFORMED
    return None if act.because is None or _is_because(act.because, act.id) else Refusal.MALFORMED


_FIELDS: Final = ("target", "conduct", "claim", "part")


def _is_because(value: Any, id: int) -> bool:
    """Whether this is (ids of earlier contributions, whether on own trials)."""
    if not _BECAUSE.holds(value):
        return False
    ids, _ = value
    return len(set(ids)) == len(ids) and all(0 <= other < id for other in ids)


_BECAUSE: Final = row(IDS, BOOLEAN)


def _off_fault(state: SeasonState, act: Spoke) -> str | None:
    config = state.config
    is_off = not config.table and act.move not in _ALONE
    return Refusal.OFF if is_off or (act.move == Move.CHALLENGE and not config.challenges) else None


def _move_fault(state: SeasonState, act: Spoke) -> str | None:
    """What is wrong with a well-formed contribution, made in turn, as a code."""
    table = state.table
    if act.target is not None:
        target = table.proposal(act.target) if type(act.target) is int else None
        if target is None:
            return Refusal.UNKNOWN_TARGET
        fault = _target_fault(table, act, target)
        if fault is not None:
            return fault
    if act.conduct is None:
        return None
    if not is_conduct(state, act.conduct):
        return Refusal.NOT_CANONICAL
    return _claim_fault(state, act.claim)


def _target_fault(table: Roundtable, act: Spoke, target: Contribution) -> str | None:
    if act.move == Move.AMEND:
        return Refusal.REPEATED if act.conduct == target.conduct else None
    if target.agent == act.agent:
        return Refusal.OWN
    if act.move == Move.SUPPORT:
        if target.id in table.stances.refuted:
            return Refusal.REFUTED
        is_held = table.stances.by_agent.get(act.agent) == target.id
        return Refusal.REPEATED if is_held else None
    if act.part not in target.parts:
        return Refusal.UNKNOWN_TARGET
    return Refusal.REPEATED if table.was_challenged(target.id, act.part) else None


def _claim_fault(state: SeasonState, claim: Any) -> str | None:
    """What is wrong with a claim, as a code. It must be better than the bar if there is one."""
    table = state.table
    if not state.arena_rules.is_claim(claim, table.treatment):
        return Refusal.MALFORMED
    if table.bar is None or table.subject.beats(claim[0], table.bar):
        return None
    return Refusal.VACUOUS


def _spoke(state: SeasonState, act: Spoke) -> None:
    state.table.add(
        Contribution(
            act.id, act.round, act.agent, act.move, act.target, act.conduct, act.claim, act.part,
            act.words, act.because,
        )
    )  # fmt: skip


# Final stances.


def _stood_fault(state: SeasonState, act: Stood) -> str | None:
    table = state.table
    is_asked = act.agent in table.participants and act.agent not in (*table.stood, *table.barred)
    if act.table != table.number or not is_asked or not WORDS.holds(act.words):
        return Refusal.MALFORMED
    if act.because is not None and not _is_because(act.because, len(table.contributions)):
        return Refusal.MALFORMED
    if act.target is None:
        return None
    if type(act.target) is not int or table.proposal(act.target) is None:
        return Refusal.UNKNOWN_TARGET
    return Refusal.REFUTED if act.target in table.stances.refuted else None


def _stood(state: SeasonState, act: Stood) -> None:
    state.table.stand(act)


# The judge.


def _judged_fault(state: SeasonState, act: Judged) -> str | None:
    table, judge = state.table, state.holder(Role.JUDGE)
    if (act.table, act.round) != (table.number, table.round) or table.signal is not None:
        return Refusal.MALFORMED
    if type(act.signal) is not str or act.signal not in _SIGNALS:
        return Refusal.MALFORMED
    if not WORDS.holds(act.reason) or type(act.ids) is not tuple:
        return Refusal.MALFORMED
    if act.signal != Signal.REDIRECT and act.ids:
        return Refusal.MALFORMED
    return _SIGNALS[act.signal](table, judge, act.ids)


def _redirected(table: Roundtable, judge: AgentState, ids: tuple[Any, ...]) -> str | None:
    is_right = ids and IDS.holds(ids) and len(set(ids)) == len(ids)
    return None if is_right and set(ids) <= set(table.redirectable()) else Refusal.MALFORMED


def _converged(table: Roundtable, judge: AgentState, ids: tuple[Any, ...]) -> str | None:
    return None if table.has_majority else Refusal.NOT_CONVERGED


def _weak(table: Roundtable, judge: AgentState, ids: tuple[Any, ...]) -> str | None:
    if not rights.may_flag_weakness(judge):
        return Refusal.NOT_YET
    return Refusal.REPEATED if table.was_weak else None


def _split(table: Roundtable, judge: AgentState, ids: tuple[Any, ...]) -> str | None:
    return None if rights.may_recommend_split(judge) else Refusal.NOT_YET


_SIGNALS: Final[Mapping[str, Callable[[Roundtable, AgentState, tuple[Any, ...]], str | None]]] = {
    Signal.CLEAN: lambda table, judge, ids: None,
    Signal.REDIRECT: _redirected,
    Signal.CONVERGED: _converged,
    Signal.WEAK_CONSENSUS: _weak,
    Signal.SPLIT: _split,
}


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


def _digested_fault(state: SeasonState, act: Digested) -> str | None:
    table = state.table
    if act.table != table.number or table.is_digested or type(act.rejected) is not bool:
        return Refusal.MALFORMED
    if not WORDS.holds(act.text) or not WORDS.holds(act.dissent):
        return Refusal.MALFORMED
    if not act.rejected:
        return None
    if not rights.may_reject(state.holder(Role.ASSISTANT)):
        return Refusal.NOT_YET
    return None if is_rejectable(state) else Refusal.MALFORMED


def is_rejectable(state: SeasonState) -> bool:
    """Whether the conclusion of the table may be rejected.

    It may if its edge failed, or if it is no better than the latest one adopted on that subject.
    """
    table = state.table
    proposal = _concluded(table)
    if proposal is None:
        return False
    if table.held(proposal.id, Part.EDGE) is False:
        return True
    key = table.subject.key
    is_known = key in state.accepted
    value = table.tests[proposal.id, Part.BASE]
    return is_known and not table.subject.beats(value, state.accepted[key])


def _concluded(table: Roundtable) -> Contribution | None:
    if table.conclusion is None or table.conclusion.proposal is None:
        return None
    return table.contributions[table.conclusion.proposal]


def _digested(state: SeasonState, act: Digested) -> None:
    state.table.is_digested, state.table.is_rejected = True, act.rejected


def _adopted_fault(state: SeasonState, act: Adopted) -> str | None:
    table = state.table
    is_new = act.table == table.number and table.is_adopted is None
    return None if is_new and type(act.adopted) is bool else Refusal.MALFORMED


def _adopted(state: SeasonState, act: Adopted) -> None:
    table = state.table
    table.is_adopted = act.adopted
    proposal = _concluded(table)
    if act.adopted and proposal is not None:
        state.is_project_adopted = True
        state.accepted[table.subject.key] = table.tests[proposal.id, Part.BASE]
        state.count(state.holder(Role.ASSISTANT))


_TESTING: Final = (Phase.SET, Phase.TEST, Phase.PROVE)

ACTS: Final[tuple[ActKind[Any], ...]] = (
    # The results of tests come from outside the cast.
    ActKind(Tested, _TESTING, _tested_fault, _tested, by=of(Role.USER)),
    ActKind(Tried, (Phase.TRY, Phase.SPEAK), _tried_fault, _tried, by=field("agent")),
    ActKind(Spoke, (Phase.SPEAK,), _spoke_fault, _spoke, by=field("agent")),
    ActKind(Stood, (Phase.STAND,), _stood_fault, _stood, by=field("agent"), switch="table"),
    ActKind(Judged, (Phase.JUDGE,), _judged_fault, _judged, by=of(Role.JUDGE), switch="has_judge"),
    ActKind(Digested, (Phase.DIGEST,), _digested_fault, _digested, by=of(Role.ASSISTANT)),
    ActKind(Adopted, (Phase.ADOPT,), _adopted_fault, _adopted, by=of(Role.ADMIN)),
)
