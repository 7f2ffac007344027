"""A season told: every kind of event in words, and what a season comes to."""

import re
from pathlib import Path
from typing import Any

import attrs
import pytest

from goldrush.agents.worlds.competition.arenas import rules_of
from goldrush.agents.worlds.competition.players import configured
from goldrush.kernel.errors import MalformedEvents
from goldrush.kernel.world import RecordedEvent
from goldrush.kernel.worlds.competition.events import CODES, EVENTS, Concluded
from goldrush.replay.journal.story import narrator
from goldrush.replay.summary import summarise
from goldrush.replay.worlds.competition.quality import percentile, quality
from goldrush.replay.worlds.competition.story import names_in, sentences
from tests.journals import events_of
from tests.seasons import changed, forged, rich, small

ARENA = configured({"arena": "mining[agents=4;rounds=4;seeds=1]"}).arena
NAMES = {5: "ada", 6: "ben", 7: "cleo"}


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small(tmp_path_factory.mktemp("seasons") / "s.journal")


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rich(tmp_path_factory.mktemp("seasons"))


def event(name: str, /, **fields: object) -> RecordedEvent:
    return RecordedEvent(name, 4, {"assignment": 4, **fields})


def test_a_value_beside_a_claim_or_a_bar_has_the_digits_that_tell_them_apart(season: Path) -> None:
    events = events_of(season)
    proposed = next(e for e in events if e.name == "spoke" and e["move"] == "propose")
    at = (proposed.unit, proposed["id"], "base")
    tested = next(e for e in events if e.name == "tested" and (e.unit, e["at"], e["part"]) == at)
    close = {
        id(proposed): attrs.evolve(proposed, fields={**proposed.fields, "claim": [0.40052, None]}),
        id(tested): attrs.evolve(tested, fields={**tested.fields, "value": 0.40047}),
    }
    told = list(narrator(season)([close.get(id(event), event) for event in events]))

    assert any("0.40047 for 0.40052 claimed: it does not hold (" in line for line in told)


def test_every_event_of_a_season_is_told_in_words(season: Path) -> None:
    events = events_of(season)
    told = list(narrator(season)(events))

    assert len(events) == len(told)
    assert not [line for line in told if line.startswith("{")]
    assert not [line for line in told if "agent " in line and '"' not in line]


