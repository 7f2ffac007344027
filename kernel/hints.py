"""Type hints, taken apart."""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Union, get_args, get_origin


def hint_parts(hint: object) -> tuple[object, tuple[object, ...]]:
    """What a type hint is at its outside, and what it is made of.

    The first is a class, Literal (made of its values) or Union, however that is written; of an
    annotated hint it is that of the hint without its annotations.
    """
    form, parts = get_origin(hint) or hint, get_args(hint)
    if form is Annotated:
        return hint_parts(parts[0])
    return Union if form is UnionType else form, parts
