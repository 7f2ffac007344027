"""Wordings in TOML files: those that users write, and those that goldrush ships.

A file has a table `messages` by id, a table `names`, `extends` with the name of a shipped wording
(`default` if absent) and `description`, a line about it. The name of a file is that of its wording.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.llm.model import WORDING
from goldrush.agents.llm.options import DEFAULT
from goldrush.agents.llm.wordings import (
    Wordable,
    Wording,
    changes_in,
    wording_of,
)
from goldrush.kernel.errors import BadInput, format_value, nearest, unknown
from goldrush.kernel.files import read_input, toml_in

FILE_MAX: Final = 1 << 18  # bytes of a file
SUFFIX: Final = ".toml"
_EXAMPLE: Final = "[messages] and below it ID = 'TEXT'"


def shipped_in(package: str, folder: str = "wordings") -> Mapping[str, str]:
    """The texts of the files in a folder of a package, by the names of their wordings."""
    from importlib.resources import files

    texts = {
        file.name.removesuffix(SUFFIX): file.read_text(encoding="utf-8")
        for file in (files(package) / folder).iterdir()
        if file.name.endswith(SUFFIX)
    }
    return dict(sorted(texts.items()))


def wording_named(name: str, wordable: Wordable) -> Wording:
    """A wording by the name of a shipped one, or by the path of a TOML file.

    Raises BadInput for an unknown name, and for a file that cannot be used, with the place.
    """
    if name == DEFAULT:
        return wordable.default
    if name in wordable.shipped:
        return _read(name, f"wording {name}", wordable.shipped[name], wordable)
    if not name.endswith(SUFFIX):
        raise unknown("wording", name, [DEFAULT, *wordable.shipped], " or FILE.toml")
    path, name = name, Path(name).name.removesuffix(SUFFIX)
    text = read_input(path, FILE_MAX, "give a shipped wording, or a TOML file of one")
    if not WORDING.holds(name):
        raise BadInput(
            f"{path} would be the wording {name!r}", "name the file [a-z][a-z0-9-]{0,31}.toml"
        )
    wording = _read(name, path, text, wordable)
    if name != DEFAULT and name not in wordable.shipped:
        return wording
    known = wording_named(name, wordable)
    if wording.text != (known.text or "{}"):
        raise BadInput(
            f"{path} has other texts than the wording {name} that goldrush has",
            "give the file another name",
        )
    return known


@lru_cache(maxsize=64)
def shipped_sha256(name: str, wordable: Wordable) -> str | None:
    """The SHA-256 of a shipped wording; None: none of this name is shipped."""
    return wording_named(name, wordable).sha256 if name in wordable.shipped else None


def _read(name: str, where: str, text: str, wordable: Wordable) -> Wording:
    """The wording in a file's text. Raises BadInput."""
    tables = _tables(where, text)
    base = tables.get("extends", DEFAULT)
    try:
        if base not in (DEFAULT, *wordable.shipped):
            raise unknown("wording", base, [DEFAULT, *wordable.shipped])
        of_base = wording_named(base, wordable).text
        changes = _merged(changes_in(of_base) if of_base else {}, tables)
        wording = wording_of(name, changes.get("messages", {}), changes.get("names", {}), wordable)
    except BadInput as error:
        raise BadInput(f"{where}: {error.what}", error.instead) from None
    return attrs.evolve(wording, description=tables.get("description", ""))


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Tables with the values of others over them, name by name."""
    both = (name for name in over if isinstance(base.get(name), dict))
    inner = {n: _merged(base[n], over[n]) for n in both if isinstance(over[n], dict)}
    return {**base, **over, **inner}


def _tables(where: str, text: str) -> dict[str, Any]:
    """The tables of a file. Raises BadInput."""
    tables: dict[str, Any] = toml_in(where, text, _EXAMPLE)
    kinds = {"description": str, "extends": str, "messages": dict, "names": dict}
    for key, value in tables.items():
        if key not in kinds:
            raise BadInput(
                f"{where}: there is {format_value(key)}",
                f"{nearest(key, kinds)}a file has description, extends, [messages] and [names]",
            )
        if not isinstance(value, kinds[key]):
            raise BadInput(
                f"{where}: {key} is {format_value(value)}",
                f"write [{key}]" if kinds[key] is dict else f"write {key} = 'TEXT'",
            )
    return tables
