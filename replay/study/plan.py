"""Plan of a study: treatments × rosters × horizons × seeds, checked before the first run.

A cell is a treatment, a roster and a horizon; its runs differ only in the seed. Runs of two cells
with the same seed are a pair.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import attrs
import msgspec

from goldrush.agents.llm.model import Model
from goldrush.agents.llm.models import Models
from goldrush.agents.llm.options import PERSONAS
from goldrush.agents.players import Facts, PreparedRun, Resources
from goldrush.agents.seats import models_in
from goldrush.agents.targets import Maker, names_code
from goldrush.agents.trust import check_trust, import_names
from goldrush.kernel.errors import BadInput, format_value, unknown
from goldrush.kernel.files import read_toml
from goldrush.kernel.rosters import Config
from goldrush.kernel.settings import INTEGER_MAX, check_setting, integer
from goldrush.kernel.shape import Kind
from goldrush.kernel.text import check_name, quoted
from goldrush.kernel.treatments import (
    BASELINE,
    NAME,
    NAME_MAX,
    Treatment,
    treated,
    treatment_in_file,
    treatment_named,
)
from goldrush.replay.arguments import integer as integer_of
from goldrush.replay.arguments import listed, settings_of
from goldrush.replay.find import WORLD_DEFAULT, players_of, tools_for, world_named
from goldrush.replay.studies import MIXED, NO_STUDIES
from goldrush.replay.study.records import Cell, StudyRun
from goldrush.replay.text import numbered
from goldrush.replay.tools import Tools

if TYPE_CHECKING:
    from goldrush.kernel.game.game import Game

ALL: Final = "all"
BASELINES: Final = "baselines"
SEEDS_DEFAULT: Final = 20
RUNS_MAX: Final = 100_000
FOLDER_MAX: Final = 100  # characters of a roster's name in the name of its folder
FILE_MAX: Final = 1 << 20  # bytes of a plan file


Treatments = str | Sequence[str] | Mapping[str, Mapping[str, Any]]


@attrs.frozen
class Planned:
    """A run of a study, ready to be played: prepared, but for the journals that its agents replay
    (`sources`), as a study may have thousands of runs. It has its settings as its setup does, for
    workers need not have the class of its configuration. `sha256`: as of StudyRun.
    """

    cell: Cell
    seed: int
    path: str
    world: str
    prepared: PreparedRun = attrs.field(repr=False)
    sources: Sequence[str] = ()
    sha256: str | None = None

    @property
    def setup(self) -> Facts:
        """The setup with which its journal must begin."""
        return self.prepared.setup

    def resources(self, models: Models | None = None) -> Resources:
        """What playing it needs."""
        trust = self.prepared.roster.trust
        return Resources(models=models, trust=trust, sources=self.sources)

    @property
    def models(self) -> list[Model]:
        """The language models among its players. Raises BadInput for unsupported options."""
        return list(models_in(self.prepared.roster.entries).values())


@attrs.frozen
class StudyPlan:
    """The runs of a study: treatments × rosters × horizons × seeds.

    Attributes:
        rosters: texts of rosters by name; None: the world's default roster.
        settings: of every run; they win over those of its treatment.
        own: settings of user-defined treatments, by name.
        contrasts: what reports compare; none: all pairs.
        trust: names of user-defined policies that the rosters may import; None: all, because the
            rosters come from the user and not from a file. Not in the manifest.
        folder: from which files of wordings and personas in the rosters are found, so that a study
            goes on wherever its command is given. Not in the manifest.
    """

    world: str
    treatments: Sequence[str]
    rosters: Mapping[str, str | None]
    seeds: Sequence[int]
    rounds: Sequence[int]
    settings: Mapping[str, Any] = attrs.field(factory=dict)
    own: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)
    contrasts: Sequence[str] = ()
    trust: Collection[str] | None = attrs.field(default=None, eq=False)
    folder: str = attrs.field(default="", eq=False)

    def as_dict(self) -> dict[str, Any]:
        """The plan for JSON, without its world, which is a field of its own in the manifest."""
        left_out = ("trust", "folder", "world", *([] if self.contrasts else ["contrasts"]))
        return attrs.asdict(self, filter=lambda field, _: field.name not in left_out)

    @property
    def policies(self) -> list[str]:
        """The names of the policies in its rosters."""
        names = studied(self.world).players.policy_set.names_in
        return [name for text in filter(None, self.rosters.values()) for name in names(text)]

    def runs(self, models: Models | None = None) -> list[Planned]:
        """Every run, cell by cell. Raises BadInput, naming the cell, if one cannot be played."""
        of = studied(self.world)
        if self.trust is not None:
            for policy in import_names(self.policies):
                check_trust(policy, self.trust)
        runs = []
        for cell, outlines in self._cells(of):
            with _naming(cell, of):  # once for a cell: a roster may have to read whole journals
                prepared = self._prepared(of, outlines[0], Resources(models=models))
            has_personas = PERSONAS in (self.rosters[cell.roster] or "")
            for run in outlines:
                facts = {**prepared.facts, "config": run.config.as_dict()}
                if has_personas and run is not outlines[0]:
                    prepared = self._prepared(of, run, Resources(models=models))
                unread = msgspec.structs.replace(prepared.roster, recordings=())
                ready = msgspec.structs.replace(prepared, facts=facts, roster=unread)
                sources = prepared.roster.sources
                runs.append(Planned(cell, run.seed, run.path, self.world, ready, sources))
        return runs

    def outlines(self) -> list[StudyRun]:
        """Every run in the order of `runs`, without preparing its players. Raises BadInput."""
        return [run for _, runs in self._cells(studied(self.world)) for run in runs]

    def _cells(self, of: Tools) -> Iterator[tuple[Cell, list[StudyRun]]]:
        size = math.prod(map(len, (self.treatments, self.rosters, self.rounds, self.seeds)))
        if not 0 < size <= RUNS_MAX:
            raise BadInput(f"the study has {size:,} runs", f"it may have 1 to {RUNS_MAX:,}")
        folders = _folders(self.rosters)
        for cell in starmap(Cell, product(self.treatments, self.rosters, self.rounds)):
            folder = f"{cell.treatment}/{folders[cell.roster]}/{of.vocabulary.units}-{cell.rounds}"
            with _naming(cell, of):
                runs = [
                    StudyRun(cell, seed, f"{folder}/seed-{seed:04d}.journal", config)
                    for seed, config in zip(self.seeds, self._configs(of, cell), strict=True)
                ]
            yield cell, runs

    def _configs(self, of: Tools, cell: Cell) -> Iterator[Config]:
        """The configuration of each run of a cell."""
        treatment = treatment_named(known_treatments(of, self.own), cell.treatment)
        settings = {**self.settings, of.players.horizon: cell.rounds}
        size = of.studies.size
        wanted = {**treatment.settings, **settings}.get(size)
        if wanted is not None:
            check_setting(of.config, size, wanted)
        agents = len(of.studies.seats(self.rosters[cell.roster], wanted))
        for seed in self.seeds:
            given = {**settings, "seed": seed, **({size: agents} if size else {})}
            yield treated(treatment, given, of.studies.config)

    def _prepared(self, of: Tools, run: StudyRun, resources: Resources) -> PreparedRun:
        # The configuration lacks what is asked of the recording alone.
        treatment = treatment_named(known_treatments(of, self.own), run.cell.treatment)
        settings = {**treatment.settings, **self.settings, **run.config.as_dict()}
        roster = self.rosters[run.cell.roster]
        roster = None if roster is None else _located(roster, self.folder)
        return of.players.prepare(settings, roster, None, resources)


@contextmanager
def _naming(cell: Cell, of: Tools) -> Iterator[None]:
    """Name the cell in a BadInput."""
    try:
        yield
    except BadInput as error:
        names = f"{format_value(cell.treatment)}, {format_value(cell.roster)}"
        where = f"{names}, {cell.rounds} {of.vocabulary.units}"
        raise BadInput(f"{where}: {error.what}", error.instead) from None


def plan_of(
    *,
    world: str = WORLD_DEFAULT,
    treatments: Treatments = ALL,
    rosters: str | Sequence[str] | Mapping[str, str] = BASELINES,
    seeds: int | Sequence[int] = SEEDS_DEFAULT,
    rounds: int | Sequence[int] | None = None,
    settings: Mapping[str, Any] | None = None,
    own: Mapping[str, Mapping[str, Any]] | None = None,
    contrasts: Sequence[str] = (),
) -> StudyPlan:
    """A plan from user input.

    Args:
        treatments: names or files (`plan.toml:dense`), or a dict, from a name to settings (`{}` for
            a known one); `all` stands for all treatments of the world and of `own`.
        rosters: texts, each its own name, or texts by name; `baselines` stands for the world's.
        seeds: a number of seeds, counted from 0, or the seeds.
        rounds: the horizon, or several; also in `settings`, by the world's name for it.

    Raises BadInput for a world that cannot be studied, and for duplicates and values out of range;
    `StudyPlan.runs` checks the rest.
    """
    of = studied(world)
    given, others = _treatments_of(of, treatments)
    own, settings = {**(own or {}), **others}, dict(settings or {})
    field = attrs.fields_dict(of.config)[of.players.horizon]
    horizon = settings.pop(field.name, None)
    if None not in (horizon, rounds):
        raise BadInput(f"{field.name} is given twice", "give it once")
    horizons = rounds if horizon is None else horizon
    _check_own(of, own)
    _check_settings(of, "the settings have", settings)
    known = list(known_treatments(of, own))
    names: list[str] = []
    for name in given:
        names += known if name == ALL else [name]
    for name in names:
        if name not in known:
            raise unknown("treatment", name, known, f", or {ALL}")
    if isinstance(seeds, str) or not isinstance(seeds, Iterable):
        count = integer_of(seeds, "seeds")
        if not 1 <= count <= RUNS_MAX:
            raise BadInput(f"seeds is {count}", f"it must be 1 to {RUNS_MAX:,}, or a list")
        seeds = range(count)
    return StudyPlan(
        world=of.name,
        treatments=_once("treatment", names),
        rosters=rosters_of(rosters, of.studies.baselines),
        seeds=_numbers("seed", list(seeds), integer(0, INTEGER_MAX)),
        rounds=_numbers(
            of.players.horizon,
            listed(field.default if horizons is None else horizons),
            field.metadata["kind"],
        ),
        settings=settings,
        own={name: dict(table) for name, table in own.items()},
        contrasts=texts_of(contrasts, "contrast"),
    )


def _treatments_of(of: Tools, given: Treatments) -> tuple[list[str], dict[str, Mapping[str, Any]]]:
    """The names of treatments, and the settings of user-defined ones by name: of a dict, and of
    those in files (`FILE.toml:NAME`). Raises BadInput for a file without it.
    """
    names: list[str] = []
    own: dict[str, Mapping[str, Any]] = {}
    texts = texts_of(given, "treatment")
    for text in texts:
        found = None if isinstance(given, Mapping) else treatment_in_file(text, of.config)
        if found is not None:
            own[found.name] = found.settings
        elif isinstance(given, Mapping) and (given[text] or text not in {ALL, *of.treatments}):
            own[text] = settings_of(given[text], {})[1]
        if found is None or ALL not in texts:  # which stands for them, too
            names.append(text if found is None else found.name)
    return names, own


def _check_own(of: Tools, own: Mapping[str, Mapping[str, Any]]) -> None:
    # As some file systems see names.
    taken = {name.lower() for name in (*known_treatments(of), ALL)}
    for name, table in own.items():
        if name.lower() in taken or not re.fullmatch(NAME, name):
            raise BadInput(
                f"a treatment cannot be called {format_value(name)}",
                f"take an unused name of at most {NAME_MAX} letters, digits, _ and -",
            )
        taken.add(name.lower())
        _check_settings(of, f"treatment {name} has", table)


def _check_settings(of: Tools, who: str, settings: Mapping[str, Any]) -> None:
    for name, value in settings.items():
        if name in ("seed", of.players.horizon):
            how = "--seeds" if name == "seed" else f"--set {name}=N"
            raise BadInput(f"{who} {name}", f"give it for the whole study ({how})")
        check_setting(of.config, name, value)


def rosters_of(
    given: str | Sequence[str] | Mapping[str, str], baselines: Sequence[str]
) -> dict[str, str | None]:
    """Texts of rosters by name (None: the world's default roster), BASELINES replaced by the
    `baselines`. Raises BadInput if a name occurs twice, or BASELINES has another name.
    """
    names = texts_of(given, "roster")
    texts = texts_of(list(given.values()), "roster") if isinstance(given, Mapping) else names
    pairs: list[tuple[str, str]] = []
    for name, text in zip(names, texts, strict=True):
        if text != BASELINES:
            pairs.append((name, text))
        elif name == BASELINES:
            pairs += [(baseline, baseline) for baseline in baselines]
        else:
            raise BadInput(
                f"roster {format_value(name)} is {BASELINES}, which are several",
                f"list {BASELINES} among the rosters",
            )
    _once("roster", [name for name, _ in pairs])
    return {name: None if text == MIXED else text for name, text in pairs}


def _located(roster: str, folder: str) -> str:
    """The text of a roster whose files of wordings and personas are found from a folder."""
    return _FILE.sub(lambda found: f"{found[1]}{os.path.join(folder, found[2])}", roster)


_FILE: Final = re.compile(r'([\[;]\s*(?:wording|personas)\s*=\s*"?)([^\[\];"]+\.(?:toml|csv))')


def seeds_of(text: str) -> int | list[int]:
    """Seeds of a command line: their number (`20`), or a list (`0-4,7`). Raises BadInput."""
    if re.fullmatch(r"\s*[0-9]{1,16}\s*", text):
        return int(text)
    seeds: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*([0-9]{1,16})\s*(?:-\s*([0-9]{1,16})\s*)?", part)
        if found is None:
            raise BadInput(
                f"the seeds are {format_value(text)}", "write a number (20), or a list (0-4,7)"
            )
        first, last = int(found[1]), int(found[2] or found[1])
        if not 0 <= last - first < RUNS_MAX - len(seeds):
            raise BadInput(
                f"the seeds have {format_value(part)}",
                f"write the lower one first; at most {RUNS_MAX:,} can be run",
            )
        seeds += range(first, last + 1)
    return seeds


def read_plan(
    path: str | Path,
    trust: Collection[str] = (),
    world: str | type[Game] | Maker | None = None,
) -> StudyPlan:
    """The plan of a TOML file (replay/study/README.md), which cannot make code run by naming it.

    Args:
        trust: names of user-defined policies that its rosters may import.
        world: the world that the plan names, as for `goldrush.record`. Needed where the plan names
            it by its code.

    Raises BadInput, also if the plan names another world than `world`.
    """
    example = "treatments = ['baseline']"
    table = read_toml(os.fspath(path), FILE_MAX, "give a TOML file with a plan", example)
    try:
        named = _world_in(table, world)
        plan = _plan_of_table(table, named)
    except BadInput as error:
        raise BadInput(f"{path}: {error.what}", error.instead) from None
    return attrs.evolve(plan, trust=trust, folder=os.path.dirname(path))


def _world_in(table: Mapping[str, Any], given: str | type[Game] | Maker | None) -> str:
    """The world that a plan names. Raises BadInput if it is not the one that was given, or if none
    was given and it is named by its code.
    """
    [world] = texts_of(table.get("world", WORLD_DEFAULT), "world")
    if given is None and names_code(world):
        raise BadInput(
            f"the world {format_value(world)} is user-defined code",
            f"allow it with the same world (--world {quoted(world)})",
        )
    if given is not None and world not in (given, world_named(given)):
        raise BadInput(
            f"its world is {format_value(world)}, and another was given",
            f"give the one of the plan (--world {quoted(world)})",
        )
    return world


def _plan_of_table(table: Mapping[str, Any], world: str) -> StudyPlan:
    of = studied(world)
    horizon = of.players.horizon
    known = ("world", "treatments", "rosters", "seeds", horizon, "rounds", "contrasts", *_TABLES)
    for name in table:
        if name not in known:
            raise unknown("entry of a plan", name, dict.fromkeys(known))
    settings, own, named = (table.get(name, {}) for name in _TABLES)
    for given in (settings, own, named, *(own.values() if isinstance(own, dict) else ())):
        if not isinstance(given, dict):
            raise BadInput(f"{' or '.join(_TABLES)} is {format_value(given)}", "it must be a table")
    for name in named:
        check_name("roster", name)
        if name in (*of.studies.baselines, MIXED, BASELINES):
            raise BadInput(f"a roster cannot be called {format_value(name)}", "take another name")
    rosters = _once("roster", texts_of(table.get("rosters", list(named) or BASELINES), "roster"))
    horizons = [table[name] for name in dict.fromkeys((horizon, "rounds")) if name in table]
    if len(horizons) > 1:
        raise BadInput(f"{horizon} is given twice", "give it once")
    return plan_of(
        world=world,
        treatments=table.get("treatments", ALL),
        rosters={name: named.get(name, name) for name in rosters},
        seeds=table.get("seeds", SEEDS_DEFAULT),
        rounds=horizons[0] if horizons else None,
        settings=settings,
        own=own,
        contrasts=table.get("contrasts", ()),
    )


_TABLES: Final = ("settings", "treatment", "roster")


def texts_of(given: object, what: str) -> list[str]:
    """A text, or several. Raises BadInput for anything else."""
    texts = listed(given)
    for text in texts:
        if not isinstance(text, str):
            raise BadInput(
                f"a {what} is {format_value(str(text))}",
                f"give texts, or a dict with a name for each {what}",
            )
    return cast("list[str]", texts)


def _numbers(what: str, given: Sequence[object], kind: Kind) -> tuple[int, ...]:
    numbers = [integer_of(number, what) for number in given]
    for number in numbers:
        if not kind.holds(number):
            raise BadInput(f"{what} is {number}", f"it must be {kind.name}")
    return _once(what, numbers)


def _once(what: str, items: Sequence[Any]) -> tuple[Any, ...]:
    for item, times in Counter(items).items():
        if times > 1:
            raise BadInput(f"the study has the {what} {format_value(item)} twice", "give it once")
    if not items:
        raise BadInput(f"the study has no {what}", "give one")
    return tuple(items)


def _folders(rosters: Mapping[str, Any]) -> dict[str, str]:
    """A folder name for each roster: other characters than letters, digits, `_`, `.` and `-` are
    replaced, and equal names numbered.
    """
    folders = {
        name: re.sub(r"[^A-Za-z0-9_.-]+", "_", name[:FOLDER_MAX]).strip("._-") or "_"
        for name in rosters
    }
    return numbered(folders, "{}-{}", key=str.lower)


def studied(name: str) -> Tools:
    """The tools of a world. Raises BadInput for an unknown world, and for one without studies."""
    tools = tools_for(name)
    if tools.studies is NO_STUDIES:
        raise BadInput(f"the {name} world has no studies", "take another --world")
    players_of(tools)
    return tools


def known_treatments(
    of: Tools, own: Mapping[str, Mapping[str, Any]] = {}
) -> dict[str, Treatment[Any]]:
    """The treatments of a world by name, the baseline among them, and user-defined ones."""
    known: dict[str, Treatment[Any]] = {BASELINE: Treatment(BASELINE, ""), **of.treatments}
    return known | {name: Treatment(name, "", settings) for name, settings in own.items()}
