"""Pages in a real browser: headless Chromium of the system, driven by Playwright.

Its headless shell takes half the time of the whole browser.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import HANGS

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser")
CHROMIUM = next(filter(None, map(shutil.which, _NAMES)), None)
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 800}
_OPTIONS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip

_OPEN: list[Any] = []


def browsers() -> Iterator[Any]:
    """One browser; a test that wants it is skipped, with what to install, where there is none."""
    wants = "apt-get install chromium-headless-shell; pip install playwright axe-playwright-python"
    playwright = pytest.importorskip("playwright.sync_api", reason=wants)
    if CHROMIUM is None:
        pytest.skip(f"no Chromium: {wants}")
    if _OPEN:  # by a fixture of a wider scope: a process can have one driver at a time
        yield _OPEN[-1]
        return
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(_OPTIONS))
        _OPEN.append(browser)
        yield browser
        _OPEN.remove(browser)
        browser.close()


class Tab:
    """A page as somebody sees it. `problems`: errors on its console, and requests that it made."""

    def __init__(self, browser: Any, scheme: str, size: dict[str, int]) -> None:
        self.look = (scheme, size)
        self.context = browser.new_context(viewport=size, color_scheme=scheme)
        self.context.set_default_timeout(HANGS * 1000)
        self.page = self.context.new_page()
        self.problems: list[str] = []
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on("console", self._hear)
        self.page.on("request", self._see)

    def _hear(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(message.text)

    def _see(self, request: Any) -> None:
        if request.url != self.page.url.partition("#")[0] and not request.is_navigation_request():
            self.problems.append(f"asks for {request.url}")

    def open(self, path: Path, moment: str = "") -> Tab:
        """Open a page of `goldrush view` at a moment, and wait until its journal is compared."""
        self.page.goto("about:blank")  # or another moment of the same page would be no new page
        self.page.goto(path.as_uri() + moment)
        self.page.wait_for_selector("html[data-sealed]")
        return self

    def leave(self) -> list[str]:
        """Leave the page, so that another can be opened as in a new tab; the problems it had."""
        self.page.goto("about:blank")
        self.page.emulate_media(media="null")
        self.page.mouse.move(0, 0)
        problems, self.problems = self.problems, []
        return problems

    def text(self, selector: str) -> str:
        """What the first such element says."""
        return str(self.page.locator(selector).first.inner_text())

    def seal(self, run: int = 0) -> str:
        """All that the page says of whether a run holds, opened or not."""
        return str(self.page.locator(f"#seal-{run}").text_content())

    def texts(self, selector: str) -> list[str]:
        """What all such elements say, whether or not they are seen."""
        return [str(text) for text in self.page.locator(selector).all_text_contents()]

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def moment(self) -> str:
        """Behind the `#` of the address."""
        # Not of `page.url`, which is old until something else is asked of the browser.
        return str(self.page.evaluate("location.hash.slice(1)"))

    def violations(self, options: dict[str, Any] | None = None) -> list[str]:
        """What axe-core finds wrong for people who do not see, or point, as others do."""
        from axe_playwright_python.sync_playwright import Axe

        options = {"resultTypes": ["violations"], **(options or {})}  # what passes is not listed
        found = Axe().run(self.page, options=options).response["violations"]
        return [f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in found]
