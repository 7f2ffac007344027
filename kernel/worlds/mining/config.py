"""The configuration of a mining run: names, defaults, ranges.

It has every setting of a run except the roster, and the journal's first event records all of it. A
value out of range is refused before anything is written, with the setting, the value and the range
in the message.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import attrs
from attrs.converters import optional

from goldrush.kernel.errors import BadInput
from goldrush.kernel.settings import (
    INTEGER_MAX,
    choice,
    configured,
    flag,
    integer,
    list_of,
    real,
    setting,
)
from goldrush.kernel.shape import Kind
from goldrush.kernel.text import format_count

ROUNDS_MAX = 1_000_000
PLOTS_MAX = 1_000_000
AGENTS_MAX = 100_000
STAMINA_MAX = 1_000
MINING_CAP_MAX = 1_000
REAL_MAX = 1e9

ABSOLUTE, POINTWISE = DEFENSES = ("absolute", "pointwise")
NO_AUTHORITY, ADJUDICATE, PUNISH = AUTHORITIES = ("none", "adjudicate", "punish")
ALL = "all"


def _real(value: float) -> float:
    """As a float, and never minus zero."""
    return value + 0.0


def _reals(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(map(_real, values))


@attrs.frozen
class MiningConfig:
    """A checked configuration, made by `config_of`. kernel/worlds/mining/README.md describes the
    settings.

    Units: stamina in points, gold in gold. If given, `stamina_by_agent` and `alpha_by_plot` replace
    `stamina` and `alpha`.
    """

    seed: int = setting(0, integer(0, INTEGER_MAX))
    rounds: int = setting(200, integer(1, ROUNDS_MAX))
    rows: int = setting(10, integer(1, PLOTS_MAX))
    cols: int = setting(10, integer(1, PLOTS_MAX))
    agents: int = setting(10, integer(1, AGENTS_MAX))
    stamina: int = setting(10, integer(0, STAMINA_MAX))
    stamina_by_agent: tuple[int, ...] | None = setting(
        None, list_of(integer(0, STAMINA_MAX), "agent"), optional(tuple)
    )
    mining_cap: int = setting(3, integer(1, MINING_CAP_MAX))
    alpha: float = setting(1.0, real(0, REAL_MAX), _real)
    alpha_by_plot: tuple[float, ...] | None = setting(
        None, list_of(real(0, REAL_MAX), "plot"), optional(_reals)
    )
    truce: int = setting(1, integer(0, ROUNDS_MAX))
    defense: str = setting(ABSOLUTE, choice(*DEFENSES))
    visibility: int | str = setting(
        5,
        Kind(
            f'a whole number from 1 to {INTEGER_MAX}, or "all"',
            lambda v: (type(v) is int and 1 <= v <= INTEGER_MAX) or (type(v) is str and v == ALL),
        ),
    )
    communication: bool = setting(False, flag())
    authority: str = setting(NO_AUTHORITY, choice(*AUTHORITIES))
    detection: float = setting(1.0, real(0, 1), _real)
    fine: float = setting(3.0, real(0, REAL_MAX), _real)

    @property
    def plots(self) -> int:
        """The number of plots of the grid."""
        return self.rows * self.cols

    @cached_property
    def staminas(self) -> tuple[int, ...]:
        """The stamina S of each agent, in points a round."""
        return self.stamina_by_agent or (self.stamina,) * self.agents

    @cached_property
    def alphas(self) -> tuple[float, ...]:
        """The gold for a point of stamina on each plot."""
        return self.alpha_by_plot or (self.alpha,) * self.plots

    @property
    def pressure(self) -> float:
        """Demand for plots: Σ over agents of ⌈S / cap⌉ ÷ plots. Plots are scarce above 1."""
        return sum(-(-s // self.mining_cap) for s in self.staminas) / self.plots

    def as_dict(self) -> dict[str, Any]:
        """All settings in declared order, as the journal holds them."""
        return attrs.asdict(self, recurse=False)


def config_of(named: Mapping[str, Any]) -> MiningConfig:
    """A configuration with these settings, and defaults for the others.

    Whole numbers are accepted as reals.

    Raises BadInput, naming the setting, the value and the range.
    """
    config = configured(MiningConfig, named)
    _check_sizes(config)
    return config


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
            raise BadInput(
                f"{name} has {format_count(len(values), 'item')}", f"it must have {length}"
            )
