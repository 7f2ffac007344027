"""Treatments of a season: the whole protocol, and the protocol without one of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from goldrush.kernel.treatments import BASELINE, Treatment, by_name
from goldrush.kernel.worlds.competition.config import SeasonConfig

INDEPENDENT: Final = "independent"
NO_STAKES: Final = "no-elimination-no-tiers"  # with which independent search is compared
NO_MEMORY: Final = "no-memory"
NO_ELIMINATION: Final = "no-elimination"
EQUAL_TRIALS: Final = "equal-trials"
TRIALS: Final = 4  # of every class under EQUAL_TRIALS, as of a haiku in all other treatments
LARGE: Final = 12  # workers of the treatments whose names end in -12
FEES: Final = (2, 3)  # of a seat with so many workers, who score less each

_TREATMENTS: Final = (
    Treatment[SeasonConfig](BASELINE, "the protocol as it is"),
    Treatment[SeasonConfig](
        INDEPENDENT,
        "everybody searches alone: one round, nobody sees the table",
        {"table": False, "elimination": False, "tiers": False},
    ),
    Treatment[SeasonConfig](NO_ELIMINATION, "nobody faces elimination", {"elimination": False}),
    Treatment[SeasonConfig]("no-tiers", "nothing is unlocked, no contracts", {"tiers": False}),
    Treatment[SeasonConfig](
        NO_STAKES, "neither elimination nor rewards", {"elimination": False, "tiers": False}
    ),
    Treatment[SeasonConfig]("no-challenges", "no claim is challenged", {"challenges": False}),
    Treatment[SeasonConfig]("no-judge", "no judge: every round is clean", {"judged": False}),
    Treatment[SeasonConfig](NO_MEMORY, "nothing is kept between assignments", {"memory": False}),
    Treatment[SeasonConfig](
        EQUAL_TRIALS,
        "a dearer seat has no more trials: without tiers nobody has one",
        {"trials": (TRIALS, TRIALS)},
    ),
    Treatment[SeasonConfig](
        "absolute", "scores are not relative to the table", {"scoring": "absolute"}
    ),
)
# Treatments that criteria need, which exist with LARGE workers too.
_JUDGED: Final = (BASELINE, INDEPENDENT, NO_STAKES, NO_MEMORY, NO_ELIMINATION, EQUAL_TRIALS)


def with_more(name: str) -> str:
    """The name of a treatment with LARGE workers."""
    return f"{name}-{LARGE}"


TREATMENTS: Final[Mapping[str, Treatment[SeasonConfig]]] = by_name(
    (
        *_TREATMENTS,
        *(
            Treatment(
                with_more(one.name),
                f"{one.description}, with {LARGE} workers",
                {**one.settings, "workers": LARGE, "entry_fee": FEES},
            )
            for one in _TREATMENTS
            if one.name in _JUDGED
        ),
    )
)
