"""Errors: what they say, what they carry, and that they survive being sent to another process."""

import copy
import json
import pickle
import re

import pytest

from goldrush.kernel.errors import (
    BadInput,
    BadPlan,
    DamagedJournal,
    GoldrushError,
    MalformedEvents,
    NotAJournal,
    PolicyFailed,
    TornTail,
    format_error,
    format_traceback,
    format_value,
)

ERRORS = [
    BadInput("truce is -1", "it must be 0 or more"),
    BadPlan("item 0 is 5"),
    NotAJournal("a.journal", "not a goldrush journal"),
    DamagedJournal("a.journal", 3, 90, "7f", "01"),
    TornTail("a.journal", 3, 90, 7),
    MalformedEvents("a.journal", "commit 3 at byte 90", "a fault"),
    PolicyFailed("m:C", 2, 5, "RuntimeError: no"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("sent", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy])
def test_an_error_arrives_as_it_was_sent(error: GoldrushError, sent: object) -> None:
    arrived = sent(error)  # type: ignore[operator]

    assert type(error) is type(arrived)
    assert str(error) == str(arrived)
    assert vars(error) == vars(arrived)


class Sulky(Exception):
    def __str__(self) -> str:
        raise ValueError

    def __repr__(self) -> str:
        raise ValueError


def test_whatever_is_shown_is_shown_and_cut() -> None:
    assert "'x'" == format_value("x")
    assert 63 == len(format_value("x" * 100))
    assert "a Sulky without a repr" == format_value(Sulky())
    assert "a int without a repr" == format_value(10**5000)


def test_somebody_elses_error_is_described_with_where_it_rose() -> None:
    try:
        raise RuntimeError("no")
    except RuntimeError as error:
        raised = format_error(error)

    name = "test_somebody_elses_error_is_described_with_where_it_rose"
    assert re.fullmatch(rf"{name}, test_errors\.py:\d+: RuntimeError: no", raised)
    assert "RuntimeError: no" == format_error(RuntimeError("no"))
    assert "Sulky" == format_error(Sulky())
    assert "item 0 is 5" == format_error(ERRORS[1])


def test_an_error_in_a_library_is_placed_at_the_line_of_the_policy_that_called_it() -> None:
    try:
        json.loads("{")
    except ValueError as error:
        raised, trace = format_error(error), format_traceback(error)

    assert re.match(r"test_an_error_in_a_library\w+, test_errors\.py:\d+: JSONDecodeError", raised)
    assert "json/decoder.py" in trace


def test_the_traceback_of_a_policy_survives_being_sent() -> None:
    cause = KeyError("x")
    try:
        raise cause
    except KeyError:
        error = PolicyFailed("m:C", 2, 5, "no")
        error.__cause__ = cause

    assert "raise cause" in pickle.loads(pickle.dumps(error)).trace
