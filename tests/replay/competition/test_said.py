"""What agents say may be of any form: nothing that is said keeps a season from being told."""

import attrs
import pytest

from goldrush.kernel import fold
from goldrush.kernel.competition import COMPETITION
from goldrush.kernel.competition.events import SAID
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import Event
from goldrush.replay.competition.story import chronicle, names_in
from tests.faults.hostile_seasons import GOLDEN

FORMS = (None, True, 0, -1, 2**64 - 1, 0.5, "", "x", [], [[]], [[1], ["x"]], [5, 5], [None])
JOURNAL = GOLDEN / "every-event.journal"
SPOKEN = [
    (event.name, field)
    for event in COMPETITION.events
    for field, kind in event.fields.items()
    if kind is SAID
]


def first(name: str) -> Event:
    with JournalReader(JOURNAL) as reader:
        return next(e for e in fold.events(COMPETITION, reader) if e.name == name)


@pytest.mark.parametrize(("name", "field"), SPOKEN)
def test_whatever_is_said_can_be_told(name: str, field: str) -> None:
    event = first(name)
    names = names_in(JOURNAL)
    for form in FORMS:
        said = attrs.evolve(event, fields={**event.fields, field: form})

        assert len(list(chronicle([said], names))) == 1
