"""The draws of a season laid open, held against the rules' own page: msgpack and xxhash."""

import contextlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgpack
import pytest
from xxhash import xxh3_64_intdigest

from goldrush.kernel.errors import BadInput, MalformedEvents, TornTail
from goldrush.kernel.journal import UNIT, Commit
from goldrush.kernel.world import RecordedEvent
from goldrush.kernel.worlds.competition import events as season_events
from goldrush.replay.journal.draws import draws, draws_at
from goldrush.replay.journal.tie_break import TieBreak
from goldrush.replay.worlds.competition.audit import DRAWS
from tests.journals import commits_of, events_of, write
from tests.seasons import HEADER, LAST, RICH, Change, alone, changed, forged, fork, rich, small

RANGE = 2**64
FORMS = {
    "order": season_events.RoundtableOpened,
    "conclude": season_events.Concluded,
    "bottom": season_events.Bottomed,
}
CODES = {kind: season_events.CODES[form] for kind, form in FORMS.items()}


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return rich(tmp_path_factory.mktemp("seasons"))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return alone(tmp_path_factory.mktemp("seasons"))


@pytest.fixture(scope="module")
def audits(season: Path) -> list[TieBreak]:
    return list(draws(season))


# The rules, written anew.


class Words:
    """The words of a key, in order."""

    def __init__(self, *key: object) -> None:
        self.key = msgpack.packb(key)
        self.taken: list[int] = []

    def below(self, n: int) -> int:
        while True:
            self.taken.append(xxh3_64_intdigest(self.key, seed=len(self.taken)))
            if self.taken[-1] < RANGE - RANGE % n:
                return self.taken[-1] % n

    def shuffled(self, items: Iterable[int]) -> list[int]:
        items = list(items)
        for j in range(len(items) - 1, 0, -1):
            k = self.below(j + 1)
            items[j], items[k] = items[k], items[j]
        return items

    def one_of(self, items: list[int]) -> int:
        return items[self.below(len(items))] if len(items) > 1 else items[0]


def seed_of(path: Path) -> int:
    return int((commits_of(path)[0].setup or {})["config"]["seed"])


def redone(events: Iterable[RecordedEvent], seed: int) -> Iterator[tuple[str, object, list[str]]]:
    """From the events: kind, outcome and words of each draw. An order without words was given."""
    totals: dict[tuple[int, int], dict[int, int]] = {}
    tested: dict[tuple[int, int, int], float] = {}
    for event in events:
        kind = {"roundtable_opened": "order", "concluded": "conclude", "bottomed": "bottom"}
        if event.name == "scored":
            totals.setdefault((event.unit, event["table"]), {})[event["agent"]] = event["total"]
        if event.name == "tested" and event["part"] == "base":
            tested[event.unit, event["table"], event["at"]] = event["value"]
        if event.name not in kind:
            continue
        at = event.unit, event["table"]
        words = Words(seed, *at, 0, kind[event.name])
        outcome: object = None
        if event.name == "roundtable_opened":
            is_drawn = bool(event["words"])
            outcome = tuple(words.shuffled(event["participants"]) if is_drawn else event["order"])
        elif event.name == "concluded":
            stances = Counter(proposal for _, proposal in event["stances"])
            most = [id for id in sorted(stances) if stances[id] == max(stances.values())]
            best = max((tested[*at, id] for id in most), default=None)  # up is better
            equals = [id for id in most if tested[*at, id] == best]
            outcome = words.one_of(equals) if equals else None
        else:
            of = totals[at]
            outcome = words.one_of(sorted(a for a in of if of[a] == min(of.values())))
        yield kind[event.name], outcome, [f"{word:016x}" for word in words.taken]


def test_every_draw_of_a_season_is_what_the_rules_give(season: Path, drawn: Path) -> None:
    for path in (season, drawn):
        expected, audits = list(redone(events_of(path), seed_of(path))), list(draws(path))

        assert expected == [(a.kind, a.outcome_again, list(a.draw_words_again)) for a in audits]
        assert [(outcome, words) for _, outcome, words in expected] == [
            (a.outcome, list(a.draw_words)) for a in audits
        ]
        assert all(audited.holds for audited in audits)


