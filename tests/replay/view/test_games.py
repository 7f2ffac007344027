"""The page of a game, without JavaScript of its author: tables, grids, charts and sentences."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import goldrush
from goldrush.games.fishery import Fishery
from goldrush.kernel.text import escaped
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.view.page import write_page
from tests.browser import PHONE, Tab
from tests.games.board import TEXT, Board
from tests.games.extremes import Extremes
from tests.pages import HOLDS


def opened(
    tab: Tab, game: type[goldrush.Game], folder: Path, moment: str = "", **settings: Any
) -> Path:
    """Record a run and open its page; returns the journal."""
    journal = folder / f"{game.name}.journal"
    goldrush.record(game, journal, seed=7, **settings)
    write_page(journal, folder / "run.html")
    tab.open(folder / "run.html", moment)
    return journal


def rows(tab: Tab, name: str) -> list[list[str]]:
    """The cells of a table, without its head."""
    lines = tab.page.get_by_role("group", name=name, exact=True).locator("tbody tr")
    return [line.locator("th, td").all_text_contents() for line in lines.all()]


def values(tab: Tab) -> dict[str, str]:
    """The single values of a state by name."""
    part = tab.page.get_by_role("region", name="State")
    names = part.locator("dt").all_text_contents()
    return dict(zip(names, part.locator("dd").all_text_contents(), strict=True))


def drawing(tab: Tab, name: str) -> str:
    """What a drawn grid says of itself."""
    return str(
        tab.page.get_by_role("img", name=re.compile(f"^{name}, ")).get_attribute("aria-label")
    )


def go(tab: Tab, unit: str, number: int) -> None:
    tab.page.evaluate(f"location.hash = '#{unit}={number}'")
    tab.page.wait_for_selector(f"h2:has-text('State after {unit} {number}')")


@pytest.mark.turns("pages for everybody")
def test_everybody_can_use_the_page_of_a_game_whatever_texts_it_has(
    tmp_path: Path, new_tab: Callable[..., Tab]
) -> None:
    tab = new_tab("dark", PHONE)
    opened(tab, Board, tmp_path, agents=50)
    for part in tab.page.locator("main summary").all():
        part.click()

    assert HOLDS == tab.seal()
    assert [] == tab.violations()
    assert 0 >= tab.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert escaped(TEXT) == values(tab)["title"]
    assert 0 == tab.page.locator("main img, main script").count()


def test_the_agents_of_a_fishery_and_their_standings_follow_the_seasons(
    tab: Tab, tmp_path: Path
) -> None:
    journal = tmp_path / "fork.journal"
    goldrush.record(Fishery, seed=7).fork(4, journal, roster="share*5")
    write_page(journal, tmp_path / "run.html")
    tab.open(tmp_path / "run.html", "#season=2")
    for season, policies in ((2, ["share"] * 3 + ["greedy"] * 2), (9, ["share"] * 5)):
        go(tab, "season", season)
        state = rebuild(journal, season).state
        landed = [f"{fish:,.2f}".rstrip("0").rstrip(".") for fish in state.landed]
        agents = [[str(n), policies[n], fish, fish] for n, fish in enumerate(landed)]

        assert [
            [place, *agents[n]] for place, n in zip("11333", (3, 4, 0, 1, 2), strict=True)
        ] == rows(tab, "Agents")
        assert {"stock": f"{state.stock:,.2f}".rstrip("0").rstrip(".")} == values(tab)


def test_grids_are_drawn_with_their_values_in_words(tab: Tab, tmp_path: Path) -> None:
    journal = opened(tab, Board, tmp_path, "#round=2")
    for number in (2, 5):
        go(tab, "round", number)
        state = rebuild(journal, number).state
        squares = [item for row in state.squares for item in row]
        lit = [item for row in state.lit for item in row]
        heat = [item for row in state.heat for item in row]
        counts = ", ".join(
            f"{'–' if n is None else n}: {squares.count(n)}" for n in (None, 0, 1, 2)
        )

        assert f"squares, 6 rows by 6 columns: {counts}" == drawing(tab, "squares")
        assert ["–" if n is None else str(n) for n in squares] == tab.texts(
            "svg[aria-label^='squares,'] text"
        )
        assert f"no: {lit.count(False)}, yes: {lit.count(True)}" in drawing(tab, "lit")
        assert f"heat, 6 rows by 26 columns: from 0 to {max(heat):.3f}"[:-1] in drawing(tab, "heat")
        assert ["1", "2", "3", "4", "5", "600"] == tab.texts("svg[aria-label^='pairs,'] text")
        assert [
            [str(n), *("–" if item is None else str(item) for item in row)]
            for n, row in enumerate(state.squares)
        ] == listing(tab, "squares")
        assert [["1", "2"], ["2", "1"]] == [row[:2] for row in rows(tab, "Agents")][:2]
    assert f"history {json.dumps(state.history, separators=(',', ':'))}" in tab.texts(".leaf")


def listing(tab: Tab, name: str) -> list[list[str]]:
    """The table of a grid."""
    part = tab.page.locator("details", has_text=f"{name} as a table")
    if part.get_attribute("open") is None:
        part.locator("summary").click()
        tab.page.get_by_role("group", name=f"{name} as a table").wait_for()
    return rows(tab, f"{name} as a table")


def test_numbers_have_ten_digits_and_the_largest_and_smallest_exponents(
    tab: Tab, tmp_path: Path
) -> None:
    opened(tab, Extremes, tmp_path, "#round=3")
    state = values(tab)

    assert "few, 1 rows by 3 columns: –: 1, −1e−300: 1, 1e308: 1" == drawing(tab, "few")
    assert ["1.6e308", "−3e−300"] == [state["largest"], state["smallest"]]
    assert ["12,345,678,901", "1e16"] == [state["digits"], state["close"]]
    assert "123,456,789,012" == state["whole"]
    assert ["1", "0", "zero", "4e307", "4e307"] == rows(tab, "Agents")[0]
    assert ["zero", "−4e307", "−4e307"] in [row[2:] for row in rows(tab, "Agents")]
    assert 0 == tab.page.locator("[d*=NaN], [d*=Infinity], [y1*=Infinity]").count()
