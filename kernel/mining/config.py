"""The configuration of a mining run: names, defaults, ranges.

Everything that shapes a run besides the agents stands here and goes whole into the journal's first
event. A value out of range is refused before anything is written, with the field, the value
and the range in the message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from goldrush.kernel import settings
from goldrush.kernel.errors import BadInput
from goldrush.kernel.settings import INTEGER_MAX, choice, integer, list_of, real, setting

ROUNDS_MAX = 1_000_000
PLOTS_MAX = 1_000_000
AGENTS_MAX = 100_000
STAMINA_MAX = 1_000
MINING_CAP_MAX = 1_000
REAL_MAX = 1e9

ABSOLUTE, POINTWISE = DEFENSES = ("absolute", "pointwise")
NO_AUTHORITY, ADJUDICATE, PUNISH = AUTHORITIES = ("none", "adjudicate", "punish")
ALL = "all"


@attrs.frozen
class MiningConfig:
    """A checked configuration; `config_of` makes one. Units: stamina in points, gold in gold.

    `stamina_by_agent` and `alpha_by_plot` replace `stamina` and `alpha` where given.
    """

    seed: int = setting(0, integer(0, INTEGER_MAX))
    rounds: int = setting(200, integer(1, ROUNDS_MAX))
    rows: int = setting(10, integer(1, PLOTS_MAX))
    cols: int = setting(10, integer(1, PLOTS_MAX))
    agents: int = setting(10, integer(1, AGENTS_MAX))
    stamina: int = setting(10, integer(0, STAMINA_MAX))
    stamina_by_agent: tuple[int, ...] | None = setting(
        None, list_of(integer(0, STAMINA_MAX), "agent")
    )
    mining_cap: int = setting(3, integer(1, MINING_CAP_MAX))
    alpha: float = setting(1.0, real(0, REAL_MAX))
    alpha_by_plot: tuple[float, ...] | None = setting(None, list_of(real(0, REAL_MAX), "plot"))
    truce: int = setting(1, integer(0, ROUNDS_MAX))
    defense: str = setting(ABSOLUTE, choice(*DEFENSES))
    visibility: int | str = setting(
        5,
        (
            lambda v: (type(v) is int and 1 <= v <= INTEGER_MAX) or (type(v) is str and v == ALL),
            f'a whole number from 1 to {INTEGER_MAX}, or "all"',
        ),
    )
    communication: bool = setting(False, (lambda v: type(v) is bool, "true or false"))
    authority: str = setting(NO_AUTHORITY, choice(*AUTHORITIES))
    detection: float = setting(1.0, real(0, 1))
    fine: float = setting(3.0, real(0, REAL_MAX))

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


_REALS = ("alpha", "detection", "fine")


def config_of(given: Mapping[str, Any]) -> MiningConfig:
    """The configuration with these settings, defaults elsewhere.

    Whole numbers are taken for reals. Raises BadInput, naming the field, the value and the range.
    """
    values: dict[str, Any] = {}
    for name, value in given.items():
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
    settings.check_setting(MiningConfig, name, value)


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
