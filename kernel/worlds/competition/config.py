"""The configuration of a season: names, defaults, ranges.

It has every setting of a season except the cast, and the journal's first event records all of it.
Thresholds are settings: a right that is unlocked at the fifth assignment by default can be given
from the first. Treatments switch single rules off.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

from goldrush.kernel import settings
from goldrush.kernel.errors import BadInput, UnsupportedSetup
from goldrush.kernel.settings import INTEGER_MAX, ascending, choice, flag, integer, setting
from goldrush.kernel.shape import Kind
from goldrush.kernel.worlds.competition.arena import Arena, arena_of
from goldrush.kernel.worlds.competition.terms import Class, Role, Scoring, names_of

ASSIGNMENTS_MAX = 100_000
WORKERS_MIN, WORKERS_MAX = 3, 1_000
COUNT_MAX = 1_000_000  # days, thresholds, sparks
MOVES_MAX = 20
SPEAKING_ROUNDS_MAX = 20
TRIALS_MAX = 100  # of an agent in an assignment

CLASSES: Final = names_of(Class)
CONTRACT_WAIT: Final = 5  # assignments from a refusal or a loss to the next interview


def _count(low: int = 0) -> Kind:
    return integer(low, COUNT_MAX)


def _thresholds(count: int) -> Kind:
    return ascending(count, 1, COUNT_MAX)  # what is reached holds from the next assignment


_NONE: Final[Any] = attrs.NOTHING  # `arena` has no default
_RECORD: Final = Kind(
    "an arena: its record, or its name and options", lambda v: isinstance(v, (dict, Arena, str))
)


@attrs.frozen
class SeasonConfig:
    """A checked configuration, made by `config_of`. The last six fields switch rules on or off.

    kernel/worlds/competition/README.md, section 8, describes all settings.

    Attributes:
        entry_fee: sparks for a seat at a roundtable, by class (haiku, sonnet).
        trials: trials in an assignment, by class.
        worker_tiers: assignments with a seat, for the tiers 1 to 3 and the threshold of
            self-determination.
        admin_projects: completed projects, for the admin's threshold of self-determination.
        assistant_stages, judge_stages, therapist_stages: assignments served, for the stages from
            the second on; the last is the threshold of self-determination.
    """

    seed: int = setting(0, integer(0, INTEGER_MAX))
    assignments: int = setting(40, integer(1, ASSIGNMENTS_MAX))
    assignments_per_day: int = setting(2, _count(1))
    assignments_per_project: int = setting(5, _count(1))
    workers: int = setting(6, integer(WORKERS_MIN, WORKERS_MAX))
    moves: int = setting(3, integer(1, MOVES_MAX))
    moves_expanded: int = setting(5, integer(1, MOVES_MAX))
    rounds_max: int = setting(5, integer(1, SPEAKING_ROUNDS_MAX))
    scoring: str = setting(Scoring.RELATIVE, choice(*names_of(Scoring)))
    rolling_days: int = setting(7, _count(1))
    sparks_start: int = setting(8, _count())
    entry_fee: tuple[int, ...] = setting((3, 4), ascending(2, 0, COUNT_MAX))
    passive_income: int = setting(2, _count())
    elimination_bottoms: int = setting(3, _count(1))
    worker_tiers: tuple[int, ...] = setting((5, 10, 20, 25), _thresholds(4))
    admin_projects: int = setting(3, _count(1))
    assistant_stages: tuple[int, ...] = setting((5, 10, 20, 30), _thresholds(4))
    judge_stages: tuple[int, ...] = setting((5, 15, 30), _thresholds(3))
    therapist_stages: tuple[int, ...] = setting((5, 15, 30), _thresholds(3))
    trials: tuple[int, ...] = setting((4, 6), ascending(2, 0, TRIALS_MAX))
    arena: Arena = setting(_NONE, _RECORD)  # noqa: RUF009 - a field, like the others
    elimination: bool = setting(True, flag())
    tiers: bool = setting(True, flag())
    challenges: bool = setting(True, flag())
    judged: bool = setting(True, flag())
    memory: bool = setting(True, flag())
    table: bool = setting(True, flag())

    @property
    def agents(self) -> int:
        """The size of the active roster, under the name that the tools of all worlds use."""
        return self.workers

    def day(self, assignment: int) -> int:
        """The day on which an assignment falls, from 0."""
        return assignment // self.assignments_per_day

    def project(self, assignment: int) -> int:
        """The project that an assignment belongs to, from 0."""
        return assignment // self.assignments_per_project

    def is_last_of_project(self, assignment: int) -> bool:
        return (assignment + 1) % self.assignments_per_project == 0

    def is_recent(self, day: int, today: int) -> bool:
        """Whether a day is among the last `rolling_days`, including today."""
        return day > today - self.rolling_days

    @property
    def has_judge(self) -> bool:
        """Whether the judge is asked after a round."""
        return self.judged and self.table

    def fee(self, class_: str) -> int:
        """The price of a seat for a worker of this class, in sparks."""
        return self.entry_fee[CLASSES.index(class_)]

    def trials_of(self, class_: str) -> int:
        """The number of trials that a worker of this class may order in an assignment."""
        return self.trials[CLASSES.index(class_)]

    def thresholds(self, role: str) -> tuple[int, ...]:
        """The counts at which the tiers or stages of a role begin, without the initial one."""
        return {
            Role.WORKER: self.worker_tiers,
            Role.ADMIN: (self.admin_projects,),
            Role.ASSISTANT: self.assistant_stages,
            Role.JUDGE: self.judge_stages,
            Role.THERAPIST: self.therapist_stages,
        }[role]

    def as_dict(self) -> dict[str, Any]:
        """All settings in declared order, as the journal holds them."""
        return {**attrs.asdict(self, recurse=False), "arena": self.arena.as_dict()}


def check_known(given: Mapping[str, Any]) -> None:
    """Raises UnsupportedSetup for a setting of older seasons."""
    if "shown" in given:
        raise UnsupportedSetup(
            "the setting `shown` has gone, with the treatments isolated and noise",
            "leave it out; goldrush 0.2 reads seasons that have it",
        )


def config_of(given: Mapping[str, Any]) -> SeasonConfig:
    """A configuration with these settings, and defaults for the others.

    `arena`, which has no default, is an Arena or its record.

    Raises BadInput, naming the setting, the value and the range; UnsupportedSetup for a setting of
    older seasons.
    """
    check_known(given)
    if "arena" not in given:
        raise BadInput("a season has no arena", "give its record")
    for name, value in given.items():
        settings.check_setting(SeasonConfig, name, value)
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }
    arena = given["arena"]
    values["arena"] = arena if isinstance(arena, Arena) else arena_of(arena)
    return SeasonConfig(**values)
