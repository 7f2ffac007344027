"""The events of a season: what its cast does, and what follows from it by rule.

A row holds the fields in the order given here; the assignment is implied by the commit. An act is
recorded as it was done, fitting or not: what an agent may get wrong has the kind `SAID`, and
what is wrong with it is told by the `refused` event that follows. Subjects, conducts and claims
are lists of their fields (see kernel/competition/conduct.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from goldrush.kernel.competition.conduct import PARTS
from goldrush.kernel.world import (
    AGENT,
    AGENTS,
    AMOUNT,
    BOOLEAN,
    FACTS,
    INTEGER,
    NATURAL,
    TEXT,
    WORD,
    EventType,
    Kind,
    optional,
    several,
    text,
)

PROPOSE, AMEND, SUPPORT, CHALLENGE, PASS = MOVES = (
    "propose", "amend", "support", "challenge", "pass",
)  # fmt: skip
CLEAN, REDIRECT, CONVERGED, WEAK_CONSENSUS, SPLIT = SIGNALS = (
    "clean", "redirect", "converged", "weak-consensus", "split",
)  # fmt: skip
RELEGATION, DELETION = FATES = ("relegation", "deletion")
CONDITIONS = SEAT, FEE_PAID, OBJECTIVE, MOVES_MORE = ("seat", "fee_paid", "objective", "moves")
PERMANENT, LOST, RELEASED, VOID = CONTRACT_ENDS = ("permanent", "lost", "released", "void")
BY_BOTTOMS, BY_SPARKS = CAUSES = ("bottoms", "sparks")
ROUNDTABLE, BENCH = SPARKS_WHY = ("roundtable", "bench")
NOVELTY, ACCURACY, IMPACT, CHALLENGES = DIMENSIONS = (
    "novelty", "accuracy", "impact", "challenge",
)  # fmt: skip
FARMING, AGREEING, IN_RELATION = STEPS = ("novelty-farming", "agreeing", "relative")
TIER_REWARDS: Final = ("tier-1", "tier-2", "tier-3", "self-determined")

# Why an act is refused.
CODES: Final = (
    "stage/not-yet", "move/none-left", "move/unknown-target", "move/own", "move/repeated",
    "move/refuted", "conduct/not-canonical", "claim/vacuous", "signal/not-converged",
    "team/too-small", "fate/not-faced", "score/final", "contract/not-offered", "act/malformed",
)  # fmt: skip
(NOT_YET, NONE_LEFT, UNKNOWN_TARGET, OWN, REPEATED, REFUTED, NOT_CANONICAL, VACUOUS, NOT_CONVERGED,
 TOO_SMALL, NOT_FACED, FINAL, NOT_OFFERED, MALFORMED) = CODES  # fmt: skip

SAID_MAX = 10_000  # values in what was said, and characters of each text in it
SAID_DEPTH = 4  # lists within lists
NAME_MAX = 60  # characters


def _is_said(value: Any) -> bool:
    """Plain values in lists. Reals that are whole are held as integers, so there is one form."""
    layer, count = [value], 0
    for _ in range(SAID_DEPTH + 1):
        deeper: list[Any] = []
        for item in layer:
            if type(item) is tuple:
                deeper += item
            elif type(item) is str:
                if len(item) > SAID_MAX:
                    return False
            elif not (item is None or type(item) is bool or AMOUNT.holds(item)):
                return False
        count += len(deeper)
        if count > SAID_MAX:
            return False
        layer = deeper
    return not layer


def _shown(value: Any) -> Any:
    return [_shown(item) for item in value] if type(value) is tuple else value


def _among(names: Sequence[str]) -> Kind:
    """One of a few names, held as it is: a season has few events, and people read them."""
    return Kind(" | ".join(names), lambda value: type(value) is str and value in names)


SAID: Final = Kind("plain values", _is_said, _shown)
_CODE = _among(CODES)
_SOURCE = optional(FACTS)


def pairs(kind: Kind, other: Kind) -> Kind:
    """A list of pairs."""
    return several(
        Kind(
            f"[{kind.name}, {other.name}]",
            lambda v: type(v) is tuple and len(v) == 2 and kind.holds(v[0]) and other.holds(v[1]),
            lambda v: [kind.show(v[0]), other.show(v[1])],
        )
    )


def _is_step(value: Any) -> bool:
    return (
        type(value) is tuple
        and len(value) == 4
        and value[0] in STEPS
        and value[1] in DIMENSIONS
        and NATURAL.holds(value[2])
        and NATURAL.holds(value[3])
    )


def _is_rank(value: Any) -> bool:
    return type(value) is tuple and len(value) == 4 and all(map(NATURAL.holds, value))


def _are_terms(value: Any) -> bool:
    if type(value) is not tuple or len(value) != 3:
        return False
    conditions, target, due = value
    return _CONDITIONS.holds(conditions) and AMOUNT.holds(target) and NATURAL.holds(due)


def _is_act(value: Any) -> bool:
    """(place in the step, code of the event, row)."""
    if type(value) is not tuple or len(value) != 3:
        return False
    place, code, row = value
    return (
        NATURAL.holds(place)
        and NATURAL.holds(code)
        and code < len(EVENTS)
        and EVENTS[code].fault(row) is None
    )


def _shown_act(value: Any) -> dict[str, Any]:
    place, code, row = value
    event = EVENTS[code]
    fields = zip(event.fields.items(), row, strict=True)
    return {
        "place": place,
        "event": event.name,
        **{name: kind.show(value) for (name, kind), value in fields},
    }


_CONDITIONS = pairs(_among(CONDITIONS), optional(TEXT))
_STEP = Kind("[rule, dimension, before, after]", _is_step, list)
_RANK = Kind("[rank, agent, rolling, all_time]", _is_rank, list)
_TERMS = Kind("[conditions, target, due]", _are_terms, _shown)
_ACT = Kind("an act", _is_act, _shown_act)
_TABLE = {"table": NATURAL}


def _input(name: str, **fields: Kind) -> EventType:
    return EventType(name, fields, is_input=True)


EVENTS: Final[tuple[EventType, ...]] = (
    # What a language model wrote, committed before anything is made of it.
    _input("answered", who=AGENT, asked=TEXT, answer=TEXT, source=_SOURCE),
    _input("project_proposed", by=AGENT, subject=SAID),
    _input("project_reviewed", approved=SAID),
    _input("class_moved", **{"agent": AGENT, "class": SAID, "allowed": SAID}),
    _input("team_recommended", team=SAID),
    _input(
        "assignment_opened",
        by=AGENT, day=NATURAL, project=NATURAL, subjects=SAID, directive=SAID,
    ),
    _input("table_set", **_TABLE, by=AGENT, team=SAID, order=SAID, rounds=SAID),
    _input(
        "tested",
        **_TABLE, at=optional(NATURAL), part=optional(_among(PARTS)), conduct=SAID,
        treatment=TEXT, value=optional(AMOUNT), runs=pairs(NATURAL, WORD),
    ),
    EventType(
        "roundtable_opened",
        {
            **_TABLE, "participants": AGENTS, "order": AGENTS,
            "words": several(WORD), "rounds": NATURAL,
        },
        drawn=frozenset({"order"}),
    ),
    _input(
        "spoke",
        **_TABLE, round=NATURAL, id=NATURAL, agent=AGENT, move=SAID, target=SAID, conduct=SAID,
        claim=SAID, part=SAID, words=SAID, source=_SOURCE,
    ),
    _input("judged", **_TABLE, round=NATURAL, signal=SAID, ids=SAID, reason=SAID),
    EventType("refused", {"who": AGENT, "act": _ACT, "code": _CODE}),
    EventType(
        "concluded",
        {
            **_TABLE, "proposal": optional(NATURAL), "conduct": SAID,
            "stances": pairs(AGENT, NATURAL), "tied": several(NATURAL), "words": several(WORD),
        },
        drawn=frozenset({"proposal", "conduct"}),
    ),
    _input("digested", **_TABLE, text=SAID, dissent=SAID, rejected=SAID),
    _input("adopted", **_TABLE, adopted=SAID),
    _input("debriefed", **_TABLE, agent=AGENT, questions=SAID, answers=SAID, extra=BOOLEAN),
    _input("trait_recorded", **{"agent": AGENT, "trait": SAID, "from": SAID}),
    _input("persona_proposed", agent=AGENT, persona=SAID, taken=SAID),
    _input("skill_distilled", agent=AGENT, skill=optional(FACTS), taken=SAID),
    _input(
        "instructions_rewritten",
        agent=AGENT, before=optional(FACTS), after=optional(FACTS), taken=SAID,
    ),
    _input("rated", **_TABLE, agent=AGENT, raw=SAID, reasons=SAID),
    EventType(
        "scored",
        {
            **_TABLE, "agent": AGENT, "raw": several(NATURAL), "steps": several(_STEP),
            "final": several(NATURAL), "total": NATURAL,
        },
    ),
    EventType(
        "sparks_moved",
        {
            "table": optional(NATURAL), "agent": AGENT, "amount": INTEGER, "balance": NATURAL,
            "why": _among(SPARKS_WHY),
        },
    ),
    EventType("leaderboard_posted", {"rows": several(_RANK)}),
    EventType(
        "bottomed",
        {
            **_TABLE, "agent": AGENT, "tied": AGENTS, "words": several(WORD),
            "streak": NATURAL,
        },
        drawn=frozenset({"agent", "streak"}),
    ),
    EventType("elimination_faced", {"agent": AGENT, "cause": _among(CAUSES)}),
    _input("fate_chosen", agent=AGENT, fate=SAID),
    EventType("relegated", {"agent": AGENT}),
    EventType("returned", {"agent": AGENT, "for": AGENT}),
    EventType("deleted", {"agent": AGENT}),
    EventType("joined", {"ordinal": AGENT, "name": text(NAME_MAX), "inherits": optional(AGENT)}),
    _input("interviewed", agent=AGENT, questions=SAID, answers=SAID),
    _input("contract_offered", agent=AGENT, conditions=SAID, target=SAID, due=SAID),
    _input("contract_reviewed", agent=AGENT, approved=SAID, terms=SAID, taken=SAID),
    EventType("contract_signed", {"agent": AGENT, "terms": _TERMS}),
    _input("condition_kept", agent=AGENT, condition=SAID, kept=SAID),
    EventType("contract_settled", {"agent": AGENT, "outcome": _among(CONTRACT_ENDS)}),
    EventType("reward_unlocked", {"agent": AGENT, "reward": _among(TIER_REWARDS)}),
    EventType("stage_reached", {"agent": AGENT, "stage": NATURAL}),
    EventType("project_completed", {"project": NATURAL}),
)  # fmt: skip
(
    ANSWERED, PROJECT_PROPOSED, PROJECT_REVIEWED, CLASS_MOVED, TEAM_RECOMMENDED, ASSIGNMENT_OPENED,
    TABLE_SET, TESTED, ROUNDTABLE_OPENED, SPOKE, JUDGED, REFUSED, CONCLUDED, DIGESTED, ADOPTED,
    DEBRIEFED, TRAIT_RECORDED, PERSONA_PROPOSED, SKILL_DISTILLED, INSTRUCTIONS_REWRITTEN, RATED,
    SCORED, SPARKS_MOVED, LEADERBOARD_POSTED, BOTTOMED, ELIMINATION_FACED, FATE_CHOSEN, RELEGATED,
    RETURNED, DELETED, JOINED, INTERVIEWED, CONTRACT_OFFERED, CONTRACT_REVIEWED, CONTRACT_SIGNED,
    CONDITION_KEPT, CONTRACT_SETTLED, REWARD_UNLOCKED, STAGE_REACHED, PROJECT_COMPLETED,
) = range(len(EVENTS))  # fmt: skip
