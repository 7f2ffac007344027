"""A browser for the tests of pages; see tests/browser.py."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser import WIDE, Tab, browsers


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    yield from browsers()


@pytest.fixture
def new_tab(browser: Any) -> Iterator[Callable[..., Tab]]:
    """Makes tabs; at the end none of them has had a problem, or asked for anything."""
    tabs: list[Tab] = []

    def made(scheme: str = "light", size: dict[str, int] = WIDE) -> Tab:
        tabs.append(Tab(browser, scheme, size))
        return tabs[-1]

    yield made
    for tab in tabs:
        tab.context.close()

        assert [] == tab.problems


@pytest.fixture
def tab(new_tab: Callable[..., Tab]) -> Tab:
    return new_tab()
