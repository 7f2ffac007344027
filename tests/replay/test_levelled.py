"""Settings without what the seed decides."""

from collections.abc import Sequence
from typing import Any

import pytest

from goldrush.kernel.settings import hashable
from goldrush.replay.levelled import Settings, levelled

KEYS = ("in", "at")


def seeded(settings: Settings) -> Sequence[Sequence[str]]:
    return [KEYS]


def run(seed: int, at: Any, **others: Any) -> dict[str, Any]:
    return {"seed": seed, "size": 3, "in": {"before": 1, "at": at, "after": 2}, **others}


def test_the_seed_is_left_out_and_what_is_equal_to_it_is_none() -> None:
    expected = {"size": 3, "in": {"before": 1, "at": None, "after": 2}}

    assert expected == levelled([run(5, 5)], seeded)
    assert list(expected["in"]) == list(levelled([run(5, 5)], seeded)["in"])
    assert {"size": 3} == levelled([{"seed": 5, "size": 3}], lambda settings: ())


@pytest.mark.parametrize(
    "settings", [run(5, 6), run(1, True), run(5, 5.0), run(5, None), {"seed": 5, "in": 5}, {}]
)
def test_what_is_not_the_seed_stays(settings: dict[str, Any]) -> None:
    others = {name: value for name, value in settings.items() if name != "seed"}

    assert others == levelled([settings], seeded)


def test_of_several_runs_all_must_be_equal_to_their_seed() -> None:
    typed = [run(0, 0), run(1, 0), run(2, 0)]
    default = [run(0, 0), run(1, 1), run(2, 2)]

    assert 0 == levelled(typed, seeded)["in"]["at"]
    assert levelled(default, seeded)["in"]["at"] is None


def test_settings_as_a_key_are_equal_where_they_are_equal() -> None:
    one, other = {"a": [1, {"b": 2}]}, {"a": (1.0, {"b": 2.0})}

    assert hash(hashable(one)) == hash(hashable(other))
    assert hashable(one) == hashable(other)
    assert hashable(one) != hashable({"a": [1, {"b": 3}]})
