"""Plan of a study: treatments × rosters × horizons × seeds, checked before the first run.

A cell is a treatment, a roster and a horizon; its runs differ only in the seed. Runs of two cells
with the same seed are a pair.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.llm.model import Model
from goldrush.agents.llm.models import Models
from goldrush.agents.players import Facts, PreparedRun, Resources
from goldrush.agents.seats import check_worded, models_in
from goldrush.agents.trust import build_policy, check_trust, import_names
from goldrush.kernel.errors import BadInput, format_value, unknown
from goldrush.kernel.files import read_toml
from goldrush.kernel.settings import INTEGER_MAX, check_setting, integer
from goldrush.kernel.shape import Kind
from goldrush.kernel.text import check_name
from goldrush.kernel.treatments import (
    BASELINE,
    NAME,
    NAME_MAX,
    Treatment,
    treated,
    treatment_in_file,
    treatment_named,
)
from goldrush.replay.find import WORLD_DEFAULT, players_of, tools_for
from goldrush.replay.studies import MIXED, NO_STUDIES
from goldrush.replay.study.records import Cell, StudyRun
from goldrush.replay.tools import Tools

ALL: Final = "all"
BASELINES: Final = "baselines"
SEEDS_DEFAULT: Final = 20
RUNS_MAX: Final = 100_000
FOLDER_MAX: Final = 100  # characters of a roster's name in the name of its folder
FILE_MAX: Final = 1 << 20  # bytes of a plan file


Classes = Mapping[int, type]  # of external agents


@attrs.frozen(kw_only=True)
class Planned(StudyRun):
    """A run of a study, ready to be played: prepared, but for the journals that its agents replay
    (`sources`), as a study may have thousands of runs; `classes`: of its external agents.
    """

    world: str
    prepared: PreparedRun = attrs.field(repr=False)
    sources: Sequence[str] = ()
    classes: Classes = attrs.field(factory=dict, repr=False)

    @property
    def setup(self) -> Facts:
        """The setup with which its journal must begin."""
        return self.prepared.setup

    def resources(self, models: Models | None = None) -> Resources:
        """What playing it needs, with new objects for its external agents. Raises BadInput if one
        cannot be made.
        """
        policies = {
            agent: build_policy(make, make.__name__, ()) for agent, make in self.classes.items()
        }
        trust, sources = self.prepared.roster.trust, self.sources
        return Resources(policies=policies, models=models, trust=trust, sources=sources)

    def as_sent(self) -> Planned:
        """Itself as workers get it: without `config`, whose class they need not have; its setup has
        the settings.
        """
        nothing: Any = None
        return attrs.evolve(self, config=nothing)

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
        trust: names of user-defined policies that the rosters may import; None: all, because the
            rosters come from the user and not from a file. Not in the manifest.
        classes: of external agents, by roster and agent. Not in the manifest.
        folder: from which files of wordings in the rosters are found, so that a study goes on
            wherever its command is given. Not in the manifest.
    """

    world: str
    treatments: Sequence[str]
    rosters: Mapping[str, str | None]
    seeds: Sequence[int]
    rounds: Sequence[int]
    settings: Mapping[str, Any] = attrs.field(factory=dict)
    own: Mapping[str, Mapping[str, Any]] = attrs.field(factory=dict)
    trust: Collection[str] | None = attrs.field(default=None, eq=False)
    classes: Mapping[str, Classes] = attrs.field(factory=dict, eq=False)
    folder: str = attrs.field(default="", eq=False)

    def as_dict(self) -> dict[str, Any]:
        """The plan for JSON, without its world, which is a field of its own in the manifest."""
        left_out = ("trust", "classes", "folder", "world")
        return attrs.asdict(self, filter=lambda field, _: field.name not in left_out)

    def runs(self, models: Models | None = None) -> list[Planned]:
        """Every run, cell by cell. Raises BadInput, naming the cell, if one cannot be played."""
        of = studied(self.world)
        self._check_size()
        if self.trust is not None:
            for roster in filter(None, self.rosters.values()):
                for policy in import_names(of.players.names(roster)):
                    check_trust(policy, self.trust)
        return [
            run for cell, folder in self._cells(of) for run in self._cell(of, cell, folder, models)
        ]

    def outlines(self) -> Iterator[StudyRun]:
        """Every run in the order of `runs`, without preparing its players. Raises BadInput."""
        of = studied(self.world)
        self._check_size()
        for cell, folder in self._cells(of):
            yield from self._outlines(of, cell, folder)

    def _check_size(self) -> None:
        size = len(self.treatments) * len(self.rosters) * len(self.rounds) * len(self.seeds)
        if not 0 < size <= RUNS_MAX:
            raise BadInput(f"the study has {size:,} runs", f"it may have 1 to {RUNS_MAX:,}")

    def _cells(self, of: Tools) -> Iterator[tuple[Cell, str]]:
        """The cells, each with the folder of its journals."""
        folders = _folders(self.rosters)
        for treatment in self.treatments:
            for roster in self.rosters:
                for rounds in self.rounds:
                    folder = f"{treatment}/{folders[roster]}/{of.vocabulary.units}-{rounds}"
                    yield Cell(treatment, roster, rounds), folder

    def _outlines(self, of: Tools, cell: Cell, folder: str) -> Iterator[StudyRun]:
        treatment = treatment_named(known_treatments(of, self.own), cell.treatment)
        settings = {**self.settings, of.players.horizon: cell.rounds}
        size = of.studies.size
        wanted = {**treatment.settings, **settings}.get(size)
        if wanted is not None:
            check_setting(of.config, size, wanted)
        agents = len(of.studies.seats(self.rosters[cell.roster], wanted))
        for seed in self.seeds:
            given = {**settings, "seed": seed, **({size: agents} if size else {})}
            config = treated(treatment, given, of.studies.config)
            yield StudyRun(cell, seed, f"{folder}/seed-{seed:04d}.journal", config)

    def _cell(self, of: Tools, cell: Cell, folder: str, models: Models | None) -> Iterator[Planned]:
        prepared: PreparedRun | None = None
        resources = Resources(models=models)
        try:
            for run in self._outlines(of, cell, folder):
                if prepared is None:  # once: a roster may have to read whole journals
                    # The configuration lacks what is asked of the recording alone.
                    treatment = treatment_named(known_treatments(of, self.own), cell.treatment)
                    asked = {**treatment.settings, **self.settings}
                    settings = {**asked, **run.config.as_dict()}
                    roster = self.rosters[cell.roster]
                    roster = None if roster is None else _located(roster, self.folder)
                    prepared = of.players.prepare(settings, roster, None, resources)
                    sources = prepared.roster.sources
                    unread = attrs.evolve(prepared.roster, recordings=())
                facts = {**prepared.facts, "config": run.config.as_dict()}
                yield Planned(
                    **run.fields(),
                    world=self.world,
                    prepared=attrs.evolve(prepared, facts=facts, roster=unread),
                    sources=sources,
                    classes=self.classes.get(cell.roster, {}),
                )
        except BadInput as error:
            names = f"{format_value(cell.treatment)}, {format_value(cell.roster)}"
            where = f"{names}, {cell.rounds} {of.vocabulary.units}"
            raise BadInput(f"{where}: {error.what}", error.instead) from None


