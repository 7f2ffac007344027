"""The sentences of a season's events: how its values are shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

from goldrush.agents.worlds.competition.formats import format_number, format_subject
from goldrush.agents.worlds.competition.versions import PROMPT
from goldrush.kernel import fold
from goldrush.kernel.errors import JournalError
from goldrush.kernel.journal import START, JournalReader
from goldrush.kernel.text import format_count
from goldrush.kernel.world import EventType
from goldrush.kernel.worlds.competition.arena import Arena, Rules
from goldrush.kernel.worlds.competition.events import CODES, EVENTS, Joined
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS
from goldrush.kernel.worlds.competition.terms import VOCABULARY
from goldrush.replay.sentences import EventSentences, agents_text, quoted
from goldrush.replay.worlds.competition.steps import conduct_text, season_world

ANSWER_SHOWN: Final = 500  # characters of an answer; --json has all
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}", re.ASCII)  # of policies, treatments, signals


def sentences_of(path: str | Path, types: Iterable[EventType]) -> EventSentences:
    """The sentences of a season, with the subjects and the rules of its arena and the names of all
    agents that it ever had; of a damaged journal those before the damage, which is reported to
    whoever reads the events.
    """
    names: dict[int, str] = {}
    of_arena: dict[str, Any] = {}
    with suppress(JournalError, *fold.REFUSED), JournalReader(path) as reader:
        world = season_world(reader)
        for commit in reader:
            if commit.kind == START:
                state = fold.start(world, reader, commit)
                names |= {ordinal: agent.name for ordinal, agent in state.agents.items()}
                of_arena = {"arena": state.arena, "rules": state.rules}
            for block in commit.blocks[1::2]:
                joined = map(Joined._make, block.rows(CODES[Joined]))
                names.update((new.ordinal, new.name) for new in joined)
    return sentences(names, **of_arena)


def sentences(
    names: Mapping[int, str] | None = None, arena: Arena | None = None, rules: Rules | None = None
) -> EventSentences:
    """The sentences of the events of a season.

    Args:
        names: the agents' names by ordinal; an agent without one is shown by its number.
        arena: for subjects; without it they are shown as JSON.
        rules: the rules of the arena; without them conducts are shown as JSON.
    """
    name = partial(agents_text, names=names or {})

    def conduct_of(value: Any) -> str:
        """A conduct as text; as JSON if it is not valid in the arena."""
        conduct = _tupled(value)
        is_known = rules is not None and rules.conduct.holds(conduct)
        return conduct_text(conduct, rules) if is_known else quoted(value)

    def about(value: Any) -> str:
        """A subject as text, by its [objective, treatment]."""
        subject = arena.subject(_tupled(value)) if arena else None
        return quoted(value) if subject is None else format_subject(subject)

    forms: dict[str, Callable[[Any], str]] = {
        "answer": lambda text: quoted(text[:ANSWER_SHOWN] + "..." * (len(text) > ANSWER_SHOWN)),
        "asked": lambda question: _word(question).rstrip("_"),
        "because": _because,
        "claim": _claim,
        "conduct": conduct_of,
        "ids": format_ids,
        "number": format_number,
        "redirected": lambda ids: f" {format_ids(ids)}" if ids else "",
        "ranks": lambda rows: ", ".join(f"{row[0]} {name(row[1])} {row[2]}" for row in rows),
        "runs": lambda runs: format_count(len(runs), "run"),
        "scores": lambda scores: ", ".join(
            f"{name} {quoted(score)}" for name, score in zip(DIMENSIONS, scores, strict=True)
        ),
        "signed": "{:+d}".format,
        "sparks": lambda balance: format_count(balance, "spark"),
        "stances": lambda pairs: ", ".join(f"{name(who)} #{id}" for who, id in pairs),
        "steps": lambda steps: "; ".join("{}: {} {} to {}".format(*step) for step in steps),
        "subject": about,
        "subjects": lambda subjects: " and ".join(map(about, subjects)),
        "word": _word,
    }
    guarded = {name: partial(_or_quoted, form) for name, form in forms.items()}
    return EventSentences(EVENTS, VOCABULARY, guarded, names, PROMPT)


def _or_quoted(form: Callable[[Any], str], value: Any) -> str:
    """A value in a form; as JSON if it has another shape, as what agents submit may have."""
    try:
        return form(value)
    except (TypeError, ValueError, LookupError):
        return quoted(value)


def _tupled(value: Any) -> Any:
    return tuple(map(_tupled, value)) if isinstance(value, list) else value


def _word(value: Any) -> str:
    """A name, quoted if it is not a plain word."""
    is_name = isinstance(value, str) and _NAME.fullmatch(value) is not None
    return value if is_name else quoted(value)


def format_ids(ids: Iterable[object]) -> str:
    """The ids of contributions, as "#0, #1"."""
    return ", ".join(f"#{quoted(id)}" for id in ids)


def _claim(value: Any) -> str:
    claimed, edge = value
    return quoted(claimed) + ("" if edge is None else f", also under {_word(edge)}")


def _because(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], list):
        return f", because of {quoted(value)}"
    ids, on_own = value
    reasons = [format_ids(ids)] * bool(ids) + ["its own trials"] * (on_own is True)
    return f", because of {' and '.join(reasons)}" if reasons else ""
