"""The questions at a table: trials, contributions, final stances, the judge's signal, the
conclusion.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from goldrush.agents.llm.parts import within
from goldrush.agents.worlds.competition.formats import format_number
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.questions.question import (
    INTEGERS,
    Answer,
    Arguments,
    QuestionKind,
    decision,
    integers,
    parts,
    scalar,
    text,
    told,
    word,
)
from goldrush.kernel.settings import choice
from goldrush.kernel.shape import AMOUNT, BOOLEAN, INTEGER, TEXT, Kind, optional, several
from goldrush.kernel.worlds.competition import rights
from goldrush.kernel.worlds.competition.acts.act import TEAM_MIN
from goldrush.kernel.worlds.competition.acts.roundtable import CARRIES, MOVES
from goldrush.kernel.worlds.competition.arena import Rules
from goldrush.kernel.worlds.competition.terms import Move, Part, Signal, names_of

TRY: Final = "try"  # in place of a move: a trial, after which the question is asked again
_IDS_MAX: Final = 100
_NUMBERED: Final = re.compile(r"#([0-9]{1,4})\b")


def active(seen: SeasonObservation, id: str = "teams") -> str:
    """A text on teams (and orders), with the active workers."""
    return seen.wording(id, least=TEAM_MIN, active=within(map(str, seen.active), 600))


# Trials.


def may_try(seen: SeasonObservation) -> bool:
    """Whether the agent may order a trial now."""
    return seen.trials_left > 0 and seen.me.ordinal not in seen.table.barred


def _try_fields(rules: Rules) -> Mapping[str, Kind]:
    return {"conduct": optional(rules.conduct), "treatment": optional(choice(*rules.treatments))}


def _asks_try(name: str, before: Answer) -> bool:
    return name == "conduct" or before.get("conduct") is not None


def _read_try(answer: Answer, seen: SeasonObservation) -> Any:
    if answer.get("conduct") is None:
        return None
    treatment = answer.get("treatment")
    under = treatment.strip() if isinstance(treatment, str) else None
    return {
        "conduct": seen.conduct(answer["conduct"], seen.table.treatment),
        "treatment": under,
    }


# Contributions.


def _speak_text(seen: SeasonObservation, arguments: Arguments) -> str:
    table, me, config = seen.table, seen.me, seen.config
    claims = seen.challengeable() if config.challenges else ()
    challenge = [f"{proposal} ({part})" for proposal, part in claims]
    amend = [proposal.id for proposal in table.proposals()]
    bar = "" if table.bar is None else seen.wording("speak_bar", bar=format_number(table.bar))
    parts = [
        seen.wording("speak", left=table.moves.get(me.ordinal, 0)),
        seen.wording("speak_propose"),
        _offered(seen, "speak_amend", amend),
        _offered(seen, "speak_support", seen.supportable()),
        _offered(seen, "speak_challenge", challenge),
        seen.wording("speak_try", seen) if may_try(seen) else "",
        seen.wording("speak_pass", bar=bar),
    ]
    return "\n".join(filter(None, parts))


def _offered(seen: SeasonObservation, id: str, targets: Sequence[Any]) -> str:
    return seen.wording(id, targets=within(map(str, targets[::-1]), 300)) if targets else ""


def _speak_fields(rules: Rules) -> Mapping[str, Kind]:
    return {
        "move": choice(*MOVES, TRY),
        "target": optional(INTEGER),
        "conduct": optional(rules.conduct),
        "value": optional(AMOUNT),
        "edge": optional(choice(*rules.treatments)),
        "part": optional(choice(*names_of(Part))),
        "treatment": optional(choice(*rules.treatments)),
        "trials": BOOLEAN,
        "words": TEXT,
    }


def _asks_speak(name: str, before: Answer) -> bool:
    """The fields of every move, and those of this move."""
    move = word(before.get("move"))
    if move == TRY:
        return name in ("move", "conduct", "treatment")
    carried = "claim" if name in ("value", "edge") else name
    return (
        name in ("move", "words")
        or (name == "trials" and move != Move.PASS)
        or (carried in CARRIES.get(move or "", ()))
    )


def _read_speak(answer: Answer, seen: SeasonObservation) -> Any:
    """The contribution, without fields that its move does not have; or a trial."""
    move = word(answer.get("move"))
    if move == TRY:
        return {"move": TRY, **(_read_try(answer, seen) or {"conduct": None})}
    edge = answer.get("edge")
    fields = {
        "target": scalar(answer.get("target")),
        "conduct": seen.conduct(answer.get("conduct"), seen.table.treatment),
        "claim": (scalar(answer.get("value")), edge.strip() if isinstance(edge, str) else None),
        "part": word(answer.get("part")),
    }
    carried = {name: fields[name] for name in CARRIES.get(move or "", ())}
    return {"move": move, **carried, **_reason(answer, seen)}


def _reason(answer: Answer, seen: SeasonObservation) -> Mapping[str, Any]:
    """The words of an answer, and what they rest on: contributions that they name, as #0."""
    words, count = text(answer.get("words")) or "", len(seen.table.contributions)
    ids = [id for id in dict.fromkeys(map(int, _NUMBERED.findall(words))) if id < count]
    return {"words": words, "because": (ids, answer.get("trials") is True)}


