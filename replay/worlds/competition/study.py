"""Seasons as a subject of studies: casts, measures, the competition's part of a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.agents.worlds.competition.arenas import NAMES, NoProgram
from goldrush.agents.worlds.competition.cast import RANDOM, SCRIPTED, cast_of
from goldrush.agents.worlds.competition.players import configured
from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.competition.config import SeasonConfig
from goldrush.kernel.worlds.competition.terms import Role
from goldrush.replay.studies import MIXED, Kept, Studies
from goldrush.replay.worlds.competition.contrasts import (
    answers,
    kept,
    packed,
    summary_lines,
    unpacked,
)
from goldrush.replay.worlds.competition.measures import MEASURES, SHOWN


def _config(settings: Mapping[str, Any]) -> SeasonConfig:
    """The configuration with these settings. Raises BadInput."""
    try:
        return configured(settings)
    except NoProgram as error:
        raise BadInput(
            f"{error.what}, and studies take none",
            "play its seasons one by one: goldrush season --test PROGRAM",
        ) from None


def _seats(roster: str | None, agents: int | None) -> Sequence[str]:
    """The policy of each worker."""
    text = None if roster in (None, MIXED) else roster
    default: int = attrs.fields_dict(SeasonConfig)["workers"].default  # type: ignore[assignment]
    workers = default if agents is None else agents
    cast = cast_of(workers, text.split(",") if text else ())
    return [entry["policy"] for entry in cast if entry["role"] == Role.WORKER]


STUDIES: Final = Studies(
    title="Does the protocol work?",
    config=_config,
    size="workers",
    seats=_seats,
    baselines=(SCRIPTED, RANDOM),
    kept=Kept(kept, packed, unpacked, lambda config: config.arena.name in NAMES),
    answers=answers,
    summary=summary_lines,
    curves=[name for name, measure in MEASURES.items() if measure.by_unit],
    compared=SHOWN,
)