def test_the_seasons_have_draws_of_all_kinds_and_such_as_were_not_needed(
    audits: list[TieBreak], drawn: Path
) -> None:
    found = {(audited.kind, bool(audited.draw_words)) for audited in (*audits, *draws(drawn))}

    assert found == {(kind, drawn) for kind in DRAWS.kinds for drawn in (True, False)}
    assert {audited.location["table"] for audited in audits} == {0, 1}


def test_a_key_is_seed_assignment_table_0_and_kind(audits: list[TieBreak]) -> None:
    for audited in audits:
        key = [
            RICH["seed"],
            audited.location["assignment"],
            audited.location["table"],
            0,
            audited.kind,
        ]

        assert key == msgpack.unpackb(bytes.fromhex(audited.key))


def test_where_nothing_was_drawn_it_says_why(audits: list[TieBreak]) -> None:
    rules = {audited.rule for audited in audits if not audited.draw_words}

    assert rules <= {
        "the assistant set the order: nothing is drawn",
        "one proposal has most final stances: nothing is drawn",
        "of those with most final stances one has the best tested base: nothing is drawn",
        "nobody stands by a proposal in the end: nothing is drawn",
        "one agent has the lowest total: nothing is drawn",
    }
    assert len(rules) > 3


def test_one_assignment_is_the_same_alone_and_among_all(
    season: Path, audits: list[TieBreak]
) -> None:
    for assignment in range(LAST + 1):
        assert draws_at(season, assignment) == [
            audited for audited in audits if audited.location["assignment"] == assignment
        ]


def test_a_table_and_a_kind_narrow_it_down(season: Path, audits: list[TieBreak]) -> None:
    assignment = next(a.location["assignment"] for a in audits if a.location["table"] == 1)
    [second] = draws_at(season, assignment, 1, "order")
    kinds = [audited.kind for audited in draws_at(season, assignment, 0)]

    assert (second.kind, dict(second.location)) == ("order", {"assignment": assignment, "table": 1})
    assert kinds[:2] == ["order", "conclude"]


def test_an_audit_is_plain_enough_for_json(audits: list[TieBreak]) -> None:
    shown = [json.loads(json.dumps(audited.as_dict())) for audited in audits]

    assert [list(one)[:3] for one in shown] == [["kind", "assignment", "table"]] * len(shown)
    assert all(one["holds"] for one in shown)
    assert all(one["participants"] == one["participants_again"] for one in shown)


# Forgeries, under right checksums and digests.


def _word(row: list[Any]) -> None:
    row[-1] = (row[-1][0] ^ 1, *row[-1][1:])


def _word_at_3(row: list[Any]) -> None:
    row[3] = (row[3][0] ^ 1, *row[3][1:])


def _turned(row: list[Any]) -> None:
    row[2] = (*row[2][:-2], *row[2][:-3:-1])


def _chosen(row: list[Any]) -> None:
    """As if somebody had set the order."""
    _turned(row)
    row[3] = ()


def _not_in_order(row: list[Any]) -> None:
    row[1] = row[1][::-1]


def _other_proposal(row: list[Any]) -> None:
    row[1] = next(proposal for proposal in row[4] if proposal != row[1])


def _untied(row: list[Any]) -> None:
    row[4], row[5] = (), ()


def _other_bottom(row: list[Any]) -> None:
    row[1] = next(agent for agent in row[2] if agent != row[1])


FORGED: dict[str, tuple[str, Change]] = {
    "a word of an order": ("order", _word_at_3),
    "an order": ("order", _turned),
    "an order that was set by nobody": ("order", _chosen),
    "the participants": ("order", _not_in_order),
    "a word of a conclusion": ("conclude", _word),
    "what was concluded": ("conclude", _other_proposal),
    "that nothing was tied": ("conclude", _untied),
    "a word of a bottom place": ("bottom", _word_at_3),
    "who was last": ("bottom", _other_bottom),
}


@pytest.mark.parametrize(("kind", "change"), FORGED.values(), ids=FORGED)
def test_what_was_forged_in_a_draw_does_not_hold(
    season: Path, drawn: Path, path: Path, kind: str, change: Change
) -> None:
    sound = drawn if kind == "conclude" else season
    for draw in draws(sound):
        assignment, table = draw.location["assignment"], draw.location["table"]
        if draw.kind == kind and draw.draw_words:
            commits = changed(
                sound, CODES[kind], assignment, change, is_meant=lambda row, at=table: row[0] == at
            )
            with contextlib.suppress(MalformedEvents):  # a table may not end so
                forged(path, commits, sound)
                break
    broken = [audited for audited in draws(path) if not audited.holds]

    assert (kind, draw.location) in [(audited.kind, audited.location) for audited in broken]
    assert not all(audited.holds for audited in draws_at(path, assignment, table, kind))