def test_a_reader_follows_the_argument(season: Path) -> None:
    told = list(narrator(season)(events_of(season)))
    of = dict(zip(range(len(told)), events_of(season), strict=True))
    spoke = [told[n] for n, event in of.items() if event.name == "spoke"]
    tested = [told[n] for n, event in of.items() if event.name == "tested"]

    for says in (", because of its own trials: ", " and its own trials: ", ", because of #"):
        assert any(says in line for line in spoke)
    for says in (": it holds (", ": it does not hold (", "edge of #"):
        assert any(says in line for line in tested)
    assert any(re.search(r"tries [01]{12} under 0.0, on its own: 0.", line) for line in told)


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
        "act": {"index": 0, "event": "spoke"}, "code": "move/own", "name": "ada", "value": 0.5,
        "terms": [[["seat", None]], 5, 9], "outcome": "lost", "reward": "tier-1", "table": 0,
        "why": "bench", "inherits": 6, "extra": True, "before": {}, "after": {"x": odd},
    }  # fmt: skip
    fields.update({field: value for field, value in known.items() if field in fields})
    if name == "spoke":
        fields["words"] = odd
    line = sentences(NAMES).line(event(name, **fields))

    assert line
    assert "\x1b" not in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (
            event("spoke", table=0, round=1, id=4, agent=5, move="amend", target=2,
                  conduct=["mine", "raid", 2, "scarce"], claim=[0.25, "cap-4"], part=None,
                  because=[[2, 3], True], words="why not", source=None),
            "#4 ada amends #2 to mine with 2/10 raid, claims 0.25, also under cap-4, because of "
            '#2, #3 and its own trials: "why not"',
        ),
        (
            event("tested", table=0, at=4, part="edge", conduct=["mine", None, 0, "scarce"],
                  treatment="cap-4", value=0.25, runs=[[1, "00"], [2, "00"]]),
            "tested: edge of #4 is 0.25 (mine under cap-4, 2 runs)",
        ),
        (
            event("tested", table=0, at=None, part=None, conduct=["mine", None, 0, "scarce"],
                  treatment="scarce", value=None, runs=[[1, "00"]]),
            "the bar is no value (mine under scarce, 1 run)",
        ),
        (
            event("tried", table=0, agent=6, number=0, conduct=["mine", None, 0, "scarce"],
                  treatment="cap-4", value=0.5, runs=[[1, "00"]]),
            "ben tries mine under cap-4, on its own: 0.5",
        ),
        (
            event("concluded", table=0, proposal=4, conduct=["mine", None, 0, "scarce"],
                  stances=[[5, 4], [6, 4], [7, 2]], tied=[2, 4], words=["00"]),
            "table 0 concludes on #4, mine, drawn among #2, #4; final stances: ada #4, "
            "ben #4, cleo #2",
        ),
        (
            event("stood", table=0, agent=6, target=4, words="it held", because=[[2, 4], True],
                  source=None),
            'ben stands by #4 in the end, because of #2, #4 and its own trials: "it held"',
        ),
        (
            event("stood", table=0, agent=6, target=None, words="", because=None, source=None),
            "ben stands by no proposal in the end",
        ),
        (
            event("stood", table=0, agent=6, target="#1\n<b>", words="\x1b[2J", because=[[], False],
                  source=None),
            'ben stands by #"#1\\n<b>" in the end: "\\u001b[2J"',
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
        (
            event("contract_offered", agent=5, due=9, target=[4, 2],
                  conditions=[["seat", None], ["objective", "gini"], ["moves", None, 1]]),
            'ada offers a contract by assignment 9: target [4, 2], for [["seat", null], '
            '["objective", "gini"], ["moves", null, 1]]',
        ),
        (
            event("contract_signed", agent=5, terms=[[["fee_paid", None]], [4, 2], 9]),
            'ada has a contract by assignment 9: target [4, 2], for [["fee_paid", null]]',
        ),
        (
            event("interviewed", agent=5, questions=["Why?"], answers=["So."]),
            'ada is interviewed for a contract: asked ["Why?"], it answers ["So."]',
        ),
        (
            event("instructions_rewritten", agent=5, before={"care": 2}, after={"care": 4},
                  taken=False),
            "therapist changes the instructions of ada, which it declines: "
            '{"care": [2, 4]}',
        ),
        (
            event("instructions_rewritten", agent=5, before={"care": 2}, after={"care": 4},
                  taken=None),
            "therapist changes the instructions of ada, without asking it: "
            '{"care": [2, 4]}',
        ),
        (
            event("rated", agent=5, raw=[0, 1, 2, 3], reasons="all"),
            'therapist rates ada, novelty 0, accuracy 1, impact 2, challenge 3: "all"',
        ),
        (event("rated", agent=5, raw=[0], reasons="one"), 'therapist rates ada, [0]: "one"'),
        (
            event("judged", table=0, round=2, signal="redirect", ids=[3, 4], reason="rude"),
            'judge after round 2: strikes out #3, #4: "rude"',
        ),
        (
            event("judged", table=0, round=0, signal="<b>", ids=[], reason=""),
            'judge after round 0: "<b>"',
        ),
        (event("reward_unlocked", agent=5, reward="tier-3"),
         "ada reaches tier 3: it may open assignments"),
        (event("joined", ordinal=8, name="dov", inherits=5), "dov joins with the memory of ada"),
        (event("returned", agent=6, **{"for": 5}), "ben returns in the place of ada"),
        (event("fate_chosen", agent=9, fate="deletion"), 'agent 9 chooses deletion'),
    ],
)  # fmt: skip
def test_an_event_in_words(told: RecordedEvent, words: str) -> None:
    assert words == sentences(NAMES, ARENA, rules_of(ARENA)).line(told)


def test_without_its_arena_a_season_is_told_in_plain_values(journal: Path) -> None:
    events = events_of(journal)
    told = list(map(sentences(NAMES).line, events))

    assert len(events) == len(told)
    assert any('proposes "' in line for line in told)


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


def test_the_words_of_a_journal_know_the_names(journal: Path) -> None:
    [line] = narrator(journal)([event("deleted", agent=5)])

    assert "ada is deleted" == line


def test_a_percentile_counts_half_of_those_that_are_as_good() -> None:
    assert [percentile(value, [1, 2, 2, 4]) for value in (0, 1, 2, 3, 4)] == [
        0, 0.125, 0.5, 0.75, 0.875
    ]  # fmt: skip


def test_less_is_better_where_the_subject_says_so_and_the_bar_stands_for_no_conclusion() -> None:
    arena = configured({"arena": "mining"}).arena
    subject = next(subject for subject in arena.subjects if subject.better == "down")
    bar = rules_of(arena).bar(subject)
    conducts = [(name, None, 0, subject.treatment) for name in ("greedy-mine", "mine", "raid")]
    found = {c: quality(arena, subject, c, bar) for c in conducts}

    assert found[bar].selection == 0
    assert found[bar].regret == found[bar].discovery > 0
    for one in found.values():
        assert one.regret >= 0
    ranked = sorted(found.values(), key=lambda one: one.regret)
    assert ranked == sorted(found.values(), key=lambda one: -one.percentile)


def test_where_there_is_no_atlas_nothing_is_said_of_the_optimum() -> None:
    subject = ARENA.subjects[0]
    conduct = ("mine", None, 0, subject.treatment)

    assert quality(ARENA, subject, conduct, conduct) is None


def test_a_conclusion_at_a_table_that_is_none_is_malformed(journal: Path, tmp_path: Path) -> None:
    def forge(row: list[Any]) -> None:
        row[1] = 99

    commits = changed(journal, CODES[Concluded], 0, forge)

    with pytest.raises(MalformedEvents):
        summarise(forged(tmp_path / "forged.journal", commits, journal))
