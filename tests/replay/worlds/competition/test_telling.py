"""A season told: every kind of event in words, and what a season comes to."""

from pathlib import Path
from typing import Any

import pytest

from goldrush.agents.worlds.competition.arenas import rules_of
from goldrush.agents.worlds.competition.players import configured
from goldrush.kernel.errors import MalformedEvents
from goldrush.kernel.world import RecordedEvent
from goldrush.kernel.worlds.competition.events import CODES, Concluded
from goldrush.replay.journal.story import narrator
from goldrush.replay.summary import summarise
from goldrush.replay.worlds.competition.story import sentences
from tests.journals import events_of
from tests.seasons import changed, forged, small

ARENA = configured({"arena": "mining[agents=4;rounds=4;seeds=1]"}).arena
NAMES = {5: "ada", 6: "ben", 7: "cleo"}


def event(name: str, /, **fields: object) -> RecordedEvent:
    return RecordedEvent(name, 4, {"assignment": 4, **fields})


def test_every_event_of_a_season_is_told_in_words(season: Path) -> None:
    events = events_of(season)
    told = list(narrator(season)(events))

    assert len(events) == len(told)
    assert not [line for line in told if line.startswith("{")]
    assert not [line for line in told if "agent " in line and '"' not in line]


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
    ],
)  # fmt: skip
def test_an_event_in_words(told: RecordedEvent, words: str) -> None:
    """What an agent puts in place of a number or a name is quoted."""
    assert words == sentences(NAMES, ARENA, rules_of(ARENA)).line(told)


def test_a_conclusion_at_a_table_that_is_none_is_malformed(tmp_path: Path) -> None:
    journal = small(tmp_path / "s.journal")

    def forge(row: list[Any]) -> None:
        row[1] = 99

    commits = changed(journal, CODES[Concluded], 0, forge)

    with pytest.raises(MalformedEvents):
        summarise(forged(tmp_path / "forged.journal", commits, journal))
