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

from goldrush.kernel.journal import UNIT, Commit
from goldrush.kernel.text import escaped
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import SUBMITTED
from goldrush.replay.journal.diff import diff
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.rebuild import last_unit, rebuild
from goldrush.replay.run import Run
from goldrush.replay.view.page import write_page
from goldrush.replay.worlds.mining.why import explained
from tests.browser import PHONE, Tab
from tests.golden import path_of
from tests.journals import commits_of, forged, write
from tests.mining import record
from tests.pages import HOLDS, data_of, scales, sentences_of, shown_sentences, unpacked

HOSTILE = (
    '</script><script>document.title="gone"</script><img src=x onerror="document.title=1">'
    "\x1b[2J\u202egnirts\u2066 \x7f\x9b\u3164 ' &amp; \x00 {{data}}"
)
TOLD = ("submitted", "pruned", "claim_drawn", "raid_resolved", "ruled")


def cell(tab: Tab, plot: int) -> Any:
    return tab.page.get_by_role("gridcell", name=re.compile(rf"^plot {plot},"))


@pytest.mark.turns
@pytest.mark.parametrize("name", ["forked", "authority-adjudicate", "agents-20"])
def test_each_event_of_a_round_is_shown_in_the_sentence_that_python_makes(
    name: str, tab: Tab, paged: Callable[..., Path]
) -> None:
    journal = path_of(name)
    tab.open(paged(journal))
    for unit in range(1, last_unit(journal)[0] + 1, 4):
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
    last = tab.moment
    tab.press("Home")
    assert "round=0&plot=17" == tab.moment
    assert f"round={last_unit(path_of('agents-20'))[0]}&plot=17" == last

    tab.press("/")
    page.keyboard.type("plot 5")
    tab.press("Enter")
    assert "Plot 5" in tab.text(".selected h2")
    page.get_by_role("link", name="close").focus()
    tab.press("ArrowRight")
    assert "close" == page.evaluate("document.activeElement.textContent")
    page.get_by_label("Go to").fill("round 700")
    tab.press("Enter")
    assert "Type round 1 to 20, or agent and which one, or plot" in tab.text("#goto-fault")

    page.locator("#scrubber").fill("2")
    assert "round 2" == tab.text("#now")
    page.get_by_label("Speed").select_option("30")
    page.get_by_role("button", name="Play").click()
    # Not for one round: a busy machine may never look while that is shown.
    page.wait_for_function("() => document.getElementById('now').textContent.slice(6) >= 6")
    tab.press("Space")
    page.evaluate("location.hash = '#round=5&agent=3'")
    page.wait_for_selector("section[aria-label='agent 3']")
    assert "round 5" in tab.page.locator("#said").text_content()


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


def test_raids_are_arrows_from_raiders_to_plots(tab: Tab, paged: Callable[..., Path]) -> None:
    journal = path_of("agents-20")
    raids = [e for e in log(journal, Query(9, 9)) if e.name == "raid_resolved"]
    tab.open(paged(journal), "#round=9")
    ends = tab.page.locator("g.arrow, g:not([class]) > .arrow").count()

    assert sum(len(raid["raiders"]) for raid in raids) <= ends
    assert sum(raid["outcome"] == "captured" for raid in raids) == (
        tab.page.locator(".cell.captured").count()
    )
    chart = data_of(paged(journal).read_text())["runs"][0]["tracks"]
    assert [len(raids), sum(raid["outcome"] == "captured" for raid in raids)] == [
        track["values"][8] for track in chart
    ]


def test_why_is_what_the_command_line_says(tab: Tab, paged: Callable[..., Path]) -> None:
    journal = path_of("baseline")
    last = last_unit(journal)[0]
    for unit in (3, last):
        first = next(explained(journal, unit, unit))
        tab.open(paged(journal), f"#round={unit}")
        line = tab.page.locator(".lines li", has_text=f"plot {first.location} ").first
        line.get_by_text("Why?").click()

        sentence, *why = str(first).split("\n")
        shown = line.locator(".why").inner_text()
        assert sentence not in shown
        assert all(text in shown for text in why)
        assert f"goldrush why run.journal --at {unit} --plot {first.location}" in (
            line.locator(".command").inner_text()
        )