def plan_of(
    *,
    world: str = WORLD_DEFAULT,
    treatments: Sequence[str] = (ALL,),
    rosters: Sequence[str] | Mapping[str, str] = (BASELINES,),
    seeds: int | Sequence[int] = SEEDS_DEFAULT,
    rounds: int | Sequence[int] | None = None,
    settings: Mapping[str, Any] | None = None,
    own: Mapping[str, Mapping[str, Any]] | None = None,
    trust: Collection[str] | None = None,
    classes: Mapping[str, Classes] | None = None,
    wording: str | None = None,
    models: Models | None = None,
    folder: str = "",
) -> StudyPlan:
    """A plan from user input.

    Args:
        treatments: names; `all` stands for all treatments of the world and of `own`.
        rosters: texts, each its own name, or texts by name; `baselines` stands for the world's.
        seeds: a number of seeds, counted from 0, or the seeds.
        rounds: the horizon, or several; also in `settings`, by the world's name for it.
        wording: of the models and people of the rosters that name none, neither there nor in
            `models`. It becomes a part of the texts, and of names that are texts.

    Raises BadInput for a world that cannot be studied, and for duplicates and values out of range;
    `StudyPlan.runs` checks the rest.
    """
    of = studied(world)
    own, settings = own or {}, dict(settings or {})
    horizon = settings.pop(of.players.horizon, None)
    if None not in (horizon, rounds):
        raise BadInput(f"{of.players.horizon} is given twice", "give it once")
    _check_own(of, own)
    _check_settings(of, "the settings have", settings)
    known = list(known_treatments(of, own))
    names: list[str] = []
    for name in treatments:
        names += known if name == ALL else [name]
    for name in names:
        if name not in known:
            raise unknown("treatment", name, known, f", or {ALL}")
    chosen = rosters_of(rosters, of.studies.baselines)
    if wording is not None:
        chosen = _worded(of, chosen, wording, models)
    return StudyPlan(
        world=world,
        treatments=_once("treatment", names),
        rosters=_with_names_of_wordings(chosen),
        seeds=_once("seed", _seeds(seeds)),
        rounds=_once("horizon", _horizons(of, horizon if rounds is None else rounds)),
        settings=settings,
        own={name: dict(table) for name, table in own.items()},
        trust=trust,
        classes=classes or {},
        folder=folder,
    )


