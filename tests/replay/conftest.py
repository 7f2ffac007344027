"""A browser for the tests of pages; see tests/browser.py."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from goldrush.replay.view.page import page_of
from tests.browser import WIDE, Tab, browsers


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    yield from browsers()


@pytest.fixture(scope="session")
def idle_tabs() -> list[Tab]:
    """Tabs that no test uses: to open a new one takes longer than most of what is done in it."""
    return []


@pytest.fixture
def new_tab(browser: Any, idle_tabs: list[Tab]) -> Iterator[Callable[..., Tab]]:
    """Gives empty tabs; at the end none of them has had a problem, or asked for anything."""
    tabs: list[Tab] = []

    def made(scheme: str = "light", size: dict[str, int] = WIDE) -> Tab:
        found = next((tab for tab in idle_tabs if tab.look == (scheme, size)), None)
        if found is not None:
            idle_tabs.remove(found)
        tabs.append(found or Tab(browser, scheme, size))
        return tabs[-1]

    yield made
    problems = [problem for tab in tabs for problem in tab.leave()]
    idle_tabs += tabs

    assert [] == problems


@pytest.fixture
def tab(new_tab: Callable[..., Tab]) -> Tab:
    return new_tab()


@pytest.fixture
def paged(tmp_path: Path) -> Callable[..., Path]:
    """Makes the page of a journal."""

    def made(journal: Path, against: Path | None = None, **how: Any) -> Path:
        path = tmp_path / f"{journal.stem}.html"
        path.write_text(page_of(journal, against, **how)[0])
        return path

    return made
