"""Acts of the therapist after the tables: debriefs, ratings, traits, personas, skills, rewrites."""

from __future__ import annotations

from typing import Any, Final

from goldrush.kernel.shape import AMOUNT, between, row
from goldrush.kernel.worlds.competition import rights
from goldrush.kernel.worlds.competition.acts.act import (
    FACTS_MAX,
    IDS,
    SHORT,
    TAKEN,
    WORDS,
    ActKind,
    are_pairs,
    of,
)
from goldrush.kernel.worlds.competition.events import (
    Debriefed,
    InstructionsRewritten,
    PersonaProposed,
    Rated,
    SkillDistilled,
    TraitRecorded,
)
from goldrush.kernel.worlds.competition.memory import Remembered, remembering
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS, SCORE_MAX
from goldrush.kernel.worlds.competition.state import TRAITS_MAX, SeasonState
from goldrush.kernel.worlds.competition.terms import Fact, Phase, Refusal, Role

_AFTERWARDS: Final = (Phase.DEBRIEF, Phase.IMPROVE)


def _debriefed_fault(state: SeasonState, act: Debriefed) -> str | None:
    if not are_pairs(act.questions, act.answers):
        return Refusal.MALFORMED
    if state.phase == Phase.IMPROVE:
        is_due = act.extra and state.bottomed.get(act.table) == act.agent
    else:
        is_due = not act.extra and _sat_at(state, act.table, act.agent)
    return None if is_due else Refusal.MALFORMED


def _sat_at(state: SeasonState, table: int, agent: int) -> bool:
    return table < len(state.tables) and agent in state.tables[table].participants


def _debriefed(state: SeasonState, act: Debriefed) -> None:
    """An extra debrief adds the best tested conduct of the table to the agent's memory."""
    table = state.tables[act.table]
    best = table.best_tested() if act.extra and state.config.memory else None
    if best is not None:
        subject = table.subject
        lesson = Remembered(Fact.LESSON, state.assignment, *subject.key, *best)
        memory = state.agents[act.agent].memory
        state.change(act.agent, memory=remembering(memory, subject.family, [lesson]))


def _trait_fault(state: SeasonState, act: TraitRecorded) -> str | None:
    is_right = SHORT.holds(act.trait) and IDS.holds(act.from_)
    return None if is_right and act.agent in state.seated() else Refusal.MALFORMED


def _trait(state: SeasonState, act: TraitRecorded) -> None:
    known = (trait for trait in state.agents[act.agent].traits if trait != act.trait)
    state.change(act.agent, traits=(*known, act.trait)[-TRAITS_MAX:])


def _persona_fault(state: SeasonState, act: PersonaProposed) -> str | None:
    if not rights.may_propose_persona(state.holder(Role.THERAPIST)):
        return Refusal.NOT_YET
    is_right = SHORT.holds(act.persona) and type(act.taken) is bool and act.agent in state.seated()
    return None if is_right else Refusal.MALFORMED


def _persona(state: SeasonState, act: PersonaProposed) -> None:
    if act.taken:
        state.change(act.agent, persona=act.persona)


def _skill_fault(state: SeasonState, act: SkillDistilled) -> str | None:
    if not _is_skill(state, act.skill) or not TAKEN.holds(act.taken):
        return Refusal.MALFORMED
    if act.agent not in state.seated():
        return Refusal.MALFORMED
    return None if rights.may_direct(state.holder(Role.THERAPIST), act.taken) else Refusal.NOT_YET


def _is_skill(state: SeasonState, value: Any) -> bool:
    """Whether this is (objective, treatment, conduct, value)."""
    if type(value) is not tuple or len(value) != 4 or state.arena.subject(value[:2]) is None:
        return False
    rules, (_, treatment, conduct, worth) = state.arena_rules, value
    is_conduct = rules.conduct.holds(conduct) and rules.is_canonical(conduct, treatment)
    return is_conduct and (worth is None or AMOUNT.holds(worth))


def _skill(state: SeasonState, act: SkillDistilled) -> None:
    if act.taken is not False:
        subject = state.arena.by_key[act.skill[:2]]
        skill = Remembered(Fact.SKILL, state.assignment, *act.skill)
        memory = state.agents[act.agent].memory
        state.change(act.agent, memory=remembering(memory, subject.family, [skill]))


def _rewritten_fault(state: SeasonState, act: InstructionsRewritten) -> str | None:
    if not _are_instructions(act.after) or not TAKEN.holds(act.taken):
        return Refusal.MALFORMED
    if act.agent not in state.seated() or act.before != state.agents[act.agent].instructions:
        return Refusal.MALFORMED
    if state.phase == Phase.IMPROVE and act.agent in state.bottomed.values():
        return None  # a consequence, at any stage
    return None if rights.may_direct(state.holder(Role.THERAPIST), act.taken) else Refusal.NOT_YET


def _are_instructions(value: Any) -> bool:
    """Whether this is a map within the limits of instructions."""
    return (
        value is not None
        and len(value) <= FACTS_MAX
        and all(SHORT.holds(name) for name in value)
        and all(WORDS.holds(fact) for fact in value.values() if type(fact) is str)
    )


def _rewritten(state: SeasonState, act: InstructionsRewritten) -> None:
    if act.taken is not False:
        state.change(act.agent, instructions=act.after)


def _rated_fault(state: SeasonState, act: Rated) -> str | None:
    if not _sat_at(state, act.table, act.agent):
        return Refusal.MALFORMED
    if act.agent in state.tables[act.table].raw:
        return Refusal.FINAL
    is_right = _RAW.holds(act.raw) and _REASONS.holds(act.reasons)
    return None if is_right else Refusal.MALFORMED


_RAW: Final = row(*[between(0, SCORE_MAX)] * len(DIMENSIONS))
_REASONS: Final = row(*[WORDS] * len(DIMENSIONS))


def _rated(state: SeasonState, act: Rated) -> None:
    table = state.tables[act.table]
    table.raw[act.agent], table.reasons[act.agent] = act.raw, act.reasons


def _untimely(state: SeasonState) -> str:
    """A score outside the debrief would change those that were posted, once any were."""
    return Refusal.FINAL if state.leaderboard else Refusal.MALFORMED


_THERAPIST: Final = of(Role.THERAPIST)

ACTS: Final[tuple[ActKind[Any], ...]] = (
    ActKind(Debriefed, _AFTERWARDS, _debriefed_fault, _debriefed, by=_THERAPIST),
    ActKind(TraitRecorded, _AFTERWARDS, _trait_fault, _trait, by=_THERAPIST),
    ActKind(PersonaProposed, _AFTERWARDS, _persona_fault, _persona, by=_THERAPIST),
    ActKind(SkillDistilled, _AFTERWARDS, _skill_fault, _skill, by=_THERAPIST, switch="memory"),
    ActKind(InstructionsRewritten, _AFTERWARDS, _rewritten_fault, _rewritten, by=_THERAPIST),
    ActKind(Rated, (Phase.DEBRIEF,), _rated_fault, _rated, by=_THERAPIST, untimely=_untimely),
)