def treatments_of(
    of: Tools, texts: Sequence[str]
) -> tuple[list[str], dict[str, Mapping[str, Any]]]:
    """The names of treatments, and the settings of those in files (`FILE.toml:NAME`) by name.
    Raises BadInput for a file without it.
    """
    names, own = [], {}
    for text in texts:
        found = treatment_in_file(text, of.config)
        if found is not None:
            own[found.name] = found.settings
        if found is None or ALL not in texts:  # which stands for them, too
            names.append(text if found is None else found.name)
    return names, own


def _check_own(of: Tools, own: Mapping[str, Mapping[str, Any]]) -> None:
    # As some file systems see names.
    taken = {name.lower() for name in (*known_treatments(of), ALL)}
    for name, table in own.items():
        if name.lower() in taken or not NAME.fullmatch(name):
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
        try:
            check_setting(of.config, name, value)
        except BadInput as error:
            raise BadInput(f"{who} an invalid setting: {error.what}", error.instead) from None


def rosters_of(
    given: Sequence[str] | Mapping[str, str], baselines: Sequence[str]
) -> dict[str, str | None]:
    """Texts of rosters by name (None: the world's default roster), BASELINES replaced by the
    `baselines`. Raises BadInput if a name occurs twice, or BASELINES has another name.
    """
    pairs = given.items() if isinstance(given, Mapping) else [(text, text) for text in given]
    rosters: dict[str, str | None] = {}
    for name, text in pairs or [(BASELINES, BASELINES)]:
        new: Mapping[str, str | None] = {name: text}
        if text == BASELINES:
            if name != text:
                raise BadInput(
                    f"roster {format_value(name)} is {BASELINES}, which are several",
                    f"list {BASELINES} among the rosters",
                )
            new = {one: one for one in baselines}
        for key in new:
            if key in rosters:
                raise BadInput(
                    f"the study has the roster {format_value(key)} twice", "give it once"
                )
        rosters.update({key: None if value == MIXED else value for key, value in new.items()})
    return rosters


def _worded(
    of: Tools, rosters: Mapping[str, str | None], wording: str, models: Models | None
) -> dict[str, str | None]:
    """Rosters with a wording for the models and people that name none. Raises BadInput if there are
    none, or if two rosters become the same.
    """
    worded = {
        name: None if text is None else of.players.worded(text, wording, models)
        for name, text in rosters.items()
    }
    check_worded(wording, rosters, worded)
    names = [(text or name) if rosters[name] == name else name for name, text in worded.items()]
    return dict(zip(_once("roster", names), worded.values(), strict=True))


def _with_names_of_wordings(rosters: Mapping[str, str | None]) -> dict[str, str | None]:
    """Rosters whose texts are their names, with the names of wordings, as in journals, in place of
    their files in the names; as they are if two would have one name.
    """
    names = [
        _WORDING.sub(lambda found: found[1] + Path(found[2]).stem, name) if name == text else name
        for name, text in rosters.items()
    ]
    is_distinct = len(set(names)) == len(names)
    return dict(zip(names if is_distinct else rosters, rosters.values(), strict=True))


def _located(roster: str, folder: str) -> str:
    """The text of a roster whose files of wordings are found from a folder. Raises BadInput for a
    folder that no roster can name.
    """

    def locate(found: re.Match[str]) -> str:
        if set(folder) & set('[];"\n'):
            raise BadInput(
                f"the folder {format_value(folder)} of the plan has a bracket, quote or ;",
                "move the plan and its wordings",
            )
        return f"{found[1]}{os.path.join(folder, found[2])}"

    return _WORDING.sub(locate, roster) if folder else roster


_WORDING: Final = re.compile(r'([\[;]\s*wording\s*=\s*"?)([^\[\];"]+\.toml)')


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
        if last < first:
            raise BadInput(f"the seeds have {format_value(part)}", "write the lower one first: 0-4")
        if last - first >= RUNS_MAX - len(seeds):
            raise BadInput(
                f"the seeds are {format_value(text)}", f"at most {RUNS_MAX:,} can be run"
            )
        seeds += range(first, last + 1)
    return seeds


def read_plan(
    path: str | Path, trust: Collection[str] = (), models: Models | None = None
) -> StudyPlan:
    """The plan of a TOML file (replay/study/README.md). `trust`: names of user-defined policies
    that its rosters may import, as a file cannot make code run by naming it; `models`: those that
    play. Raises BadInput.
    """
    example = "treatments = ['baseline']"
    table = read_toml(os.fspath(path), FILE_MAX, "give a TOML file with a plan", example)
    try:
        return _plan_of_table(table, trust, models, os.path.dirname(path))
    except BadInput as error:
        raise BadInput(f"{path}: {error.what}", error.instead) from None


