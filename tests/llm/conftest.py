"""What tests of models share: time that passes when a test says so, and no keys of whoever runs
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from goldrush.agents.llm import client as client_
from goldrush.agents.llm.client import Client
from tests.llm.clock import Clock
from tests.llm.servers import Reply, Server, in_turn, serving


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The client's: no pause takes time."""
    clock = Clock()
    monkeypatch.setattr(client_, "asyncio", clock)
    return clock


@pytest.fixture
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment without keys and addresses."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "TEST_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def kept() -> Iterator[tuple[Server, Client]]:
    """One server and one client for many examples."""
    with serving(in_turn(Reply(b""))) as server, closing(Client(1)) as client:
        yield server, client
