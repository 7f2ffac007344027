"""What tools ask of the fishery."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.kernel.errors import BadInput
from goldrush.kernel.fold import events, states
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import Event, Row
from goldrush.replay.measures import Measure, Value, by_unit, gini
from goldrush.replay.prompts import prompts_of
from goldrush.replay.rebuild import Rebuilt
from goldrush.replay.studies import MIXED, Criteria, Criterion, Studies
from goldrush.replay.text import Paint, table
from goldrush.replay.tie_break import Occasion, TieBreak, hexed
from goldrush.replay.toolkit import (
    Measures,
    Names,
    Story,
    Summaries,
    TieBreaks,
    Toolkit,
    UnitView,
)
from goldrush_commons.players import FISHERS, GAME
from goldrush_commons.world import (
    COMMONS,
    REGROWN,
    TREATMENTS,
    CommonsConfig,
    Fishery,
    config_of,
    shock_of,
)


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
    seats=GAME.cast.names_by_agent,
    horizon="seasons",
    baselines=("share*5", "greedy*5", "random*5", MIXED),
    criteria=Criteria(
        [Criterion("recovery", "fish grow back", {"stock": +1, "sustained": +1})],
        null="random",
        sizes=[5],
    ),
)


def _shock(config: CommonsConfig, season: int, row: Row) -> TieBreak:
    """The shock of a season, worked out from the words recorded and from those of its key."""
    occasion = Occasion(
        {"season": season}, f"of season {season}", (config.seed, season, "shock"), decides="factor"
    )
    again = occasion.draws
    factor = shock_of(config, again.word())
    recorded = shock_of(config, *row[2]) if len(row[2]) == 1 else None
    rule = f"1 + {config.shock} * (2 * word / 2^64 - 1)"
    snippet = (
        f"import msgpack, xxhash\nword = xxhash.xxh3_64_intdigest(msgpack.packb({occasion.key}), "
        f"seed=0)\nprint({rule.replace('2^64', '2**64')})"
    )
    words = hexed(row[2]), hexed(again.words())
    return TieBreak(occasion, (), *words, None, recorded, factor, rule, snippet)


def every_shock(path: str | Path) -> Iterator[TieBreak]:
    """The shocks of all seasons, in order. Raises what reading a journal raises."""
    with JournalReader(path) as reader:
        for commit, state in states(COMMONS, reader):
            for block in commit.blocks[1::2]:
                for row in block.rows(REGROWN):
                    yield _shock(state.config, commit.unit, row)


def shocks(path: str | Path, season: int, place: int | None, kind: str | None) -> list[TieBreak]:
    """The shock of one season. Raises BadInput where there is none."""
    found = [one for one in every_shock(path) if one.place["season"] == season]
    if not found:
        raise BadInput(f"{path} has no draw in season {season}", "give a season that was played")
    return found


TOOLKIT: Final = Toolkit(
    world=lambda setup: COMMONS,
    config=CommonsConfig,
    players=FISHERS,
    length=lambda state: state.config.seasons,
    agents=lambda state: state.config.agents,
    story=Story(lines, chronicle),
    unit=UnitView(as_dict, format_season),
    summary=Summaries(summarise, format_summary),
    tie_breaks=TieBreaks("", ["shock"], shocks, every_shock),
    prompts=prompts_of(GAME),
    measures=lambda: Measures(MEASURES, READ),
    treatments=TREATMENTS,
    studies=lambda: STUDIES,
)
