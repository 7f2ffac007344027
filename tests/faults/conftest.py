"""What the tests of faults share: their count, which the terminal's summary adds up."""

from collections.abc import Callable

import pytest

Counted = Callable[[str, int], None]


@pytest.fixture
def counted(record_property: Callable[[str, object], None]) -> Counted:
    """Record that so many faults of a kind were tried."""

    def record(kind: str, cases: int) -> None:
        assert cases > 0  # a loop over nothing proves nothing
        record_property("faults", [kind, cases])

    return record
