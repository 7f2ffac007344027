"""Treatments: named variations of a world's default configuration, one factor each.

A treatment is a few settings, and where they depend on others a function that works them out from
the rest of the configuration. What a person sets by hand goes before a treatment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Generic, TypeVar

import attrs

from goldrush.kernel.errors import unknown

C = TypeVar("C")

BASELINE: Final = "baseline"  # the treatment that changes nothing, with which others are compared


@attrs.frozen
class Treatment(Generic[C]):
    """A name, what it changes in words, the settings, and those that follow from others."""

    name: str
    says: str
    settings: Mapping[str, Any] = attrs.field(factory=dict)
    derived: Callable[[C], Mapping[str, Any]] | None = None


def by_name(treatments: Iterable[Treatment[C]]) -> Mapping[str, Treatment[C]]:
    """Treatments in order, by name."""
    return {treatment.name: treatment for treatment in treatments}


def treatment_named(treatments: Mapping[str, Treatment[C]], name: str) -> Treatment[C]:
    """The treatment of that name. Raises BadInput if there is none."""
    if name not in treatments:
        raise unknown("treatment", name, treatments)
    return treatments[name]


def treated(
    treatment: Treatment[C],
    settings: Mapping[str, Any],
    config_of: Callable[[Mapping[str, Any]], C],
) -> C:
    """The configuration of a run under a treatment.

    `settings` go before those of the treatment; `config_of` makes a configuration of settings by
    name, and what it raises is raised.
    """
    named = {**treatment.settings, **settings}
    config = config_of(named)
    if treatment.derived is None:
        return config
    return config_of({**treatment.derived(config), **named})
