"""The draws of a season laid open, held against the rules' own page: msgpack and xxhash."""

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgpack
import pytest
from xxhash import xxh3_64_intdigest

from goldrush.kernel.errors import BadInput, MalformedEvents
from goldrush.kernel.world import RecordedEvent
from goldrush.kernel.worlds.competition import events as season_events
from goldrush.replay.journal.draws import draws_at
from goldrush.replay.journal.tie_break import TieBreak
from goldrush.replay.worlds.competition.audit import DRAWS
from tests.journals import commits_of, events_of
from tests.seasons import RICH, Change, alone, changed, forged, fork, small

RANGE = 2**64
FORMS = {
    "order": season_events.RoundtableOpened,
    "conclude": season_events.Concluded,
    "bottom": season_events.Bottomed,
}
CODES = {kind: season_events.CODES[form] for kind, form in FORMS.items()}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return alone(tmp_path_factory.mktemp("seasons"))


@pytest.fixture(scope="module")
def audits(season: Path) -> list[TieBreak]:
    return list(draws_at(season))


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
    seen = set()
    for path in (season, drawn):
        expected, audits = list(redone(events_of(path), seed_of(path))), draws_at(path)
        seen |= {(audited.kind, bool(audited.draw_words)) for audited in audits}

        assert expected == [(a.kind, a.outcome_again, list(a.draw_words_again)) for a in audits]
        assert [(outcome, words) for _, outcome, words in expected] == [
            (a.outcome, list(a.draw_words)) for a in audits
        ]
        assert all(audited.holds for audited in audits)
        for audited in audits:
            key = [seed_of(path), *audited.location.values(), 0, audited.kind]
            assert key == msgpack.unpackb(bytes.fromhex(audited.key))
    assert seen == {(kind, is_drawn) for kind in DRAWS.kinds for is_drawn in (True, False)}


def test_a_table_and_a_kind_narrow_it_down(season: Path, audits: list[TieBreak]) -> None:
    assignment = next(a.location["assignment"] for a in audits if a.location["table"] == 1)
    [second] = draws_at(season, assignment, 1, "order")
    kinds = [audited.kind for audited in draws_at(season, assignment, 0)]

    assert (second.kind, dict(second.location)) == ("order", {"assignment": assignment, "table": 1})
    assert kinds[:2] == ["order", "conclude"]


# Forgeries, under right checksums and digests.


def _word_at_3(row: list[Any]) -> None:
    row[3] = (row[3][0] ^ 1, *row[3][1:])


def _chosen(row: list[Any]) -> None:
    """Another order, as if somebody had set it."""
    row[2], row[3] = (*row[2][:-2], *row[2][:-3:-1]), ()


def _other_proposal(row: list[Any]) -> None:
    row[1] = next(proposal for proposal in row[4] if proposal != row[1])


def _other_bottom(row: list[Any]) -> None:
    row[1] = next(agent for agent in row[2] if agent != row[1])


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("order", _word_at_3),
        ("order", _chosen),
        ("conclude", _other_proposal),
        ("bottom", _other_bottom),
    ],
)
def test_what_was_forged_in_a_draw_does_not_hold(
    season: Path, drawn: Path, path: Path, kind: str, change: Change
) -> None:
    sound = drawn if kind == "conclude" else season
    for draw in draws_at(sound):
        assignment, table = draw.location["assignment"], draw.location["table"]
        if draw.kind == kind and draw.draw_words:
            commits = changed(
                sound, CODES[kind], assignment, change, is_meant=lambda row, at=table: row[0] == at
            )
            with contextlib.suppress(MalformedEvents):  # a table may not end so
                forged(path, commits, sound)
                break
    broken = [audited for audited in draws_at(path) if not audited.holds]

    assert (kind, draw.location) in [(audited.kind, audited.location) for audited in broken]
    assert not all(audited.holds for audited in draws_at(path, assignment, table, kind))


@pytest.mark.parametrize(("kind", "place"), [("conclude", -1), ("bottom", 3)])
def test_a_word_for_what_needed_none_does_not_hold(
    season: Path, audits: list[TieBreak], path: Path, kind: str, place: int
) -> None:
    undrawn = next(
        a for a in audits if a.kind == kind and not a.draw_words and a.outcome is not None
    )
    assignment, table = undrawn.location["assignment"], undrawn.location["table"]
    commits = changed(
        season, CODES[kind], assignment, lambda row: row.__setitem__(place, (5,)),
        is_meant=lambda row: row[0] == table,
    )  # fmt: skip
    forged(path, commits, season)

    assert [False] == [audited.holds for audited in draws_at(path, assignment, table, kind)]


# What is not there.


@pytest.mark.parametrize("ask", [(-1,), (16,), (10**30,), (0, 1), (0, -1), (0, 0, "claim")])
def test_what_is_not_there_is_refused(season: Path, ask: tuple[Any, ...]) -> None:
    with pytest.raises(BadInput):
        draws_at(season, *ask)


def test_a_table_at_which_all_were_equal_has_no_bottom_place(path: Path) -> None:
    small(path, "worker=tests.llm.seasons:Quiet", assignments=1)

    assert [("conclude", None)] == [(a.kind, a.outcome) for a in draws_at(path, 0)[1:]]
    with pytest.raises(BadInput):
        draws_at(path, 0, None, "bottom")


def test_a_fork_with_another_seed_is_audited_under_it_from_there_on(
    season: Path, audits: list[TieBreak], tmp_path: Path
) -> None:
    fork(season, 3, tmp_path / "a.journal", settings={"seed": 99, "assignments": 6})
    found = draws_at(tmp_path / "a.journal")
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
