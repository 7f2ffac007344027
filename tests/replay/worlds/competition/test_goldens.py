"""The golden seasons hold, are made anew, and leave no event of the world out."""

from pathlib import Path

import pytest

from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.kernel.worlds.competition.events import EVENTS
from goldrush.kernel.worlds.competition.terms import Refusal, names_of
from goldrush.replay.journal.verify import verify
from goldrush.replay.worlds.competition.prompt import prompted
from tests.golden import (
    ANYTHING,
    FORKED_SEASON,
    MODEL_SEASON,
    SEASON_CASTS,
    SEASON_NAMES,
    SEASON_SETTINGS,
    WORDED,
    fork_season,
    path_of,
    record_anything,
    season_path,
)
from tests.journals import events_of
from tests.playing import record


@pytest.mark.parametrize("name", sorted(SEASON_NAMES))
def test_a_golden_season_holds_at_every_level(name: str) -> None:
    verdict = verify(season_path(name))

    is_older = name == MODEL_SEASON  # its model was asked with another prompt
    assert (None if is_older else True, 3 if name == ANYTHING or is_older else 4, True) == (
        verdict.holds, verdict.level, verdict.finished
    )  # fmt: skip
    assert (name == ANYTHING) == bool(verdict.not_asked)


@pytest.mark.parametrize("name", SEASON_SETTINGS)
def test_a_golden_season_is_recorded_again_byte_for_byte(name: str, tmp_path: Path) -> None:
    cast = cast_of(6, SEASON_CASTS[name])
    record(tmp_path / "again.journal", SEASON_SETTINGS[name], cast)

    assert season_path(name).read_bytes() == (tmp_path / "again.journal").read_bytes()


def test_the_golden_season_of_every_code_is_recorded_again_byte_for_byte(tmp_path: Path) -> None:
    record_anything(tmp_path / "again.journal")

    assert season_path(ANYTHING).read_bytes() == (tmp_path / "again.journal").read_bytes()


def test_the_golden_fork_of_a_season_is_forked_again_byte_for_byte(tmp_path: Path) -> None:
    fork_season(tmp_path / "again.journal")

    assert season_path(FORKED_SEASON).read_bytes() == (tmp_path / "again.journal").read_bytes()


def test_every_event_and_every_code_is_in_a_golden_season() -> None:
    events = [event for name in SEASON_NAMES for event in events_of(season_path(name))]

    assert {event.name for event in EVENTS} <= {event.name for event in events}
    assert set(names_of(Refusal)) == {e["code"] for e in events if e.name == "refused"}


def test_the_prompts_of_a_worded_model_are_made_again() -> None:
    path = path_of("season", WORDED)
    answers = [e for e in events_of(path) if e.name == "answered" and e.unit == 0]
    asked = [e["question"] for e in answers if e["agent"] == 5]
    prompts = prompted(path, 0, 5)

    assert asked == [one.question.name for one in prompts]
    assert [one.question.digest for one in prompts] == [one.recorded for one in prompts]
    assert all(one.is_model and one.answer is not None for one in prompts)
