"""The page of a season in a real browser: what it tells of a table is what the rules make of it."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import escaped
from goldrush.kernel.worlds.competition.events import CODES, Spoke
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.journal.diff import diff
from goldrush.replay.journal.log import Query, log
from goldrush.replay.worlds.competition.career_text import (
    format_career,
    format_departure,
)
from goldrush.replay.worlds.competition.glossary import WORDS
from goldrush.replay.worlds.competition.leaderboard import leaderboard
from goldrush.replay.worlds.competition.played import played
from goldrush.replay.worlds.competition.proof import proofs
from goldrush.replay.worlds.competition.right import (
    challenges_of,
    format_best,
    format_challenge,
    format_choice,
    format_conclusion,
    format_proven,
    format_right,
)
from goldrush.replay.worlds.competition.score import grounds_of, scores
from goldrush.replay.worlds.competition.steps import season_world
from goldrush.replay.worlds.competition.story import names_in
from tests.browser import PHONE, WIDE, Tab
from tests.golden import SEASON_NAMES, season_path
from tests.journals import events_of
from tests.pages import AGREES, as_shown, heard, scales, shown_events
from tests.replay.view.test_browser import HOSTILE
from tests.seasons import changed, forged, fork, small
from tests.stances import ASSIGNMENTS, apart, odd, silent
from tests.waiting import until

EVERY = season_path("every-event")
CODES_OF = """cards => cards.filter(card => card.dataset.line)
    .map(card => [card.dataset.line, card.querySelector(".code")?.textContent ?? null])"""
SHOWN = "moment => document.getElementById('now').textContent === moment"
LINES = "cards => cards.map(card => card.dataset.line)"
KINDS = (".front-grid", ".season-grid", ".charts")  # of charts beside each other
ARGUED = 6  # an assignment of it in which without some of them all would have been otherwise


@pytest.mark.turns
@pytest.mark.parametrize("name", sorted(SEASON_NAMES))
def test_the_page_of_a_season_agrees_with_the_fold(
    name: str, tab: Tab, paged: Callable[..., Path]
) -> None:
    journal = season_path(name)
    tab.open(paged(journal), "#assignment=0")

    assert AGREES in tab.seal(0)
    assert as_shown(journal, 0) == shown_events(tab)


def test_a_fork_that_changes_what_newcomers_start_with_agrees(
    tab: Tab, tmp_path: Path, paged: Callable[..., Path]
) -> None:
    forked = tmp_path / "forked.journal"
    fork(EVERY, 3, forked, settings={"sparks_start": 9, "challenges": False})
    tab.open(paged(EVERY, forked), "#assignment=4")
    found = diff(EVERY, forked)

    assert AGREES in tab.seal(0)
    assert AGREES in tab.seal(1)
    assert f"assignment {found.first.round}" in tab.text(".difference")
    assert "differs" in tab.text(".card.differs")


def test_a_fork_of_a_season_says_what_everybody_plays_those_included_who_join_later(
    new_tab: Callable[..., Tab], tmp_path: Path, paged: Callable[..., Path]
) -> None:
    path = tmp_path / "cast.journal"
    state = fork(EVERY, 8, path, roster="dov=random,leo=silent")
    workers = [each for each in state.agents.values() if each.is_worker]
    assert {"random", "silent", "scripted"} == {worker.policy for worker in workers}
    assert names_in(EVERY)[11] == "leo"  # who joined before the fork
    last = state.assignment - 1
    for units in ((None, None), (10, None)):
        tab = new_tab().open(paged(path, units=units))
        assert "dov plays random (before: scripted)" in tab.text("header .fork")
        assert tab.text("header .fork").startswith("Forked after assignment 8: ")
        assert AGREES in tab.seal()
        for worker in workers:
            tab.page.evaluate(f"location.hash = '#assignment={last}&agent={worker.name}'")
            section = tab.page.locator("section", has_text=f"Agent {worker.name}").last
            section.wait_for()
            assert f"Policy {worker.policy}" in str(section.inner_text())
        assert not tab.page.locator("th[scope=row] > span.agent").count()


def test_two_seasons_beside_each_other_have_the_same_scales(
    tab: Tab, tmp_path: Path, paged: Callable[..., Path]
) -> None:
    richer = tmp_path / "richer.journal"
    fork(EVERY, 3, richer, settings={"passive_income": 60, "assignments": ARGUED + 1})
    tab.open(paged(EVERY, richer), f"#assignment={ARGUED}")
    sides = [f".panes:has({kind}) > *:nth-child({side})" for kind in KINDS for side in (1, 2)]
    front, others_front, one, other, ones_measures, others_measures = (
        scales(tab, side) for side in sides
    )

    assert ["Points"] == [title for title, *_ in front]
    assert ["Ranks", "Sparks"] == [title for title, *_ in one]
    assert (front, one, ones_measures) == (others_front, other, others_measures)

    low, high = map(float, re.findall(r"\d\.\d+", tab.text(".legend-line"))[:2])
    at = {
        8 + 224 * (tested["value"] - low) / (high - low)
        for path in (EVERY, richer)
        for tested in log(path, Query(ARGUED, ARGUED, names=("tested",)))
        if tested["at"] is None
    }
    bars = tab.page.locator(".card .dots .bar").evaluate_all("b => b.map(e => e.x1.baseVal.value)")
    assert sorted({round(bar) for bar in bars}) == sorted({round(bar) for bar in at})


def test_cards_are_the_contributions_and_lead_to_one_another(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    tab.open(paged(EVERY), f"#assignment={ARGUED}")
    events = list(log(EVERY, Query(ARGUED, ARGUED)))
    spoken = [event for event in events if event.name == "spoke"]
    reference = next(event for event in spoken if event["target"] is not None)
    card = tab.page.locator(f".card[data-line='{reference['id']}']")

    assert [str(event["id"]) for event in spoken] == tab.page.locator(".card").evaluate_all(LINES)
    assert reference["words"] in str(card.inner_text())

    card.get_by_role("link", name=f"#{reference['target']}", exact=True).first.click()
    chosen = tab.page.locator(".card[aria-current]")
    assert f"#{reference['target']} " in str(chosen.inner_text())
    assert f"line={reference['target']}" in tab.moment
    assert f"number {reference['target']}" in str(tab.page.locator("#said").text_content())

    tab.press("ArrowRight")
    assert f"assignment={ARGUED + 1}" == tab.moment


def test_whatever_anybody_does_its_contributions_are_those_of_the_table(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    """What was refused in turn counts as a pass, and out of turn as nothing."""
    journal = season_path("every-code")
    tab.open(paged(journal))
    with JournalReader(journal) as reader:
        for unit, assignment in enumerate(played(season_world(reader), reader)):
            tab.page.evaluate(f"location.hash = '#assignment={unit}'")
            tab.page.wait_for_function(SHOWN, arg=f"assignment {unit}")
            said = [(str(one.id), one.code) for one in assignment.state.tables[0].contributions]

            assert said == [
                tuple(pair) for pair in tab.page.locator(".card").evaluate_all(CODES_OF)
            ]


def test_without_somebody_is_what_its_score_rests_on(tab: Tab, paged: Callable[..., Path]) -> None:
    tab.open(paged(EVERY), f"#assignment={ARGUED}")
    agents = {name: agent for agent, name in names_in(EVERY).items()}
    names = tab.texts(".choice button")[1:]
    differing = set()
    for name in names:
        tab.page.get_by_role("button", name=name, exact=True).press("Enter")
        [score] = scores(EVERY, ARGUED, agents[name])
        says = tab.text(".counterfactual")
        faded = tab.page.locator(".card.gone").evaluate_all(LINES)

        assert f"without={name}" in tab.moment
        assert score.grounds.counterfactual.differs == ("without it: the same" not in says)
        assert grounds_of(score)[2] == tab.texts(".counterfactual li")
        assert {str(one.id) for one in score.grounds.proposals} <= set(faded)
        differing.add(score.grounds.counterfactual.differs)
    assert {True, False} == differing


def test_a_score_names_the_lines_that_it_rests_on(tab: Tab, paged: Callable[..., Path]) -> None:
    tab.open(paged(EVERY), f"#assignment={ARGUED}&agent={names_in(EVERY)[9]}")
    [score] = scores(EVERY, ARGUED, 9)
    lines = {one.id for one in (*score.grounds.proposals, *score.grounds.challenges)}
    linked = tab.page.locator(".reasons details[open] dd a").all_text_contents()

    assert lines
    assert {f"#{line}" for line in lines} <= set(linked)
    assert f"{names_in(EVERY)[9]}: {score.again.total} of 12" in tab.text(
        ".reasons details[open] summary"
    )


def test_a_season_of_hostile_texts_stays_text(
    tab: Tab, tmp_path: Path, paged: Callable[..., Path]
) -> None:
    place = Spoke._fields.index("words")

    def spoil(row: list[Any]) -> None:
        row[place] = HOSTILE

    path = season_path("short")
    commits = changed(path, CODES[Spoke], 1, spoil)
    tab.open(paged(forged(tmp_path / "hostile.journal", commits, path)), "#assignment=1&line=0")
    title = tab.page.title()

    assert AGREES in tab.seal(0)
    assert escaped(HOSTILE) in tab.text(".card")
    assert title == tab.page.title()
    assert 0 == tab.page.locator("main img, main script").count()
    assert not set(tab.text("main")) & {"\x1b", "\u202e", "\u2066", "\x00"}


PROVEN = re.compile(r"#(\d+) of \W+(\w+): claimed [\d.]+, tested [\d.]+ (holds|does not hold)")


def test_after_the_talk_come_the_proof_the_choice_and_the_conclusion(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    path, names = odd(), names_in(odd())
    tab.open(paged(path))
    for unit in range(ASSIGNMENTS):
        tab.page.evaluate(f"location.hash = '#assignment={unit}'")
        tab.page.wait_for_function(SHOWN, arg=f"assignment {unit}")
        [proof] = proofs(path, unit)
        *_, proven, choice = tab.texts(".cards .round h4")
        claims = [PROVEN.match(" ".join(text.split())) for text in tab.texts(".proven")]
        stood = [event for event in log(path, Query(unit, unit)) if event.name == "stood"]
        shown = tab.texts(".stood")

        assert format_proven(proof) == proven
        assert [
            (str(each.id), names[each.agent], "holds" if each.held else "does not hold")
            for each in proof.proposals
        ] == [found.groups() for found in claims if found is not None]
        assert format_choice(proof) == choice
        assert len(stood) == len(shown)
        for event, text in zip(stood, shown, strict=True):
            assert names[event["agent"]] in text.partition("stands by")[0]
            assert "\n".join(map(escaped, event["words"].split("\n"))) in text
        for code in tab.texts(".stood .code"):
            assert code in ("move/unknown-target", "move/refuted", "act/malformed")
        conclusion = format_conclusion(proof, names.__getitem__)
        [ended] = heard(tab, ".ended")
        answer = heard(tab, ".right")[0]

        assert conclusion == ended
        assert (
            f"{conclusion[0].upper()}{conclusion[1:]}. {format_best(proof, names.__getitem__)}"
            in answer
        )
        assert format_right(proof, names.__getitem__) in answer
        assert heard(tab, ".challenges li") == [
            format_challenge(each, proof, names.__getitem__) for each in challenges_of(proof)
        ]
    assert AGREES in tab.seal()


def test_stances_have_columns_for_the_proof_and_for_the_end(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    path = odd()
    tab.open(paged(path), "#assignment=2")
    tab.page.get_by_text("Stances as a table").press("Enter")
    [proof] = proofs(path, 2)
    table = tab.page.locator("details:has(> summary:text('Stances as a table')) table")
    heads = table.locator("thead th").all_text_contents()
    rows = [row.locator("td").all_text_contents() for row in table.locator("tbody tr").all()]

    assert ["proof", "in the end"] == heads[-2:]
    for side, row in zip(proof.sides, rows, strict=True):
        expected = (side.talked, side.proven, side.final)
        assert ["–" if one is None else f"#{one}" for one in expected] == row[-3:]


@pytest.mark.parametrize("season", [apart, silent])
def test_where_nobody_is_asked_for_a_final_stance_the_page_says_so(
    season: Callable[[], Path], tab: Tab, paged: Callable[..., Path]
) -> None:
    tab.open(paged(season()), "#assignment=1")

    assert "Nobody gives a final stance" in tab.text("main")
    assert 0 == tab.page.locator(".stood").count()
    assert AGREES in tab.seal()


@pytest.mark.turns
@pytest.mark.parametrize(("scheme", "size"), [("light", WIDE), ("dark", PHONE)], ids=str)
def test_a_final_stance_of_hostile_words_stays_text(
    scheme: str, size: dict[str, int], new_tab: Callable[..., Tab], paged: Callable[..., Path]
) -> None:
    tab = new_tab(scheme, size).open(paged(odd()), "#assignment=2&without=dov")
    title = tab.page.title()

    assert escaped("# heading \x1b[2J\u202e </script>") in tab.text("main")
    assert title == tab.page.title()
    assert 0 == tab.page.locator("main img, main script").count()
    assert not set(tab.text("main")) & {"\x1b", "\u202e"}
    assert [] == tab.violations()
    assert 0 >= tab.page.evaluate("document.documentElement.scrollWidth - innerWidth")


@pytest.mark.turns
@pytest.mark.parametrize(("scheme", "size"), [("light", WIDE), ("dark", PHONE)], ids=str)
def test_everybody_can_follow_a_season(
    scheme: str, size: dict[str, int], new_tab: Callable[..., Tab], paged: Callable[..., Path]
) -> None:
    name = names_in(EVERY)[9]
    moment = f"#assignment={ARGUED}&line=3&agent={name}&without={name}"
    tab = new_tab(scheme, size).open(paged(EVERY), moment)
    if size == PHONE:
        tab.page.get_by_text("The season:").click()
    for part in ("Objectives, treatments", "Stances as a table"):
        tab.page.get_by_text(part).first.click()
    tab.page.wait_for_selector(".map")

    assert [] == tab.violations()
    assert 0 >= tab.page.evaluate("document.documentElement.scrollWidth - innerWidth")


def test_an_assignment_begins_with_who_was_right(tab: Tab, paged: Callable[..., Path]) -> None:
    path, names = EVERY, names_in(EVERY)
    tab.open(paged(path), f"#assignment={ARGUED}")
    [proof] = proofs(path, ARGUED)
    answer = tab.page.locator(".right .answer")
    box = answer.bounding_box()
    rows = [
        [" ".join(cell.split()) for cell in row.locator("th, td").all_text_contents()]
        for row in tab.page.locator(".right .claims table").first.locator("tbody tr").all()
    ]
    by_test = sorted(proof.proposals, key=lambda each: (-(each.tested or 0), each.id))

    assert [format_right(proof, names.__getitem__)] == heard(tab, ".right .answer")
    assert box["y"] > tab.page.locator(".player").bounding_box()["height"] - 1
    assert box["y"] + box["height"] < WIDE["height"] / 2
    assert rows
    for each, row in zip(by_test, rows, strict=False):
        worker, verdict, claimed, tested, off, _, proposal, conduct = row
        assert names[each.agent] in worker
        assert ("✓ held" if each.held else "✗ did not hold") in verdict
        assert ("chosen" in verdict) == (each.id == proof.conclusion)
        assert (f"#{each.id}", each.conduct) == (proposal, conduct)
        difference = float(off.replace("−", "-"))
        assert (difference >= 0) == each.held
        assert difference == pytest.approx((each.tested or 0) - each.claimed, abs=6e-5)
        assert float(claimed) == pytest.approx(each.claimed, abs=6e-5)
        assert float(tested) == pytest.approx(each.tested, abs=6e-5)


def test_the_page_begins_with_the_leaderboard_and_a_workers_name_opens_its_season(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    tab.open(paged(EVERY))
    names, found = names_in(EVERY), measured_at(EVERY).careers
    ranks = {row.agent: row.rank for row in leaderboard(EVERY).rows}
    workers = sorted(
        found.careers,
        key=lambda each: (each.agent not in ranks, ranks.get(each.agent, each.agent)),
    )
    rows = tab.page.locator("#standings table").first.locator("tbody tr")
    told = [row.locator("th, td").all_text_contents() for row in rows.all()]
    careers = {names[career.agent]: career for career in found.careers}

    assert [worker.name for worker in workers] == [row[1].split()[-1] for row in told]
    for worker, row in zip(workers, told, strict=True):
        career = careers[worker.name]
        rank = str(ranks.get(worker.agent, "–"))
        assert [rank, str(worker.points)] == [row[0], row[3]]
        assert row[5:8] == [
            f"{career.held} of {career.claims}",
            str(career.chosen),
            str(worker.sparks),
        ]
    left = next(career for career in found.careers if career.departures)
    name = names[left.agent]
    tab.page.locator("#standings a", has_text=name).first.press("Enter")

    career = " ".join(format_career(left, found, names.__getitem__))
    assert until(lambda: career in "".join(heard(tab, ".career")))
    unit = left.departures[0].assignment
    tab.page.evaluate(f"location.hash = '#assignment={unit}'")
    tab.page.wait_for_function(SHOWN, arg=f"assignment {unit}")
    assert format_departure(left.departures[0], names.__getitem__) in heard(tab, ".story li")


@pytest.mark.parametrize(
    ("name", "numbers", "compares"),
    [
        ("forked", "4 assignments (0 to 3)", False),
        ("every-event", "20 assignments (0 to 19)", True),
    ],
)
def test_policies_are_compared_where_there_are_several_and_assignments_count_from_0(
    name: str, numbers: str, compares: bool, paged: Callable[..., Path]
) -> None:
    page = paged(season_path(name)).read_text()

    assert f"competition: {numbers}, seed" in page
    assert compares == ('class="standings"' in page)
    assert compares == (" end with " in page.partition('<div class="front">')[0])


def test_the_leaderboard_of_a_moment_has_the_words_of_the_final_one_and_stands_once_at_the_end(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    tab.open(paged(EVERY), f"#assignment={ARGUED}&agent=ada")
    moment = tab.page.locator("section", has_text="Leaderboard after").last
    heads, final = (
        each.locator("thead th").all_text_contents()
        for each in (moment, tab.page.locator("#standings"))
    )
    rows = [row.locator("th, td").all_text_contents() for row in moment.locator("tbody tr").all()]
    [ranking] = (
        event["rows"]
        for event in log(EVERY, Query(ARGUED, ARGUED))
        if event.name == "leaderboard_posted"
    )
    names = names_in(EVERY)

    assert ["rank", "worker", "policy", "points", "recent points", "sparks", "status"] == heads
    assert set(heads) <= set(final)
    assert [[str(rank), names[agent], str(recent)] for rank, agent, recent, _ in ranking] == [
        [row[0], row[1].split()[-1], row[4]] for row in rows if row[0] != "–"
    ]
    assert 1 == tab.page.locator("p", has_text="ada was there from the start").count()
    assert ["scripted", "random"] == tab.page.locator(".standings th[scope=row]").all_inner_texts()
    last = measured_at(EVERY).units - 1
    tab.page.evaluate(f"location.hash = '#assignment={last}'")
    tab.page.wait_for_function(SHOWN, arg=f"assignment {last}")
    assert 0 == tab.page.get_by_text("Leaderboard after").count()


def test_of_many_workers_the_first_are_charted_and_whoever_is_chosen(
    tab: Tab, tmp_path: Path, paged: Callable[..., Path]
) -> None:
    path = small(tmp_path / "many.journal", workers=26)
    workers = [row.name for row in leaderboard(path).rows]
    foremost, last = workers[:12], workers[-1]
    tab.open(paged(path))
    names = tab.page.locator("#outcome .chart .end")

    assert set(foremost) == {text.split()[-1] for text in names.all_text_contents()}
    note = tab.page.locator("#outcome figcaption .note").first.inner_text()
    assert f"of {len(workers)} workers the 12 that rank first in the end" in note

    tab.page.evaluate(f"location.hash = '#agent={last}'")
    names.filter(has_text=last).wait_for()

    assert {*foremost, last} == {text.split()[-1] for text in names.all_text_contents()}


def test_values_of_the_charts_are_read_by_keys_and_by_pointer(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    tab.open(paged(EVERY), "#assignment=19")
    names = names_in(EVERY)
    chart = tab.page.locator("#outcome svg[role=slider]")
    chart.focus()
    for key in ("Home", "ArrowRight", "ArrowRight"):
        tab.press(key)
    points: dict[str, int] = {
        names[worker.agent]: 0 for worker in measured_at(EVERY).careers.careers if worker.agent < 11
    }
    for event in log(EVERY, Query(0, 1)):
        if event.name == "scored":
            points[names[event["agent"]]] += event["total"]
    spoken = str(chart.get_attribute("aria-valuetext"))
    reading = tab.page.locator("#outcome .reading")

    assert spoken.startswith("assignment 1: ")
    assert points == {
        name: int(value)
        for name, value in (each.rsplit(" ", 1) for each in spoken[14:].split(", "))
    }
    tab.press("Escape")
    before = reading.inner_text()
    box = chart.bounding_box()
    tab.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert before != reading.inner_text()
    assert "assignment=19" in tab.moment
    tab.page.mouse.down()
    tab.page.mouse.up()
    assert "assignment=19" not in tab.moment


def test_a_chart_marks_who_is_benched_comes_back_joins_or_is_deleted(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    tab.open(paged(EVERY), "#assignment=19&agent=elif")
    names, kinds = names_in(EVERY), ("relegated", "returned", "joined", "deleted")
    titles = {"relegated": "benched", "returned": "back from the bench", "joined": "joins"}
    moves = Counter(
        f"{names[event['ordinal' if event.name == 'joined' else 'agent']]}: "
        f"{titles.get(event.name, event.name)}, assignment {event.unit}"
        for event in events_of(EVERY) if event.name in kinds
    )  # fmt: skip
    chart = tab.page.locator("#outcome svg[role=slider]")
    benched = {names[event["agent"]] for event in events_of(EVERY) if event.name == "relegated"}
    named = {
        part.get_attribute("data-line"): part.locator(".end title").text_content().split()[-1]
        for part in chart.locator("g[data-line]").all()
    }
    dotted = [line for line in chart.locator(".faint").all() if "L" in line.get_attribute("d")]

    assert moves == Counter(chart.locator(".move title").all_text_contents())
    assert benched == {named[line.get_attribute("data-line")] for line in dotted}
    assert {"elif"} == {
        named[part.get_attribute("data-line")] for part in chart.locator(".chosen").all()
    }
    tab.page.evaluate("location.hash = '#assignment=18'")
    tab.page.wait_for_function(SHOWN, arg="assignment 18")
    assert 0 == chart.locator(".chosen").count()


def test_a_word_shows_its_meaning_by_pointer_by_focus_and_by_touch(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    tab.open(paged(EVERY), f"#assignment={ARGUED}&agent=ada")
    word = tab.page.locator(".right .word[data-word=bar]").first
    tip = tab.page.locator(".meaning")
    moment = tab.moment

    assert not tip.is_visible()
    word.hover()
    assert WORDS["bar"] == tip.inner_text()
    tip.hover()
    assert tip.is_visible()
    tab.page.mouse.move(2, 2)
    assert not tip.is_visible()
    word.focus()
    assert tip.is_visible()
    described = word.get_attribute("aria-describedby")
    assert WORDS["bar"] == tab.page.locator(f"#{described}").text_content()
    tab.press("Escape")
    assert not tip.is_visible()
    assert moment == tab.moment  # the selection stays
    word.click()
    assert tip.is_visible()
    tab.page.locator("h2").first.click()
    assert not tip.is_visible()

    context = tab.context.browser.new_context(viewport=PHONE, has_touch=True)
    phone = context.new_page()
    phone.goto(tab.page.url)
    phone.wait_for_selector("html[data-sealed]")
    phone.locator(".right .word[data-word=bar]").first.tap()
    assert WORDS["bar"] == phone.locator(".meaning").inner_text()
    assert 0 >= phone.evaluate("document.documentElement.scrollWidth - innerWidth")
    phone.locator("h2").first.tap()
    assert not phone.locator(".meaning").is_visible()
    context.close()


def test_every_word_of_the_list_is_listed_once_and_no_text_of_an_agent_is_marked(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    tab.open(paged(EVERY), f"#assignment={ARGUED}")
    texts = tab.texts(".glossary dt")

    assert list(WORDS) == texts
    assert list(WORDS.values()) == tab.texts(".glossary dd")
    assert 0 == tab.page.locator("q .word, code .word, a .word, summary .word").count()
    for section in ("#standings .leaders", ".right", ".talk"):
        words = tab.page.locator(f"{section} .word").evaluate_all("w => w.map(e => e.dataset.word)")
        assert words
        assert len(set(words)) == len(words)
