"""Catalogue entries of policies: what `goldrush policies` lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

import attrs
import msgspec

from goldrush.kernel.settings import Setting, listed


class CatalogueEntry(msgspec.Struct, frozen=True):
    """One policy.

    Attributes:
        text: one line on what it does.
        settings: its settings by name.
    """

    text: str
    settings: Mapping[str, Setting] = {}

    @classmethod
    def of(cls, make: Callable[..., Any], more: str = "") -> Self:
        """The entry of a policy class: the first line of its docstring, followed by `more`."""
        line = (make.__doc__ or "").strip().partition("\n")[0]
        config = configurable(make)
        return cls(f"{line} {more}".strip(), {} if config is None else listed(config))


def configurable(make: Callable[..., Any]) -> type[attrs.AttrsInstance] | None:
    """The class of a policy that has settings; None: it has none.

    Such a class is an attrs class all of whose fields are made with `kernel.settings.setting`.
    """
    if not isinstance(make, type) or not attrs.has(make):
        return None
    fields = attrs.fields(make)
    return make if fields and all("kind" in field.metadata for field in fields) else None
