"""What a person sees of an episode: sentences with names, the page, hostile names, large runs."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.story import narrator
from goldrush.replay.text import plain
from goldrush.replay.view.page import page_of, write_page
from tests.browser import PHONE, WIDE, Tab, browsers
from tests.cli.helpers import goldrush
from tests.journals import events_of
from tests.pages import data_of, unpacked
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


def test_numbers_that_json_lacks_are_named(tmp_path: Path) -> None:
    path = walked(tmp_path / "run.journal", rewards=[nan, inf])

    assert "walker_0 gets the reward nan" in _lines(path, 1)
    assert "walker_0 gets the reward inf" in _lines(path, 2)


def test_the_page_lists_episodes_and_what_its_check_rests_on(browser: Any, tmp_path: Path) -> None:
    path, page = walked(tmp_path / "run.journal"), tmp_path / "run.html"
    write_page(path, page)
    tab = Tab(browser, "light", WIDE).open(page, "#step=1")

    assert ["1", "0", "5", "15", "15", "0", "terminated", "7"] == tab.texts(
        ".parts tbody tr:first-child > *"
    )
    assert "walker_0: observation is [1, 2]" in tab.texts(".sentence")
    assert "step 6: reset without a seed, so the recorder drew one" in tab.texts("dd")
    assert "python 3.11.7, numpy 2.1.0" in tab.texts("dd")
    assert "goldrush verify run.journal --env module:make" in tab.text(".journal")
    tab.page.click(".parts a >> nth=1")
    assert "step=6" == tab.moment
    assert [] == tab.violations()
    assert [] == tab.leave()


def test_the_page_of_a_model_charts_its_variables(browser: Any, tmp_path: Path) -> None:
    path, page = tmp_path / "run.journal", tmp_path / "run.html"
    write_page(record(path, Growth(), [reset(2), *[STEP] * 9]), page)
    tab = Tab(browser, "dark", WIDE).open(page)

    assert "Reported last: Size is 11." == tab.text("h1")
    assert ["Size", "Size"] == [text.split()[0] for text in tab.texts(".chart figcaption")]
    assert "by the name of its type alone: generator[random] (a Generator)" in tab.texts("dd")
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


ENV = """
import gymnasium, numpy

class Dot(gymnasium.Env):
    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Discrete(99)

    def __init__(self, render_mode=None, size=700):
        self.render_mode, self.size, self.x = render_mode, size, 0

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x = 0
        return self.x, {}

    def step(self, action):
        self.x += 1
        return self.x, 1.0, self.x == 9, False, {}

    def render(self):
        return numpy.full((self.size, 300, 3), (7 * self.x, 9, 99), numpy.uint8)
"""


def test_a_given_environment_draws_its_steps(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "dot.py").write_text(ENV)
    env = ("--env", "dot.py:Dot")
    made = goldrush(
        "record", *env, "--set", "steps=300", "--roster", "random", "--out", "run.journal",
        cwd=tmp_path,
    )  # fmt: skip
    assert 0 == made.code
    assert 0 == goldrush("view", "run.journal", *env, cwd=tmp_path).code
    tab = Tab(browser, "light", PHONE).open(tmp_path / "run.html", "#step=4")
    tab.page.wait_for_selector(".picture canvas[width='150']")
    pixel = "document.querySelector('.picture canvas').getContext('2d').getImageData(9, 9, 1, 1)"

    assert [28, 9, 99, 255] == list(tab.page.evaluate(f"[...{pixel}.data]"))
    assert "one step in 4" in tab.text(".picture figcaption")
    assert [] == tab.violations()
    assert [] == tab.leave()
    assert 0 == goldrush("view", "run.journal", cwd=tmp_path).code
    page = (tmp_path / "run.html").read_text()
    assert "Drawn by" not in unpacked(page, "page").decode()


@pytest.mark.parametrize("fault", ["1 // 0", "exit(0)"])
def test_an_environment_that_cannot_be_drawn_says_why(tmp_path: Path, fault: str) -> None:
    (tmp_path / "dot.py").write_text(ENV.replace("(7 * self.x, 9, 99)", fault))
    env = ("--env", "dot.py:Dot")
    goldrush(
        "record", *env, "--set", "steps=9", "--roster", "random", "--out", "run.journal",
        cwd=tmp_path,
    )  # fmt: skip

    assert 0 == goldrush("view", "run.journal", *env, cwd=tmp_path).code
    page = (tmp_path / "run.html").read_text()
    assert "The environment cannot be drawn: " in unpacked(page, "page").decode()


def test_the_page_holds_many_agents_and_steps(tmp_path: Path) -> None:
    many = record(tmp_path / "many.journal", Walkers(count=300), [reset(7), act(*[1] * 300)])
    units = [unit for _ in range(1000) for unit in (reset(7), *[act(1, 0)] * 9)]
    long = record(tmp_path / "long.journal", Walkers(length=9), units)

    assert 300_000 > len(page_of(many))
    page = page_of(long)
    assert 1000 == data_of(page)["runs"][0]["added"]["parts"]["of"]
    assert 2_000_000 > len(page)
