"""What a person sees of an episode: sentences with names, the page, hostile names, large runs."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from goldrush import wrap
from goldrush.agents import given
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.story import narrator
from goldrush.replay.text import plain
from goldrush.replay.view.page import page_of, write_page
from tests.browser import WIDE, Tab, browsers
from tests.journals import events_of
from tests.pages import data_of
from tests.replay.worlds.episode.envs import NoisyWalk
from tests.replay.worlds.episode.models import Herd, Walk
from tests.replay.worlds.episode.recorded import (
    STEP,
    Growth,
    Walkers,
    act,
    record,
    reset,
    walked,
)

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    yield from browsers()


def _lines(path: Path, unit: int) -> list[str]:
    return list(narrator(path)(e for e in events_of(path) if e.unit == unit))


def test_a_step_is_told_with_the_names_of_agents(tmp_path: Path) -> None:
    path = walked(tmp_path / "run.journal")

    assert [
        "walker_0 acts: 1",
        "walker_1 acts: 0",
        "walker_0: observation is [1, 2]",
        "walker_0: info[at] is 1",
        "walker_1: observation is [0, 0]",
        "walker_1: info[at] is 0",
        "walker_0 gets the reward 1",
        "walker_1 gets the reward 0",
    ] == _lines(path, 1)[:-1]
    assert "episode 2, step of the episode 1, over False" in rebuild(path, 7).format(plain)
    # The third of the rewards 1, 2, 3, and their sum.
    assert "walker_0        3        6" in rebuild(path, 3).format(plain)


def test_two_runs_of_a_model_have_no_roster_after_their_titles(tmp_path: Path) -> None:
    paths = [tmp_path / f"{alive}.journal" for alive in (5, 9)]
    for path, alive in zip(paths, (5, 9), strict=True):
        wrap(Herd, path, alive=alive, seed=3, steps=4)
    page = page_of(*paths)

    assert "Herd, 4 steps, seed 3, alive 5</li>" in page
    assert "Herd, 4 steps, seed 3, alive 9</li>" in page


def test_numbers_that_json_lacks_are_named(tmp_path: Path) -> None:
    path = walked(tmp_path / "run.journal", rewards=[nan, inf])

    assert "walker_0 gets the reward nan" in _lines(path, 1)
    assert "walker_0 gets the reward inf" in _lines(path, 2)


def test_the_page_lists_episodes(browser: Any, tmp_path: Path) -> None:
    path, page = walked(tmp_path / "run.journal"), tmp_path / "run.html"
    write_page(path, page)
    tab = Tab(browser, "light", WIDE).open(page, "#step=1")

    assert ["1", "0", "5", "15", "terminated", "7"] == tab.texts(".parts tbody tr:first-child > *")
    assert "walker_0: observation is [1, 2]" in tab.texts(".sentence")
    assert any(text.endswith("(drawn)") for text in tab.texts(".parts td"))
    assert "python 3.11.7, numpy 2.1.0" in tab.texts("dd")
    assert "goldrush verify run.journal --env module:make" in tab.text(".journal")
    tab.page.click(".parts a >> nth=1")
    assert "step=6" == tab.moment
    assert [] == tab.violations()
    assert [] == tab.leave()


def test_each_step_shows_its_episode(browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "run.html"
    write_page(walked(tmp_path / "run.journal", episodes=3), page)
    tab = Tab(browser, "light", WIDE)
    current = {}
    for step in (0, 5, 6, 11, 12, 17):
        tab.open(page, f"#step={step}")
        current[step] = tab.texts(".parts tr[aria-current] > :first-child")

    assert {0: ["1"], 5: ["1"], 6: ["2"], 11: ["2"], 12: ["3"], 17: ["3"]} == current
    assert [] == tab.leave()


@pytest.mark.parametrize(
    ("steps", "episodes"),
    [
        ((0, 4), ["1"]),
        ((5, 5), ["1"]),
        ((5, 6), ["1", "2"]),
        ((6, 6), ["2"]),
        ((7, 12), ["2", "3"]),
    ],
)
def test_a_page_of_some_steps_lists_their_episodes(
    steps: tuple[int, int], episodes: list[str], tmp_path: Path
) -> None:
    [run] = data_of(page_of(walked(tmp_path / "run.journal", episodes=3), units=steps))["runs"]
    parts = run["added"]["parts"]

    assert (episodes, len(episodes)) == ([row[2] for row in parts["rows"]], parts["of"])


def test_the_page_of_a_model_charts_its_variables(browser: Any, tmp_path: Path) -> None:
    path, page = tmp_path / "run.journal", tmp_path / "run.html"
    write_page(record(path, Growth(), [reset(2), *[STEP] * 9]), page)
    tab = Tab(browser, "dark", WIDE).open(page)

    assert "Reported last: Size is 11." == tab.text("h1")
    assert ["Size"] == [text.split()[0] for text in tab.texts(".chart figcaption")]
    assert [] == tab.violations()
    assert [] == tab.leave()


def test_hostile_names_stay_text(browser: Any, tmp_path: Path) -> None:
    path, page = tmp_path / "run.journal", tmp_path / "run.html"
    subject = Walkers(array=f"observation[{HOSTILE}\u202e]", rewards=[nan, inf])
    units = [reset(7), act(1, 0), act(1, 0)]
    record(path, subject, units, names=[HOSTILE, "\x1b[31mred"], ignored=[f"info[{HOSTILE}]"])
    write_page(path, page)
    tab = Tab(browser, "light", WIDE).open(page, "#step=2")

    assert any(HOSTILE in text for text in tab.texts(".sentence"))
    assert "\x1b" not in page.read_text() + "".join(_lines(path, 1))
    assert [] == tab.leave()


def test_the_page_begins_with_what_the_class_says_of_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.journal"
    wrap(Walk, path, steps=2)
    monkeypatch.setattr(given, "_MAKERS", {})
    about = '<p class="world">A plain class: points that walk at random.</p>'

    assert about not in page_of(path)
    given.give(Herd)
    assert about not in page_of(path)
    given.give(Walk)
    assert about in page_of(path)


def test_the_page_holds_many_agents_and_steps(tmp_path: Path) -> None:
    many = record(tmp_path / "many.journal", Walkers(count=300), [reset(7), act(*[1] * 300)])
    units = [unit for _ in range(1000) for unit in (reset(7), *[act(1, 0)] * 9)]
    long = record(tmp_path / "long.journal", Walkers(length=9), units)

    assert 300_000 > len(page_of(many))
    page = page_of(long)
    assert 1000 == data_of(page)["runs"][0]["added"]["parts"]["of"]
    assert 2_000_000 > len(page)


def test_what_one_agent_gets_is_charted_once(tmp_path: Path) -> None:
    env = wrap(NoisyWalk, tmp_path / "run.journal")
    for _ in range(2):
        env.reset(seed=1)
        for action in 1, 0, 1:
            env.step(action)
    [run] = data_of(page_of(tmp_path / "run.journal"))["runs"]
    names = [chart["name"] for chart in (*run["charts"], *run["measures"])]

    assert ["reward", "episode", "length"] == names

    [run] = data_of(page_of(walked(tmp_path / "two.journal")))["runs"]
    assert ["rewards"] == [chart["name"] for chart in run["charts"]]
    assert {"reward", "return"} <= {chart["name"] for chart in run["measures"]}


def test_a_page_has_no_sentence_on_nobody_and_no_column_of_one_environment(tmp_path: Path) -> None:
    model = record(tmp_path / "model.journal", Growth(), [reset(2), STEP])
    [run] = data_of(page_of(model))["runs"]
    [episodes] = data_of(page_of(walked(tmp_path / "run.journal")))["runs"]
    head = episodes["added"]["parts"]["head"]

    assert "turn" not in {template[0] for template in run["templates"]}
    assert ["episode", "from step", "steps", "return", "end", "seed"] == head
