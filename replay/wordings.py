"""Wordings of a world: listed, and shown as files."""

from __future__ import annotations

import json
from typing import Any, Final

import attrs

from goldrush.agents.llm.options import DEFAULT
from goldrush.agents.llm.versions import PromptVersion
from goldrush.agents.llm.wording_files import wording_named
from goldrush.agents.llm.wordings import Wordable, Wording, changes_in
from goldrush.kernel.errors import BadInput
from goldrush.kernel.text import is_visible
from goldrush.replay.find import WORLD_DEFAULT, players_of, tools_for

_WIDTH: Final = 100  # columns of a written file, where spaces allow it


@attrs.frozen
class ListedWording:
    """A wording that goldrush ships.

    Attributes:
        sha256: of its canonical form; None: the default.
        variants: number of its variants.
    """

    wording: str
    description: str
    sha256: str | None
    variants: int


def listed(world: str = WORLD_DEFAULT) -> list[ListedWording]:
    """The wordings that goldrush ships for a world. Raises BadInput for one without wordings."""
    _, wordable = _version(world)
    names = ["default", *wordable.shipped]
    each = ((name, wording_named(name, wordable)) for name in names)
    return [
        ListedWording(name, wording.description, wording.sha256, len(wording.variants))
        for name, wording in each
    ]


def text_of(name: str, world: str = WORLD_DEFAULT) -> str:
    """A wording, by name or file, as TOML, whole. Raises BadInput."""
    _, wordable = _version(world)
    return as_toml(wording_named(name, wordable), wordable)


def _version(world: str) -> tuple[PromptVersion, Wordable]:
    """The version of a world's prompt, and what wordings can change in it."""
    version = players_of(tools_for(world)).prompt
    if version is None:
        raise BadInput(
            f"the prompts of the {world} world cannot be worded", "give another world (--world)"
        )
    return version, version.wordable()


def as_toml(wording: Wording, wordable: Wordable) -> str:
    """A wording as a file, with all its messages and names."""
    description = "" if wording.name == DEFAULT else wording.description
    changes: dict[str, Any] = {**changes_in(wording.text)} if wording.text else {}
    messages = {**wordable.messages.texts, **changes.get("messages", {})}
    lines = [f"description = {_value(description)}", ""] if description else []
    lines += ["[messages]", *(f"{id} = {_value(text)}" for id, text in messages.items())]
    names = dict(changes.get("names", {}))
    tables = {each: names.pop(each) for each in ("kinds", "keys") if each in names}
    if names:
        lines += ["", "[names]", *(f"{name} = {json.dumps(names[name])}" for name in names)]
    for each, table in tables.items():
        lines += ["", f"[names.{each}]"]
        lines += [f"{old} = {json.dumps(new)}" for old, new in table.items()]
    return "".join(f"{line}\n" for line in lines)


def _value(text: Any) -> str:
    """A message in TOML: in lines of _WIDTH columns, where it has spaces."""
    if not isinstance(text, str):
        return f"[\n{''.join(f'{_value(each)},{chr(10)}' for each in text)}]"
    quoted = "".join(map(_character, text))
    if len(quoted) <= _WIDTH - 24 and "\n" not in quoted:
        return f'"{quoted}"'
    written = "\n".join(map(_folded, quoted.split("\n")))
    return f'"""\n{written}"""'


def _character(character: str) -> str:
    """A character in TOML: what cannot be seen is written as its code, so that it can be read."""
    if character in '"\\':
        return f"\\{character}"
    if character == "\n" or is_visible(character):
        return character
    return f"\\U{ord(character):08x}"


def _folded(line: str) -> str:
    """A line with a backslash at the end of each part of it; spaces after one would be lost."""
    parts: list[str] = []
    while len(line) > _WIDTH:
        cut = line.rfind(" ", 0, _WIDTH - 1) + 1
        if not cut or line[cut : cut + 1] in (" ", ""):
            break
        parts.append(f"{line[:cut]}\\")
        line = line[cut:]
    return "\n".join([*parts, line])
