"""What tools ask of the fishery."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.kernel.fold import events
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import Event
from goldrush.replay.measures import Measure, Value, by_unit, gini
from goldrush.replay.rebuild import Rebuilt
from goldrush.replay.studies import MIXED, Criteria, Criterion, Studies
from goldrush.replay.text import Paint, table
from goldrush.replay.toolkit import Measures, Names, Story, Summaries, Toolkit, UnitView
from goldrush_commons.players import FISHERS, seats
from goldrush_commons.world import COMMONS, TREATMENTS, CommonsConfig, Fishery, config_of


def lines(told: Iterable[Event], names: Names) -> Iterator[str]:
    """A line for each event."""
    for event in told:
        if event.name == "asked":
            yield f"agent {event['agent']} asks for {event['fish']:,}"
        elif event.name == "landed":
            yield f"agent {event['agent']} lands {event['fish']:,.1f}"
        elif event.name == "regrown":
            yield f"{event['caught']:,.1f} caught; the stock is {event['stock']:,.1f}"
        else:
            yield event.name.replace("_", " ")


def chronicle(told: Iterable[Event], names: Names) -> Iterator[tuple[int, int, str]]:
    """A line a season."""
    for season, group in groupby(told, key=lambda event: event.unit):
        yield season, season, "; ".join(lines(group, names))


@attrs.frozen
class Summary:
    """A run in numbers: seasons played, the stock at the end, the catch in all."""

    path: str
    seasons: int
    stock: float
    caught: float

    def as_dict(self) -> dict[str, Any]:
        """The summary for JSON."""
        return attrs.asdict(self)


def summarise(path: str | Path) -> Summary:
    """Read a journal and count. Raises what reading one raises."""
    with JournalReader(path) as reader:
        found = [event for event in events(COMMONS, reader) if event.name == "regrown"]
    stock = float(found[-1]["stock"]) if found else 0.0
    return Summary(str(path), len(found), stock, float(sum(event["caught"] for event in found)))


def format_summary(summary: Summary) -> str:
    """The summary as text."""
    return f"{summary.seasons} seasons, {summary.caught:,.1f} caught; {summary.stock:,.1f} are left"


def as_dict(rebuilt: Rebuilt) -> dict[str, Any]:
    """A season for JSON."""
    state: Fishery = rebuilt.state
    return {"season": rebuilt.round, "stock": state.stock, "landed": list(state.landed)}


def format_season(rebuilt: Rebuilt, paint: Paint) -> str:
    """A season as text."""
    state: Fishery = rebuilt.state
    rows = [("agent", "policy", "landed")]
    for entry, landed in zip(state.roster, state.landed, strict=True):
        number = entry["agent"]
        rows.append((paint(str(number), number), entry["policy"], f"{landed:,.1f}"))
    head = f"season {rebuilt.round} of {state.config.seasons}, stock {state.stock:,.1f}"
    return f"{head}\n\n{table(rows, numbers=(2,))}"


MEASURES: Final = {
    measure.name: measure
    for measure in (
        Measure("stock", "stock, tonnes", "Tonnes of fish at the end of the season."),
        Measure("landed", "landed in all, tonnes", "What all have caught so far.", at_end=True),
        Measure("sustained", "sustained", "1 while half the capacity or more is left, else 0."),
        Measure("gini", "Gini of landings", "Gini coefficient of what each landed.", at_end=True),
    )
}


def measures_of(state: Fishery) -> dict[str, Value]:
    """The measures of the season that has just closed."""
    return {
        "stock": state.stock,
        "landed": sum(state.landed),
        "sustained": float(state.stock >= state.config.capacity / 2),
        "gini": gini(state.landed),
    }


READ: Final = by_unit(
    COMMONS,
    MEASURES,
    measures_of,
    config=lambda state: state.config,
    roster=lambda state: [entry["policy"] for entry in state.roster],
)

STUDIES: Final = Studies(
    title="Does a shared stock outlive those who fish it?",
    config=config_of,
    seats=seats,
    horizon="seasons",
    baselines=("share*5", "greedy*5", "random*5", MIXED),
    criteria=Criteria(
        [Criterion("recovery", "fish grow back", {"stock": +1, "sustained": +1})],
        null="random",
        sizes=[5],
    ),
)

TOOLKIT: Final = Toolkit(
    world=lambda setup: COMMONS,
    config=CommonsConfig,
    players=FISHERS,
    length=lambda state: state.config.seasons,
    agents=lambda state: state.config.agents,
    story=Story(lines, chronicle),
    unit=UnitView(as_dict, format_season),
    summary=Summaries(summarise, format_summary),
    measures=lambda: Measures(MEASURES, READ),
    treatments=TREATMENTS,
    studies=lambda: STUDIES,
)
