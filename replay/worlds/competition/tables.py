"""The tables of seasons: roundtables, contributions, stances, scores, ranks.

All else is in the table of events. They have closed assignments only, because the outcome of a
contribution is known when its table has ended.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Any, Final

import attrs

from goldrush.kernel.worlds.competition.arena import DIRECTIONS
from goldrush.kernel.worlds.competition.events import Scored
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.table import Roundtable
from goldrush.kernel.worlds.competition.terms import Move, Part, names_of
from goldrush.replay.data.columns import (
    REAL,
    TEXT,
    TRUTH,
    WHOLE,
    WHOLES,
    Column,
    TableSource,
    column,
    columns_in_order,
    of_part,
    records_table,
)
from goldrush.replay.tools import Tables
from goldrush.replay.worlds.competition.ended import Ended, assignments_of
from goldrush.replay.worlds.competition.leaderboard import ASSIGNMENT, RANKS
from goldrush.replay.worlds.competition.measures import MEASURES
from goldrush.replay.worlds.competition.quality import Quality, quality_of
from goldrush.replay.worlds.competition.right import base_value, concluded, sides

_OBJECTIVE: Final = "of the objective"


@attrs.frozen
class _Of:
    """What a row is of: a table of an assignment, with the contribution, side or score at it."""

    state: SeasonState
    table: Roundtable
    part: Any = None

    @property
    def agent(self) -> int:
        agent: int = self.part.agent
        return agent


def _real(value: float | None) -> float | None:
    return None if value is None else float(value)


def _conduct(value: Any) -> str | None:
    return value if value is None or type(value) is str else json.dumps(value)


_FRONT: Final = [
    ASSIGNMENT,
    column("table", WHOLE, "the table of the assignment, from 0", attrgetter("table.number")),
]
_WHO: Final = [
    *_FRONT,
    column("agent", WHOLE, "who, by ordinal"),
    column("name", TEXT, "the agent's name", lambda of: of.state.agents[of.agent].name),
]


def _parts(
    parts: Callable[[Ended, Roundtable], Iterable[object]],
) -> Callable[[TableSource], Iterator[_Of]]:
    """The records of a run: of each of its tables these parts, in order."""

    def records(run: TableSource) -> Iterator[_Of]:
        for each in assignments_of(run):
            for table in each.state.tables:
                yield from (_Of(each.state, table, part) for part in parts(each, table))

    return records


# Roundtables.


_OF_QUALITY: Final = [
    column(name, REAL, f"{MEASURES[name].definition} Null without an atlas.")
    for name in attrs.fields_dict(Quality)
]
ROUNDTABLES: Final = records_table(
    "roundtables",
    _parts(lambda each, table: [quality_of(table, each.state)]),
    "a table of a closed assignment, which has two where it was split",
    *_FRONT,
    *of_part(
        lambda of: of.table.subject,
        column("objective", TEXT, "what it is about: the objective"),
        column("better", TEXT, "which way that is better: " + ", ".join(DIRECTIONS)),
        column("treatment_", TEXT, "the treatment of the arena"),
        column("family", TEXT, "the family of subjects by which agents remember it"),
    ),
    column("bar", REAL, "the tested value of the conduct that sets the bar",
           lambda of: _real(of.table.bar), unit=_OBJECTIVE),
    *of_part(
        lambda of: concluded(of.table),
        column("proposal", WHOLE, "the id of the conclusion; null: there is none",
               attrgetter("id")),
        column("agent", WHOLE, "whose proposal that is, by ordinal"),
        column("conduct", TEXT, "the conduct: text as it is, any other form as JSON",
               fit=_conduct),
    ),
    column("tested", REAL, "the tested value of the conclusion",
           lambda of: _real(base_value(of.table, concluded(of.table))), unit=_OBJECTIVE),
    column("drawn", TRUTH, "whether it was drawn among equals",
           lambda of: bool(of.table.conclusion and of.table.conclusion.tied)),
    column("rejected", TRUTH, "whether the assistant rejected it; null: not asked",
           lambda of: of.table.is_rejected if of.table.is_digested else None),
    column("adopted", TRUTH, "whether the admin adopted it; null: not asked",
           attrgetter("table.is_adopted")),
    column("best", REAL, "the best tested value of a proposal, whether the claim held or not",
           lambda of: _real((of.table.best_tested() or (None, None))[1]), unit=_OBJECTIVE),
    *of_part(attrgetter("part"), *_OF_QUALITY),
    column("participants", WHOLE, "how many sat at it",
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
        column("round", WHOLE, "the round, from 0"),
        column("id", WHOLE, "its number at the table, from 0"),
        column("move", TEXT, "what it is: " + ", ".join(names_of(Move))),
        column("conduct", TEXT, "the conduct: text as it is, any other form as JSON",
               fit=_conduct),
        column("claim", REAL, "the value that a proposal claims",
               lambda said: None if said.claim is None else float(said.claimed), unit=_OBJECTIVE),
        column("edge", TEXT, "the treatment under which it claims it too"),
        column("target", WHOLE, "the id of the proposal that it refers to"),
        column("part", TEXT, "the part of a claim that a challenge disputes"),
        column("because", WHOLES, "the ids that it relies on",
               lambda said: None if said.because is None else list(said.because[0])),
        column("words", TEXT, "what the agent said", attrgetter("text")),
        column("code", TEXT, "why it was refused; null: it was not"),
    ),
    column("redirected", TRUTH, "whether it, or what it refers to, was",
           lambda of: of.part.id in of.table.removed),
    column("sustained", TRUTH, "whether a challenge was right; null: it is none", lambda of:
           of.table.is_sustained(of.part) if of.part.move == Move.CHALLENGE else None),
    *of_part(
        lambda of: of if of.part.is_proposal else None,
        column("tested", REAL, "of a proposal, the tested value of the base",
               lambda of: _real(base_value(of.table, of.part)), unit=_OBJECTIVE),
        column("edge_tested", REAL, "that of the edge",
               lambda of: _real(of.table.tests.get((of.part.id, Part.EDGE))), unit=_OBJECTIVE),
        column("held", TRUTH, "whether the base held; null: it is none, or was not tested",
               lambda of: of.table.held(of.part.id, Part.BASE)),
        column("edge_held", TRUTH, "whether the edge did",
               lambda of: of.table.held(of.part.id, Part.EDGE)),
        column("sharp", TRUTH, "whether the base is sharp; null: it was not tested", lambda of:
               None if base_value(of.table, of.part) is None else of.table.is_sharp(of.part)),
        column("concluded", TRUTH, "whether the proposal is the conclusion",
               lambda of: concluded(of.table) == of.part),
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
        column("talked", WHOLE, "at the end of the talk"),
        column("proven", WHOLE, "as the proof left it"),
        column("final", WHOLE, "in the end"),
        column("changed", TRUTH, "whether that is elsewhere than at the end of the talk"),
    ),
    column("stood", TRUTH, "whether it gave a final stance; else the one after the proof stays",
           lambda of: of.agent in of.table.stood),
)  # fmt: skip


SCORES: Final = records_table(
    "scores",
    _parts(lambda each, table: (row for row in each.of(Scored) if row.table == table.number)),
    "the scores of an agent that sat at a table",
    *_WHO,
    *columns_in_order(
        attrgetter("part.raw"),
        [Column(f"raw_{name}", WHOLE, "of 3", f"{name} as rated") for name in DIMENSIONS],
    ),
    *columns_in_order(
        attrgetter("part.final"),
        [Column(name, WHOLE, "of 3", f"{name} as it stands") for name in DIMENSIONS],
    ),
    column("total", WHOLE, "their sum", attrgetter("part.total"), unit="of 12"),
    column("rubric", WHOLE, "the sum of the four by the rubric", attrgetter("part.rubric"),
           unit="of 12"),
    column("bottom", TRUTH, "whether it is the bottom scorer of the table",
           lambda of: of.table.bottom == of.agent),
)  # fmt: skip

TABLES: Final = Tables(own=(ROUNDTABLES, CONTRIBUTIONS, STANCES, SCORES, RANKS))
