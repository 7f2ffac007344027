"""The headline of a season: its numbers are those of the events."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from goldrush.kernel.text import format_count
from goldrush.kernel.worlds.competition.terms import Status
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.worlds.competition.headline import headline
from goldrush.replay.worlds.competition.leaderboard import leaderboard
from goldrush.replay.worlds.competition.proof import proofs
from goldrush.replay.worlds.competition.right import best_of
from tests.golden import season_path
from tests.journals import events_of
from tests.seasons import kept
from tests.stances import apart, odd, silent

EVERY = season_path("every-event")


def rich() -> Path:
    return kept("rich")


def every() -> Path:
    return EVERY


@pytest.mark.parametrize("path", [every, rich, odd, apart, silent])
def test_the_headline_counts_claims_tables_and_lost_seats(path: Callable[[], Path]) -> None:
    journal = path()
    measured, events = measured_at(journal), events_of(journal)
    leads, tables, *_ = headline(measured)
    of_tables = [proof for unit in range(measured.units) for proof in proofs(journal, unit)]
    claims = [each.held for proof in of_tables for each in proof.proposals]
    best = 0
    for proof in of_tables:
        first = best_of(proof)
        best += first is not None and any(
            each.id == proof.conclusion and each.tested == first.tested for each in proof.proposals
        )
    kinds, points = Counter(event.name for event in events), Counter[int]()
    for event in events:
        if event.name == "scored":
            points[event["agent"]] += event["total"]
    first, lost = leaderboard(journal).rows[0], kinds["relegated"] + kinds["deleted"]

    assert leads.startswith(f"{first.name} ranks first with {first.rolling:,} recent point")
    assert format_count(max(points.values()), "point") in leads
    assert f"{sum(claims)} of {format_count(len(claims), 'claim')}" in tables
    assert f"; {best} of {format_count(len(of_tables), 'table')} chose the best" in tables
    assert (f"{format_count(lost, 'time')} a worker" if lost else "nobody lost a seat") in tables


def test_the_headline_follows_from_what_was_measured_and_reads_no_journal(tmp_path: Path) -> None:
    journal = tmp_path / "season.journal"
    journal.write_bytes(EVERY.read_bytes())
    season = measured_at(journal)
    says = headline(season)
    journal.write_bytes(b"another")

    assert list(says) == list(headline(season)) == list(headline(measured_at(EVERY)))


@pytest.mark.parametrize(
    ("status", "says"),
    [(Status.ACTIVE, ""), (Status.BENCHED, ", though on the bench"),
     (Status.GONE, ", though it was then deleted")],
)  # fmt: skip
def test_the_headline_says_if_the_leader_has_lost_its_seat(status: str, says: str) -> None:
    season = measured_at(EVERY)
    assert season.standing.leader is not None
    name, _, recent = season.standing.leader
    standing = attrs.evolve(season.standing, leader=(name, status, recent))

    head = headline(attrs.evolve(season, standing=standing))[0]
    assert head.startswith(f"{name} ranks first with {recent} recent points{says}")
    assert says or "though" not in head