def _plan_of_table(
    table: Mapping[str, Any], trust: Collection[str], models: Models | None, folder: str
) -> StudyPlan:
    world = table.get("world", WORLD_DEFAULT)
    horizon = studied(world).players.horizon if type(world) is str else "rounds"
    kinds = {
        "treatments": (str, list), "rosters": (str, list), "seeds": (int, list),
        horizon: (int, list), "rounds": (int, list), "world": (str,), "settings": (dict,),
        "treatment": (dict,), "roster": (dict,), "wording": (str,),
    }  # fmt: skip
    for name, value in table.items():
        if name not in kinds:
            raise BadInput(
                f"unknown entry {format_value(name)}", f"a plan may have {', '.join(kinds)}"
            )
        if type(value) not in kinds[name]:
            types = " or ".join(kind.__name__ for kind in kinds[name])
            raise BadInput(f"{name} is {format_value(value)}", f"it must be of type {types}")
    for name in ("treatments", "rosters"):
        _check_texts(name, table.get(name, []))
    for name, inner in table.get("treatment", {}).items():
        if type(inner) is not dict:
            raise BadInput(
                f"treatment {format_value(name)} is {format_value(inner)}",
                "it must be a table of settings",
            )
    named = table.get("roster", {})
    _check_texts("roster", list(named.values()))
    listed = _listed(table.get("rosters", list(named) or [BASELINES]))
    for name in named:
        check_name("roster", name)
        if name in (*studied(world).studies.baselines, MIXED, BASELINES):
            raise BadInput(f"a roster cannot be called {format_value(name)}", "take another name")
    rosters = {name: named.get(name, name) for name in _once("roster", listed)}
    if horizon != "rounds" and {horizon, "rounds"} <= set(table):
        raise BadInput(f"{horizon} is given twice", "give it once")
    return plan_of(
        world=world,
        treatments=_listed(table.get("treatments", [ALL])),
        rosters=rosters,
        seeds=table.get("seeds", SEEDS_DEFAULT),
        rounds=table.get(horizon, table.get("rounds")),
        settings=table.get("settings", {}),
        own=table.get("treatment", {}),
        trust=trust,
        wording=table.get("wording"),
        models=models,
        folder=folder,
    )


def _check_texts(name: str, values: Any) -> None:
    for value in _listed(values):
        if type(value) is not str:
            raise BadInput(f"{name} has {format_value(value)}", "write a text in quotes")


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _seeds(given: int | Sequence[int]) -> list[int]:
    if type(given) is int:
        if not 1 <= given <= RUNS_MAX:
            raise BadInput(f"seeds is {given}", f"it must be 1 to {RUNS_MAX:,}, or a list")
        return list(range(given))
    return _checked("seeds", _listed(given), integer(0, INTEGER_MAX))


def _horizons(of: Tools, given: int | Sequence[int] | None) -> list[int]:
    horizon = attrs.fields_dict(of.config)[of.players.horizon]
    horizons = _listed(horizon.default if given is None else given)
    return _checked(of.players.horizon, horizons, horizon.metadata["kind"])


def _checked(name: str, values: list[Any], kind: Kind) -> list[Any]:
    for value in values:
        if not kind.holds(value):
            raise BadInput(f"{name} has {format_value(value)}", f"each must be {kind.name}")
    return values


def _once(what: str, items: Sequence[Any]) -> tuple[Any, ...]:
    seen = set()
    for item in items:
        if item in seen:
            raise BadInput(f"the study has the {what} {format_value(item)} twice", "give it once")
        seen.add(item)
    if not items:
        raise BadInput(f"the study has no {what}", "give one")
    return tuple(items)


def _folders(rosters: Mapping[str, Any]) -> dict[str, str]:
    """A folder name for each roster: other characters than letters, digits, `_`, `.` and `-` are
    replaced, and equal names numbered.
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
    by_cell: dict[Cell, list[Planned]] = {}
    for run in runs:
        by_cell.setdefault(run.cell, []).append(run)
    yield from by_cell.items()


def studied(name: str) -> Tools:
    """The tools of a world. Raises BadInput for an unknown world, and for one without studies."""
    tools = tools_for(name)
    if tools.studies is NO_STUDIES:
        raise BadInput(f"the {name} world has no studies", "take another --world")
    players_of(tools, name)
    return tools


def known_treatments(
    of: Tools, own: Mapping[str, Mapping[str, Any]] = {}
) -> dict[str, Treatment[Any]]:
    """The treatments of a world by name, the baseline among them, and user-defined ones."""
    known: dict[str, Treatment[Any]] = {BASELINE: Treatment(BASELINE, ""), **of.treatments}
    return known | {name: Treatment(name, "", settings) for name, settings in own.items()}
