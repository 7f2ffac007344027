"""Audits the draws of a season: orders of speaking, conclusions, bottom scorers.

The key of a draw is `[seed, assignment, table, 0, kind]`. An order is a shuffle of the participants
by ordinal; among tied proposals or agents, ascending, `below(n)` is the index of the winner. Where
nothing was tied, or the order was set, nothing is drawn. The candidates are derived again too: from
final stances and tests, or from totals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import quoted_path
from goldrush.kernel.walk import ROWS, Walk
from goldrush.kernel.worlds.competition.events import (
    CODES,
    Bottomed,
    Concluded,
    RoundtableOpened,
    named,
)
from goldrush.kernel.worlds.competition.settle import seated_at
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.table import Roundtable
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.tie_break import Occasion, TieBreak
from goldrush.replay.worlds.competition.steps import (
    assignment_in,
    season_world,
)

ORDER, CONCLUDE, BOTTOM = AUDITED = ("order", "conclude", "bottom")
_DECIDES: Final = {ORDER: "order", CONCLUDE: "concluded", BOTTOM: "last"}
_EVENTS: Final[Mapping[str | None, str]] = {
    None: "draw", ORDER: "order", CONCLUDE: "conclusion", BOTTOM: "bottom place",
}  # fmt: skip


@reader_of
def audit(
    path: str | Path, assignment: int, table: int | None = None, kind: str | None = None
) -> list[TieBreak]:
    """The draws of an assignment, in order.

    Raises BadInput for an unknown assignment, table or kind, and if nothing was decided;
    JournalError if the journal cannot be read.
    """
    if kind is not None and kind not in AUDITED:
        raise BadInput(f"there are no draws of kind {kind!r}", f"take one of {', '.join(AUDITED)}")
    with JournalReader(path) as reader:
        world = season_world(reader)
        found = list(_audited(assignment_in(world, reader, assignment)))
    tables = {audited.location["table"] for audited in found}
    if table is not None and table not in tables:
        raise BadInput(
            f"there is no table {table} in assignment {assignment}",
            f"give one from 0 to {max(tables)}",
        )
    wanted = [
        audited
        for audited in found
        if kind in (None, audited.kind) and table in (None, audited.location["table"])
    ]
    if not wanted:
        at = "" if table is None else f"at table {table} "
        raise BadInput(
            f"no {_EVENTS[kind]} {at}in assignment {assignment}",
            f"see what there is with `goldrush log {quoted_path(str(path))} --at {assignment}`",
        )
    return wanted


@reader_of
def audit_all(path: str | Path) -> Iterator[TieBreak]:
    """Every order, conclusion and bottom place of a season, in order.

    Raises JournalError at the first commit that cannot be read, after the draws before it.
    """
    with JournalReader(path) as reader:
        yield from _audited(Walk(season_world(reader), reader, ROWS))


def _audited(walk: Walk[SeasonState]) -> Iterator[TieBreak]:
    """The decisions in the steps of a walk."""
    for _, step, state in walk.steps():
        for code, rows in step.derived if step else ():
            if code in _DRAWN:
                for row in rows:
                    yield _DRAWN[code](state, state.tables[row[0]], named(code, row))


def _order(state: SeasonState, table: Roundtable, event: RoundtableOpened) -> TieBreak:
    occasion, opening = _occasion(state, table, ORDER), state.opening
    again, order = seated_at(state, table)
    found = event.participants, event.words, event.order
    if order is None:
        return TieBreak.shuffled(occasion, *found, again=again)
    by = "the directive" if opening and opening.order else "the assistant"
    rule = f"{by} set the order: nothing is drawn"
    return TieBreak.undrawn(occasion, *found, order, rule, again)


def _conclusion(state: SeasonState, table: Roundtable, event: Concluded) -> TieBreak:
    again = table.equals(table.stances)
    rule = "nobody stands by a proposal in the end"
    if again:
        rule = "one proposal has most final stances"
        if len(table.stances.foremost()) > 1:
            rule = "of those with most final stances one has the best tested base"
    occasion = _occasion(state, table, CONCLUDE, tied="proposal")
    return _won(occasion, event.tied, event.proposal, event.words, again, rule)


def _bottom(state: SeasonState, table: Roundtable, event: Bottomed) -> TieBreak:
    lowest = min(table.totals.values())
    again = tuple(sorted(a for a, total in table.totals.items() if total == lowest))
    rule = "one agent has the lowest total"
    if len(again) == len(table.participants):
        again, rule = (), "all totals are equal, so nobody is last"
    return _won(_occasion(state, table, BOTTOM), event.tied, event.agent, event.words, again, rule)


def _won(
    occasion: Occasion, tied: tuple[int, ...], winner: int | None, words: tuple[int, ...],
    again: tuple[int, ...], rule: str,
) -> TieBreak:  # fmt: skip
    """A decision among candidates (`again`), of which the event names those tied, if several."""
    alone = () if winner is None else (winner,)
    if len(again) > 1:
        return TieBreak.drawn(occasion, tied or alone, words, winner, again)
    first = again[0] if again else None
    says = f"{rule}: nothing is drawn"
    return TieBreak.undrawn(occasion, tied or alone, words, winner, first, says, again)


_DRAWN: Final[Mapping[int, Callable[[SeasonState, Roundtable, Any], TieBreak]]] = {
    CODES[RoundtableOpened]: _order,
    CODES[Concluded]: _conclusion,
    CODES[Bottomed]: _bottom,
}


def _occasion(state: SeasonState, table: Roundtable, kind: str, tied: str = "agent") -> Occasion:
    return Occasion(
        {"assignment": state.assignment, "table": table.number},
        f"at table {table.number} in assignment {state.assignment}",
        (state.config.seed, state.assignment, table.number, 0, kind),
        tied,
        _DECIDES[kind],
    )
