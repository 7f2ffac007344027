"""The event stream narrowed down, held against a filter that knows nothing of how it is read."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.kernel import fold
from goldrush.kernel.errors import BadInput, DamagedJournal
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import RecordedEvent
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.journal.log import Query, log
from goldrush.replay.worlds.mining.audit import plot_of
from tests.golden import FOLDER, path_of
from tests.journals import damaged
from tests.mining import fork, record

GOLDEN = sorted(FOLDER.glob("*.journal"))
BASELINE = path_of("baseline")

# In which fields an event names agents, by the rules' page.
WHO: Mapping[str, Iterable[str]] = {
    "forked": [],  # and who is in `replaced`
    "submitted": ["agent"],
    "pruned": ["agent"],
    "claim_drawn": ["claimants", "winner"],
    "raid_resolved": ["owner", "raiders", "winner"],
    "ruled": ["captor", "victim"],
    "mining_settled": ["agent"],
}
NAMES = ["run_started", *WHO, "round_closed", "run_ended"]


@cache
def events_of(path: Path) -> list[RecordedEvent]:
    with JournalReader(path) as reader:
        return list(fold.events(MINING, reader))


def agents_in(event: RecordedEvent) -> set[int]:
    named: set[int] = set()
    for field in WHO.get(event.name, ()):
        value = event[field]
        named |= set(value) if isinstance(value, list) else {value} - {None}
    if event.name == "forked":
        named |= {agent for _, agent in event["replaced"]}
    return named


def wanted(event: RecordedEvent, query: Query) -> bool:
    """What the help of `log` says, word for word."""
    first = query.first if query.first is not None else event.unit
    last = query.last if query.last is not None else event.unit
    plots = {event.fields.get("plot")}
    if event.name == "submitted" and "submitted" in query.names:
        plots = {action[1] for action in event["actions"] if action is not None}
    return (
        first <= event.unit <= last
        and (not query.names or event.name in query.names)
        and (query.plots is None or bool(plots & set(query.plots)))
        and (query.agents is None or bool(agents_in(event) & set(query.agents)))
    )


@st.composite
def queries(draw: st.DrawFn, path: Path) -> Query:
    config = events_of(path)[0]["config"]
    first = draw(st.just(0) | st.integers(0, config["rounds"]))
    return Query(
        first,
        draw(st.none() | st.integers(first, 22)),
        draw(st.none() | st.sets(st.integers(0, config["agents"] - 1), max_size=3)),
        draw(st.none() | st.sets(st.integers(0, config["rows"] * config["cols"] - 1))),
        draw(st.just(()) | st.sets(st.sampled_from(NAMES))),
    )


@given(st.data())
def test_a_query_gives_what_a_filter_over_all_events_gives(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(GOLDEN), label="journal")
    query = data.draw(queries(path), label="query")

    assert [event for event in events_of(path) if wanted(event, query)] == list(log(path, query))


def test_rows_and_columns_are_not_confused(path: Path) -> None:
    record(path, {"rounds": 1, "rows": 2, "cols": 7}, "random*2")

    assert [6, 7, 13] == [plot_of(path, text) for text in ("0,6", "1,0", "1,6")]
    for text in ("2,0", "0,7", "14"):
        with pytest.raises(BadInput, match="from 0 to 13, or row,column up to 1,6"):
            plot_of(path, text)


@pytest.mark.parametrize(
    "text", ["100", "-1", "10,0", "0,10", "", "1,2,3", "1.5", "٣", "9" * 30, "1,", "0x1"]
)
def test_what_is_no_plot_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(BadInput, match="from 0 to 99, or row,column up to 9,9"):
        plot_of(BASELINE, text)


@pytest.mark.parametrize(
    ("query", "says"),
    [
        (Query(names=["claims_drawn"]), "did you mean claim_drawn"),
        (Query(first=5, last=4), "no rounds 5 to 4"),
        (Query(first=-1), "no rounds -1"),
        (Query(first=21), "from 0 to 20"),
    ],
)
def test_a_query_for_what_there_is_not_is_refused_before_any_event(query: Query, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        next(log(BASELINE, query))


def test_what_a_query_gives_before_damage_is_given_and_then_the_damage(path: Path) -> None:
    damaged(BASELINE, path, 9)
    query = Query(first=2, names=["submitted"], agents=[3])
    given_: list[RecordedEvent] = []

    with pytest.raises(DamagedJournal, match="commit 9 at byte"):
        given_.extend(log(path, query))
    assert [e for e in events_of(BASELINE) if wanted(e, query) and e.unit < 9] == given_
    assert given_
    assert [e for e in events_of(BASELINE) if e.unit == 4] == list(log(path, Query(4, 4)))


def test_a_fork_is_an_event_of_the_round_that_it_follows(path: Path) -> None:
    submission = {"round": 9, "agent": 4, "actions": []}
    fork(BASELINE, 7, path, settings={"truce": 3}, replace=[submission])
    [event] = log(path, Query(names=["forked"]))

    assert (7, {"truce": 3}, [[9, 4]]) == (event.unit, event["changes"], event["replaced"])
    assert [event] == list(log(path, Query(7, 7, names=["forked"], agents=[4])))
    assert [] == list(log(path, Query(names=["forked"], agents=[3])))
    assert [] == [e for e in log(path, Query(8)) if e.name == "forked"]
