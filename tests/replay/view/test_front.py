"""What a reader of the page of a run sees first: who ended with how much, and since when."""

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from goldrush.kernel.journal import JournalReader
from goldrush.kernel.measures import mean
from goldrush.replay.data.measures import AgentMeasure, Measure, named
from goldrush.replay.data.sampling import sampled
from goldrush.replay.find import tools_at
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.outcome import RunOutcome, outcome_of, standings_of
from goldrush.replay.text import format_number
from goldrush.replay.view.page import page_of, write_page
from goldrush.replay.view.shown import shown_of
from goldrush.replay.view.top import compared
from goldrush.replay.view.walked import POINTS_MAX
from tests.browser import Tab
from tests.golden import path_of
from tests.mining import record
from tests.pages import data_of
from tests.waiting import until

ROSTER = "greedy-mine*12,raid*8,random*4"  # more agents than are shown singly
SETTINGS = {"rounds": 12, "agents": 24, "rows": 35, "cols": 35}


def outcome(path: Path) -> RunOutcome:
    tools = tools_at(path)
    with JournalReader(path) as reader:
        return outcome_of(tools, tools.measures.read(reader))


def table(tab: Tab, name: str) -> list[list[str]]:
    lines = tab.page.get_by_role("group", name=name, exact=True).locator("tbody tr")
    return [line.locator("th, td").all_text_contents() for line in lines.all()]


