"""Errors: what they say, what they carry, and that they survive being sent to another process."""

import copy
import pickle

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
    described,
    shown,
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


def test_a_message_has_the_place_both_values_and_what_to_type() -> None:
    assert "truce is -1; it must be 0 or more" == str(ERRORS[0])
    assert "a.journal: commit 3 at byte 90: expected 7f, found 01" == str(ERRORS[3])
    assert "policy m:C of agent 2 failed in round 5: RuntimeError: no" == str(ERRORS[6])


class Sulky(Exception):
    def __str__(self) -> str:
        raise ValueError

    def __repr__(self) -> str:
        raise ValueError


def test_whatever_is_shown_is_shown_and_cut() -> None:
    assert "'x'" == shown("x")
    assert 63 == len(shown("x" * 100))
    assert "a Sulky that cannot be shown" == shown(Sulky())
    assert "a int that cannot be shown" == shown(10**5000)


def test_somebody_elses_error_is_described_with_where_it_rose() -> None:
    try:
        raise RuntimeError("no")
    except RuntimeError as error:
        raised = described(error)

    assert raised.startswith("RuntimeError: no (")
    assert "test_errors.py, line " in raised
    assert "RuntimeError: no" == described(RuntimeError("no"))
    assert "Sulky" == described(Sulky())
    assert "item 0 is 5" == described(ERRORS[1])
