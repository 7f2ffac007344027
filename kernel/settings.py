"""Settings of a world: a name, a default and the kind of valid values.

A configuration is an attrs class whose fields are made with `setting`. Values given by a user are
checked against the kinds before anything is written; the error names the setting, the value and the
valid range.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

import attrs
import msgspec

from goldrush.kernel.errors import BadInput, format_value, unknown
from goldrush.kernel.shape import BOOLEAN, TEXT, Kind, between

INTEGER_MAX: Final = 2**53 - 1  # the largest integer that any JSON reader holds
NAMES_MAX: Final = 40  # greatest number of names that a schema lists

C = TypeVar("C", bound=attrs.AttrsInstance)


def integer(low: int, high: int) -> Kind:
    """A whole number from `low` to `high`, both included."""
    kind = between(low, high)
    return msgspec.structs.replace(kind, name=f"a whole number from {low} to {high}")


def real(low: float, high: float) -> Kind:
    """A number from `low` to `high`, both included."""
    return Kind(
        f"a number from {low:g} to {high:g}",
        lambda v: type(v) in (int, float) and low <= v <= high,
    )


def choice(*names: str) -> Kind:
    """One of these names."""
    schema = {"type": "string", "enum": list(names)} if len(names) <= NAMES_MAX else TEXT.schema
    return Kind(
        "one of " + ", ".join(names), lambda v: type(v) is str and v in names, schema=schema
    )


def flag() -> Kind:
    """True or false."""
    return msgspec.structs.replace(BOOLEAN, name="true or false")


def list_of(item: Kind, length: str) -> Kind:
    """Null, or a list with one item for each agent, row or other `length`."""
    return Kind(
        f"null, or a list with, for each {length}, {item.name}",
        lambda v: v is None or (isinstance(v, (list, tuple)) and all(map(item.holds, v))),
    )


def ascending(count: int, low: int, high: int) -> Kind:
    """A list of `count` whole numbers from `low` to `high`, in ascending order; equal ones are
    allowed.
    """
    item = integer(low, high)
    return Kind(
        f"a list of {count}, as {list(range(1, count + 1))}, none smaller than the one before, "
        f"each {item.name}",
        lambda v: (
            isinstance(v, (list, tuple))
            and len(v) == count
            and all(map(item.holds, v))
            and sorted(v) == list(v)
        ),
    )


def setting(default: Any, kind: Kind, converter: Callable[[Any], Any] | None = None) -> Any:
    """A field of a configuration: its default and the kind of its values, whose name is the valid
    range as text. `converter`: makes the value that is recorded of a valid one.
    """
    metadata = {"kind": kind}
    return attrs.field(default=default, metadata=metadata, kw_only=True, converter=converter)


class Setting(NamedTuple):
    """A setting: its default and its range, as text."""

    default: Any
    range: str


def listed(config: type[attrs.AttrsInstance]) -> dict[str, Setting]:
    """The settings of a configuration by name; the default of one that must be given is None."""
    return {
        field.name: Setting(
            None if field.default is attrs.NOTHING else field.default, field.metadata["kind"].name
        )
        for field in attrs.fields(config)
    }


def check_value(name: str, value: object, kind: Kind) -> None:
    """Check a value of this name. Raises BadInput if it is not of the kind."""
    if not kind.holds(value):
        raise BadInput(f"{name} is {format_value(value)}", f"it must be {kind.name}")


@attrs.frozen
class NoSettings:
    """The settings of a world that lists none."""


def check_setting(config: type[Any], name: str, value: Any) -> None:
    """Check the name and the value of a setting. Raises BadInput if either is invalid."""
    fields = attrs.fields_dict(config)
    if name not in fields:
        raise unknown("setting", name, fields)
    check_value(name, value, fields[name].metadata["kind"])


def configured(config: type[C], settings: Mapping[str, Any]) -> C:
    """A configuration with these settings, and defaults for the others.

    Raises BadInput for an unknown name or an invalid value.
    """
    for name, value in settings.items():
        check_setting(config, name, value)
    return config(**settings)


def parsed_value(text: str) -> Any:
    """A value typed by a user, as JSON, TOML or Python writes it (`true`, `True`, `null`, `None`,
    `.5`, `+1`, `1_000`, `0x10`, `inf`, a quoted text, a list, a dict); any other text is a text.

    Raises BadInput for a tuple between brackets, a set, bytes, a complex number, and a list or a
    dict with such: no setting can be one, and a text of it is not what was meant.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    typed = text.strip()
    if re.fullmatch(_FLOAT, typed):
        return float(typed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in what may be no literal
            value = ast.literal_eval(typed)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return text
    if isinstance(value, tuple) and not typed.startswith("("):  # 1,2
        return text
    if isinstance(value, tuple | set | bytes | complex | list | dict) and not _is_plain(value):
        holds = "holds" if isinstance(value, list | dict) else "is"
        raise BadInput(
            f"{format_value(value)} {holds} what no setting can be: a tuple, a set, bytes, a "
            "complex number, a key that is no text",
            f"write a list, as [1, 2], or a text in quotes, as {json.dumps(typed[:60])}",
        )
    return value if _is_plain(value) else text


_FLOAT: Final = r"[+-]?(?:inf|nan)"  # of TOML


def _is_plain(value: object) -> bool:
    """Whether a value of Python is one that JSON has, too."""
    if isinstance(value, dict):
        return all(type(name) is str and _is_plain(item) for name, item in value.items())
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return value is None or type(value) in (bool, int, float, str)


# What stands between two settings that were not separated as they should be.
_BETWEEN: Final = r"[,\s]\s*(?=[A-Za-z_]\w*\s*=)"


def separated(value: object, by: str) -> str | None:
    """The settings that are typed as the value of the first, as in `1,noise=0`, with `by` between
    them; None if it is a single value.
    """
    pieces = re.split(_BETWEEN, value) if type(value) is str and value[:1] not in ('"', "'") else ()
    return by.join(pieces) if len(pieces) > 1 else None


def hashable(value: object) -> Hashable:
    """Settings as a key of a dictionary; equal settings give equal keys."""
    if isinstance(value, Mapping):
        return tuple((key, hashable(item)) for key, item in sorted(value.items()))
    if isinstance(value, (list, tuple)):
        return tuple(map(hashable, value))
    assert isinstance(value, Hashable)  # a plain value
    return value
