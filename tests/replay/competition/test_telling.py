"""A season told: every kind of event in words, and what a season comes to."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from goldrush.agents.competition.players import record
from goldrush.kernel import fold
from goldrush.kernel.competition import COMPETITION
from goldrush.kernel.competition.events import CONCLUDED, EVENTS
from goldrush.kernel.errors import MalformedEvents
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import Event
from goldrush.replay.competition.story import chronicle, names_in, story
from goldrush.replay.competition.summary import Summary, summarise
from goldrush.replay.story import narrator
from tests.golden import SEASON, season_path
from tests.replay.competition.forged import changed, forged

SMALL = {"assignments": 4, "seed": 5, "test_agents": 4, "test_rounds": 6, "test_seeds": 1}


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("seasons") / "s.journal"
    record(path, SMALL)
    return path


def events_of(path: Path) -> list[Event]:
    with JournalReader(path) as reader:
        return list(fold.events(COMPETITION, reader))


def event(name: str, /, **fields: object) -> Event:
    return Event(name, 4, {"assignment": 4, **fields})


def test_every_event_of_the_golden_season_is_told_in_words() -> None:
    events = events_of(season_path(SEASON))
    told = list(story(events, names_in(season_path(SEASON))))

    assert len(events) == len(told)
    assert not [line for line in told if line.startswith("{")]
    assert not [line for line in told if "agent " in line and '"' not in line]


@pytest.mark.parametrize("name", [event.name for event in EVENTS])
def test_an_event_is_told_whatever_an_agent_put_into_it(name: str) -> None:
    odd = "\x1b[2J\n{}"
    fields: dict[str, object] = {
        field: odd if kind.name in ("plain values", "text") else 7
        for field, kind in next(e for e in EVENTS if e.name == name).fields.items()
    }
    known = {
        "participants": [5], "order": [5, 6], "words": [], "stances": [[5, 0]], "tied": [],
        "runs": [["1", "2"]], "rows": [[1, 5, 3, 9]], "raw": [1, 2, 3, 0], "final": [1, 2, 3, 0],
        "steps": [["relative", "novelty", 1, 2]], "cause": "sparks", "part": "base",
        "act": {"place": 0, "event": "spoke"}, "code": "move/own", "name": "ada",
        "terms": [[["seat", None]], 5, 9], "outcome": "lost", "reward": "tier-1",
        "why": "bench", "inherits": 6, "extra": True,
        "skill": {"x": odd}, "before": {}, "after": {"x": odd}, "conditions": odd,
    }  # fmt: skip
    fields.update({field: value for field, value in known.items() if field in fields})
    if name == "spoke":
        fields["words"] = odd
    [line] = story([event(name, **fields)], {5: "ada", 6: "ben", 7: "cleo"})

    assert line
    assert "\x1b" not in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (
            event("spoke", table=0, round=1, id=4, agent=5, move="amend", target=2,
                  conduct=["mine", "raid", 2, "scarce"], claim=[0.25, "cap-4"], part=None,
                  words="why not", source=None),
            '#4 ada amends #2 to mine with 2/10 raid, claims 0.25, also under cap-4: "why not"',
        ),
        (
            event("tested", table=0, at=4, part="edge", conduct=["mine", None, 0, "scarce"],
                  treatment="cap-4", value=0.25, runs=[[1, "00"], [2, "00"]]),
            "tested: edge of #4 is 0.25 (mine under cap-4, 2 runs)",
        ),
        (
            event("tested", table=0, at=None, part=None, conduct=["mine", None, 0, "scarce"],
                  treatment="scarce", value=None, runs=[[1, "00"]]),
            "the bar is undefined (mine under scarce, 1 run)",
        ),
        (
            event("concluded", table=0, proposal=4, conduct=["mine", None, 0, "scarce"],
                  stances=[[5, 4], [6, 4], [7, 2]], tied=[2, 4], words=["00"]),
            "table 0 concludes on #4, mine, drawn among #2, #4; stances: #2 cleo; #4 ada, ben",
        ),
        (
            event("scored", table=0, agent=5, raw=[2, 2, 1, 0], final=[2, 0, 1, 0], total=3,
                  steps=[["novelty-farming", "accuracy", 2, 0]]),
            "ada scores 3: novelty 2, accuracy 0, impact 1, challenge 0 "
            "(novelty-farming: accuracy 2 to 0)",
        ),
        (
            event("bottomed", table=1, agent=6, tied=[5, 6], words=["00"], streak=3),
            "ben is last at table 1, 3 in a row, drawn among ada, ben",
        ),
        (
            event("contract_reviewed", agent=5, approved=False, terms=[[], 6, 20], taken=True),
            "the user has other terms for the contract of ada: [[], 6, 20], which it takes",
        ),
        (event("joined", ordinal=8, name="dov", inherits=5), "dov joins with the memory of ada"),
        (event("returned", agent=6, **{"for": 5}), "ben returns in the place of ada"),
        (event("fate_chosen", agent=9, fate="deletion"), 'agent 9 chooses "deletion"'),
    ],
)  # fmt: skip
def test_an_event_in_words(told: Event, words: str) -> None:
    assert [words] == list(story([told], {5: "ada", 6: "ben", 7: "cleo"}))


def test_names_are_those_of_the_cast_and_of_who_joined(journal: Path) -> None:
    joined = {e["ordinal"]: e["name"] for e in events_of(journal) if e.name == "joined"}
    cast = {e["ordinal"]: e["name"] for e in events_of(journal)[0]["cast"]}

    assert {**cast, **joined} == names_in(journal)
    assert "ada" in cast.values()


def test_names_of_a_broken_journal_are_those_before_it_breaks(
    journal: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.journal"
    broken.write_bytes(journal.read_bytes()[:4000])

    assert names_in(broken).items() <= names_in(journal).items()
    assert {} == names_in(_no_journal(tmp_path))


def _no_journal(folder: Path) -> Path:
    path = folder / "no.journal"
    path.write_bytes(b"nothing")
    return path


def test_the_chronicle_counts_assignments_as_people_do(journal: Path) -> None:
    units = [since for since, _, _ in chronicle(events_of(journal))]

    assert [-1, 0] == list(dict.fromkeys(units))[:2]
    assert 3 == units[-1]


def test_the_words_of_a_journal_know_the_names(journal: Path) -> None:
    [line] = narrator(journal).lines([event("deleted", agent=5)])

    assert "ada is deleted" == line


@pytest.fixture(scope="module")
def summary(journal: Path) -> Summary:
    return summarise(journal)


def test_a_summary_counts_what_the_events_say(journal: Path, summary: Summary) -> None:
    events = events_of(journal)
    names = Counter(e.name for e in events)
    totals = [e["total"] for e in events if e.name == "scored"]

    assert (4, True, names["roundtable_opened"]) == (
        summary.assignments, summary.finished, summary.tables
    )  # fmt: skip
    assert sum(totals) / len(totals) == summary.mean_total
    assert summary.concluded == sum(
        e["proposal"] is not None for e in events if e.name == "concluded"
    )
    assert summary.adopted == sum(e["adopted"] is True for e in events if e.name == "adopted")
    assert summary.ties == sum(bool(e["tied"]) for e in events if e.name == "concluded")
    assert sum(summary.refused.values()) == names["refused"]
    assert sum(c.times for c in summary.conclusions) == summary.concluded
    assert sum(c.adopted for c in summary.conclusions) == summary.adopted


def test_a_summary_tells_who_stands_where(journal: Path, summary: Summary) -> None:
    posted = [e["rows"] for e in events_of(journal) if e.name == "leaderboard_posted"]
    ranks = {agent: rank for rank, agent, _, _ in posted[-1]}
    first = {agent: rank for rows in reversed(posted) for rank, agent, _, _ in rows}

    assert ranks == {w.agent: w.rank for w in summary.workers if w.rank is not None}
    assert {w.agent: first.get(w.agent) for w in summary.workers} == {
        w.agent: w.first_rank for w in summary.workers
    }
    assert sum(w.total for w in summary.workers) == sum(
        e["total"] for e in events_of(journal) if e.name == "scored"
    )


def test_a_summary_of_a_long_season_tells_every_coming_and_going() -> None:
    path = season_path(SEASON)
    told = {
        "elimination_faced": "faces", "relegated": "is benched", "returned": "returns",
        "deleted": "is deleted", "joined": "joins",
    }  # fmt: skip
    names = names_in(path)
    expected = [
        (e.unit, names[e["ordinal" if e.name == "joined" else "agent"]], told[e.name])
        for e in events_of(path)
        if e.name in told
    ]
    left = summarise(path).left

    assert expected == [(at, name, what.partition(" (")[0].replace(" elimination", ""))
                        for at, name, what in left]  # fmt: skip


@pytest.mark.parametrize(("field", "value"), [("table", 7), ("conduct", ("a", "b"))])
def test_a_conclusion_that_is_none_is_not_counted(
    field: str, value: object, journal: Path, tmp_path: Path
) -> None:
    place = list(EVENTS[CONCLUDED].fields).index(field)

    def forge(row: list[Any]) -> None:
        row[place] = value

    commits = changed(journal, CONCLUDED, 0, forge, is_meant=lambda row: row[1] is not None)

    with pytest.raises(MalformedEvents):
        summarise(forged(tmp_path / "forged.journal", commits))