def test_a_page_opens_with_the_outcome_and_at_the_last_round_also_without_scripts(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    journal = path_of("baseline")
    expected = outcome(journal)
    page = paged(journal, units=(4, 6))
    still = tab.context.browser.new_context(java_script_enabled=False).new_page()
    still.goto(page.as_uri())
    tab.open(page)

    assert expected.sentences[0] == still.locator("h1").inner_text() == tab.text("h1")
    assert [
        [each.policy, str(len(each.agents)), format_number(each.mean)]
        for each in expected.standings
    ] == [row[:3] for row in table(tab, "Standings by policy")]
    assert "round 6" == tab.text("#now")
    assert "20" == tab.page.locator("#outcome .tick").all_text_contents()[-1]
    still.context.close()


def test_the_values_of_a_chart_are_read_by_keys_and_downloaded(
    tab: Tab, tmp_path: Path, paged: Callable[..., Path]
) -> None:
    journal = path_of("baseline")
    tab.open(paged(journal))
    chart = tab.page.locator("#outcome [role=slider]")
    chart.focus()
    tab.press("Home", "ArrowRight", "ArrowRight", "ArrowLeft")
    second = rebuild(journal, 2).state

    assert "round 2: " + ", ".join(
        f"{agent} {entry['policy']} {gold:,.10g}"
        for agent, (entry, gold) in enumerate(zip(second.roster, second.gold, strict=True))
    ) == chart.get_attribute("aria-valuetext")
    tab.press("Enter")
    assert "round=2" == tab.moment
    with tab.page.expect_download() as download:
        tab.page.get_by_role("button", name="gold as CSV", exact=True).click()
    download.value.save_as(tmp_path / "gold.csv")
    _, *rows = csv.reader((tmp_path / "gold.csv").read_text().splitlines())
    assert [[float(cell) for cell in row[1:]] for row in rows] == [
        pytest.approx(rebuild(journal, unit).state.gold, rel=1e-5) for unit in range(1, 21)
    ]


def test_many_agents_are_shown_as_their_policies(tab: Tab, tmp_path: Path) -> None:
    path, page = tmp_path / "large.journal", tmp_path / "large.html"
    record(path, SETTINGS, ROSTER)
    write_page(path, page)
    tab.open(page)
    state = rebuild(path, 12).state
    policies = [entry["policy"] for entry in state.roster]

    assert 35 * 35 == tab.page.locator(".cell").count()
    chart = tab.page.locator("#outcome [role=slider]")
    assert 3 == chart.locator(".line").count()
    raiders = [gold for gold, policy in zip(state.gold, policies, strict=True) if policy == "raid"]
    assert f"raid × 8 {mean(raiders):,.10g}," in str(chart.get_attribute("aria-valuetext"))
    for policy, shown in zip(
        ("greedy-mine", "raid", "random"), tab.texts(".policies li"), strict=True
    ):
        plots = sum(owner is not None and policies[owner] == policy for owner in state.owner)
        assert f": {plots} plot" in shown


def test_two_runs_begin_with_what_differs_for_the_same_agents(
    tab: Tab, paged: Callable[..., Path]
) -> None:
    """A fork gives some agents another policy: what they have is compared with what they had."""
    a, b = path_of("baseline"), path_of("forked")
    before, after = outcome(a), outcome(b)
    members: dict[tuple[str, str], list[int]] = {}
    for agent, policies in enumerate(zip(before.policies, after.policies, strict=True)):
        members.setdefault(policies, []).append(agent)
    page = paged(a, b)
    tab.open(page)
    rows = {row[0]: row[1:] for row in table(tab, "Outcome of both runs by policy")}
    lines = [
        {line["policy"]: line["values"] for line in run["front"]["lines"]}
        for run in data_of(page.read_text())["runs"]
    ]

    for policies, agents in members.items():
        means = [mean([run.by_agent[agent] for agent in agents]) for run in (before, after)]
        label = policies[1]
        assert policies[0] == label.split(" → ")[0]
        assert [str(len(agents)), *map(format_number, means)] == rows[label][:3]
        assert rows[label][3].startswith("+") == (means[1] > means[0])
        ours, theirs = (run[label] for run in lines)
        assert rows[label][1:3] == [format_number(line[-1]) for line in (ours, theirs)]
        assert ours[:10] == theirs[:10]  # up to the fork
    assert set(rows) == set(lines[0]) == set(lines[1])
    tab.page.get_by_role("link", name="round 11").first.click()
    assert until(lambda: "round 11" == tab.text("#now"))
    owners = zip(*(rebuild(path, 11).state.owner for path in (a, b)), strict=True)
    apart = sum(one != other for one, other in owners)
    assert 2 * apart == tab.page.locator(".cell.differs").count() > 0


@pytest.mark.parametrize("rounds", [1, POINTS_MAX, POINTS_MAX + 1], ids=["1", "most", "more"])
def test_points_are_few_and_end_with_the_last_unit(rounds: int, path: Path) -> None:
    record(path, {"rounds": rounds, "agents": 2, "rows": 1, "cols": 2}, "greedy-mine*2")
    tools = tools_at(path)
    front = shown_of(path, tools, (None, None)).data["front"]
    units, lines = front["units"], front["lines"]

    assert sampled(rounds, POINTS_MAX) == units
    assert len(units) <= 241
    for at in (0, -1):
        point = [line["values"][at] for line in lines]
        assert pytest.approx(rebuild(path, units[at]).state.gold, rel=1e-5) == point


def test_the_chart_of_a_run_is_of_its_outcome(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record(path, {"rounds": 5, "agents": 2, "rows": 1, "cols": 2}, "greedy-mine*2")
    tools = tools_at(path)
    plots, *others = reversed(tools.measures.of_agents.values())
    measures = replace(tools.measures, of_agents=named(plots, *others))
    monkeypatch.setattr(type(tools), "measures", measures)
    front = shown_of(path, tools, (None, None)).data["front"]
    point = [line["values"][-1] for line in front["lines"]]

    assert ("plots", 5) == (front["title"], front["units"][-1])
    owners = list(rebuild(path, 5).state.owner)
    assert [owners.count(agent) for agent in range(2)] == point


def ended(agents: str) -> RunOutcome:
    """The outcome of agents, each with its policy and its gold: "x 10, y -"."""
    policies, values = zip(*(agent.split() for agent in agents.split(", ")), strict=True)
    gold = [None if value == "-" else float(value) for value in values]
    return RunOutcome(
        AgentMeasure("gold", "gold", ""), standings_of(gold, policies), gold, policies, None, []
    )


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        ("x 10", "x 10", "both runs have the same mean gold"),
        (
            "x 10, y 5",
            "x 8, y 9",
            "y has 9 gold on average in run B, 4 more than in run A.",
        ),
        (
            "x 10, x 5, x 6, x 7",
            "x 10, x 5, y 1, y 2",
            "x | y has 1.5 gold on average in run B, 5 less than in run A.",
        ),
        (
            "v 1, w 2, x 3, y 4, z 5",
            "v 2, w 4, x 6, y 8, z 10",
            "z has 10 gold on average in run B, 5 more than in run A.",
        ),
        ("x 10, x 20", "x 10, x 20, x 30", "x has 20 gold on average in run B, 5 more"),
    ],
)
def test_what_differs_in_the_outcome_is_said(a: str, b: str, says: str) -> None:
    told = compared(ended(a), ended(b), after="At the end")

    assert told.startswith(f"At the end {says}")
    assert "no policy in common" in compared(ended("x -"), ended(b), after="At the end")


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
        assert f" {policy} 5 {mean_gold} {mean_gold} +0 " in top
    assert "Run B is the beginning of run A: it ends with round 6." in top
    # What follows is counted up to there, too.
    record(tmp_path / "other.journal", {"rounds": 6, "seed": 4}, "greedy-mine*5,raid*5")
    against = [top_of(page_of(paths[n], tmp_path / "other.journal")) for n in (6, 20)]
    follows = [text.partition("in B B − A")[2].partition("Where")[0] for text in against]
    assert follows[0] == follows[1] != ""


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

    assert "Ill, people: 61.4 in run A, 54 in run B." == compared(one, other, after="After 6 days")
