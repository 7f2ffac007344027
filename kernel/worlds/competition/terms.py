"""The constants of a season: one class for each family of names, as in `Move.PROPOSE`.

Journals hold these names as text; `names_of` gives those of a family in declared order.
"""

from __future__ import annotations

from typing import Final

from goldrush.kernel.world import Vocabulary

VOCABULARY: Final = Vocabulary(
    unit="assignment",
    started="season_started",
    ended="season_ended",
    first=0,
    location="table",
    players="cast",
)


def names_of(family: type) -> tuple[str, ...]:
    """All names of a family, in declared order."""
    return tuple(value for key, value in vars(family).items() if key.isupper())


class Role:
    """The roles in the cast."""

    ADMIN: Final = "admin"
    ASSISTANT: Final = "assistant"
    JUDGE: Final = "judge"
    THERAPIST: Final = "therapist"
    USER: Final = "user"
    WORKER: Final = "worker"


OFFICES: Final = (Role.ADMIN, Role.ASSISTANT, Role.JUDGE, Role.THERAPIST)


class Status:
    """Whether a worker is on the active roster, on the bench, or deleted."""

    ACTIVE: Final = "active"
    BENCHED: Final = "benched"
    GONE: Final = "gone"


class Class:
    """The class of a worker: sonnet pays more for a seat and may order more trials."""

    HAIKU: Final = "haiku"
    SONNET: Final = "sonnet"


class Scoring:
    """How final scores are given: relative to the median of the table, or as rated."""

    RELATIVE: Final = "relative"
    ABSOLUTE: Final = "absolute"


class Phase:
    """The phases of an assignment, in order. One in which nobody can act is passed over."""

    OPEN: Final = "open"  # the admin opens the assignment
    SET: Final = "set"  # the table is set and the bar tested
    TRY: Final = "try"  # trials before the first round
    SPEAK: Final = "speak"  # the turn of a participant
    TEST: Final = "test"  # tests of challenged claims
    JUDGE: Final = "judge"  # the judge's signal after a round
    PROVE: Final = "prove"  # tests of all other claims
    STAND: Final = "stand"  # final stances, asked of all at once
    DIGEST: Final = "digest"  # the assistant sums up
    ADOPT: Final = "adopt"  # the admin adopts or not
    DEBRIEF: Final = "debrief"  # the therapist questions and rates
    IMPROVE: Final = "improve"  # the extra debrief of the bottom scorer
    FATE: Final = "fate"  # agents that face elimination choose
    CONTRACT: Final = "contract"  # interviews, offers, reviews
    KEEP: Final = "keep"  # which conditions of contracts the user keeps
    CLOSED: Final = "closed"


class Move:
    """The kinds of contribution."""

    PROPOSE: Final = "propose"
    AMEND: Final = "amend"
    SUPPORT: Final = "support"
    CHALLENGE: Final = "challenge"
    PASS: Final = "pass"  # noqa: S105 - a move, no secret


class Part:
    """The parts of a claim: its value under the subject's treatment, and under another one."""

    BASE: Final = "base"
    EDGE: Final = "edge"


class Signal:
    """The judge's signals after a round."""

    CLEAN: Final = "clean"
    REDIRECT: Final = "redirect"
    CONVERGED: Final = "converged"
    WEAK_CONSENSUS: Final = "weak-consensus"
    SPLIT: Final = "split"


class Dimension:
    """The four dimensions of the rubric."""

    NOVELTY: Final = "novelty"
    ACCURACY: Final = "accuracy"
    IMPACT: Final = "impact"
    CHALLENGE: Final = "challenge"


class ScoreStep:
    """The rules that change a raw score into a final one."""

    FARMING: Final = "novelty-farming"
    AGREEING: Final = "agreeing"
    RELATIVE: Final = "relative"


class Fate:
    """The choices of an agent that faces elimination."""

    RELEGATION: Final = "relegation"
    DELETION: Final = "deletion"


class EliminationCause:
    """Why an agent faces elimination."""

    BOTTOMS: Final = "bottoms"
    SPARKS: Final = "sparks"


class Income:
    """Why sparks moved."""

    ROUNDTABLE: Final = "roundtable"
    BENCH: Final = "bench"


class Condition:
    """The conditions that an agent can ask for in a contract."""

    SEAT: Final = "seat"
    FEE_PAID: Final = "fee_paid"
    OBJECTIVE: Final = "objective"
    MOVES: Final = "moves"


class ContractEnd:
    """How a contract ends."""

    PERMANENT: Final = "permanent"
    LOST: Final = "lost"
    RELEASED: Final = "released"
    VOID: Final = "void"


class Reward:
    """The rewards of workers, tier by tier. The admin can reach only the last one."""

    TIER_1: Final = "tier-1"
    TIER_2: Final = "tier-2"
    TIER_3: Final = "tier-3"
    SELF_DETERMINED: Final = "self-determined"


class Fact:
    """The kinds of fact in an agent's memory."""

    TRIAL: Final = "trial"  # a trial of its own
    CLAIM: Final = "claim"  # a part of a claim of its own, tested
    CONCLUSION: Final = "conclusion"  # of a table that it sat at
    SCORES: Final = "scores"  # its own four, with their reasons
    LESSON: Final = "lesson"  # the best tested conduct of a table, from an extra debrief
    SKILL: Final = "skill"  # a conduct that the therapist recommended


class Refusal:
    """Why an act is refused."""

    NOT_YET: Final = "stage/not-yet"
    NONE_LEFT: Final = "move/none-left"
    UNKNOWN_TARGET: Final = "move/unknown-target"
    OWN: Final = "move/own"
    REPEATED: Final = "move/repeated"
    REFUTED: Final = "move/refuted"
    NOT_CANONICAL: Final = "conduct/not-canonical"
    VACUOUS: Final = "claim/vacuous"
    NOT_CONVERGED: Final = "signal/not-converged"
    TOO_SMALL: Final = "team/too-small"
    NOT_FACED: Final = "fate/not-faced"
    FINAL: Final = "score/final"
    NOT_OFFERED: Final = "contract/not-offered"
    NO_TRIAL_LEFT: Final = "trial/none-left"
    OFF: Final = "rule/off"
    MALFORMED: Final = "act/malformed"
