"""Measures of a game that fail, and games without any."""

from contextlib import nullcontext

import attrs
import pytest

from goldrush.kernel.errors import BadInput
from goldrush.replay.summary import summarise
from goldrush.testing import LAWS, broken, trial
from tests.games.fisheries import SOURCE, changed, recorded

VALUE = 'season."""\n        return state.stock'


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("1 / 0", "fishery.py:.*: ZeroDivisionError"),
        ("float('nan')", "it gives nan"),
    ],
)
def test_a_measure_that_fails_is_named_and_the_journal_stays(tmp_path, value, says):
    game = changed(tmp_path, VALUE, f'season."""\n        return 1 if state.unit < 3 else {value}')
    path = tmp_path / "run.journal"
    recorded(game, path)
    recorded_bytes = path.read_bytes()
    with pytest.raises(BadInput, match=f"measure stock failed after season 3: .*{says}"):
        summarise(path)
    assert path.read_bytes() == recorded_bytes


@pytest.mark.parametrize("since", [3, 40])
def test_a_measure_that_changes_the_state_is_named(tmp_path, since):
    grown = f"if state.unit > {since}: state.stock += 1\n        return state.stock"
    game = changed(tmp_path, VALUE, VALUE.replace("return state.stock", grown))
    recorded(game, tmp_path / "run.journal", "share*5")
    says = r"Fishery.stock, fishery.py:\d+: measure stock changed the state: stock was .*; change a"
    with pytest.raises(BadInput, match=says):
        summarise(tmp_path / "run.journal")


def test_a_measure_that_draws_random_numbers_is_named(tmp_path):
    game = changed(tmp_path, VALUE, f"{VALUE} * __import__('random').random()")
    with pytest.raises(BadInput, match="measure stock uses the global random numbers"):
        recorded(game, tmp_path / "run.journal")
    assert not (tmp_path / "run.journal").exists()


FLOOD = """season.\"""
        left, found = {}, 0
        while left:
            found += len(str(left.pop()))
        return found"""


@pytest.mark.parametrize(
    ("places", "says"),
    [
        ("{True, 2, 0.5, (1, 2)}", ""),
        ("{'a', 'b'}", r"fishery.py:\d+ goes through a set"),
    ],
)
def test_a_measure_that_goes_through_a_set_is_found_on_request(tmp_path, places, says):
    game, path = changed(tmp_path, VALUE, FLOOD.replace("{}", places)), tmp_path / "run.journal"
    with pytest.raises(BadInput, match=says) if says else nullcontext():
        recorded(game, path, check=True)
    assert path.exists() is not bool(says)


def test_a_measure_may_be_undefined_before_the_first_season(tmp_path):
    game = changed(tmp_path, VALUE, 'season."""\n        return 1 / state.unit')
    run = recorded(game, tmp_path / "run.journal")
    assert [1, 0.5] == list(run.measured().values["stock"])[:2]


MEASURES = SOURCE[SOURCE.index("    @measure") :]


def test_a_game_without_measures_is_summarised_by_its_journal(tmp_path):
    game, journal = changed(tmp_path, MEASURES, ""), tmp_path / "run.journal"
    recorded(game, journal)
    told = summarise(journal).as_dict()
    assert told["bytes"] == journal.stat().st_size
    assert ({}, "score") == (told["run"], told["outcome"]["measure"])


def test_a_game_without_measures_keeps_the_laws_of_studies(tmp_path):
    changed(tmp_path, MEASURES, "")
    with trial(str(tmp_path / "fishery.py"), {"seasons": 2}) as run:
        assert broken(LAWS["a study plans what is played"], run) is None
        absent = attrs.evolve(run.tools.studies, seats=lambda roster, agents: ["absent"] * agents)
        run.tools.studies = absent
        assert "the seats are" in broken(LAWS["a study plans what is played"], run)


def test_a_total_is_the_sum_of_the_units(tmp_path):
    game = changed(tmp_path, '@measure("', '@measure(total=True, title="')
    recorded(game, tmp_path / "run.journal")
    run = summarise(tmp_path / "run.journal").run
    assert run.of("stock") == pytest.approx(sum(run.values["stock"]))


def test_a_measure_is_a_last_value_or_a_sum_not_both(tmp_path):
    with pytest.raises(BadInput, match="a sum and a last value; give at_end or total"):
        changed(tmp_path, '@measure("', '@measure(total=True, at_end=True, title="')
