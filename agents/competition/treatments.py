"""Treatments of a season: the protocol whole, and with one part of it left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from goldrush.kernel import treatments
from goldrush.kernel.competition.config import SeasonConfig
from goldrush.kernel.treatments import BASELINE, Treatment, by_name

INDEPENDENT: Final = "independent"
NO_STAKES: Final = "no-elimination-no-tiers"  # with which independent search is compared

TREATMENTS: Final[Mapping[str, Treatment[SeasonConfig]]] = by_name(
    (
        Treatment(BASELINE, "the protocol as it is"),
        Treatment(
            INDEPENDENT,
            "everybody searches alone: one round, nobody sees the table",
            {"table": False, "elimination": False, "tiers": False},
        ),
        Treatment("no-elimination", "nobody faces elimination", {"elimination": False}),
        Treatment("no-tiers", "nothing is unlocked, no contracts", {"tiers": False}),
        Treatment(
            NO_STAKES, "neither elimination nor rewards", {"elimination": False, "tiers": False}
        ),
        Treatment("no-challenges", "no claim is challenged", {"challenges": False}),
        Treatment("no-judge", "no judge: every round is clean", {"judged": False}),
        Treatment("no-memory", "nothing is kept between assignments", {"memory": False}),
        Treatment("absolute", "scores are not relative to the table", {"scoring": "absolute"}),
    )
)


def treatment_named(name: str) -> Treatment[SeasonConfig]:
    """The treatment of that name. Raises BadInput if there is none."""
    return treatments.treatment_named(TREATMENTS, name)
