"""What a reader of the page of a run sees first: who ended with how much, and since when."""

import csv
import re
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import UNIT, JournalReader
from goldrush.kernel.measures import mean
from goldrush.replay.data.measures import AgentMeasure, Measure, named
from goldrush.replay.data.sampling import sampled
from goldrush.replay.find import tools_at
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.outcome import RunOutcome, outcome_of, standings_of
from goldrush.replay.text import format_number
from goldrush.replay.view.chart import SINGLE_MAX
from goldrush.replay.view.front import POINTS_MAX
from goldrush.replay.view.page import page_of, write_page
from goldrush.replay.view.shown import shown_of
from goldrush.replay.view.top import compared
from tests.browser import PHONE, WIDE, Tab
from tests.golden import path_of
from tests.journals import commits_of
from tests.mining import record
from tests.pages import data_of
from tests.pictures import counted, pixels_of
from tests.waiting import until

ROSTER = "greedy-mine*12,raid*8,random*4"  # more agents than are shown singly
SETTINGS = {"rounds": 12, "agents": 24, "rows": 35, "cols": 35}


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of many agents on a large map."""
    path = tmp_path_factory.mktemp("large") / "large.journal"
    record(path, SETTINGS, ROSTER)
    write_page(path, path.with_suffix(".html"))
    return path


def outcome(path: Path) -> RunOutcome:
    tools = tools_at(path)
    with JournalReader(path) as reader:
        return outcome_of(tools, tools.measures.read(reader))


def table(tab: Tab, name: str) -> list[list[str]]:
    lines = tab.page.get_by_role("group", name=name, exact=True).locator("tbody tr")
    return [line.locator("th, td").all_text_contents() for line in lines.all()]


def test_a_page_opens_with_the_outcome_and_at_the_last_round(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    journal = path_of("baseline")
    expected = outcome(journal)
    tab.open(paged(journal))
    first, *others = expected.sentences

    assert first == tab.text("h1")
    assert " ".join(others) == tab.text(".lead")
    assert [
        [each.policy, str(len(each.agents)), format_number(each.mean)]
        for each in expected.standings
    ] == [row[:3] for row in table(tab, "Standings by policy")]
    assert "round 20" == tab.text("#now")
    assert "" == tab.moment
    assert not re.search(r"\b[0-9a-f]{16}\b", tab.text("body"))


def test_the_outcome_can_be_read_without_scripts(tab: Tab, paged: Callable[..., Path]) -> None:
    page = paged(path_of("baseline"))
    still = tab.context.browser.new_context(java_script_enabled=False).new_page()
    still.goto(page.as_uri())

    assert outcome(path_of("baseline")).sentences[0] == still.locator("h1").inner_text()
    assert 4 == still.locator(".standings tbody tr").count()
    still.context.close()


def test_the_values_of_a_chart_are_read_by_keys_and_under_the_pointer(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    journal = path_of("baseline")
    tab.open(paged(journal))
    chart = tab.page.locator("#outcome [role=slider]")
    chart.focus()
    tab.press("Home", "ArrowRight", "ArrowRight", "ArrowLeft")
    gold = rebuild(journal, 2).state.gold

    policies = [entry["policy"] for entry in rebuild(journal, 2).state.roster]
    said = [f"{agent} {policies[agent]} {each:,.10g}" for agent, each in enumerate(gold)]
    assert f"round 2: {', '.join(said)}" == chart.get_attribute("aria-valuetext")
    assert "round 2" == tab.text("#outcome output")
    assert "round 20" == tab.text("#now")

    tab.press("Enter")
    assert "round=2" == tab.moment
    box = chart.bounding_box()
    tab.page.mouse.move(box["x"] + 1, box["y"] + 20)
    assert "round 1" == tab.text("#outcome output")
    tab.page.mouse.move(0, 0)
    chart.blur()
    assert "round 2" == tab.text("#outcome output")


def test_a_chart_is_downloaded_with_its_colours_and_its_data(
    tab: Tab, tmp_path: Path, paged: Callable[..., Path]
) -> None:
    journal = path_of("baseline")
    tab.open(paged(journal))
    saved = {}
    for kind in ("SVG", "CSV"):
        with tab.page.expect_download() as download:
            tab.page.get_by_role("button", name=f"gold as {kind}", exact=True).click()
        assert f"gold.{kind.lower()}" == download.value.suggested_filename
        download.value.save_as(tmp_path / kind)
        saved[kind] = (tmp_path / kind).read_text()
    head, *rows = csv.reader(saved["CSV"].splitlines())
    pixels = counted(pixels_of(saved["SVG"]))

    assert ["round", "0 greedy-mine"] == head[:2]
    assert [[float(cell) for cell in row[1:]] for row in rows] == [
        pytest.approx(rebuild(journal, unit).state.gold, rel=1e-5) for unit in range(1, 21)
    ]
    assert not re.search(r"var\(|light-dark|color-mix|class=|data-passing", saved["SVG"])
    assert {(0, 0x72, 0xB2, 255), (255, 255, 255, 255)} <= set(pixels)


def test_a_policy_has_one_colour_on_all_pages_and_everywhere(
    tab: Tab, tmp_path: Path, large: Path, paged: Callable[..., Path]
) -> None:
    hues = []
    for page in (paged(path_of("baseline")), large.with_suffix(".html")):
        tab.open(page)
        row = tab.page.locator(".standings tr", has_text="greedy-mine").locator("rect")
        end = tab.page.locator("#outcome .end", has_text="greedy-mine").first
        hues += [row.get_attribute("fill"), end.get_attribute("fill")]
        legend = tab.page.locator(".policies li", has_text="greedy-mine").locator("rect")
        hues += [each.get_attribute("fill") for each in legend.all()]

    assert {"var(--hue-0)"} == set(hues)


COLOURS = """nodes => nodes.map(node => {
    const brush = document.createElement("canvas").getContext("2d");
    brush.fillStyle = getComputedStyle(node).fill;
    brush.fillRect(0, 0, 1, 1);
    return [...brush.getImageData(0, 0, 1, 1).data];
})"""


def luminance(colour: list[int]) -> float:
    """The relative luminance of a colour in sRGB, as WCAG defines it."""
    parts = [part / 255 for part in colour[:3]]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_agent_has_one_shade_on_which_its_number_is_read(
    scheme: str, new_tab: Callable[..., Tab], paged: Callable[..., Path]
) -> None:
    tab = new_tab(scheme).open(paged(path_of("baseline")))
    chart, map, numbers = (
        tab.page.locator(selector).evaluate_all(COLOURS)
        for selector in ("#outcome .reading rect", ".chip .square", ".chip .number")
    )

    assert 10 == len({tuple(colour) for colour in chart})
    assert chart == map
    for pair in zip(map, numbers, strict=True):
        low, high = sorted(luminance(colour) + 0.05 for colour in pair)
        assert 4.5 <= high / low


def test_the_lines_of_a_chart_are_named_below_it_on_a_phone(
    new_tab: Callable[..., Tab], paged: Callable[..., Path]
) -> None:
    tab = new_tab("light", PHONE).open(paged(path_of("baseline")))

    assert 0 == tab.page.locator("#outcome .end").count()
    assert "4 defend-then-mine 76" in tab.texts("#outcome .reading span")


def test_plots_of_many_agents_have_signs_and_no_numbers(
    tab: Tab, path: Path, paged: Callable[..., Path]
) -> None:
    roster = "greedy-mine*5,defend-then-mine*5,raid*5,tit-for-tat-raid*5,random*5"
    record(path, {"rounds": 12, "agents": 25, "rows": 8, "cols": 8}, roster)
    tab.open(paged(path), "#round=2")

    assert {"", "●"} <= set(tab.texts(".cell text")) <= {"", "●", "◇"}
    assert "●: defended" in tab.texts(".legend li")


def test_many_agents_are_shown_as_their_policies(tab: Tab, large: Path) -> None:
    tab.open(large.with_suffix(".html"))
    state = rebuild(large, 12).state
    policies = [entry["policy"] for entry in state.roster]

    assert "greedy-mine*12,raid*8,random*4" in tab.text(".kicker")
    assert 35 * 35 == tab.page.locator(".cell").count()
    assert 0 == tab.page.locator(".chip, g .arrow").count()
    chart = tab.page.locator("#outcome [role=slider]")
    assert 3 == chart.locator(".line").count()
    raiders = [gold for gold, policy in zip(state.gold, policies, strict=True) if policy == "raid"]
    assert f"raid × 8 {mean(raiders):,.10g}," in str(chart.get_attribute("aria-valuetext"))
    plots = [sum(owner is not None and policies[owner] == p for owner in state.owner) for p in (
        "greedy-mine", "raid", "random")]  # fmt: skip
    assert [
        f"{policy}: {count} plot{'s' * (count != 1)}"
        for policy, count in zip(("greedy-mine × 12", "raid × 8", "random × 4"), plots, strict=True)
    ] == tab.texts(".policies li")


def test_a_plot_of_a_large_map_and_one_agent_of_many_are_found(tab: Tab, large: Path) -> None:
    tab.open(large.with_suffix(".html"))
    state = rebuild(large, 12).state
    tab.page.get_by_role("gridcell").first.focus()
    tab.press("ArrowDown", "ArrowRight", "Enter")
    owner = state.owner[36]

    assert str(tab.page.get_by_role("gridcell").nth(36).get_attribute("aria-label")).startswith(
        f"plot 36, {'nobody' if owner is None else f'agent {owner}'}'s"
    )
    assert "plot=36" in tab.moment
    assert "Plot 36" in tab.text(".selected h2")

    tab.page.get_by_text("Each of the 24 agents").click()
    part = tab.page.locator("#standings details")
    until(lambda: part.locator("tbody tr").count() == 24)
    part.get_by_label("Search").fill("random")
    assert {"20", "21", "22", "23"} == {row[0] for row in table(tab, "Each agent")}


@pytest.mark.turns
@pytest.mark.parametrize(("scheme", "size"), [("dark", WIDE), ("light", PHONE)], ids=str)
def test_everybody_can_use_the_page_of_a_large_run(
    scheme: str, size: dict[str, int], large: Path, new_tab: Callable[..., Tab]
) -> None:
    tab = new_tab(scheme, size).open(large.with_suffix(".html"), "#round=5&plot=40&agent=3")
    for part in tab.page.locator("summary").all():
        part.click()

    assert [] == tab.violations()
    assert 0 >= tab.page.evaluate("document.documentElement.scrollWidth - innerWidth")


def test_two_runs_begin_with_what_differs_for_the_same_agents(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    """A fork gives some agents another policy: what they have is compared with what they had."""
    a, b = path_of("baseline"), path_of("forked")
    before, after = outcome(a), outcome(b)
    members: dict[tuple[str, str], list[int]] = {}
    for agent, policies in enumerate(zip(before.policies, after.policies, strict=True)):
        members.setdefault(policies, []).append(agent)
    tab.open(paged(a, b))
    rows = {row[0]: row[1:] for row in table(tab, "Outcome of both runs by policy")}

    changes = {}
    for policies, agents in members.items():
        means = [mean([run.by_agent[agent] for agent in agents]) for run in (before, after)]
        label = policies[1]
        assert policies[0] == label.split(" → ")[0]
        changes[label] = means[1] - means[0]
        sign = "+" if changes[label] > 0 else "−"
        assert [str(len(agents)), *map(format_number, means)] == rows[label][:3]
        assert f"{sign}{format_number(abs(changes[label]))}" == rows[label][3]
    largest = max(changes.values(), key=abs)
    direction = "more" if largest > 0 else "less"
    assert f", {format_number(abs(largest))} {direction} than in run A" in tab.text("h1")
    tab.page.get_by_role("link", name="round 11").first.click()
    assert until(lambda: "round 11" == tab.text("#now"))


def test_a_chart_of_two_runs_compares_the_agents_of_its_table(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    a, b = path_of("baseline"), path_of("forked")
    page = paged(a, b)
    tab.open(page)
    data = data_of(page.read_text())
    lines = [
        {line["policy"]: line["values"] for line in front["lines"]} for front in data["fronts"]
    ]
    rows = {row[0]: row[2:4] for row in table(tab, "Outcome of both runs by policy")}

    assert set(rows) == set(lines[0]) == set(lines[1])
    for label, ends in rows.items():
        ours, theirs = (run[label] for run in lines)
        assert ends == [format_number(line[-1]) for line in (ours, theirs)]
        assert ours[:10] == theirs[:10]  # up to the fork
    assert any("→" in label for label in rows)


def test_two_runs_tell_what_follows_for_each_group(tab: Tab, paged: Callable[..., Path]) -> None:
    a, b = path_of("baseline"), path_of("forked")
    plots = [[float(len(held)) for held in rebuild(path, 20).state.plots_of] for path in (a, b)]
    tab.open(paged(a, b))
    head = tab.page.get_by_role("group", name="Outcome of both runs by policy").locator("thead th")
    labels = outcome(b).policies  # what agents of the fork played before is what they play in A
    expected = {}
    for label in labels:
        agents = [agent for agent, other in enumerate(labels) if other == label]
        before, after = (mean([held[agent] for agent in agents]) or 0.0 for held in plots)
        change = after - before
        expected[label] = f"{change:+.3g}".replace("-", "−") if change else "0"

    assert "plots, B − A" == head.all_text_contents()[-1]
    assert expected == {row[0]: row[-1] for row in table(tab, "Outcome of both runs by policy")}


def test_the_outcome_of_a_part_is_that_of_the_whole_run(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    journal = path_of("baseline")
    tab.open(paged(journal, units=(4, 6)))

    assert outcome(journal).sentences[0] == tab.text("h1")
    assert "1" == tab.page.locator("#outcome .tick").all_text_contents()[-2].split()[-1]
    assert "20" == tab.page.locator("#outcome .tick").all_text_contents()[-1]


@pytest.mark.parametrize("rounds", [1, 7, POINTS_MAX, POINTS_MAX + 1, 3 * POINTS_MAX + 6])
def test_points_are_few_and_end_with_the_last_unit(rounds: int, path: Path) -> None:
    record(path, {"rounds": rounds, "agents": 2, "rows": 1, "cols": 2}, "greedy-mine*2")
    tools = tools_at(path)
    front = shown_of(path, tools, (None, None)).front

    assert sampled(rounds, POINTS_MAX) == [unit for unit, _ in front.points]
    assert len(front.points) <= 241
    for unit, point in (front.points[0], front.points[-1]):
        assert pytest.approx(rebuild(path, unit).state.gold, rel=1e-5) == point


def test_the_chart_of_a_run_is_of_its_outcome(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(path, {"rounds": 5, "agents": 2, "rows": 1, "cols": 2}, "greedy-mine*2")
    tools = tools_at(path)
    plots, *others = reversed(tools.measures.of_agents.values())
    measures = attrs.evolve(tools.measures, of_agents=named(plots, *others))
    monkeypatch.setattr(type(tools), "measures", measures)
    front = shown_of(path, tools, (None, None)).front
    unit, point = front.points[-1]

    assert ("plots", 5) == (front.as_dict()["title"], unit)
    owners = list(rebuild(path, 5).state.owner)
    assert [owners.count(agent) for agent in range(2)] == list(point)


def ended(*agents: tuple[str, float | None]) -> RunOutcome:
    """The outcome of agents, each with its policy and its gold."""
    policies, gold = [policy for policy, _ in agents], [value for _, value in agents]
    return RunOutcome(
        AgentMeasure("gold", "gold", ""), standings_of(gold, policies), gold, policies, None, []
    )


FIVE = [(policy, float(at)) for at, policy in enumerate("vwxyz", 1)]


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        (
            [("x", 10.0)],
            [("x", 10.0)],
            "At the end both runs have the same mean gold of each policy.",
        ),
        ([("x", None)], [("x", 10.0)], "The two runs have no policy in common whose gold can be"),
        ([("x", 10.0)], [("y", 9.0), ("y", 1.0)], "The two runs have no policy in common whose"),
        (
            [("x", 10.0), ("y", 5.0)],
            [("x", 8.0), ("y", 9.0)],
            "At the end y has 9 gold on average in run B, 4 more than in run A; x 8, 2 less.",
        ),
        (
            [("x", 10.0), ("x", 5.0), ("x", 6.0), ("x", 7.0)],
            [("x", 10.0), ("x", 5.0), ("y", 1.0), ("y", 2.0)],
            "At the end x | y has 1.5 gold on average in run B, 5 less than in run A.",
        ),
        (
            [("x", 10.0), ("x", 5.0), ("x", 6.0), ("x", 7.0)],
            [("x", 10.0), ("x", 5.0), ("x → y", 1.0), ("x → y", 2.0)],
            "At the end x → y has 1.5 gold on average in run B, 5 less than in run A.",
        ),
        (
            FIVE,
            [(policy, value + at) for at, (policy, value) in enumerate(FIVE, 1)],
            "At the end z has 10 gold on average in run B, 5 more than in run A; y 8, 4 more.",
        ),
        (
            [("x", 10.0), ("x", 20.0)],
            [("x", 10.0), ("x", 20.0), ("x", 30.0)],
            "At the end x has 20 gold on average in run B, 5 more than in run A.",
        ),
    ],
)
def test_what_differs_in_the_outcome_is_said(
    a: list[tuple[str, float | None]], b: list[tuple[str, float | None]], says: str
) -> None:
    assert compared(ended(*a), ended(*b), after="At the end").startswith(says)


def top_of(page: str) -> str:
    """The text above the check of a page."""
    top = page.partition('class="kicker"')[2].partition('id="seal-0"')[0]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", top))


def test_runs_of_other_lengths_are_compared_after_the_last_round_of_both(tmp_path: Path) -> None:
    paths = {rounds: tmp_path / f"{rounds}.journal" for rounds in (6, 20)}
    for rounds, path in paths.items():
        record(path, {"rounds": rounds, "seed": 3}, "greedy-mine*5,raid*5")
    page = page_of(paths[20], paths[6])
    short = outcome(paths[6])
    gold = {each.policy: format_number(each.mean) for each in short.standings}

    assert "<h1>After 6 rounds both runs have the same mean gold of each policy.</h1>" in page
    top = top_of(page)
    for policy, mean_gold in gold.items():
        assert f" {policy} 5 {mean_gold} {mean_gold} 0 " in top
    assert "A mining: 20 rounds of 10 agents, " in top
    assert "seed 3, rounds 6: greedy-mine*5,raid*5 " in top
    assert "Run B is the beginning of run A: it ends with round 6." in top


def test_a_run_without_a_closed_round_is_refused_beside_another(tmp_path: Path) -> None:
    whole, begun = tmp_path / "whole.journal", tmp_path / "begun.journal"
    record(whole, {"rounds": 2, "seed": 3}, "raid*3")
    with JournalReader(whole) as reader:
        start = next(iter(reader)).end
    begun.write_bytes(whole.read_bytes()[:start])

    with pytest.raises(BadInput, match=r"begun\.journal has no round to show there"):
        page_of(whole, begun)


def test_what_follows_is_counted_after_the_last_round_of_both(tmp_path: Path) -> None:
    for name, rounds, seed in (("a", 20, 3), ("b", 6, 4), ("c", 6, 3)):
        settings = {"rounds": rounds, "seed": seed}
        record(tmp_path / f"{name}.journal", settings, "greedy-mine*5,raid*5")
    both = [top_of(page_of(tmp_path / f"{name}.journal", tmp_path / "b.journal")) for name in "ac"]

    both = [text.partition("plots, B − A")[2].partition("Where the two")[0] for text in both]
    assert both[0] == both[1] != ""


def test_a_damaged_run_is_compared_as_far_as_it_can_be_read(tmp_path: Path) -> None:
    whole, cut = path_of("baseline"), tmp_path / "cut.journal"
    [sixth] = [c for c in commits_of(whole) if c.kind == UNIT and c.unit == 6 and c.digest]
    cut.write_bytes(whole.read_bytes()[: sixth.end + 9])
    page = page_of(whole, cut)

    said = "<strong>B</strong> The journal breaks off: all of this is of the rounds up to 6."
    assert 0 < page.find(said) < page.find("<h1>After 6 rounds both runs have the same mean gold")
    assert "<strong>A</strong> The journal breaks off" not in page
    part = page_of(whole, cut, units=(2, 3))
    assert "rounds up to 6. The player has rounds 2 to 3 of 6; what stands above it" in part
    assert (
        "<strong>A</strong> The player has rounds 2 to 3 of 20; what stands above it is of all "
        in (part)
    )
    assert "is of the whole run" not in part


def test_agents_of_a_policy_are_counted_in_both_runs(tmp_path: Path) -> None:
    for name, roster in (("a", "greedy-mine*7,raid*3"), ("b", "greedy-mine*2,raid*3")):
        agents = 10 if name == "a" else 5
        record(tmp_path / f"{name}.journal", {"rounds": 4, "agents": agents}, roster)
    top = top_of(page_of(tmp_path / "a.journal", tmp_path / "b.journal"))

    assert "policy agents in A | B mean gold in A" in top
    assert " greedy-mine 7 | 2 " in top
    assert " raid 3 " in top


def test_an_outcome_that_is_of_the_run_is_compared() -> None:
    one, other = (
        RunOutcome(Measure("ill", "ill, people", ""), [], (), ["x"], value, [])
        for value in (61.4, 54.0)
    )

    text = "Ill, people: 61.4 in run A, 54 in run B."
    assert text == compared(one, other, after="After 6 days")


def test_single_agents_have_a_line_each_up_to_a_limit(tmp_path: Path) -> None:
    for count, lines in ((SINGLE_MAX, SINGLE_MAX), (SINGLE_MAX + 1, 1)):
        journal = tmp_path / f"{count}.journal"
        record(journal, {"rounds": 2, "agents": count}, "greedy-mine")
        [front] = data_of(page_of(journal))["fronts"]

        assert lines == len(front["lines"])
