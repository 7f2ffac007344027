"""What a study consists of: treatments × rosters × horizons × seeds, checked whole before a run.

A cell is a treatment, a roster and a horizon; its runs differ in the seed alone. The same seed in
two cells is a pair.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.llm.models import Models
from goldrush.agents.mining import players as mining
from goldrush.agents.mining.players import agents_wanted
from goldrush.agents.mining.roster import Roster, names_by_agent, names_in
from goldrush.agents.trust import check_trust, own_among
from goldrush.kernel.errors import BadInput, shown
from goldrush.kernel.files import read_given
from goldrush.kernel.mining.config import ROUNDS_MAX, MiningConfig, check_setting
from goldrush.kernel.mining.treatments import TREATMENTS, treated, treatment_named
from goldrush.kernel.settings import INTEGER_MAX
from goldrush.kernel.text import check_name
from goldrush.kernel.treatments import BASELINE

ALL: Final = "all"
# The source's four baselines, each alone, and the default mix of them.
MIXED: Final = "mixed"
BASELINES: Final = ("random", "greedy-mine", "defend-then-mine", "tit-for-tat-raid", MIXED)
SEEDS_DEFAULT: Final = 20
ROUNDS_DEFAULT: Final = 200
RUNS_MAX: Final = 100_000
NAME_MAX: Final = 80  # characters of the name of a treatment of one's own
FOLDER_MAX: Final = 100  # characters of a roster's name that its folder takes over
FILE_MAX: Final = 1 << 20  # bytes of a file that holds a plan

_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,{NAME_MAX - 1}}}")


@attrs.frozen
class Cell:
    """Runs that differ in the seed alone. `roster` is the name under which the plan has it."""

    treatment: str
    roster: str
    rounds: int

    def __str__(self) -> str:
        return f"{self.treatment}, {self.roster}, {self.rounds} rounds"


@attrs.frozen
class Planned:
    """A run of a study: where it belongs, its journal's path below the study's folder, and what is
    played.
    """

    cell: Cell
    seed: int
    path: str
    config: MiningConfig
    roster: Roster = attrs.field(repr=False)

    @property
    def setup(self) -> dict[str, Any]:
        """How its journal must begin."""
        return {"config": self.config.as_dict(), "roster": self.roster.as_setup()}


@attrs.frozen
class Outline:
    """A run of a study, as far as its plan alone tells it."""

    cell: Cell
    seed: int
    path: str
    config: MiningConfig


@attrs.frozen
class Plan:
    """`treatments` by name, with those of somebody's own in `own` (name -> settings); `rosters`:
    name -> text (None: the default mix); `seeds`; `rounds`: the horizons; `settings` hold for every
    run, before those of its treatment. `trust`: the policies of somebody's own that the rosters may
    name; None where whoever plans wrote the rosters, too. No manifest has it.
    """

    treatments: Sequence[str] = tuple(TREATMENTS)
    rosters: Mapping[str, str | None] = attrs.field(factory=lambda: rosters_of([]))
    seeds: Sequence[int] = tuple(range(SEEDS_DEFAULT))
    rounds: Sequence[int] = (ROUNDS_DEFAULT,)
    settings: Mapping[str, Any] = attrs.field(factory=dict)
    own: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)
    trust: Collection[str] | None = attrs.field(default=None, eq=False)

    def as_dict(self) -> dict[str, Any]:
        """The plan for JSON."""
        return attrs.asdict(self, filter=lambda field, _: field.name != "trust")

    def runs(self, models: Models | None = None) -> list[Planned]:
        """Every run, cell by cell, in the order of the plan.

        Raises BadInput, naming the cell, for one that cannot be played.
        """
        self._check_size()
        if self.trust is not None:
            for roster in filter(None, self.rosters.values()):
                for policy in own_among(names_in(roster)):
                    check_trust(policy, self.trust)
        return [run for cell, folder in self._cells() for run in self._cell(cell, folder, models)]

    def outlines(self) -> Iterator[Outline]:
        """Every run in the order of `runs`; no model is looked for, and no recording read.

        Raises BadInput for what cannot be played.
        """
        self._check_size()
        for cell, folder in self._cells():
            treatment, settings = self._settings(cell)
            named = treatment_named(treatment)
            names = names_by_agent(self.rosters[cell.roster], agents_wanted(named, settings))
            for seed in self.seeds:
                config = treated(named, {**settings, "seed": seed}, len(names))
                yield Outline(cell, seed, _path(cell, folder, seed), config)

    def _check_size(self) -> None:
        size = len(self.treatments) * len(self.rosters) * len(self.rounds) * len(self.seeds)
        if not 0 < size <= RUNS_MAX:
            raise BadInput(f"the study has {size:,} runs", f"it may have 1 to {RUNS_MAX:,}")

    def _cells(self) -> Iterator[tuple[Cell, str]]:
        """The cells, each with the name of its roster's folder."""
        folders = _folders(self.rosters)
        for treatment in self.treatments:
            for roster in self.rosters:
                for rounds in self.rounds:
                    yield Cell(treatment, roster, rounds), folders[roster]

    def _settings(self, cell: Cell) -> tuple[str, dict[str, Any]]:
        """The built-in treatment of a cell, and the settings that go before its own."""
        named = BASELINE if cell.treatment in self.own else cell.treatment
        own = self.own.get(cell.treatment, {})
        return named, {**own, **self.settings, "rounds": cell.rounds}

    def _cell(self, cell: Cell, folder: str, models: Models | None) -> Iterator[Planned]:
        named, settings = self._settings(cell)
        roster: Roster | str | None = self.rosters[cell.roster]
        for seed in self.seeds:
            try:
                # A roster is made once, with the first seed: it may have to read whole journals.
                config, roster = mining.prepare({**settings, "seed": seed}, roster, named, models)
            except BadInput as error:
                where = f"{shown(cell.treatment)}, {shown(cell.roster)}, {cell.rounds} rounds"
                raise BadInput(f"{where}: {error.what}", error.instead) from None
            yield Planned(cell, seed, _path(cell, folder, seed), config, roster)


