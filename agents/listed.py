"""Policies as people look them up: what each does, and which settings it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import attrs


@attrs.frozen
class Listed:
    """What a policy does, in a line, and its settings: by name the default and, in words, the
    range.
    """

    says: str
    settings: Mapping[str, tuple[Any, str]] = attrs.field(factory=dict)

    @classmethod
    def of(cls, make: Callable[..., Any], says: str = "") -> Self:
        """Of what makes a policy: the first line of its docstring, and `says` behind it."""
        line = (make.__doc__ or "").strip().partition("\n")[0]
        config = configurable(make)
        fields = () if config is None else attrs.fields(config)
        settings = {one.name: (one.default, one.metadata["rule"][1]) for one in fields}
        return cls(f"{line} {says}".strip(), settings)


def configurable(make: Callable[..., Any]) -> type[attrs.AttrsInstance] | None:
    """A policy's class, if it has settings: an attrs class, all of whose fields were made with
    kernel.settings.
    """
    if not isinstance(make, type) or not attrs.has(make):
        return None
    fields = attrs.fields(make)
    return make if fields and all("rule" in one.metadata for one in fields) else None
