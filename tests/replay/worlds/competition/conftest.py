"""A season with all that a season can have, which is recorded once and only read."""

from pathlib import Path

import pytest

from goldrush.kernel.world import RecordedEvent
from tests.journals import events_of
from tests.seasons import kept


@pytest.fixture(scope="session")
def season() -> Path:
    """A season with two tables at once, orders, contracts, comings and goings."""
    return kept("rich")


@pytest.fixture(scope="session")
def events(season: Path) -> list[RecordedEvent]:
    """Its events."""
    return events_of(season)
