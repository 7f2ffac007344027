"""Settings of runs without what their seed decides, to compare runs that may differ in it.

The seed is a setting. In some worlds it is the default of others, too (`Studies.seeded`), such as
the landscape of a season: two seasons that were recorded with equal options and other seeds differ
in both. A recorded setting does not tell whether it was typed; one that is equal to the seed is
taken for the default.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

Settings = Mapping[str, object]
Keys = Sequence[str]  # the keys that lead to a setting, or to an option within one
Seeded = Callable[[Settings], Sequence[Keys]]

SEED: Final = "seed"
_MISSING: Final = object()


def levelled(runs: Iterable[Settings], seeded: Seeded) -> dict[str, object]:
    """The settings of the first run without the seed, of runs that may differ in the seed and
    nothing else. Those whose default is the seed (`seeded`, as `Studies.seeded`) are None if they
    are equal to the seed in every run. If there are none, other runs are not looked at.
    """
    every = iter(runs)
    first = next(every)
    follow = [keys for keys in seeded(first) if _follows(first, keys)]
    while follow and (run := next(every, None)) is not None:
        follow = [keys for keys in follow if _follows(run, keys)]
    settings = {name: value for name, value in first.items() if name != SEED}
    for keys in follow:
        settings = _with_none(settings, keys)
    return settings


def _follows(settings: Settings, keys: Keys) -> bool:
    """Whether the setting is equal to the seed."""
    value: object = settings
    for key in keys:
        value = value.get(key, _MISSING) if isinstance(value, Mapping) else _MISSING
    return type(value) is int and value == settings.get(SEED)


def _with_none(settings: Settings, keys: Keys) -> dict[str, object]:
    key, *inner = keys
    value = settings[key]
    return {**settings, key: _with_none(value, inner) if isinstance(value, Mapping) else None}
