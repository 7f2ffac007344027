"""Arenas: the subject matter of roundtables, and the rules by which proposals are judged.

The kernel knows an arena by the record in a season's setup (`Arena`), which is all that a fold
needs, and by its `Rules`, pure functions that check and compare conducts. Conducts are tested
outside the kernel, by the arena's bench, and the results are input events. Rules and benches are
found by name in the entry-point groups `goldrush.arenas` and `goldrush.benches`; an entry of the
first is an `ArenaType`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.settings import configured
from goldrush.kernel.shape import Kind

UP, DOWN = DIRECTIONS = ("up", "down")
SUBJECTS_MAX: Final = 200_000
NAME_MAX: Final = 200  # characters of an objective, a treatment, a family
SEEDS_MAX: Final = 100  # of one test
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,31}", re.ASCII)

# A conduct is a plain value: text, a number, or a tuple of these. A claim: (value, edge or None).
Conduct = Any
Claim = tuple[float, str | None]

C = TypeVar("C", bound=attrs.AttrsInstance)


@attrs.frozen
class Subject:
    """The subject of a table: an objective, whether `up` or `down` is better, and a treatment.

    The memory of agents is kept by `family`: facts about a subject help with others of its family.
    """

    objective: str
    better: str
    treatment: str
    family: str

    @property
    def key(self) -> tuple[str, str]:
        """(objective, treatment), the identity of the subject in acts and events."""
        return self.objective, self.treatment

    def holds(self, value: float | None, claim: float | None) -> bool:
        """Whether a tested value is at least as good as a claimed one. False where one is None."""
        if value is None or claim is None:
            return False
        return value >= claim if self.better == UP else value <= claim

    def beats(self, value: float | None, other: float | None) -> bool:
        """Whether a value is strictly better than another one. Any value is better than None."""
        if value is None:
            return False
        return other is None or (value != other and self.holds(value, other))

    def best(self, values: Iterable[float | None]) -> float | None:
        """The best of some values; None if there is none."""
        best: float | None = None
        for value in values:
            if self.beats(value, best):
                best = value
        return best

    def is_sharp(self, value: float | None, claim: float, bar: float | None) -> bool:
        """Whether a claim holds and is at least half as far beyond the bar as its tested value."""
        if value is None or bar is None or not self.holds(value, claim):
            return False
        return 2 * abs(claim - bar) >= abs(value - bar)


@attrs.frozen
class Arena:
    """An arena as the setup of a season records it.

    `options` are plain values by name; one of them is always `seeds`, the number of runs of a test.
    """

    name: str
    version: int
    options: Mapping[str, Any] = attrs.field(hash=False)
    subjects: tuple[Subject, ...]
    by_key: Mapping[tuple[str, str], Subject] = attrs.field(init=False, repr=False, eq=False)

    @by_key.default
    def _by_key(self) -> Mapping[tuple[str, str], Subject]:
        return {subject.key: subject for subject in self.subjects}

    @cached_property
    def families(self) -> Sequence[Sequence[Subject]]:
        """The subjects by family, each in the order in which they are listed."""
        families: dict[str, list[Subject]] = {}
        for subject in self.subjects:
            families.setdefault(subject.family, []).append(subject)
        return list(families.values())

    @property
    def seeds(self) -> int:
        """The number of runs of a test, each with its own seed."""
        seeds: int = self.options["seeds"]
        return seeds

    @property
    def objectives(self) -> tuple[str, ...]:
        """The objectives, in the order of the subjects."""
        return tuple(dict.fromkeys(subject.objective for subject in self.subjects))

    def subject(self, key: Any) -> Subject | None:
        """The subject of this (objective, treatment); None for any other value."""
        is_key = type(key) is tuple and len(key) == 2 and all(type(name) is str for name in key)
        return self.by_key.get(key) if is_key else None

    def as_dict(self) -> dict[str, Any]:
        """The record in the setup."""
        return {
            "name": self.name,
            "version": self.version,
            "options": dict(self.options),
            "subjects": self._plain_subjects,
        }

    @cached_property
    def _plain_subjects(self) -> tuple[tuple[str, ...], ...]:
        return tuple(attrs.astuple(subject) for subject in self.subjects)


def arena_of(record: Any) -> Arena:
    """The arena of a record in a setup. Raises BadInput for a malformed record."""
    fault = _fault(record)
    if fault is not None:
        raise BadInput(f"arena: {fault}", "give name, version, options and subjects")
    subjects = tuple(Subject(*subject) for subject in record["subjects"])
    arena = Arena(record["name"], record["version"], record["options"], subjects)
    if len(arena.by_key) < len(subjects):
        raise BadInput("arena: two subjects are the same", "give each (objective, treatment) once")
    if len({(s.objective, s.better) for s in subjects}) > len(arena.objectives):
        raise BadInput("arena: an objective has two directions", "give each one direction")
    return arena


def options_in(arena: Arena, options: type[C]) -> C:
    """The options of an arena as an instance of this class.

    Raises BadInput unless they are exactly the fields of the class, with valid values.
    """
    names = [field.name for field in attrs.fields(options)]
    if list(arena.options) != names:
        raise BadInput(
            f"arena {arena.name}: the options are {format_value(list(arena.options))}",
            f"they must be {', '.join(names)}",
        )
    try:
        return configured(options, arena.options)
    except BadInput as error:
        raise BadInput(f"arena {arena.name}: {error.what}", error.instead) from None


def _fault(record: Any) -> str | None:
    """What is wrong with a record; None for a valid one."""
    if type(record) is not dict or list(record) != ["name", "version", "options", "subjects"]:
        return f"the record is {format_value(record)}"
    name, version, options, subjects = record.values()
    if type(name) is not str or _NAME.fullmatch(name) is None:
        return f"the name is {format_value(name)}"
    if type(version) is not int or version < 1:
        return f"the version is {format_value(version)}"
    if type(options) is not dict or not all(type(key) is str for key in options):
        return f"the options are {format_value(options)}"
    seeds = options.get("seeds")
    if type(seeds) is not int or not 1 <= seeds <= SEEDS_MAX:
        return f"the option seeds is {format_value(seeds)}, and must be from 1 to {SEEDS_MAX}"
    if not isinstance(subjects, (list, tuple)) or not 0 < len(subjects) <= SUBJECTS_MAX:
        return f"there must be 1 to {SUBJECTS_MAX:,} subjects"
    wrong = [subject for subject in subjects if not _is_subject(subject)]
    return f"a subject is {format_value(wrong[0])}" if wrong else None


def _is_subject(value: Any) -> bool:
    """(objective, direction, treatment, family)."""
    return (
        isinstance(value, (list, tuple))
        and len(value) == 4
        and all(type(text) is str and 0 < len(text) <= NAME_MAX for text in value)
        and value[1] in DIRECTIONS
    )


@attrs.frozen
class Rules:
    """The pure half of an arena: its checks and comparisons.

    Attributes:
        arena: the record that these rules belong to.
        treatments: the treatments under which conducts can be tried, and that an edge can name.
        conduct: the kind of a conduct, canonical or not, with the schema of one in a model's
            answer. The functions below are called with values of this kind only.
        is_canonical: `is_canonical(conduct, treatment)`: whether a conduct is valid and in its
            canonical form, for a subject of this treatment.
        distance: `distance(a, b)`: 0 if the conducts are equal, 1 if they are neighbours, else 2.
        bar: `bar(subject)`: the conduct whose tested value is the bar; claims must be better.
        describe: `describe(conduct)`: a short text on one line, without the treatment.
    """

    arena: Arena
    treatments: Sequence[str]
    conduct: Kind
    is_canonical: Callable[[Conduct, str], bool]
    distance: Callable[[Conduct, Conduct], int]
    bar: Callable[[Subject], Conduct]
    describe: Callable[[Conduct], str]

    def is_claim(self, value: Any, treatment: str) -> bool:
        """Whether this is (number, None) or (number, another treatment of the arena)."""
        if type(value) is not tuple or len(value) != 2 or type(value[0]) not in (int, float):
            return False
        edge = value[1]
        return edge is None or (type(edge) is str and edge in self.treatments and edge != treatment)


@attrs.frozen
class ArenaType(Generic[C]):
    """The value of an entry point in the group `goldrush.arenas`.

    Attributes:
        version: increased with every change of rules or tests.
        description: one line.
        options: the class of its options, declared with kernel.settings; one of them is `seeds`. It
            may raise BadInput for contradictory values.
        subjects: `subjects(options, assignments)`: the subjects of a season with so many
            assignments, in the order of the agenda: for more assignments all that there are for
            fewer. A record may have those listed for as many assignments as it has subjects.
        rules: `rules(arena, options)`: the rules of a recorded arena, whose options and subjects
            are checked.
        seeded: the option whose default is the season's seed, a whole number from 0 to 2^53 - 1;
            None: no option depends on the seed. Its own default, in the class, does not count.
    """

    version: int
    description: str
    options: type[C]
    subjects: Callable[[C, int], Sequence[Subject]]
    rules: Callable[[Arena, C], Rules]
    seeded: str | None = None

    def rules_of(self, arena: Arena) -> Rules:
        """The rules of a recorded arena. Raises BadInput for options or subjects that this arena
        does not have.
        """
        options = options_in(arena, self.options)
        listed = set(self.subjects(options, len(arena.subjects)))
        for subject in arena.subjects:
            if subject not in listed:
                raise BadInput(
                    f"arena {arena.name}: a subject is {format_value(attrs.astuple(subject))}",
                    "give one that the arena has",
                )
        return self.rules(arena, options)