def test_an_agent_has_its_moves_of_the_round_and_its_story(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    journal = path_of("baseline")
    about = [
        (unit, line)
        for unit in range(1, last_unit(journal)[0] + 1)
        for _, line in sentences_of(journal, unit, TOLD)
        if re.search(r"\bagents? (\d+, )*3\b", line)
    ]
    tab.open(paged(journal), "#round=7&agent=3")
    tab.page.get_by_text(f"Its story ({len(about)} events)").click()
    tab.page.wait_for_selector(".selected ol li")
    shown = tab.page.locator(".selected ol li").all_text_contents()

    assert sorted(f"{unit} {line}" for unit, line in about) == sorted(
        " ".join(text.split()) for text in shown
    )
    assert [line for unit, line in about if unit == 7 and line.startswith("agent 3")] == [
        " ".join(text.split()) for text in tab.texts(".selected > ul .sentence")
    ]


def test_the_answer_of_a_model_and_its_failure_are_beside_its_move(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    journal = path_of("language-models")
    submitted = [e for e in log(journal, Query(2, 2)) if e.name == "submitted"]
    [event, *_] = [e for e in submitted if e["source"] is not None]
    tab.open(paged(journal), f"#round=2&agent={event['agent']}")
    line = tab.page.locator(".selected > ul li", has_text="submits")
    line.get_by_text("Its answer as it came").click()
    line.get_by_text("With the question:").wait_for()  # a part is filled when it was opened

    assert str(event["source"]["raw"]).strip() in line.inner_text()
    assert f"goldrush prompt run.journal --at 2 --agent {event['agent']}" in line.inner_text()
    failed = [e["agent"] for e in submitted if e["error"] is not None]
    assert failed == [
        int(re.findall(r"agent (\d+) submits", text)[0])
        for text in tab.texts("section[aria-label=Events] > div > details li.fault")
    ]


def test_two_runs_stand_side_by_side_from_where_they_part(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    one, two = path_of("baseline"), path_of("forked")
    found = diff(one, two)
    tab.open(paged(one, two), f"#round={found.first.round}&plot=17&agent=2")
    owners = [rebuild(path, found.first.round).state.owner for path in (one, two)]
    apart = [plot for plot, (a, b) in enumerate(zip(*owners, strict=True)) if a != b]

    assert [HOLDS] * 2 == tab.texts(".seal")
    assert f"round {found.first.round}" in tab.text(".difference")
    assert 2 * len(apart) == tab.page.locator(".cell.differs").count()
    assert [] == tab.violations()


def test_a_fork_says_what_it_left_and_who_played_what_when(
    new_tab: Callable[..., Tab], paged: Callable[..., Path]
) -> None:
    parent, fork = path_of("baseline"), path_of("forked")
    hashed = sha256(parent.read_bytes()).hexdigest()
    says = (
        f"After round 10 the run is forked off SHA-256 {hashed[:16]}: visibility becomes 8; "
        'authority becomes "punish"; detection becomes 0.5; agents 0-2 play random '
        "(before: greedy-mine); agents 3-4 play random "
        "(before: defend-then-mine); agent 5 plays "
    )
    tab = new_tab().open(paged(fork), "#round=11")
    beside = new_tab().open(paged(parent, fork), "#round=11")
    part = new_tab().open(paged(fork, units=(11, 15)), "#round=12")

    assert tab.text("header .fork").startswith(says)
    assert "Run B is forked after round 10." in beside.text(".difference")
    assert 0 == beside.page.locator("header .fork").count()
    for each in (tab, beside):
        assert each.text("main p.fork").startswith(says)
    for each in (tab, part):
        each.page.get_by_text("Each of the 10 agents").click()
        each.page.locator("#standings details tbody tr").first.wait_for()
        rows = each.page.locator("#standings details tbody tr").all()
        cells = [row.locator("th, td").all_text_contents() for row in rows]
        played = {agent: policy for agent, policy, *_ in cells}
        assert "greedy-mine, from round 11 random" == played["0"]
        assert "random, from round 11 raid" == played["9"]
    for at, policy in ((10, "greedy-mine"), (11, "random")):
        tab.page.evaluate(f"location.hash = '#round={at}&agent=0'")
        tab.page.wait_for_selector(f"h2:has-text('Agent 0 {policy}')")
        assert policy == tab.texts("a.chip[data-agent='0'] .name")[0]


def test_two_runs_of_different_sizes_are_shown_as_far_as_each_goes(
    tab: Tab, tmp_path: Path, paged: Callable[..., Path]
) -> None:
    small = recorded(tmp_path / "small.journal", {"rounds": 3, "agents": 2, "rows": 2, "cols": 2})
    tab.open(paged(small, path_of("baseline")), "#round=2&plot=99&agent=7")

    assert "This run has no agent 7." in tab.text("section[aria-label='Run A']")
    assert "This run has no agent" not in tab.text("section[aria-label='Run B']")
    assert [HOLDS] * 2 == tab.texts(".seal")
    assert 0 == tab.page.locator(".cell.differs").count()
    short, whole = (scales(tab, f"section[aria-label='Run {run}'] details") for run in "AB")
    same = [title for title, *_ in short if title in [title for title, *_ in whole]]
    assert [each for each in short if each[0] in same] == [e for e in whole if e[0] in same]
    assert len(same) > 5
    assert ["round 1", "20"] == short[0][-2:]


def recorded(path: Path, settings: dict[str, Any]) -> Path:
    """A run of greedy miners."""
    record(path, settings, "greedy-mine")
    return path


def test_a_chart_of_very_many_values_is_drawn(tab: Tab, tmp_path: Path) -> None:
    journal = recorded(
        tmp_path / "long.journal", {"rounds": 7_000, "agents": 20, "rows": 1, "cols": 1}
    )
    write_page(journal, tmp_path / "long.html")
    tab.open(tmp_path / "long.html")

    assert HOLDS == tab.seal()


def hostile(path: Path) -> Path:
    """A run in which an agent says and notes what would break a page, and a model wrote a lot."""
    commits = commits_of(path_of("baseline"))
    done = []
    for commit in commits:
        if commit.kind == UNIT and commit.unit == 2:
            [(code, rows)] = commit.blocks[0]
            assert SUBMITTED == code
            agent, actions, *_ = rows[0]
            source = {"raw": HOSTILE * 8_000, HOSTILE: HOSTILE}
            actions = (*actions, (0, 2**60, 1))
            first = (agent, actions, None, HOSTILE[:280], HOSTILE, source)
            blocks = [Block([(code, [first, *rows[1:]])]), *commit.blocks[1:]]
            commit = Commit(UNIT, 2, commit.digest, blocks)
        done.append(commit)
    return forged(path, MINING, done)


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


def test_a_run_beside_its_beginning_is_compared_as_far_as_that_goes(
    tab: Tab, tmp_path: Path, paged: Callable[..., Path]
) -> None:
    whole = path_of("baseline")
    begun = write(tmp_path / "begun.journal", commits_of(whole)[:6])
    tab.open(paged(whole, begun), "#round=9")

    assert "Run B is the beginning of run A: it breaks off with round 5" in tab.text(".difference")
    assert "This run ended with round 5" in tab.text("main")
    assert 0 == tab.page.locator(".cell.differs").count()


def test_what_an_address_says_wrong_is_said(tab: Tab, paged: Callable[..., Path]) -> None:
    tab.open(paged(path_of("baseline")), "#round=700&plot=3,4&agent=__proto__")

    assert "Not in this page: round 700, agent __proto__." == tab.text("#goto-fault")
    assert "round=20&plot=34" == tab.moment


def test_a_page_without_its_script_says_so(browser: Any, paged: Callable[..., Path]) -> None:
    still = browser.new_context(java_script_enabled=False).new_page()
    still.goto(paged(path_of("baseline"), path_of("forked")).as_uri())

    assert ["Not compared: the script of this page has not run."] * 2 == (
        still.locator(".seal").all_text_contents()
    )
    still.context.close()


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
    assert tab.text("#check").startswith("✗ The journal in this page is not the one")
    page.write_text(re.sub(r'id="journal-0"', 'id="left-out"', text))
    assert "The journal was not compared" == tab.open(page).text("#check")
    page.write_text(text)
    assert "✓ The journal has the SHA-256 below" == tab.open(page).text("#check")


@pytest.mark.turns
@pytest.mark.parametrize(
    ("scheme", "size"), [("light", None), ("dark", None), ("light", PHONE)], ids=str
)
def test_everybody_can_use_it(
    scheme: str, size: dict[str, int] | None, new_tab: Callable[..., Tab],
    paged: Callable[..., Path],
) -> None:  # fmt: skip
    tab = new_tab(scheme) if size is None else new_tab(scheme, size)
    tab.open(paged(path_of("language-models")), "#round=2&plot=5&agent=1")

    assert [] == tab.violations()
    width = tab.page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert 0 >= width


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
    at_the_end = frame.inner_text("#now")
    frame.press("#view", "ArrowLeft")
    frame.click("a[href*='plot=']")
    frame.locator("h2", has_text="Plot").wait_for()

    assert "round 5" == at_the_end
    assert "round 4" == frame.inner_text("#now")
