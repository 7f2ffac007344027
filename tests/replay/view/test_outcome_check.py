"""A page says so if the numbers of its chart or its standings are not those of its journal."""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goldrush.agents.worlds.mining.players import record
from tests.browser import PHONE, WIDE, Tab
from tests.golden import path_of, season_path
from tests.waiting import until

STRUCK = "node => getComputedStyle(node).textDecorationLine"
CROSS = "node => getComputedStyle(node, '::after').content"
CHECKED = "the bytes of the recording, the facts that follow from them and the numbers behind"


def changed(page: str, change: Callable[[Any], None]) -> str:
    """The page with other data on its outcome."""
    [text] = re.findall(r'id="page">(.*?)</script>', page)
    data = json.loads(text)
    change(data["fronts"][0])
    return page.replace(text, json.dumps(data).replace("<", "\\u003c"))


def other_point(front: Any) -> None:
    front["lines"][3]["values"][8] *= 1.0001


def no_last_point(front: Any) -> None:
    del front["units"][-1]
    for line in front["lines"]:
        del line["values"][-1]


def no_line(front: Any) -> None:
    del front["lines"][3]


def other_agent(front: Any) -> None:
    front["measures"][0]["values"][6] *= 1.0001


def other_plots(front: Any) -> None:
    front["measures"][1]["values"][0] += 1


def other_row(page: str) -> str:
    return re.sub(r'(<td class="number">)170(</td>)', r"\g<1>171\2", page, count=1)


def no_row(page: str) -> str:
    return re.sub(r"<tr><th scope=\"row\">.*?</tr>", "", page, count=1)


@pytest.mark.parametrize(
    ("forge", "says"),
    [
        (lambda page: changed(page, other_point), "✗ The chart differs from the recording "
         "in round 9."),
        (lambda page: changed(page, no_last_point), "✗ The chart does not show the recording "
         "up to round 20."),
        (lambda page: changed(page, no_line), "✗ The chart does not show the recording"),
        *((forge, "✗ The standings differ from the recording after round 20.") for forge in (
            lambda page: changed(page, other_agent), lambda page: changed(page, other_plots),
            other_row, no_row,
        )),
    ],
    ids=["point", "last point", "line", "agent", "plots", "row", "no row"],
)  # fmt: skip
def test_a_page_with_other_numbers_says_so(
    forge: Callable[[str], str], says: str, tab: Tab, paged: Callable[..., Path]
) -> None:
    path = paged(path_of("baseline"))
    page = path.read_text()
    path.write_text(forge(page))

    assert forge(page) != page
    assert tab.open(path).seal().startswith(says)


@pytest.mark.parametrize("roster", ["greedy-mine", "greedy-mine*12,raid*8,random*4"])
def test_numbers_of_the_recording_are_checked(
    roster: str, tab: Tab, path: Path, paged: Callable[..., Path]
) -> None:
    """Of single agents, of policies with their spread, of two runs; of some rounds."""
    agents = 24 if "," in roster else 3
    record(path, {"rounds": 250, "agents": agents, "rows": 9, "cols": 9, "seed": 3}, roster)

    assert f"{CHECKED} chart and standings" in tab.open(paged(path)).seal()
    tab.open(paged(path_of("forked"), path))
    assert f"{CHECKED} its lines in the chart" in tab.seal(0)
    assert f"{CHECKED} its lines in the chart" in tab.seal(1)


def test_a_forged_line_of_policies_is_told(
    tab: Tab, path: Path, paged: Callable[..., Path]
) -> None:
    record(path, {"rounds": 5, "agents": 24}, "greedy-mine*12,raid*8,random*4")
    page = paged(path)

    def higher(front: Any) -> None:
        front["lines"][0]["bands"][0][1][2] += 1

    page.write_text(changed(page.read_text(), higher))

    assert "The chart differs from the recording in round 3." in tab.open(page).seal()


def test_the_outcome_of_a_part_is_not_checked_and_the_page_says_so(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    seal = tab.open(paged(path_of("baseline"), units=(4, 6))).seal()

    assert "✓ Checked here, just now: the bytes of rounds 4 to 6 and the facts" in seal
    assert "of which this page has a part: they cannot be checked here" in seal


def test_the_journal_is_downloaded_as_it_was_recorded(
    tab: Tab, tmp_path: Path, paged: Callable[..., Path]
) -> None:
    tab.open(paged(path_of("baseline"), path_of("forked")))
    for index, name in enumerate(("baseline", "forked")):
        with tab.page.expect_download() as download:
            tab.page.get_by_role("button", name="Download the journal").nth(index).click()
        download.value.save_as(tmp_path / "saved")

        assert f"run-{'ab'[index]}.journal" == download.value.suggested_filename
        assert path_of(name).read_bytes() == (tmp_path / "saved").read_bytes()


@pytest.mark.turns
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["light", "dark"])
@pytest.mark.parametrize("journal", [path_of("baseline"), season_path("every-event")], ids=str)
def test_a_page_that_does_not_hold_is_marked_from_its_top_on(
    journal: Path, size: dict[str, int], new_tab: Callable[..., Tab], paged: Callable[..., Path]
) -> None:
    path = paged(journal)
    [text] = re.findall(r"data-journal>([^<]*)<", path.read_text())
    data = bytearray(b64decode(text))
    data[-100] ^= 1
    path.write_text(path.read_text().replace(text, b64encode(data).decode()))
    tab = new_tab("light" if size is WIDE else "dark", size).open(path)
    page = tab.page

    assert "✗ This page does not hold: do not rely on what stands below." in tab.text("#check")
    assert 10 < page.locator("#check").bounding_box()["y"] < page.locator("h1").bounding_box()["y"]
    for part in ("h1", ".lead", "#standings table"):
        assert "line-through" == page.locator(part).first.evaluate(STRUCK)
    assert '""' == page.locator("#outcome").evaluate(CROSS)
    assert [] == tab.violations()


def test_a_page_says_at_its_top_once_that_it_was_checked(
    new_tab: Callable[..., Tab], paged: Callable[..., Path]
) -> None:
    tab = new_tab("light", PHONE).open(paged(path_of("baseline")), "#round=3")

    assert "✓ Checked here" == tab.text("#check")
    assert 200 > tab.page.locator("#check").bounding_box()["y"]
    assert "none" == tab.page.locator("h1").evaluate(STRUCK)
    tab.page.get_by_role("link", name="Checked here").click()
    assert until(lambda: "seal-0" == tab.page.evaluate("document.activeElement.id"))
    assert "round=3" == tab.moment

    tab.open(paged(path_of("baseline"), path_of("forked")))
    tab.page.wait_for_selector("html[data-sealed-other]")
    assert "✓ Checked here: A and B" == tab.text("#check")