# Final stances.


def _stand_text(seen: SeasonObservation, arguments: Arguments) -> str:
    table = seen.table
    proposals = (
        f"#{proposal.id} ({format_number(table.base_value(proposal))})"
        for proposal in table.unrefuted()
    )
    return seen.wording(
        "stand",
        whose=seen.wording("stand_all"),
        proposals=within(proposals, 600) or seen.wording("stand_none"),
    )


def _stand_fields(rules: Rules) -> Mapping[str, Kind]:
    return {"target": optional(INTEGER), "trials": BOOLEAN, "words": TEXT}


def _read_stand(answer: Answer, seen: SeasonObservation) -> Any:
    """The final stance; None, which is no answer, if it names no target, not even null."""
    if "target" not in answer:
        return None
    target = answer["target"]
    if target is not None and scalar(target) is None:
        target = word(target) or ""  # to be refused: it is no stance of none
    return {"target": target, **_reason(answer, seen)}


# The judge, the assistant, the admin.


def _judge_text(seen: SeasonObservation, arguments: Arguments) -> str:
    table, me = seen.table, seen.me
    spoken = table.redirectable()[::-1]
    lines = [seen.wording("judge", table), seen.wording("judge_clean")]
    if spoken:
        lines.append(seen.wording("judge_redirect", ids=within(map(str, spoken), 300)))
    if table.has_majority:
        lines.append(seen.wording("judge_converged"))
    if rights.may_flag_weakness(me) and not table.was_weak:
        lines.append(seen.wording("judge_weak"))
    if rights.may_recommend_split(me):
        lines.append(seen.wording("judge_split"))
    return "\n".join(filter(None, [*lines, seen.wording("judge_ids")]))


def _read_judge(answer: Answer, seen: SeasonObservation) -> Any:
    signal = word(answer.get("signal"))
    ids = (integers(answer.get("ids")) or []) if signal == Signal.REDIRECT else []
    return {"signal": signal, "ids": ids, "reason": text(answer.get("reason")) or ""}


def _set_text(seen: SeasonObservation, arguments: Arguments) -> str:
    me, may_set_rounds = seen.me, rights.may_set_rounds(seen.me)
    parts = [
        seen.wording("set"),
        active(seen),
        "" if rights.may_set_team(me) else seen.wording("set_no_team"),
        "" if rights.may_set_order(me) else seen.wording("set_no_order"),
        seen.wording(
            "set_rounds" if may_set_rounds else "set_no_rounds", most=2 * seen.config.rounds_max
        ),
    ]
    return " ".join(filter(None, parts))


def _read_set(answer: Answer, seen: SeasonObservation) -> Any:
    me = seen.me
    return {
        "team": integers(answer.get("team")) if rights.may_set_team(me) else None,
        "order": integers(answer.get("order")) if rights.may_set_order(me) else None,
        "rounds": scalar(answer.get("rounds")) if rights.may_set_rounds(me) else None,
    }


def _digest_text(seen: SeasonObservation, arguments: Arguments) -> str:
    may = rights.may_reject(seen.me) and seen.is_rejectable
    return seen.wording("digest", rejects=seen.wording("digest_may" if may else "digest_must"))


def _read_digest(answer: Answer, seen: SeasonObservation) -> Any:
    says, dissent = (text(answer.get(name)) or "" for name in ("text", "dissent"))
    return {"text": says, "dissent": dissent, "rejected": answer.get("rejected") is True}


QUESTIONS: Final[Mapping[str, QuestionKind]] = {
    "try_": QuestionKind(told("try"), _try_fields, _read_try, asks=_asks_try),
    "speak": QuestionKind(
        _speak_text,
        _speak_fields,
        _read_speak,
        neutral={"move": Move.PASS, "words": ""},
        shaped=parts,
        asks=_asks_speak,
    ),
    "stand": QuestionKind(_stand_text, _stand_fields, _read_stand, shaped=parts),
    "judge": QuestionKind(
        _judge_text,
        lambda rules: {
            "signal": choice(*names_of(Signal)),
            "ids": several(INTEGER, _IDS_MAX),
            "reason": TEXT,
        },
        _read_judge,
        neutral={"signal": Signal.CLEAN, "ids": [], "reason": ""},
        asks=lambda name, before: name != "ids" or before.get("signal") == Signal.REDIRECT,
    ),
    "set_table": QuestionKind(
        _set_text,
        lambda rules: {"team": INTEGERS, "order": INTEGERS, "rounds": optional(INTEGER)},
        _read_set,
    ),
    "digest": QuestionKind(
        _digest_text,
        lambda rules: {"text": TEXT, "dissent": TEXT, "rejected": BOOLEAN},
        _read_digest,
    ),
    "adopt": decision("adopted", told("adopt")),
}
