"""Values of parameters, typed or given: each of the type that the parameter has."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Literal, Optional

import numpy as np
import pytest

from goldrush.agents.roster import parts_of
from goldrush.kernel.errors import BadInput
from goldrush.kernel.settings import parsed_value
from goldrush.replay.making import check_kinds


class Base:
    """Takes parameters of several types."""

    def __init__(
        self, seed: int = 0, shuffle=True, p=0.5, names="a", rate: float | None = None,  # type: ignore[no-untyped-def]
        size: float | str = 0.5, label: str = "a", mode: Any = 1, pair=(1, 2),
        limit: Optional[int] = None, rule: Literal["a", "b"] = "a", ages: tuple[int, ...] = (),  # noqa: UP045
        wrong: str = 0.5,  # type: ignore[assignment]
        share: float | None = 0.5,
    ) -> None:  # fmt: skip
        self.random = random.Random(seed)

    def step(self) -> None:
        pass


class Derived(Base):
    """Passes its parameters on."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True), ("False", False), ("null", None), ("None", None), (".5", 0.5), ("+1", 1),
        ("1_000", 1000), ("1e3", 1000.0), ("-inf", float("-inf")), ("0x10", 16),
        (r"'it\'s'", "it's"), ('"a"', "a"), ("[1, 'b', None]", [1, "b", None]),
        ("{'a': .5}", {"a": 0.5}),
    ],
)  # fmt: skip
def test_a_value_is_typed_as_json_toml_or_python_writes_it(text: str, value: object) -> None:
    parsed = parsed_value(text)

    assert (value, type(value)) == (parsed, type(parsed))
    assert "[" in text or {"part": value} == parts_of(f"share[part={text}]*2")[0].settings


@pytest.mark.parametrize(
    "text",
    ["no", "007", "1,2", "...", "(a, b)", "[x]", "a\nb",
     "2026-01-01", "\0", "(" * 5000, "9" * 5000],
)  # fmt: skip
def test_all_else_is_a_text(text: str) -> None:
    assert text == parsed_value(text)


@pytest.mark.parametrize("text", ["(1, 2)", "{1, 2}", "b'x'", "1+2j", "{1: 2}", "[(1, 2)]"])
def test_what_no_setting_can_be_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match=r"what no setting can be: .*; write a list"):
        parsed_value(text)


@pytest.mark.parametrize("make", [Base, Derived, lambda **given: Base(**given)])
def test_what_a_parameter_allows_is_taken(make: Callable[..., object]) -> None:
    check_kinds(make, {"shuffle": False, "p": 1, "rate": None, "size": "big", "mode": "x"})
    check_kinds(make, {"names": 1, "label": "b", "shuffle": 1, "p": None})
    check_kinds(make, {"pair": [3, 4], "limit": 3, "rule": "b", "ages": [1]})
    check_kinds(make, {"shuffle": np.True_, "limit": np.int64(3), "p": np.float32(0.5)})


def annotated(agents: int, rate: float, is_open: bool, version: str, label: str = "a") -> None:
    """Takes parameters whose annotations alone say what they are."""


@pytest.mark.parametrize(
    ("make", "settings", "named"),
    [
        (Base, {"shuffle": "no"}, "default, True"),
        (Derived, {"p": "high"}, "default, 0.5"),
        (annotated, {"agents": 2.5}, "annotation, int"),
        (annotated, {"is_open": "no"}, "annotation, bool"),
        (annotated, {"label": 3.1}, "annotation, str"),
    ],
)
def test_a_value_that_fits_neither_default_nor_annotation_is_refused(
    make: Callable[..., object], settings: dict[str, object], named: str
) -> None:
    check_kinds(annotated, {"agents": 3, "rate": 1, "is_open": True, "version": "3.1"})
    check_kinds(annotated, {"agents": np.int64(3), "rate": np.float32(0.5), "is_open": np.True_})
    with pytest.raises(BadInput) as refused:
        check_kinds(make, settings)

    [(name, value)] = settings.items()
    assert f"{name} is {value!r}, which does not fit its {named}" == refused.value.what