def _given_words(row: list[Any]) -> None:
    row[-1] = (5,)


def _other_agent(row: list[Any]) -> None:
    row[1] = row[1] + 1 if row[1] < 10 else row[1] - 1


UNDRAWN: dict[str, tuple[str, Change]] = {
    "a word for a conclusion that needed none": ("conclude", _given_words),
    "a word for a bottom place that needed none": ("bottom", lambda row: row.__setitem__(3, (5,))),
    "somebody else at the bottom": ("bottom", _other_agent),
}


@pytest.mark.parametrize(("kind", "change"), UNDRAWN.values(), ids=UNDRAWN)
def test_what_was_forged_where_nothing_was_drawn_does_not_hold(
    season: Path, audits: list[TieBreak], tmp_path: Path, kind: str, change: Change
) -> None:
    undrawn = next(
        a for a in audits if a.kind == kind and not a.draw_words and a.outcome is not None
    )
    table = undrawn.location["table"]
    assignment = undrawn.location["assignment"]
    commits = changed(season, CODES[kind], assignment, change, is_meant=lambda row: row[0] == table)
    path = forged(tmp_path / "forged.journal", commits, season)

    assert [audited.holds for audited in draws_at(path, assignment, table, kind)] == [False]


def test_a_season_whose_digest_is_wrong_is_not_laid_open(season: Path, tmp_path: Path) -> None:
    commits = commits_of(season)
    commits[3] = Commit(UNIT, 3, 5, commits[3].blocks)
    header = HEADER
    path = write(tmp_path / "a.journal", commits, header)

    with pytest.raises(MalformedEvents, match="but its events give"):
        draws_at(path, 2)
    assert all(audited.holds for audited in draws_at(path, 1))


# What is not there.


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        ((-1,), "no assignment -1; give one from 0 to 15"),
        ((16,), "no assignment 16; give one from 0 to 15"),
        ((10**30,), "from 0 to 15"),
        ((0, 1), "no draw at table 1 in assignment 0; it has order at table 0"),
        ((0, -1), "no draw at table -1 in assignment 0"),
        ((0, 0, "claim"), "kind of draw 'claim'; take one of order, conclude, bottom"),
    ],
    ids=str,
)
def test_what_is_not_there_is_refused(season: Path, ask: tuple[Any, ...], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        draws_at(season, *ask)


def test_a_table_at_which_all_were_equal_has_no_bottom_place(tmp_path: Path) -> None:
    own = "worker=tests.llm.seasons:Quiet"
    path = small(tmp_path / "a.journal", own, assignments=1)

    assert [(a.kind, a.outcome) for a in draws_at(path, 0)[1:]] == [("conclude", None)]
    with pytest.raises(BadInput, match="no draw of kind bottom in assignment 0; it has order at"):
        draws_at(path, 0, None, "bottom")


def test_the_draws_before_a_torn_tail_are_given(
    season: Path, audits: list[TieBreak], path: Path
) -> None:
    path.write_bytes(season.read_bytes()[: commits_of(season)[9].end - 1])
    given: list[TieBreak] = []

    with pytest.raises(TornTail):
        given.extend(draws(path))
    assert given == [audited for audited in audits if audited.location["assignment"] < 8]
    assert draws_at(path, 7) == draws_at(season, 7)


def test_a_fork_with_another_seed_is_audited_under_it_from_there_on(
    season: Path, audits: list[TieBreak], tmp_path: Path
) -> None:
    fork(season, 3, tmp_path / "a.journal", settings={"seed": 99, "assignments": 6})
    found = list(draws(tmp_path / "a.journal"))
    seeds = {
        (a.location["assignment"] > 3, msgpack.unpackb(bytes.fromhex(a.key))[0]) for a in found
    }

    assert seeds == {(False, RICH["seed"]), (True, 99)}
    assert all(audited.holds for audited in found)
    assert [a for a in found if a.location["assignment"] < 4] == [
        a for a in audits if a.location["assignment"] < 4
    ]
    assert draws_at(tmp_path / "a.journal", 5) == [
        a for a in found if a.location["assignment"] == 5
    ]
