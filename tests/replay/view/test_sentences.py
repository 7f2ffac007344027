"""A sentence of an event is written once: the page of a run shows those that Python makes."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from goldrush.replay.journal.rebuild import last_unit, world_at
from goldrush.replay.worlds.competition.view.view import VIEW as SEASON
from goldrush.replay.worlds.mining.view.view import VIEW as MINING
from tests.browser import Tab
from tests.golden import path_of, season_path
from tests.pages import sentences_of, shown_sentences

# Shown with the table that is selected, or in the table of scores.
ELSEWHERE = {"adopted", "digested", "roundtable_opened", "sparks_moved", "table_set"}


def units(journal: Path) -> range:
    return range(world_at(journal).vocabulary.number(1), last_unit(journal)[0] + 1)


@pytest.mark.turns
@pytest.mark.parametrize("name", ["forked", "authority-adjudicate"])
def test_each_result_of_a_round_is_shown_in_the_sentence_that_python_makes(
    name: str, tab: Tab, paged: Callable[..., Path]
) -> None:
    journal = path_of(name)
    assert MINING.told is not None
    tab.open(paged(journal))
    met = set()
    for unit in units(journal):
        tab.page.evaluate(f"location.hash = '#round={unit}'")
        tab.page.wait_for_function(
            "moment => document.getElementById('now').textContent === moment", arg=f"round {unit}"
        )
        expected = sentences_of(journal, unit, MINING.told)

        assert sorted(line for _, line in expected) == shown_sentences(tab)
        met |= {name for name, _ in expected}
    assert name != "forked" or met == set(MINING.told)


@pytest.mark.turns
@pytest.mark.parametrize("name", ["every-event", "every-code"])
def test_what_precedes_and_follows_the_tables_is_shown_in_the_sentences_that_python_makes(
    name: str, tab: Tab, paged: Callable[..., Path]
) -> None:
    journal = season_path(name)
    assert SEASON.told is not None
    tab.open(paged(journal))
    met = set()
    for unit in units(journal):
        tab.page.evaluate(f"location.hash = '#assignment={unit}'")
        tab.page.wait_for_function(
            "moment => document.getElementById('now').textContent === moment",
            arg=f"assignment {unit}",
        )
        expected = sentences_of(journal, unit, SEASON.told)
        shown = shown_sentences(tab)

        assert set(shown) <= {line for _, line in expected}
        assert {line for name, line in expected if name not in ELSEWHERE} <= set(shown)
        assert [] == [text for text in tab.texts("p, li") if re.search(r"[.?!]”\.|\.\.$", text)]
        met |= {name for name, _ in expected}
    assert name != "every-event" or met == set(SEASON.told)
