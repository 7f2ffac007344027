"""Treatments: named variations of a world's default configuration, one factor each.

A treatment is a few settings, and optionally a function that computes more from the rest of the
configuration. Settings given by hand override those of a treatment. A TOML file can hold
user-defined treatments, in the form used in the plan of a study.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Generic, TypeVar

import attrs
import msgspec

from goldrush.kernel.errors import BadInput, format_value, unknown
from goldrush.kernel.files import read_toml
from goldrush.kernel.settings import check_setting

C = TypeVar("C")

NAME_MAX: Final = 80  # characters of the name of a treatment of a user's own
FILE_MAX: Final = 1 << 20  # bytes of a file of treatments
NAME: Final = rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,{NAME_MAX - 1}}}"
_FILE: Final = r"(?s)(?P<path>.+\.toml)(?::(?P<name>[^:]*))?"

BASELINE: Final = "baseline"  # the treatment that changes nothing, with which others are compared


class Treatment(msgspec.Struct, Generic[C], frozen=True):
    """A named variation of the default configuration.

    Attributes:
        description: one line.
        settings: the settings that it changes.
        derived: computes further settings from the configuration with the former; None: there are
            none.
    """

    name: str
    description: str
    settings: Mapping[str, Any] = {}
    derived: Callable[[C], Mapping[str, Any]] | None = None


def by_name(treatments: Iterable[Treatment[C]]) -> Mapping[str, Treatment[C]]:
    """Treatments by name, in order."""
    return {treatment.name: treatment for treatment in treatments}


def treatment_named(treatments: Mapping[str, Treatment[C]], name: str | None) -> Treatment[C]:
    """The treatment of that name; None: one without settings. Raises BadInput for another name."""
    if name is None:
        return Treatment("", "")
    if name not in treatments:
        raise unknown("treatment", name, treatments)
    return treatments[name]


def treatment_in_file(text: str, config: type[attrs.AttrsInstance]) -> Treatment[Any] | None:
    """The treatment that `FILE.toml` or `FILE.toml:NAME` refers to; None for any other text.

    The file has a table `[treatment.NAME]` of settings for each treatment; with several, NAME
    selects one. Other tables and keys, such as those of a study's plan, are ignored. `text`: what
    was given as a treatment; `config`: the class of the world's settings, against which the file's
    are checked if it has any.

    Raises BadInput if the file cannot be read or has no such treatment, or a setting is invalid.
    """
    match = re.fullmatch(_FILE, text)
    if match is None:
        return None
    path, example = match["path"], "[treatment.NAME] and below it settings"
    tables = read_toml(path, FILE_MAX, "give a TOML file of treatments", example).get("treatment")
    if not isinstance(tables, dict) or not all(
        isinstance(table, dict) for table in tables.values()
    ):
        raise BadInput(f"{path} has no treatments", f"write {example}")
    name = match["name"] if match["name"] is not None else next(iter(tables), "")
    if match["name"] is None and len(tables) > 1:
        listed = ", ".join(tables)
        raise BadInput(f"{path} has the treatments {listed}", f"give one: {path}:{name}")
    if name not in tables:
        raise unknown(f"treatment in {path}", name, tables)
    if not re.fullmatch(NAME, name):
        raise BadInput(
            f"{path}: a treatment cannot be called {format_value(name)}",
            f"take at most {NAME_MAX} letters, digits, _ and -",
        )
    for setting, value in tables[name].items() if attrs.fields(config) else ():
        try:
            check_setting(config, setting, value)
        except BadInput as error:
            raise BadInput(f"{path}: treatment {name}: {error.what}", error.instead) from None
    return Treatment(name, "", tables[name])


def treated(
    treatment: Treatment[C],
    settings: Mapping[str, Any],
    config_of: Callable[[Mapping[str, Any]], C],
) -> C:
    """The configuration of a run under a treatment. `settings`: settings given by hand, which
    override those of the treatment; `config_of`: makes a configuration from settings by name; its
    errors are raised.
    """
    named = {**treatment.settings, **settings}
    config = config_of(named)
    if treatment.derived is None:
        return config
    return config_of({**treatment.derived(config), **named})
