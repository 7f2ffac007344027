"""What a test gives to be made is forgotten after it."""

import pytest


@pytest.fixture(autouse=True)
def nothing_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """No subject that another test has given."""
    monkeypatch.setattr("goldrush.agents.given._MAKERS", {})
