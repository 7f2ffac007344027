"""A season in which final stances are of every kind: valid, none, refused for each reason, silent,
with hostile words; and two whose tables have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.worker import Worker
from goldrush.kernel.draws import Draws
from tests.seasons import small

HOSTILE: Final = "<img src=x onerror=alert(1)> `rm -rf` [a](b)\n# heading \x1b[2J\u202e </script>"
ASSIGNMENTS: Final = 6
UNKNOWN: Final = 99  # a target that no table has


class Unknown(Worker):
    """Stands by a proposal that there is not."""

    def stand(self, seen: SeasonObservation, draws: Draws) -> Mapping[str, Any]:
        return {"target": UNKNOWN, "words": "There it is."}


class Refuted(Worker):
    """Stands by a proposal that the proof refuted, where there is one; else says what is no
    answer.
    """

    def stand(self, seen: SeasonObservation, draws: Draws) -> Mapping[str, Any]:
        refuted = sorted(seen.table.stances.refuted)
        return {"target": refuted[0] if refuted else "none of them", "words": "Still."}


class Malformed(Worker):
    """Relies on what was never said."""

    def stand(self, seen: SeasonObservation, draws: Draws) -> Mapping[str, Any]:
        return {"target": None, "words": "Hm.", "because": ((UNKNOWN,), True)}


class Nobodys(Worker):
    """Stands by nothing, and says so in words that are no text of a page."""

    def stand(self, seen: SeasonObservation, draws: Draws) -> Mapping[str, Any]:
        return {"target": None, "words": HOSTILE, "because": ((0,), True)}


class Mute(Worker):
    """Proposes nothing, supports nothing, and gives no final stance."""

    def speak(self, seen: SeasonObservation, draws: Draws) -> Mapping[str, Any]:
        return {"move": "pass", "words": ""}

    def stand(self, seen: SeasonObservation, draws: Draws) -> Any:
        return None


@cache
def odd() -> Path:
    """The season with final stances of every kind; `finn` plays as workers do."""
    people = {"ada": Unknown, "ben": Refuted, "cleo": Malformed, "dov": Nobodys, "elif": Mute}
    parts = (f"{name}={__name__}:{kind.__name__}" for name, kind in people.items())
    return small(_folder() / "odd.journal", *parts, assignments=ASSIGNMENTS, elimination=False)


@cache
def apart() -> Path:
    """A season of independent search."""
    return small(_folder() / "apart.journal", table=False, elimination=False)


@cache
def silent() -> Path:
    """A season in which nobody says anything."""
    return small(_folder() / "silent.journal", "worker=silent", elimination=False)


def _folder() -> Path:
    return Path(_kept.name)


_kept = TemporaryDirectory()
