"""The documentation as a site, built by `.ci/site` and opened from its files in a browser.

Every page is opened in the narrow window in which least fits. axe-core's rules are tried on a third
in turn, and that of contrast, which takes longest, on pages with everything that has a colour:
`FAULTS=all` tries all on all.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

import goldrush
from goldrush.cli.main import BUILT_IN, cli
from tests.browser import PHONE, WIDE, Tab, browsers
from tests.faults.sampling import ALL, in_turn
from tests.waiting import HANGS

ROOT = Path(__file__).resolve().parents[1]
GUIDE = Path("goldrush/guide")
COLOURFUL = ("example", "index", "tutorial")  # pages of the guide with all that has a colour


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built once for all processes that test."""
    for library in ("myst_parser", "pydata_sphinx_theme", "sphinx"):
        pytest.importorskip(library, reason="pip install -e '.[docs]'")
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    out = folder / "site"
    with (folder / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not out.exists():
            done = subprocess.run(
                [ROOT / ".ci" / "site", out], capture_output=True, text=True, timeout=HANGS,
                env={"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(folder)},
            )  # fmt: skip
            assert 0 == done.returncode, done.stderr
    return out


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from browsers()


def pages_of(site: Path) -> list[Path]:
    """The pages that somebody can come to."""
    return [
        path
        for path in sorted(site.rglob("*.html"))
        if site / "_static" not in path.parents
        and path not in (site / "index.html", site / GUIDE / "run.html")
    ]


def test_the_entrance_leads_to_the_guide_and_a_search_finds_pages_then_names(
    site: Path, browser: Any
) -> None:
    tab = Tab(browser, "light", WIDE)
    tab.page.goto((site / "index.html").as_uri())
    tab.page.wait_for_url("**/guide/index.html")
    assert tab.page.get_by_role("link", name="Tutorial").count()

    tab.page.goto(f"{(site / 'search.html').as_uri()}?q=fork")  # without a server
    tab.page.get_by_text("Search finished").wait_for()
    found = tab.page.locator("#search-results li")
    kinds = found.evaluate_all("items => items.map(item => item.className)")

    assert found.first.inner_text().startswith("Tutorial")
    assert "kind-object" in kinds
    assert kinds == sorted(kinds, key=lambda kind: kind == "kind-object")
    assert [] == [text for text in tab.problems if "file://" not in text]


def test_pages_fit_load_nothing_from_elsewhere_and_can_be_used_by_everybody(
    site: Path, browser: Any
) -> None:
    tab = Tab(browser, "dark", PHONE)
    pages = pages_of(site)
    colourful = pages if ALL else [site / GUIDE / f"{name}.html" for name in COLOURFUL]
    tried = [*in_turn(pages), *colourful]
    found = []
    for page in pages:
        tab.page.goto(page.as_uri())
        if tab.page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{page}: wider than the window")
        if page in tried:
            rules = {} if page in colourful else {"color-contrast": {"enabled": False}}
            options = {"rules": rules, "preload": False, "iframes": False}
            found += [f"{page}: {each}" for each in tab.violations(options)]

    assert [] == found
    assert [] == [problem for problem in tab.problems if not problem.startswith("asks for file:")]


def test_the_reference_has_every_command_option_and_public_name(site: Path) -> None:
    commands = (site / GUIDE / "commands.html").read_text()
    names = (site / GUIDE / "python.html").read_text()
    context = click.Context(cli)
    options = [
        f'id="cmdoption-goldrush-{name}-{option[2:]}"'
        for name in BUILT_IN
        for param in cli.get_command(context, name).params
        if isinstance(param, click.Option) and not param.hidden
        for option in param.opts
        if option.startswith("--")
    ]

    assert len(options) > 100
    assert [] == [option for option in options if option not in commands]
    assert [] == [name for name in goldrush.__all__ if f'id="goldrush.{name}"' not in names]
