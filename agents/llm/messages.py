"""The prose of agents: messages by id in a TOML file, with the fields that code puts in.

`$name` or `${name}` is a field, `$$` a dollar, and nothing else is special. Code decides what is
said when; plural cases end in `_one` and `_many`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Final, Self


class Messages:
    """The messages of a file in a package, read when the first is needed, or of a table: `of`.

    A `$` in them that starts no field is a mistake that `fields_in` finds.
    """

    def __init__(self, package: str, file: str = "wording.toml") -> None:
        self._package, self._file = package, file

    @classmethod
    def of(cls, texts: Mapping[str, str]) -> Self:
        """The messages of a table, by id."""
        messages = cls("")
        messages.texts = dict(texts)
        return messages

    def __call__(self, id: str, record: object = None, /, **fields: object) -> str:
        """A message, with these fields and attributes of the record put in and not read again."""
        return self.formats[id].format_map(_Fields(record, fields))

    @cached_property
    def texts(self) -> Mapping[str, str]:
        """The messages by id, as written."""
        import tomllib
        from importlib.resources import files

        text = (files(self._package) / self._file).read_text(encoding="utf-8")
        return tomllib.loads(text)

    @cached_property
    def formats(self) -> Mapping[str, str]:
        """The messages by id, as format strings."""
        return {id: _SPECIAL.sub(_format, message) for id, message in self.texts.items()}


class _Fields(dict[str, object]):
    def __init__(self, record: object, fields: Mapping[str, object]) -> None:
        super().__init__(fields)
        self._record = record

    def __missing__(self, name: str) -> object:
        return getattr(self._record, name)


def plural(id: str, number: int) -> str:
    """The id of the message for a number of things."""
    return f"{id}_one" if number == 1 else f"{id}_many"


def fields_in(message: str) -> list[str]:
    """The fields of a message, in order, each as often as it stands there.

    Raises ValueError for a `$` that starts no field.
    """
    specials = [special[0] for special in _SPECIAL.finditer(message)]
    if "$" in specials:
        raise ValueError("a $ that starts no field; $$ is a dollar")
    return [special[1:].strip("{}") for special in specials if special not in ("{", "}", "$$")]


_SPECIAL: Final = re.compile(r"[{}]|\$(?:\$|[a-z][a-z_]*|\{[a-z][a-z_]*\})?")


def _format(special: re.Match[str]) -> str:
    text = special[0]
    if text in "{}":
        return text * 2
    return "$" if text == "$$" else f"{{{text[1:].strip('{}')}}}"
