"""The page of a run in a real browser: what it shows is what the fold says, whatever is in the
journal, and it can be used by anybody.
"""

import re
from base64 import b64encode
from collections.abc import Callable
from gzip import compress
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.text import escaped
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import SUBMITTED
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.run import Run
from tests.browser import PHONE, Tab
from tests.golden import path_of
from tests.journals import changed, commits_of, forged
from tests.pages import HOLDS, sentences_of, shown_sentences, unpacked

HOSTILE = (
    '</script><script>document.title="gone"</script><img src=x onerror="document.title=1">'
    "\x1b[2J\u202egnirts\u2066 \x7f\x9b\u3164 ' &amp; \x00 {{data}}"
)
TOLD = ("submitted", "pruned", "claim_drawn", "raid_resolved", "ruled")


def cell(tab: Tab, plot: int) -> Any:
    return tab.page.get_by_role("gridcell", name=re.compile(rf"^plot {plot},"))


@pytest.mark.parametrize("name", ["forked", "authority-adjudicate"])
def test_each_event_of_a_round_is_shown_in_the_sentence_that_python_makes(
    name: str, tab: Tab, paged: Callable[..., Path]
) -> None:
    journal = path_of(name)
    tab.open(paged(journal))
    for unit in range(1, Run(journal).last().round + 1, 6):
        tab.page.evaluate(f"location.hash = '#round={unit}'")
        tab.page.wait_for_selector(f"h2:has-text('Events in round {unit}')")

        assert sorted(line for _, line in sentences_of(journal, unit, TOLD)) == shown_sentences(tab)


