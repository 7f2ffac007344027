"""Audits the draws of a season: orders of speaking, conclusions, bottom scorers.

The key of a draw is `[seed, assignment, table, 0, kind]`. An order is a shuffle of the participants
by ordinal; among tied proposals or agents, ascending, `below(n)` is the index of the winner. Where
nothing was tied, or the order was set, nothing is drawn. The candidates are derived again too: from
final stances and tests, or from totals.
"""

from __future__ import annotations

from typing import Final

from goldrush.kernel.world import Row
from goldrush.kernel.worlds.competition.events import (
    CODES,
    Bottomed,
    Concluded,
    RoundtableOpened,
)
from goldrush.kernel.worlds.competition.settle import seated_at
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.table import Roundtable
from goldrush.replay.journal.tie_break import DrawAudits, Occasion, TieBreak

ORDER, CONCLUDE, BOTTOM = _KINDS = ("order", "conclude", "bottom")
_DECIDES: Final = {ORDER: "order", CONCLUDE: "concluded", BOTTOM: "last"}


def _order(state: SeasonState, row: Row) -> TieBreak:
    event, table = RoundtableOpened._make(row), state.tables[row[0]]
    occasion, opening = _occasion(state, table, ORDER), state.opening
    again, order = seated_at(state, table)
    recorded = event.participants, event.words, event.order
    if order is None:
        return TieBreak.shuffled(occasion, *recorded, again=again)
    by = "the directive" if opening and opening.order else "the assistant"
    rule = f"{by} set the order: nothing is drawn"
    return TieBreak(occasion, *recorded, order, rule, again)


def _conclusion(state: SeasonState, row: Row) -> TieBreak:
    event, table = Concluded._make(row), state.tables[row[0]]
    again = table.equals(table.stances)
    occasion = _occasion(state, table, CONCLUDE, tied="proposal")
    return _won(occasion, event.tied, event.proposal, event.words, again)


def _bottom(state: SeasonState, row: Row) -> TieBreak:
    event, table = Bottomed._make(row), state.tables[row[0]]
    lowest = min(table.totals.values())
    again = tuple(sorted(a for a, total in table.totals.items() if total == lowest))
    if len(again) == len(table.participants):
        again = ()  # all totals are equal, so nobody is last
    return _won(_occasion(state, table, BOTTOM), event.tied, event.agent, event.words, again)


def _won(
    occasion: Occasion, tied: tuple[int, ...], winner: int | None, words: tuple[int, ...],
    again: tuple[int, ...],
) -> TieBreak:  # fmt: skip
    """A decision among candidates (`again`), of which the event names those tied, if several."""
    alone = () if winner is None else (winner,)
    return TieBreak.drawn(occasion, tied or alone, words, winner, again)


_AUDITS: Final = {RoundtableOpened: _order, Concluded: _conclusion, Bottomed: _bottom}
DRAWS: Final = DrawAudits(_KINDS, {CODES[form]: audit for form, audit in _AUDITS.items()})


def _occasion(state: SeasonState, table: Roundtable, kind: str, tied: str = "agent") -> Occasion:
    return Occasion(
        {"assignment": state.assignment, "table": table.number},
        f"at table {table.number} in assignment {state.assignment}",
        (state.config.seed, state.assignment, table.number, 0, kind),
        tied,
        _DECIDES[kind],
    )
