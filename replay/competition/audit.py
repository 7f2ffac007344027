"""The draws of a season laid open: who speaks when, what a table concludes, who is last.

The key of a draw is `[seed, assignment, table, 0, kind]`. An order is a shuffle of the participants
in order; among proposals or agents that are tied, `below(n)` names the winner's place, ascending.
Where nothing was tied, or somebody set the order, nothing is drawn. Who was tied is worked out anew
too: from the stances, and from the totals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from goldrush.kernel.competition.events import BOTTOMED, CONCLUDED, ROUNDTABLE_OPENED, SEAT
from goldrush.kernel.competition.state import ACTIVE, SeasonState
from goldrush.kernel.competition.table import Table
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import quoted_path
from goldrush.kernel.world import Row
from goldrush.replay.competition.steps import Moment, assignment_in, moments
from goldrush.replay.forged import reader_of
from goldrush.replay.tie_break import Occasion, TieBreak

ORDER, CONCLUDE, BOTTOM = AUDITED = ("order", "conclude", "bottom")
_DECIDES: Final = {ORDER: "order", CONCLUDE: "concluded", BOTTOM: "last"}
_EVENTS: Final[Mapping[str | None, str]] = {
    None: "draw", ORDER: "order", CONCLUDE: "conclusion", BOTTOM: "bottom place",
}  # fmt: skip


@reader_of
def audit(
    path: str | Path, assignment: int, table: int | None = None, kind: str | None = None
) -> list[TieBreak]:
    """The draws of an assignment, in order: at one table or at all, of one kind or of all.

    Raises BadInput for an assignment or table that there is not, and where nothing was decided
    there; and what reading a journal raises.
    """
    if kind is not None and kind not in AUDITED:
        raise BadInput(f"there are no draws of kind {kind!r}", f"take one of {', '.join(AUDITED)}")
    with JournalReader(path) as reader:
        before, commits = assignment_in(reader, assignment)
        found = [
            audited for moment in moments(reader, commits, before) for audited in _audited(moment)
        ]
    tables = {audited.place["table"] for audited in found}
    if table is not None and table not in tables:
        raise BadInput(
            f"there is no table {table} in assignment {assignment}",
            f"give one from 0 to {max(tables)}",
        )
    wanted = [
        audited
        for audited in found
        if kind in (None, audited.kind) and table in (None, audited.place["table"])
    ]
    if not wanted:
        at = "" if table is None else f"at table {table} "
        raise BadInput(
            f"no {_EVENTS[kind]} {at}in assignment {assignment}",
            f"see what there is with `goldrush log {quoted_path(str(path))} --rounds {assignment}`",
        )
    return wanted


@reader_of
def audit_all(path: str | Path) -> Iterator[TieBreak]:
    """Every order, conclusion and bottom place of a season, in order.

    Raises what reading a journal raises, when what stands before has been given.
    """
    with JournalReader(path) as reader:
        for moment in moments(reader):
            yield from _audited(moment)


def _audited(moment: Moment) -> list[TieBreak]:
    """What was decided in a step."""
    state = moment.state
    return [
        _CODES[code](state, state.tables[row[0]], row)
        for code, rows in moment.step.derived
        if code in _CODES
        for row in rows
    ]


def _order(state: SeasonState, table: Table, row: Row) -> TieBreak:
    _, participants, order, words, _ = row
    opening = state.opening
    assert opening is not None
    occasion = _occasion(state, table, ORDER)
    team = opening.team or table.team or state.active()
    seats = (agent.ordinal for agent in state.workers(ACTIVE) if agent.has_condition(SEAT))
    again = tuple(sorted({*team, *seats}))
    agenda = opening.order or table.agenda
    if agenda is None:
        return TieBreak.shuffled(occasion, participants, words, order, again=again)
    by = "the directive" if opening.order else "the assistant"
    expected = [agent for agent in agenda if agent in again]
    expected += [agent for agent in again if agent not in agenda]
    rule = f"{by} set the order: nothing is drawn"
    return TieBreak.undrawn(occasion, participants, words, order, tuple(expected), rule, again)


def _conclusion(state: SeasonState, table: Table, row: Row) -> TieBreak:
    _, proposal, _, _, tied, words = row
    counts = table.standing.counts()
    most = max(counts.values(), default=0)
    again = tuple(sorted(found for found, count in counts.items() if count == most))
    rule = "one proposal has most stances" if again else "nobody stands for a proposal"
    occasion = _occasion(state, table, CONCLUDE, tied="proposal")
    return _won(occasion, tied, proposal, words, again, rule)


def _bottom(state: SeasonState, table: Table, row: Row) -> TieBreak:
    _, agent, tied, words, _ = row
    lowest = min(table.totals.values())
    again = tuple(sorted(a for a, total in table.totals.items() if total == lowest))
    rule = "one agent has the lowest total"
    if len(again) == len(table.participants):
        again, rule = (), "all totals are equal, so nobody is last"
    return _won(_occasion(state, table, BOTTOM), tied, agent, words, again, rule)


def _won(
    occasion: Occasion, tied: tuple[int, ...], winner: int | None, words: tuple[int, ...],
    again: tuple[int, ...], rule: str,
) -> TieBreak:  # fmt: skip
    """One of those that are tied wins; the event names them only where there are several."""
    alone = () if winner is None else (winner,)
    if len(again) > 1:
        return TieBreak.drawn(occasion, tied or alone, words, winner, again)
    first = again[0] if again else None
    says = f"{rule}: nothing is drawn"
    return TieBreak.undrawn(occasion, tied or alone, words, winner, first, says, again)


_CODES: Final[Mapping[int, Callable[[SeasonState, Table, Row], TieBreak]]] = {
    ROUNDTABLE_OPENED: _order,
    CONCLUDED: _conclusion,
    BOTTOMED: _bottom,
}


def _occasion(state: SeasonState, table: Table, kind: str, tied: str = "agent") -> Occasion:
    return Occasion(
        {"assignment": state.assignment, "table": table.number},
        f"at table {table.number} in assignment {state.assignment}",
        (state.config.seed, state.assignment, table.number, 0, kind),
        tied,
        _DECIDES[kind],
    )