def test_the_player_steps_scrubs_plays_and_goes_where_the_address_says(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    tab.open(paged(path_of("agents-20")), "#round=3&plot=17")
    page = tab.page

    assert "round 3" == tab.text("#now")
    assert "Plot 17" in tab.text(".selected h2")
    tab.press("ArrowRight", "ArrowRight", "ArrowLeft")
    assert "round=4&plot=17" == tab.moment
    tab.press("End")
    assert f"round={Run(path_of('agents-20')).last().round}&plot=17" == tab.moment

    tab.press("/")
    page.keyboard.type("plot 5")
    tab.press("Enter")
    assert "Plot 5" in tab.text(".selected h2")
    page.get_by_label("Go to").fill("round 700")
    tab.press("Enter")
    assert tab.text("#goto-fault")

    page.locator("#scrubber").fill("2")
    assert "round 2" == tab.text("#now")
    page.get_by_label("Speed").select_option("30")
    page.get_by_role("button", name="Play").click()
    # Not for one round: a busy machine may never look while that is shown.
    page.wait_for_function("() => document.getElementById('now').textContent.slice(6) >= 6")
    tab.press("Space")
    tab.open(paged(path_of("agents-20")), "#round=700&plot=3,4&agent=__proto__")
    assert "round=20&plot=34" == tab.moment


def test_the_map_is_the_fold_and_a_plot_is_selected_by_mouse_and_keys(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    journal = path_of("baseline")
    state = rebuild(journal, 6).state
    tab.open(paged(journal), "#round=6")

    for plot, owner in enumerate(state.owner):
        label = str(cell(tab, plot).get_attribute("aria-label"))
        held = "nobody's" if owner is None else f"agent {owner}'s since round {state.since[plot]}"
        assert label.startswith(f"plot {plot}, {held}")

    cell(tab, 3).click()
    assert "round=6&plot=3" == tab.moment
    cell(tab, 0).focus()
    tab.press("ArrowRight", "ArrowDown", "Enter")
    assert f"round=6&plot={state.config.cols + 1}" == tab.moment


def test_an_agent_has_its_story_and_a_model_its_answer_and_its_failure(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    journal = path_of("language-models")
    submitted = [e for e in log(journal, Query(2, 2)) if e.name == "submitted"]
    [event, *_] = [e for e in submitted if e["source"] is not None]
    agent = event["agent"]
    about = [
        (unit, line)
        for unit in range(1, Run(journal).last().round + 1)
        for _, line in sentences_of(journal, unit, TOLD)
        if re.search(rf"\bagents? (\d+, )*{agent}\b", line)
    ]
    tab.open(paged(journal), f"#round=2&agent={agent}")
    line = tab.page.locator(".selected > ul li", has_text="submits")
    line.get_by_text("Its answer as it came").click()
    line.get_by_text("With the question:").wait_for()  # a part is filled when it was opened
    tab.page.get_by_text(f"Its story ({len(about)} events)").click()
    tab.page.wait_for_selector(".selected ol li")
    story = tab.page.locator(".selected ol li .sentence").all_text_contents()

    assert str(event["source"]["raw"]).strip() in line.inner_text()
    assert [e["agent"] for e in submitted if e["error"] is not None] == [
        int(re.findall(r"agent (\d+) submits", text)[0])
        for text in tab.texts("section[aria-label=Events] > div > details li.fault")
    ]
    assert sorted(line for _, line in about) == sorted(" ".join(text.split()) for text in story)


def hostile(path: Path) -> Path:
    """A run in which an agent says and notes what would break a page, and a model wrote a lot."""
    source = {"raw": HOSTILE * 8_000, HOSTILE: HOSTILE}

    def spoil(row: list[Any]) -> list[Any]:
        return [row[0], (*row[1], (0, 2**60, 1)), None, HOSTILE[:280], HOSTILE, source]

    commits = commits_of(path_of("baseline"))
    return forged(path, MINING, changed(commits, SUBMITTED, spoil, unit=2, first=True))


def test_hostile_text_stays_text(tab: Tab, tmp_path: Path, paged: Callable[..., Path]) -> None:
    journal = hostile(tmp_path / "hostile.journal")
    tab.open(paged(journal), "#round=2&agent=0")
    title = tab.page.title()
    shown_sentences(tab)  # opens all parts

    assert HOLDS == tab.seal()
    assert escaped(HOSTILE) in tab.text(".selected")
    assert title == tab.page.title()
    assert 0 == tab.page.locator("main img, main script").count()
    assert not set(tab.text("main")) & {"\x1b", "\u202e", "\u2066", "\x00"}


def test_a_journal_that_is_not_the_one_named_is_said(
    new_tab: Callable[..., Tab], paged: Callable[..., Path]
) -> None:
    page = paged(path_of("baseline"))
    text = page.read_text()
    journal = bytearray(unpacked(text, "journal-0"))
    journal[5000] ^= 1
    other = b64encode(compress(bytes(journal), mtime=0)).decode()
    page.write_text(re.sub(r'(id="journal-0">)[^<]*<', rf"\g<1>{other}<", text))
    tab = new_tab().open(page)

    assert f"another one: {sha256(journal).hexdigest()}" in tab.seal()
    assert tab.text("#check").startswith("✗")
    page.write_text(re.sub(r'id="journal-0"', 'id="left-out"', text))
    assert not tab.open(page).text("#check").startswith("✓")
    page.write_text(text)
    assert tab.open(page).text("#check").startswith("✓")


@pytest.mark.turns("pages for everybody")
def test_everybody_can_use_it(new_tab: Callable[..., Tab], paged: Callable[..., Path]) -> None:
    tab = new_tab("light", PHONE)
    tab.open(paged(path_of("language-models")), "#round=2&plot=5&agent=1")

    assert [] == tab.violations()
    assert 0 >= tab.page.evaluate("document.documentElement.scrollWidth - innerWidth")


def test_in_a_notebooks_frame_moments_are_kept_without_an_address(
    new_tab: Callable[..., Tab], tmp_path: Path
) -> None:
    tab, path = new_tab(), tmp_path / "notebook.html"
    run = Run.record(tmp_path / "run.journal", seed=7, rounds=5)
    path.write_text(f"<!doctype html><title>cell</title>{run._repr_html_()}")
    tab.page.goto(path.as_uri())
    frame = tab.page.frames[1]
    frame.wait_for_selector("html[data-sealed]")

    frame.press("#view", "End")
    frame.click("a[data-agent='3']")
    frame.locator("h2", has_text="Agent 3").wait_for()

    assert "round 5" == frame.inner_text("#now")
