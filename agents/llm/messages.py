"""The prose of prompts: messages by id in a TOML file, with the fields that code puts in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import Template
from typing import Final


class Messages:
    """The messages of a file; a value put in is not read again.

    Raises:
        ValueError: a message is missing, unknown or no text, or has an unknown field.
    """

    def __init__(self, name: str, text: str, fields: Mapping[str, str]) -> None:
        """Read a file's text, named in errors; `fields` are those of each message, by id."""
        import tomllib

        try:
            messages = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{name}: {error}") from None
        for id in sorted(messages.keys() | fields.keys()):
            if id not in messages:
                raise ValueError(f"{name}: message {id} is missing")
            if id not in fields:
                raise ValueError(f"{name}: unknown message {id}")
            if not isinstance(messages[id], str):
                raise ValueError(f"{name}: message {id} is no text")
            template = _Text(messages[id])
            if not template.is_valid():
                raise ValueError(f"{name}: message {id}: a $ that starts no field; $$ is a dollar")
            if unknown := sorted(set(template.get_identifiers()) - set(fields[id].split())):
                raise ValueError(f"{name}: message {id}: unknown field ${unknown[0]}")
        self._texts: Final = {id: _Text(message) for id, message in messages.items()}

    def __call__(self, id: str, **fields: object) -> str:
        """A message with its fields put in."""
        return self._texts[id].substitute(fields)


def shipped(package: str, fields: Mapping[str, str]) -> Messages:
    """The messages of `wording.toml` in a package."""
    from importlib.resources import files

    text = (files(package) / "wording.toml").read_text(encoding="utf-8")
    return Messages(f"{package}: wording.toml", text, fields)


class _Text(Template):
    flags = re.RegexFlag(0)  # not the default, which ignores case
    idpattern = "[a-z][a-z_]*"
