"""The tables of seasons: roundtables, contributions, stances, scores, ranks.

All else is in the table of events. They have closed assignments only, because the outcome of a
contribution is known when its table has ended.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter, itemgetter
from typing import Any, Final

import attrs

from goldrush.kernel.worlds.competition.arena import DIRECTIONS
from goldrush.kernel.worlds.competition.events import Scored
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.table import Contribution, Roundtable
from goldrush.kernel.worlds.competition.terms import Move, Part, names_of
from goldrush.replay.data.columns import (
    REAL,
    TEXT,
    TRUTH,
    WHOLE,
    WHOLES,
    Column,
    of_part,
    records_table,
)
from goldrush.replay.data.run_data import RunData
from goldrush.replay.worlds.competition.ended import Ended, assignments_of
from goldrush.replay.worlds.competition.leaderboard import ASSIGNMENT, RANKS
from goldrush.replay.worlds.competition.measures import MEASURES
from goldrush.replay.worlds.competition.quality import Quality, quality_of
from goldrush.replay.worlds.competition.right import sides

_OBJECTIVE: Final = "of the objective"


@attrs.frozen
class _Of:
    """What a row is of: a table of an assignment, with the contribution, side or score at it."""

    state: SeasonState
    table: Roundtable
    part: Any = None


def _real(value: float | None) -> float | None:
    return None if value is None else float(value)


def _conduct(said: Contribution) -> str | None:
    value: Any = said.conduct
    return value if value is None or type(value) is str else json.dumps(value)


_FRONT: Final = [
    ASSIGNMENT,
    Column("table", WHOLE, "the table of the assignment, from 0", attrgetter("table.number")),
]
_WHO: Final = [
    *_FRONT,
    Column("agent", WHOLE, "who, by ordinal", attrgetter("part.agent")),
    Column("name", TEXT, "the agent's name", lambda of: of.state.agents[of.part.agent].name),
]


def _parts(
    parts: Callable[[Ended, Roundtable], Iterable[object]],
) -> Callable[[RunData], Iterator[_Of]]:
    """The records of a run: of each of its tables these parts, in order."""

    def records(run: RunData) -> Iterator[_Of]:
        for each in assignments_of(run):
            for table in each.state.tables:
                yield from (_Of(each.state, table, part) for part in parts(each, table))

    return records


# Roundtables.


_OF_QUALITY: Final = [
    Column(name, REAL, f"{MEASURES[name].definition} Null without an atlas.")
    for name in attrs.fields_dict(Quality)
]
ROUNDTABLES: Final = records_table(
    "roundtables",
    _parts(lambda each, table: [quality_of(table, each.state)]),
    "a table of a closed assignment, which has two where it was split",
    *_FRONT,
    *of_part(
        lambda of: of.table.subject,
        Column("objective", TEXT, "what it is about: the objective"),
        Column("better", TEXT, "which way that is better: " + ", ".join(DIRECTIONS)),
        Column("treatment_", TEXT, "the treatment of the arena"),
        Column("family", TEXT, "the family of subjects by which agents remember it"),
    ),
    Column("bar", REAL, "the tested value of the conduct that sets the bar",
           lambda of: _real(of.table.bar), unit=_OBJECTIVE),
    *of_part(
        attrgetter("table.chosen"),
        Column("proposal", WHOLE, "the id of the conclusion; null: there is none",
               attrgetter("id")),
        Column("agent", WHOLE, "whose proposal that is, by ordinal"),
        Column("conduct", TEXT, "the conduct: text as it is, any other form as JSON",
               _conduct),
    ),
    Column("tested", REAL, "the tested value of the conclusion",
           lambda of: _real(of.table.base_value(of.table.chosen)), unit=_OBJECTIVE),
    Column("drawn", TRUTH, "whether it was drawn among equals",
           lambda of: bool(of.table.conclusion and of.table.conclusion.tied)),
    Column("rejected", TRUTH, "whether the assistant rejected it; null: not asked",
           lambda of: of.table.is_rejected if of.table.is_digested else None),
    Column("adopted", TRUTH, "whether the admin adopted it; null: not asked",
           attrgetter("table.is_adopted")),
    Column("best", REAL, "the best tested value of a proposal, whether the claim held or not",
           lambda of: _real((of.table.best_tested() or (None, None))[1]), unit=_OBJECTIVE),
    *of_part(attrgetter("part"), *_OF_QUALITY),
    Column("participants", WHOLE, "how many sat at it",
           lambda of: len(of.table.participants), unit="agents"),
)  # fmt: skip


# Contributions.


CONTRIBUTIONS: Final = records_table(
    "contributions",
    _parts(lambda each, table: table.contributions),
    "a contribution to a table, in order; what was refused in its author's turn is a pass",
    *_WHO,
    *of_part(
        attrgetter("part"),
        Column("round", WHOLE, "the round, from 0"),
        Column("id", WHOLE, "its number at the table, from 0"),
        Column("move", TEXT, "what it is: " + ", ".join(names_of(Move))),
        Column("conduct", TEXT, "the conduct: text as it is, any other form as JSON",
               _conduct),
        Column("claim", REAL, "the value that a proposal claims",
               lambda said: None if said.claim is None else float(said.claimed), unit=_OBJECTIVE),
        Column("edge", TEXT, "the treatment under which it claims it too"),
        Column("target", WHOLE, "the id of the proposal that it refers to"),
        Column("part", TEXT, "the part of a claim that a challenge disputes"),
        Column("because", WHOLES, "the ids that it relies on",
               lambda said: None if said.because is None else list(said.because[0])),
        Column("words", TEXT, "what the agent said", attrgetter("text")),
        Column("code", TEXT, "why it was refused; null: it was not"),
    ),
    Column("redirected", TRUTH, "whether it, or what it refers to, was",
           lambda of: of.part.id in of.table.removed),
    Column("sustained", TRUTH, "whether a challenge was right; null: it is none", lambda of:
           of.table.is_sustained(of.part) if of.part.move == Move.CHALLENGE else None),
    *of_part(
        lambda of: of if of.part.is_proposal else None,
        Column("tested", REAL, "of a proposal, the tested value of the base",
               lambda of: _real(of.table.base_value(of.part)), unit=_OBJECTIVE),
        Column("edge_tested", REAL, "that of the edge",
               lambda of: _real(of.table.tests.get((of.part.id, Part.EDGE))), unit=_OBJECTIVE),
        Column("held", TRUTH, "whether the base held; null: it is none, or was not tested",
               lambda of: of.table.held(of.part.id, Part.BASE)),
        Column("edge_held", TRUTH, "whether the edge did",
               lambda of: of.table.held(of.part.id, Part.EDGE)),
        Column("sharp", TRUTH, "whether the base is sharp; null: it was not tested", lambda of:
               None if of.table.base_value(of.part) is None else of.table.is_sharp(of.part)),
        Column("concluded", TRUTH, "whether the proposal is the conclusion",
               lambda of: of.table.chosen == of.part),
    ),
)  # fmt: skip


# Stances and scores.


STANCES: Final = records_table(
    "stances",
    _parts(lambda each, table: sides(table)),
    "where a participant of a table stands: by the id of a proposal; null: nowhere",
    *_WHO,
    *of_part(
        attrgetter("part"),
        Column("talked", WHOLE, "at the end of the talk"),
        Column("proven", WHOLE, "as the proof left it"),
        Column("final", WHOLE, "in the end"),
        Column("changed", TRUTH, "whether that is elsewhere than at the end of the talk"),
    ),
    Column("stood", TRUTH, "whether it gave a final stance; else the one after the proof stays",
           lambda of: of.part.agent in of.table.stood),
)  # fmt: skip


def _by_dimension(name: str, description: str) -> Iterator[Column]:
    """The columns of four scores, in their order."""
    for index, each in enumerate(DIMENSIONS):
        yield Column(
            name.format(each), WHOLE, description.format(each), itemgetter(index), unit="of 3"
        )


SCORES: Final = records_table(
    "scores",
    _parts(lambda each, table: (row for row in each.of(Scored) if row.table == table.number)),
    "the scores of an agent that sat at a table",
    *_WHO,
    *of_part(attrgetter("part.raw"), *_by_dimension("raw_{}", "{} as rated")),
    *of_part(attrgetter("part.final"), *_by_dimension("{}", "{} as it stands")),
    Column("total", WHOLE, "their sum", attrgetter("part.total"), unit="of 12"),
    Column("rubric", WHOLE, "the sum of the four by the rubric", attrgetter("part.rubric"),
           unit="of 12"),
    Column("bottom", TRUTH, "whether it is the bottom scorer of the table",
           lambda of: of.table.bottom == of.part.agent),
)  # fmt: skip

TABLES: Final = (ROUNDTABLES, CONTRIBUTIONS, STANCES, SCORES, RANKS)
