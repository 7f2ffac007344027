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


@pytest.fixture
def paged(tmp_path: Path) -> Callable[..., Path]:
    """Makes the page of a journal."""

    def made(journal: Path, against: Path | None = None, **how: Any) -> Path:
        path = tmp_path / f"{journal.stem}.html"
        path.write_text(page_of(journal, against, **how))
        return path

    return made
