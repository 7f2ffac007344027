"""Settings of a world: a name, a default and a rule for valid values.

A configuration is an attrs class whose fields are made with `setting`. Values given by a user are
checked against the rules before anything is written; the error names the setting, the value and the
valid range.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import attrs

from goldrush.kernel.errors import BadInput, format_value, unknown

INTEGER_MAX = 2**53 - 1  # the largest integer that any JSON reader holds

C = TypeVar("C", bound=attrs.AttrsInstance)
Check = Callable[[Any], bool]
Rule = tuple[Check, str]  # whether a value is valid, and a description of the valid ones


def integer(low: int, high: int) -> Rule:
    """A whole number from `low` to `high`, both included."""
    return (lambda v: type(v) is int and low <= v <= high), f"a whole number from {low} to {high}"


def real(low: float, high: float) -> Rule:
    """A number from `low` to `high`, both included."""
    return (
        lambda v: type(v) in (int, float) and low <= v <= high,
        f"a number from {low:g} to {high:g}",
    )


def choice(*names: str) -> Rule:
    """One of these names."""
    return (lambda v: type(v) is str and v in names), "one of " + ", ".join(names)


def flag() -> Rule:
    """True or false."""
    return (lambda v: type(v) is bool), "true or false"


def list_of(item: Rule, length: str) -> Rule:
    """Null, or a list with one item for each agent, row or other `length`.

    Args:
        length: a noun for the message: a list has one item for each of these.
    """
    holds, range_ = item
    return (
        lambda v: v is None or (isinstance(v, (list, tuple)) and all(map(holds, v))),
        f"null, or a list with, for each {length}, {range_}",
    )


def ascending(count: int, low: int, high: int) -> Rule:
    """A list of `count` whole numbers from `low` to `high`, in ascending order; equal ones are
    allowed.
    """
    holds, range_ = integer(low, high)
    return (
        lambda v: (
            isinstance(v, (list, tuple))
            and len(v) == count
            and all(map(holds, v))
            and sorted(v) == list(v)
        ),
        f"a list of {count}, as {list(range(1, count + 1))}, none smaller than the one before, "
        f"each {range_}",
    )


def setting(default: Any, rule: Rule) -> Any:
    """A field of a configuration: its default and the rule for its values."""
    return attrs.field(default=default, metadata={"rule": rule}, kw_only=True)


@attrs.frozen
class NoSettings:
    """The settings of a world that lists none."""


def check_setting(config: type[Any], name: str, value: Any) -> None:
    """Check the name and the value of a setting. Raises BadInput if either is invalid."""
    fields = attrs.fields_dict(config)
    if name not in fields:
        raise unknown("setting", name, fields)
    holds, range_ = fields[name].metadata["rule"]
    if not holds(value):
        raise BadInput(f"{name} is {format_value(value)}", f"it must be {range_}")


def configured(config: type[C], settings: Mapping[str, Any]) -> C:
    """A configuration with these settings, and defaults for the others.

    Raises BadInput for an unknown name or an invalid value.
    """
    for name, value in settings.items():
        check_setting(config, name, value)
    return config(**settings)


def parsed_value(text: str) -> Any:
    """A value typed by a user: parsed as JSON, or the text itself if it is not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


# What stands between two settings that were not separated as they should be.
_BETWEEN: Final = re.compile(r"[,\s]\s*(?=[A-Za-z_]\w*\s*=)")


def separated(value: Any, by: str) -> str | None:
    """The settings that are typed as the value of the first, as in `1,noise=0`, with `by` between
    them; None if it is a single value.
    """
    pieces = _BETWEEN.split(value) if type(value) is str and not value.startswith('"') else ()
    return by.join(pieces) if len(pieces) > 1 else None
