"""What is said of measures of any world: spans, halves, means, and figures by unit of a state."""

from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from goldrush.kernel.journal import UNIT, Commit, Header, JournalReader, JournalWriter
from goldrush.kernel.measures import Value, mean
from goldrush.kernel.run import last_of, steps
from goldrush.kernel.settings import integer, setting
from goldrush.kernel.world import Vocabulary
from goldrush.replay.data.measures import Measure, Measured, by_unit, named
from tests.journals import commits_of, write
from tests.replay.test_own_worlds import SUMS, tell


@attrs.frozen
class Config:
    seed: int = setting(7, integer(0, 9))


DAYS = replace(
    SUMS, name="days", vocabulary=Vocabulary(unit="day", first=0),
    ended=lambda state: state[0] == 7,
)  # fmt: skip


def day(state: list[int]) -> int:
    return state[0]


KNOWN = named(
    Measure("day", "day", "The day.", day),
    Measure("latest", "latest day", "The day, at the end.", day, at_end=True),
    Measure("odd", "odd day", "The day, if it is odd.", lambda s: s[0] if s[0] % 2 else None),
)
READ = by_unit(DAYS, KNOWN, config=lambda state: Config(), roster=lambda state: ["a", "b"])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with JournalWriter(tmp_path / "days.journal", Header("days", 1)) as journal:
        last_of(steps(DAYS, {}, journal, ask=tell))
    return tmp_path / "days.journal"


def measured(path: Path) -> Measured[Config]:
    with JournalReader(path) as reader:
        return READ(reader)


def test_figures_of_the_state_at_each_close_are_measures(path: Path) -> None:
    found = measured(path)

    assert [1, 2, 3, 4, 5, 6, 7] == found.values["day"]
    assert [1, None, 3, None, 5, None, 7] == found.values["odd"]
    assert (4, 7, 4) == (found.of("day"), found.of("latest"), found.of("odd"))
    assert (2, 5.5) == found.compared("day")
    assert (3, 7) == found.compared("latest")
    assert (7, 0, True) == (found.units, found.forks, found.finished)


def test_a_unit_that_is_open_has_no_figures(path: Path) -> None:
    *closed, last, _ = commits_of(path)
    write(path, [*closed, Commit(UNIT, last.unit, None, last.blocks[:1])], Header("days", 1))

    assert [1, 2, 3, 4, 5, 6] == measured(path).values["day"]
    assert 6 == measured(path).units


def test_for_json_units_have_the_numbers_that_people_know(path: Path) -> None:
    told = measured(path).as_dict()

    assert (7, 7, 2) == (told["days"], told["seed"], told["agents"])
    assert {"day": 4, "latest": 7, "odd": 4} == told["run"]
    assert {
        "first_half": {"first": 0, "last": 2, "day": 2, "latest": 3, "odd": 2},
        "second_half": {"first": 3, "last": 6, "day": 5.5, "latest": 7, "odd": 6},
    } == told["halves"]


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_figure_that_is_no_number_is_refused(path: Path, value: float) -> None:
    read = by_unit(
        DAYS,
        named(Measure("day", "day", "The day.", lambda state: value)),
        config=lambda s: Config(),
        roster=lambda s: [],
    )
    with JournalReader(path) as reader, pytest.raises(ValueError, match=f"day is {value}"):
        read(reader)


@given(st.lists(st.none() | st.floats(-1e9, 1e9)))
def test_a_mean_is_over_what_is_defined(values: list[Value]) -> None:
    defined = [value for value in values if value is not None]

    assert mean(values) == mean(defined)
    assert (mean(values) is None) is (not defined)
    assert not defined or min(defined) - 1 <= (mean(values) or 0) <= max(defined) + 1
