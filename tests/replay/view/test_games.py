"""The page of a game, without JavaScript of its author: tables, grids, charts and sentences."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import goldrush
from goldrush.games.double_auction import DoubleAuction
from goldrush.games.epidemic import Epidemic
from goldrush.games.fishery import Fishery
from goldrush.games.public_goods import PublicGoods
from goldrush.kernel.text import escaped
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.view import fields, walked
from goldrush.replay.view.page import write_page
from tests.browser import PHONE, WIDE, Tab
from tests.games.board import TEXT, Board
from tests.games.extremes import Extremes
from tests.pages import HOLDS, data_of, scales, sentences_of, shown_sentences


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


@pytest.mark.turns
@pytest.mark.parametrize(("scheme", "size", "agents"), [("light", WIDE, 3), ("dark", PHONE, 50)])
def test_everybody_can_use_the_page_of_a_game(
    scheme: str, size: dict[str, int], agents: int, tmp_path: Path, new_tab: Callable[..., Tab]
) -> None:
    tab = new_tab(scheme, size)
    opened(tab, Board, tmp_path, agents=agents)
    for part in tab.page.locator("main summary").all():
        part.click()

    assert HOLDS == tab.seal()
    assert [] == tab.violations()
    assert 0 >= tab.page.evaluate("document.documentElement.scrollWidth - innerWidth")


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
    assert ["stock, tonnes", "landed in all, tonnes", "landed"] == [
        title for title, *_ in scales(tab, "main")
    ]
    assert [
        "0 share", "1 share", "2 share", *(f"{n} greedy, from season 5 share" for n in (3, 4))
    ] == tab.texts("main .legend li")  # fmt: skip


def test_the_sentences_of_public_goods_are_told_by_phase(tab: Tab, tmp_path: Path) -> None:
    journal = opened(tab, PublicGoods, tmp_path, "#round=3")
    expected = [
        line for name, line in sentences_of(journal, 3, [*EVENTS, "step_ended"])
        if name != "step_ended"
    ]  # fmt: skip

    assert ["give", "punish"] == tab.texts("section[aria-label=Events] h3")
    assert "agent 3 gives 0" in tab.text("h3:has-text('give') + ul")
    assert "agent 0 fines agent 3" in tab.text("h3:has-text('punish') + ul")
    assert sorted(expected) == shown_sentences(tab)
    go(tab, "round", 7)
    assert ["78.4", "2", "0"] != rows(tab, "Agents")[0][2:]


EVENTS = ("gift", "fines", "given", "fined", "begun")


def test_the_double_auction_has_values_and_no_standings(tab: Tab, tmp_path: Path) -> None:
    journal = opened(tab, DoubleAuction, tmp_path, "#turn=4")
    for turn in (4, 60):
        go(tab, "turn", turn)
        state = rebuild(journal, turn).state
        names = ("mover", "bid", "bidder", "ask", "asker", "gains")

        assert {name: str(getattr(state, name)) for name in names} == values(tab)
        assert [
            [str(n), "constrained", str(state.limit[n]), "yes" if state.traded[n] else "no"]
            for n in range(10)
        ] == rows(tab, "Agents")
    chart = tab.page.locator("#outcome [role=slider]")
    chart.focus()
    tab.press("End")
    share = measured_at(journal).values["efficiency"][-1]
    assert f"turn 400: {share:g}" == chart.get_attribute("aria-valuetext")


def test_an_epidemic_is_drawn_and_its_draws_drown_no_event(tab: Tab, tmp_path: Path) -> None:
    journal = opened(tab, Epidemic, tmp_path, "#day=2")
    for day in (2, 30):
        go(tab, "day", day)
        health = rebuild(journal, day).state.health
        counts = ", ".join(f"{level}: {health.count(level)}" for level in range(3))
        happened = [line for _, line in sentences_of(journal, day, ["infected", "recovered"])]

        assert f"health, 1000 values: {counts}" == drawing(tab, "health")
        assert happened[:40] == tab.texts("section[aria-label=Events] div > ul > li > .sentence")
        assert "Draws: too many for this page." in tab.text("section[aria-label=Events]")
    assert "health: number of each value" in [title for title, *_ in scales(tab, "main")]
    assert sorted(happened) == shown_sentences(tab)


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


def test_what_a_page_has_of_a_large_grid_of_many_texts_is_told(
    tab: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, most in (("ITEMS_MAX", 4), ("SIDE_MAX", 1), ("LEVELS_MAX", 2)):
        monkeypatch.setattr(fields, name, most)
    opened(tab, Extremes, tmp_path, "#round=3")
    notes = "section[aria-label=State] details + .note"
    of_words = "The first 1 row and 1 column of up to 2 by 3 are here."

    assert [of_words, of_words] == tab.texts(notes)
    go(tab, "round", 1)  # where a grid that grows is still empty
    assert [of_words] == tab.texts(notes)


def listing(tab: Tab, name: str) -> list[list[str]]:
    """The table of a grid."""
    part = tab.page.locator("details", has_text=f"{name} as a table")
    if part.get_attribute("open") is None:
        part.locator("summary").click()
        tab.page.get_by_role("group", name=f"{name} as a table").wait_for()
    return rows(tab, f"{name} as a table")


def test_a_small_chart_of_many_lines_shows_their_values_by_keys_and_by_pointer(
    tab: Tab, tmp_path: Path
) -> None:
    opened(tab, Board, tmp_path, "#round=2")
    chart = tab.page.locator(".charts figure:has(.reading)").first
    drawn, reading = chart.locator("svg[role=slider]"), chart.locator(".reading")

    assert not reading.is_visible()
    drawn.focus()
    tab.press("ArrowRight")
    assert reading.is_visible()
    drawn.blur()
    assert not reading.is_visible()
    drawn.hover()
    assert reading.is_visible()


def test_hostile_text_of_a_state_stays_text(tab: Tab, tmp_path: Path) -> None:
    opened(tab, Board, tmp_path, "#round=2")

    assert escaped(TEXT) == values(tab)["title"]
    assert f"1{escaped(TEXT)}" == rows(tab, "Agents")[0][5]
    assert 0 == tab.page.locator("main img, main script").count()
    assert "board: 6 rounds of 3 agents, seed 7" == tab.page.title()


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
    assert ["−8.5e307", "−2.125e307", "4.25e307", "1.0625e308", "1.7e308"] == tab.page.locator(
        "figure", has_text="shades"
    ).locator(".legend li").all_text_contents()
    assert {
        "money": ["−4e307", "−2e307", "0", "2e307", "4e307", "round 1", "3"],
        "largest": ["0", "5e307", "1e308", "1.5e308", "∞", "round 1", "3"],
        "smallest": ["−3e−300", "−2e−300", "−1e−300", "0", "round 1", "3"],
    } == {title: ticks for title, *ticks in scales(tab, "main") if title in CHARTS}
    assert 0 == tab.page.locator("[d*=NaN], [d*=Infinity], [y1*=Infinity]").count()


CHARTS = ("money", "largest", "smallest")


@pytest.mark.parametrize("width", [1280, 400])
def test_a_long_grid_is_scrolled_and_long_words_are_broken(
    width: int, new_tab: Callable[..., Tab], tmp_path: Path
) -> None:
    tab = new_tab("light", WIDE | {"width": width})
    opened(tab, Extremes, tmp_path, "#round=3")
    wide, tall = (tab.page.get_by_role("img", name=re.compile(f"^{n}, ")) for n in ("wide", "tall"))
    box = tab.page.get_by_role("group", name="wide", exact=True)

    assert (4000, 20) == tuple(wide.bounding_box()[side] for side in ("width", "height"))
    assert 20_000 == tall.bounding_box()["height"]
    assert box.bounding_box()["width"] < width
    assert 700 > tab.page.get_by_role("group", name="tall", exact=True).bounding_box()["height"]
    assert [] == tab.page.locator("main, .lines li, h1, figcaption, dt").evaluate_all(
        "nodes => nodes.filter(node => node.scrollWidth > node.clientWidth + 1)"
        ".map(node => node.outerHTML.slice(0, 200))"
    )


def test_blank_text_in_a_grid_is_quoted(tab: Tab, tmp_path: Path) -> None:
    opened(tab, Extremes, tmp_path, "#round=3")

    assert '"": 2, " ": 1, a: 1, b: 2' in drawing(tab, "words")
    assert ['""', '""', "b", "a", "b", '" "'] == tab.texts("svg[aria-label^='words,'] text")


def test_two_runs_have_the_same_scales_and_colours(tab: Tab, tmp_path: Path) -> None:
    long, short = tmp_path / "long.journal", tmp_path / "short.journal"
    goldrush.record(Board, long, seed=7, rounds=30, agents=5)
    goldrush.record(Board, short, seed=8, rounds=10)
    write_page(long, tmp_path / "two.html", against=short)
    tab.open(tmp_path / "two.html", "#round=8")
    one, other = (scales(tab, f"section[aria-label='Run {run}']") for run in "AB")
    fills = [
        set(tab.page.locator(f"section[aria-label='Run {run}'] svg[aria-label^='squares,'] path")
            .evaluate_all("paths => paths.map(path => path.getAttribute('fill'))"))
        for run in "AB"
    ]  # fmt: skip

    assert one == other
    assert fills[1] < fills[0]
    assert 2 == tab.page.get_by_role("heading", name="State after round 8").count()
    assert [] == tab.violations()


def test_a_page_has_every_state_of_a_hundred_units_of_two_hundred_agents(
    tab: Tab, tmp_path: Path
) -> None:
    journal = opened(
        tab, Fishery, tmp_path, seasons=100, agents=200, capacity=1e6, roster="greedy*200"
    )
    for number in (1, 2, 57, 98, 99, 100):
        go(tab, "season", number)
        state = rebuild(journal, number).state
        landed = [f"{fish:,.2f}".rstrip("0").rstrip(".") for fish in state.landed]

        assert sorted(landed) == sorted(cells[-1] for cells in rows(tab, "Agents"))
    assert "It has the state of one" not in tab.text("main")


def test_a_page_says_what_it_has_not_all_of(
    tab: Tab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walked, "STATES_MAX", 400_000)
    monkeypatch.setattr(fields, "POINTS_MAX", 2)
    monkeypatch.setattr(fields, "ITEMS_MAX", 30)
    monkeypatch.setattr(fields, "SIDE_MAX", 4)
    opened(tab, Board, tmp_path, "#round=8", rounds=40, agents=310)
    [carried] = data_of((tmp_path / "run.html").read_text())["runs"]
    at = 1 + (7 // carried["every"]) * carried["every"]

    assert f"State after round {at}" == tab.text("main h2")
    assert (
        f"the state of one round in {carried['every']}; goldrush replay --at 8 shows any"
        in tab.text("main")
    )
    assert f"The charts have the values of one round in {carried['spacing']}." in tab.text("main")
    assert "The first 4 rows and 4 columns of up to 6 by 6 are here." in tab.text("main")
    assert "The first 30 of 60 are here." in tab.text("main")
    assert "The first 300 of 310 agents." in tab.text("main")
    assert "A line is the mean of the agents of a policy." in tab.text("main")


def test_the_outcome_of_a_run_is_charted_once(tmp_path: Path) -> None:
    goldrush.record(Epidemic, tmp_path / "run.journal", seed=7)
    write_page(tmp_path / "run.journal", tmp_path / "run.html")
    data = data_of((tmp_path / "run.html").read_text())
    [front], [run] = data["fronts"], data["runs"]

    assert front["title"] not in {measure["title"] for measure in run["measures"]}
    assert front["lines"][0]["values"]
