"""What tools ask of the fishery."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from goldrush.agents.seats import policy_label
from goldrush.kernel.measures import gini
from goldrush.kernel.world import Row
from goldrush.replay.data.measures import Measure, Measured, Measures, by_unit, named
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.games import GameTools
from goldrush.replay.journal.draws import draws_in
from goldrush.replay.journal.tie_break import Occasion, TieBreak
from goldrush.replay.studies import MIXED, Criteria, Criterion, Studies
from goldrush.replay.text import Paint, format_table
from goldrush.replay.tools import ClosedUnit, HasDict
from goldrush_commons.players import GAME
from goldrush_commons.world import COMMONS, REGROWN, CommonsConfig, Fishery, config_of, shock_of

MEASURES: Final = named(
    Measure(
        "stock", "stock, tonnes", "Tonnes of fish at the end of the season.",
        lambda state: state.stock,
    ),
    Measure(
        "landed", "landed in all, tonnes", "What all have caught so far.",
        lambda state: sum(state.landed), at_end=True,
    ),
    Measure(
        "sustained", "sustained", "1 while half the capacity or more is left, else 0.",
        lambda state: float(state.stock >= state.config.capacity / 2),
    ),
    Measure(
        "gini", "Gini of landings", "Gini coefficient of what each landed.",
        lambda state: gini(state.landed), at_end=True,
    ),
)  # fmt: skip

READ: Final = by_unit(
    COMMONS,
    MEASURES,
    config=lambda state: state.config,
    roster=lambda state: [policy_label(entry) for entry in state.roster],
)

STUDIES: Final = Studies(
    title="Does a shared stock outlive those who fish it?",
    config=config_of,
    seats=GAME.policy_set.names_by_agent,
    baselines=("share*5", "greedy*5", "random*5", MIXED),
    criteria=Criteria(
        [Criterion("recovery", "fish grow back", {"stock": +1, "sustained": +1})],
        null="random",
        sizes=[5],
    ),
)


def shock(state: Fishery, season: int, row: Row) -> TieBreak:
    """The draw of a season's shock."""
    config = state.config
    occasion = Occasion(
        {"season": season}, f"of season {season}", (config.seed, season, "shock"), decides="factor"
    )
    formula = f"1 + {config.shock} * (2 * (word / 2**64) - 1)"
    return TieBreak.number(occasion, row[2], lambda word: shock_of(config, word), formula)


class FisheryTools(GameTools):
    """The tools that the fishery has itself."""

    summary = staticmethod(measured_at)
    draw_kinds = ("shock",)
    measures = Measures(MEASURES, READ)
    studies = STUDIES

    def unit_as_dict(self, unit: ClosedUnit) -> Mapping[str, object]:
        state: Fishery = unit.state
        return {"season": unit.round, "stock": state.stock, "landed": list(state.landed)}

    def format_unit(self, unit: ClosedUnit, paint: Paint) -> str:
        state: Fishery = unit.state
        rows = [("agent", "policy", "landed")]
        for entry, landed in zip(state.roster, state.landed, strict=True):
            number = entry["agent"]
            rows.append((paint(str(number), number), entry["policy"], f"{landed:,.1f}"))
        head = f"season {unit.round} of {state.config.seasons}, stock {state.stock:,.1f}"
        return f"{head}\n\n{format_table(rows, numbers=(2,))}"

    def format_summary(self, summary: HasDict) -> str:
        assert isinstance(summary, Measured)
        stock = summary.values["stock"][-1:] or [summary.config.capacity]
        landed = summary.of("landed") or 0
        return f"{summary.units} seasons, {landed:,.1f} landed; {stock[0]:,.1f} are left"

    def draws(self, path: str | Path) -> Iterator[TieBreak]:
        return draws_in(path, COMMONS, REGROWN, shock)


TOOLS: Final = FisheryTools(GAME, CommonsConfig)