def _path(cell: Cell, folder: str, seed: int) -> str:
    return f"{cell.treatment}/{folder}/rounds-{cell.rounds}/seed-{seed:04d}.journal"


def plan_of(
    *,
    treatments: Sequence[str] = (ALL,),
    rosters: Sequence[str] | Mapping[str, str] = ("baselines",),
    seeds: int | Sequence[int] = SEEDS_DEFAULT,
    rounds: int | Sequence[int] = ROUNDS_DEFAULT,
    settings: Mapping[str, Any] | None = None,
    own: Mapping[str, Mapping[str, Any]] | None = None,
    trust: Collection[str] | None = None,
) -> Plan:
    """A plan from what people write: `all` treatments, `baselines` (the four and their mix) among
    the rosters, a number of seeds (from 0 on) or a list of them, one horizon or several. `trust` as
    Plan has it.

    Raises BadInput for what is twice or out of range; `Plan.runs` checks the rest.
    """
    own = own or {}
    _check_own(own)
    _check_settings("the settings have", settings or {})
    names: list[str] = []
    for name in treatments:
        names += [*TREATMENTS, *own] if name == ALL else [name]
    known = [*TREATMENTS, *own]
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]}?" if close else f"take {ALL}, or of {', '.join(known)}"
            raise BadInput(f"there is no treatment {shown(name)}", hint)
    return Plan(
        treatments=_once("treatment", names),
        rosters=rosters_of(rosters),
        seeds=_once("seed", _numbers("seeds", seeds, 0, INTEGER_MAX, counted=True)),
        rounds=_once("horizon", _numbers("rounds", rounds, 1, ROUNDS_MAX, counted=False)),
        settings=dict(settings or {}),
        own={name: dict(table) for name, table in own.items()},
        trust=trust,
    )


def _check_own(own: Mapping[str, Mapping[str, Any]]) -> None:
    taken = {name.lower() for name in (*TREATMENTS, ALL)}  # as some file systems see names
    for name, table in own.items():
        if name.lower() in taken or not _NAME.fullmatch(name):
            raise BadInput(
                f"a treatment of one's own cannot be called {shown(name)}",
                f"take at most {NAME_MAX} letters, digits, _ and - that no treatment has yet",
            )
        taken.add(name.lower())
        _check_settings(f"treatment {name} has", table)


def _check_settings(who: str, settings: Mapping[str, Any]) -> None:
    for name, value in settings.items():
        if name in ("seed", "rounds"):
            raise BadInput(f"{who} {name}", "say seeds and rounds apart")
        try:
            check_setting(name, value)
        except BadInput as error:
            raise BadInput(f"{who} what cannot be: {error.what}", error.instead) from None


def rosters_of(given: Sequence[str] | Mapping[str, str]) -> dict[str, str | None]:
    """Rosters by name, from a list of texts (each its own name) or a map; `baselines` stands for
    the four baselines and their mix, and is what an empty list means.
    """
    pairs = given.items() if isinstance(given, Mapping) else [(text, text) for text in given]
    rosters: dict[str, str | None] = {}
    for name, text in pairs or [("baselines", "baselines")]:
        new: Mapping[str, str | None] = {name: text}
        if text == "baselines":
            if name != text:
                raise BadInput(
                    f"roster {shown(name)} is the baselines", "they have their own names"
                )
            new = {one: one for one in BASELINES}
        for key in new:
            if key in rosters:
                raise BadInput(f"the study has the roster {shown(key)} twice", "give it once")
        rosters.update({key: None if value == MIXED else value for key, value in new.items()})
    return rosters


def seeds_of(text: str) -> int | list[int]:
    """Seeds as a person types them: how many (`20`), or which (`0-4,7`). Raises BadInput."""
    if re.fullmatch(r"\s*[0-9]{1,16}\s*", text):
        return int(text)
    seeds: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*([0-9]{1,16})\s*(?:-\s*([0-9]{1,16})\s*)?", part)
        if found is None:
            raise BadInput(f"the seeds are {shown(text)}", "write how many, or which: 0-4,7")
        first, last = int(found[1]), int(found[2] or found[1])
        if last < first:
            raise BadInput(f"the seeds have {shown(part)}", "write the lower one first: 0-4")
        if last - first >= RUNS_MAX - len(seeds):
            raise BadInput(f"the seeds are {shown(text)}", f"at most {RUNS_MAX:,} can be run")
        seeds += range(first, last + 1)
    return seeds


