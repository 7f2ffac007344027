"""What agents say may be of any form: nothing that is said keeps a season from being told."""

from pathlib import Path

import msgspec
import pytest

from goldrush.kernel.worlds.competition.events import EVENTS, PLAIN
from goldrush.replay.journal.story import narrated
from tests.journals import events_of

HOSTILE = "\x1b[2J\n{}\u202e"
FORMS = (None, True, -1, 2**64 - 1, 0.5, "", HOSTILE, [], [[1], ["x"]], [5, 5], {HOSTILE: 1})
SPOKEN = [
    (e.name, field)
    for e in EVENTS
    for field, kind in e.fields.items()
    if kind.name in (PLAIN.name, "text") and e.name != "answered"
]


@pytest.mark.parametrize(("name", "field"), SPOKEN)
def test_whatever_is_said_can_be_told(season: Path, name: str, field: str) -> None:
    event = next(e for e in events_of(season) if e.name == name)
    for form in FORMS:
        said = msgspec.structs.replace(event, fields={**event.fields, field: form})
        [line] = narrated(season, [said])

        assert line
        assert not set("\x1b\n\u202e") & set(line)
