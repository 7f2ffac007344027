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
    Faults,
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


def _debriefed_faults(state: SeasonState, act: Debriefed) -> Faults:
    yield not are_pairs(act.questions, act.answers), Refusal.MALFORMED
    yield act.extra != (state.phase == Phase.IMPROVE), Refusal.MALFORMED
    if act.extra:
        yield state.bottomed.get(act.table) != act.agent, Refusal.MALFORMED
    else:
        yield not _sat_at(state, act.table, act.agent), Refusal.MALFORMED


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


def _trait_faults(state: SeasonState, act: TraitRecorded) -> Faults:
    yield not SHORT.holds(act.trait) or not IDS.holds(act.from_), Refusal.MALFORMED
    yield act.agent not in state.seated(), Refusal.MALFORMED


def _trait(state: SeasonState, act: TraitRecorded) -> None:
    known = (trait for trait in state.agents[act.agent].traits if trait != act.trait)
    state.change(act.agent, traits=(*known, act.trait)[-TRAITS_MAX:])


def _persona_faults(state: SeasonState, act: PersonaProposed) -> Faults:
    yield not rights.may_propose_persona(state.holder(Role.THERAPIST)), Refusal.NOT_YET
    yield not SHORT.holds(act.persona) or type(act.taken) is not bool, Refusal.MALFORMED
    yield act.agent not in state.seated(), Refusal.MALFORMED


def _persona(state: SeasonState, act: PersonaProposed) -> None:
    if act.taken:
        state.change(act.agent, persona=act.persona)


def _skill_faults(state: SeasonState, act: SkillDistilled) -> Faults:
    yield not _is_skill(state, act.skill) or not TAKEN.holds(act.taken), Refusal.MALFORMED
    yield act.agent not in state.seated(), Refusal.MALFORMED
    yield not rights.may_direct(state.holder(Role.THERAPIST), act.taken), Refusal.NOT_YET


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


def _rewritten_faults(state: SeasonState, act: InstructionsRewritten) -> Faults:
    yield not _are_instructions(act.after) or not TAKEN.holds(act.taken), Refusal.MALFORMED
    yield act.agent not in state.seated(), Refusal.MALFORMED
    yield act.before != state.agents[act.agent].instructions, Refusal.MALFORMED
    # Of the bottom scorer they are a consequence, at any stage.
    if state.phase != Phase.IMPROVE or act.agent not in state.bottomed.values():
        yield not rights.may_direct(state.holder(Role.THERAPIST), act.taken), Refusal.NOT_YET


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


def _rated_faults(state: SeasonState, act: Rated) -> Faults:
    yield not _sat_at(state, act.table, act.agent), Refusal.MALFORMED
    yield act.agent in state.tables[act.table].raw, Refusal.FINAL
    yield not _RAW.holds(act.raw) or not _REASONS.holds(act.reasons), Refusal.MALFORMED


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
    ActKind(Debriefed, _AFTERWARDS, _debriefed_faults, _debriefed, by=_THERAPIST),
    ActKind(TraitRecorded, _AFTERWARDS, _trait_faults, _trait, by=_THERAPIST),
    ActKind(PersonaProposed, _AFTERWARDS, _persona_faults, _persona, by=_THERAPIST),
    ActKind(SkillDistilled, _AFTERWARDS, _skill_faults, _skill, by=_THERAPIST, switch="memory"),
    ActKind(InstructionsRewritten, _AFTERWARDS, _rewritten_faults, _rewritten, by=_THERAPIST),
    ActKind(Rated, (Phase.DEBRIEF,), _rated_faults, _rated, by=_THERAPIST, untimely=_untimely),
)