def read_plan(path: str | Path, trust: Collection[str] = ()) -> Plan:
    """The plan of a TOML file: `treatments`, `rosters`, `seeds`, `rounds`, and tables `[settings]`,
    `[treatment.NAME]` (settings of a treatment of one's own) and `[roster]` (NAME = "text").

    A file cannot make code run by naming it: the rosters may name a policy of somebody's own only
    if `trust` lists it, or `Plan.runs` raises BadInput.

    Raises BadInput for a file that is no plan.
    """
    data = read_given(os.fspath(path), FILE_MAX, "give a TOML file with a plan")
    try:
        table = tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is no TOML: {error}", "write treatments = ['baseline']") from None
    try:
        return _plan_of_table(table, trust)
    except BadInput as error:
        raise BadInput(f"{path}: {error.what}", error.instead) from None


def _plan_of_table(table: Mapping[str, Any], trust: Collection[str]) -> Plan:
    kinds = {
        "treatments": (str, list), "rosters": (str, list), "seeds": (int, list),
        "rounds": (int, list), "settings": (dict,), "treatment": (dict,), "roster": (dict,),
    }  # fmt: skip
    for name, value in table.items():
        if name not in kinds:
            raise BadInput(f"there is {shown(name)}", f"a plan may have {', '.join(kinds)}")
        if type(value) not in kinds[name]:
            says = " or ".join(kind.__name__ for kind in kinds[name])
            raise BadInput(f"{name} is {shown(value)}", f"it must be of type {says}")
    for name in ("treatments", "rosters"):
        _check_texts(name, table.get(name, []))
    for name, inner in table.get("treatment", {}).items():
        if type(inner) is not dict:
            says = f"treatment {shown(name)} is {shown(inner)}"
            raise BadInput(says, "it must be a table of settings")
    named = table.get("roster", {})
    _check_texts("roster", list(named.values()))
    listed = _listed(table.get("rosters", list(named) or ["baselines"]))
    for name in named:
        check_name("roster", name)
        if name in (*BASELINES, "baselines"):
            raise BadInput(f"a roster cannot be called {shown(name)}", "take a name of its own")
    rosters = {name: named.get(name, name) for name in _once("roster", listed)}
    return plan_of(
        treatments=_listed(table.get("treatments", [ALL])),
        rosters=rosters,
        seeds=table.get("seeds", SEEDS_DEFAULT),
        rounds=table.get("rounds", ROUNDS_DEFAULT),
        settings=table.get("settings", {}),
        own=table.get("treatment", {}),
        trust=trust,
    )


def _check_texts(name: str, values: Any) -> None:
    for value in _listed(values):
        if type(value) is not str:
            raise BadInput(f"{name} has {shown(value)}", "write texts in quotes")


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _numbers(name: str, given: Any, low: int, high: int, *, counted: bool) -> list[int]:
    if counted and type(given) is int:
        if not 1 <= given <= RUNS_MAX:
            raise BadInput(f"{name} is {given}", f"it must be 1 to {RUNS_MAX:,}, or a list")
        return list(range(given))
    numbers = _listed(given)
    for number in numbers:
        if type(number) is not int or not low <= number <= high:
            raise BadInput(
                f"{name} has {shown(number)}", f"write whole numbers from {low} to {high}"
            )
    return numbers


def _once(what: str, items: Sequence[Any]) -> tuple[Any, ...]:
    seen = set()
    for item in items:
        if item in seen:
            raise BadInput(f"the study has the {what} {shown(item)} twice", "give it once")
        seen.add(item)
    if not items:
        raise BadInput(f"the study has no {what}", "give one")
    return tuple(items)


def _folders(rosters: Mapping[str, Any]) -> dict[str, str]:
    """A folder's name for each roster: its own where that is a plain one, else what is plain in it,
    and a number where two would share it.
    """
    folders: dict[str, str] = {}
    taken: set[str] = set()
    numbers: Counter[str] = Counter()
    for name in rosters:
        plain = re.sub(r"[^A-Za-z0-9_.-]+", "_", name[:FOLDER_MAX]).strip("._-") or "_"
        folder = plain
        while folder.lower() in taken:
            numbers[plain.lower()] += 1
            folder = f"{plain}-{numbers[plain.lower()] + 1}"
        taken.add(folder.lower())
        folders[name] = folder
    return folders


def cells_of(runs: Sequence[Planned]) -> Iterator[tuple[Cell, list[Planned]]]:
    """The runs by cell, in order."""
    by_cell: dict[Cell, list[Planned]] = {}
    for run in runs:
        by_cell.setdefault(run.cell, []).append(run)
    yield from by_cell.items()
