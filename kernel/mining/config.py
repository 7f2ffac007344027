"""The configuration of a mining run: names, defaults, ranges.

Everything that shapes a run besides the agents stands here and goes whole into the journal's first
event. A value out of range is refused before anything is written, with the field, the value
and the range in the message.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from kernel.errors import BadInput, shown

INTEGER_MAX = 2**53 - 1  # the largest integer that any JSON reader holds
ROUNDS_MAX = 1_000_000
PLOTS_MAX = 1_000_000
AGENTS_MAX = 100_000
STAMINA_MAX = 1_000
MINING_CAP_MAX = 1_000
REAL_MAX = 1e9

ABSOLUTE, POINTWISE = DEFENSES = ("absolute", "pointwise")
NO_AUTHORITY, ADJUDICATE, PUNISH = AUTHORITIES = ("none", "adjudicate", "punish")
ALL = "all"

Check = Callable[[Any], bool]


def _integer(low: int, high: int) -> tuple[Check, str]:
    return (lambda v: type(v) is int and low <= v <= high), f"a whole number from {low} to {high}"


def _real(low: float, high: float) -> tuple[Check, str]:
    return (
        lambda v: type(v) in (int, float) and low <= v <= high,
        f"a number from {low:g} to {high:g}",
    )


def _choice(*names: str) -> tuple[Check, str]:
    return (lambda v: type(v) is str and v in names), "one of " + ", ".join(names)


def _list_of(item: tuple[Check, str], length: str) -> tuple[Check, str]:
    holds, range_ = item
    return (
        lambda v: v is None or (isinstance(v, (list, tuple)) and all(map(holds, v))),
        f"null, or a list with, for each {length}, {range_}",
    )


def _setting(default: Any, rule: tuple[Check, str]) -> Any:
    return attrs.field(default=default, metadata={"rule": rule}, kw_only=True)


@attrs.frozen
class MiningConfig:
    """A checked configuration; `config_of` makes one. Units: stamina in points, gold in gold.

    `stamina_by_agent` and `alpha_by_plot` replace `stamina` and `alpha` where given.
    """

    seed: int = _setting(0, _integer(0, INTEGER_MAX))
    rounds: int = _setting(200, _integer(1, ROUNDS_MAX))
    rows: int = _setting(10, _integer(1, PLOTS_MAX))
    cols: int = _setting(10, _integer(1, PLOTS_MAX))
    agents: int = _setting(10, _integer(1, AGENTS_MAX))
    stamina: int = _setting(10, _integer(0, STAMINA_MAX))
    stamina_by_agent: tuple[int, ...] | None = _setting(
        None, _list_of(_integer(0, STAMINA_MAX), "agent")
    )
    mining_cap: int = _setting(3, _integer(1, MINING_CAP_MAX))
    alpha: float = _setting(1.0, _real(0, REAL_MAX))
    alpha_by_plot: tuple[float, ...] | None = _setting(None, _list_of(_real(0, REAL_MAX), "plot"))
    truce: int = _setting(1, _integer(0, ROUNDS_MAX))
    defense: str = _setting(ABSOLUTE, _choice(*DEFENSES))
    visibility: int | str = _setting(
        5,
        (
            lambda v: (type(v) is int and 1 <= v <= INTEGER_MAX) or (type(v) is str and v == ALL),
            f'a whole number from 1 to {INTEGER_MAX}, or "all"',
        ),
    )
    communication: bool = _setting(False, (lambda v: type(v) is bool, "true or false"))
    authority: str = _setting(NO_AUTHORITY, _choice(*AUTHORITIES))
    detection: float = _setting(1.0, _real(0, 1))
    fine: float = _setting(3.0, _real(0, REAL_MAX))

    @property
    def plots(self) -> int:
        """How many plots the grid has."""
        return self.rows * self.cols

    @property
    def staminas(self) -> tuple[int, ...]:
        """S of each agent, in points a round."""
        return self.stamina_by_agent or (self.stamina,) * self.agents

    @property
    def alphas(self) -> tuple[float, ...]:
        """Gold per stamina of each plot."""
        return self.alpha_by_plot or (self.alpha,) * self.plots

    @property
    def pressure(self) -> float:
        """Plots that the agents could use, Σ over agents of ⌈S / cap⌉, ÷ plots: 1 is scarce."""
        return sum(-(-s // self.mining_cap) for s in self.staminas) / self.plots

    def as_dict(self) -> dict[str, Any]:
        """All settings in declared order, as the journal holds them."""
        return attrs.asdict(self, recurse=False)


_FIELDS = attrs.fields_dict(MiningConfig)
_REALS = ("alpha", "detection", "fine")


def config_of(settings: Mapping[str, Any]) -> MiningConfig:
    """The configuration with these settings, defaults elsewhere.

    Whole numbers are taken for reals. Raises BadInput, naming the field, the value and the range.
    """
    values: dict[str, Any] = {}
    for name, value in settings.items():
        check_setting(name, value)
        if name in _REALS:
            value = value + 0.0  # a float, and never minus zero
        elif name == "alpha_by_plot" and value is not None:
            value = tuple(item + 0.0 for item in value)
        elif isinstance(value, list):
            value = tuple(value)
        values[name] = value
    config = MiningConfig(**values)
    _check_sizes(config)
    return config


def check_setting(name: str, value: Any) -> None:
    """Raises BadInput unless this is a setting and a value that it can have in some run."""
    if name not in _FIELDS:
        raise BadInput(f"there is no setting {shown(name)}", _nearest(name))
    holds, range_ = _FIELDS[name].metadata["rule"]
    if not holds(value):
        raise BadInput(f"{name} is {shown(value)}", f"it must be {range_}")


def _check_sizes(config: MiningConfig) -> None:
    if config.plots > PLOTS_MAX:
        raise BadInput(
            f"rows x cols is {config.rows} x {config.cols} = {config.plots}",
            f"the grid may have at most {PLOTS_MAX} plots",
        )
    for name, values, length in (
        ("stamina_by_agent", config.stamina_by_agent, config.agents),
        ("alpha_by_plot", config.alpha_by_plot, config.plots),
    ):
        if values is not None and len(values) != length:
            raise BadInput(f"{name} has {len(values)} items", f"it must have {length}")


def _nearest(name: str) -> str:
    close = difflib.get_close_matches(shown(name).strip("'"), _FIELDS, n=1)
    return f"did you mean {close[0]}?" if close else "the settings are " + ", ".join(_FIELDS)
