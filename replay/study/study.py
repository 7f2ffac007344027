"""`Study`: a folder of runs, treatments × rosters × horizons × seeds, as a Python object.

`goldrush.study` plays one, `Study.open` opens one that is there. Its runs, tables, verdicts and
report are those of the commands `study`, `export` and `report`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from multiprocessing import get_start_method
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs

from goldrush.agents.llm.failures import Failures, merge_failures
from goldrush.agents.llm.models import Models
from goldrush.agents.pool import end_if_inherited
from goldrush.agents.trust import import_names
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.text import format_count
from goldrush.replay.arguments import (
    OnStep,
    Trust,
    jobs_of,
    models_of,
    names_of,
    path_of,
    roster_of,
    settings_of,
)
from goldrush.replay.data.user_functions import Functions, UserMeasure, user_measures
from goldrush.replay.extras import require
from goldrush.replay.find import WORLD_DEFAULT, world_named
from goldrush.replay.journal.usage import usage
from goldrush.replay.run import Run
from goldrush.replay.study.backend import Backend, processes, this_process
from goldrush.replay.study.carry_out import carry_out
from goldrush.replay.study.manifest import read_manifest
from goldrush.replay.study.measuring import is_model, results_of
from goldrush.replay.study.outcomes import outcome_named
from goldrush.replay.study.plan import (
    ALL,
    BASELINES,
    SEEDS_DEFAULT,
    StudyPlan,
    Treatments,
    plan_of,
    read_plan,
    studied,
)
from goldrush.replay.study.records import Manifest
from goldrush.replay.study.results import Results
from goldrush.replay.tools import Tools

if TYPE_CHECKING:
    import pyarrow

    from goldrush.agents.targets import Maker
    from goldrush.kernel.game.game import Game
    from goldrush.replay.report.answer import StudyAnswer
    from goldrush.replay.report.figure import Figure
    from goldrush.replay.study.judging import Verdicts

Rosters = str | Sequence[str] | Mapping[str, str | Sequence[object]]

RUNS: Final = "runs"  # the table with a row for each run
_TEXT: Final = ("journal", "treatment", "roster")  # its columns of text
_WHOLE: Final = ("seed", "agents")  # its columns of whole numbers, with the horizon


def study(
    folder: str | Path,
    *,
    world: str | type[Game] | Maker = WORLD_DEFAULT,
    treatments: Treatments = ALL,
    rosters: Rosters = BASELINES,
    seeds: int | Sequence[int] = SEEDS_DEFAULT,
    rounds: int | Sequence[int] | None = None,
    contrasts: Sequence[str] = (),
    jobs: int | None = None,
    backend: Backend | None = None,
    models: Models | str | Path | None = None,
    on_step: OnStep | None = None,
    **settings: Any,
) -> Study:
    """Record every run of a study in a folder, or those that are left of one that broke off.

    Runs are played by processes of their own. Where these begin afresh (macOS), a script must call
    this under `if __name__ == "__main__":`.

    Args:
        folder: where journals and the manifest go; made if need be.
        world: the world that is played, as for `goldrush.record`.
        treatments: names, or files (`plan.toml:dense`); or a dict, from a name to settings. A known
            treatment has those that it has (`{}`), any other is one of your own.
        rosters: texts, each its own name, or rosters by name, as text or as a list of policies as
            for `record`. Policies of one's own must be classes of a module, for each run imports
            them anew.
        seeds: how many, from 0 on, or which.
        rounds: the horizon, or several, in the world's units, as its name there (`hours=72`);
            None: the world's default.
        contrasts: what reports compare in place of all pairs, `scarce-baseline` for scarce −
            baseline: two treatments, two rosters, or two wordings of a model.
        jobs: how many processes; None: one a processor.
        backend: plays the runs; None: local processes.
        models: how language models are reached: a file of models, or `Models`.
        on_step: told of progress: what is done, how many, of how many.
        settings: of every run, by name; they go before those of a treatment.

    Raises:
        BadInput: before anything is written, for a plan or a folder that cannot be.
        RunFailed, WorkersLost, WriteFailed: in the middle; what is finished is kept.
        MalformedEvents: if the first run of a game or world of one's own comes out otherwise when
            it is derived once more in another process.
    """
    end_if_inherited()
    world = world_named(world)
    of = studied(world)
    plan = plan_of(
        world=world,
        treatments=treatments,
        rosters=_rosters(of, rosters),
        seeds=seeds,
        rounds=rounds,
        contrasts=contrasts,
        settings=settings_of(None, settings)[1],
    )
    return Study.play(plan, folder, jobs=jobs, backend=backend, models=models, on_step=on_step)


class Study:
    """The runs of a study, in a folder.

    >>> one = study("runs", treatments=["baseline", "scarce"], rosters="mixed", seeds=2, rounds=10)
    >>> one
    <Study runs: 4 runs, 2 treatments, 1 roster, 2 seeds>
    >>> one.table().num_rows
    4
    >>> one.runs(treatment="scarce", seed=1)[0].measures()["gini"] > 0
    True

    Attributes:
        folder: the folder.
        trust: names (`module:Class`) of user-defined policies that `runs` may import.
        manifest: the plan, and every run with its configuration, path and SHA-256.
    """

    def __init__(self, folder: str | Path, trust: Trust = ()) -> None:
        """See `open`."""
        self.folder = Path(path_of(folder, "the folder"))
        self.trust = names_of(trust)
        self.manifest: Manifest = read_manifest(folder)
        self._results: dict[tuple[UserMeasure, ...], Results[Any, Any]] = {}

    @classmethod
    def open(
        cls, folder: str | Path, trust: Trust = (), *, world: str | type[Game] | Maker | None = None
    ) -> Study:
        """The study in a folder.

        Args:
            folder: where its journals and its manifest are.
            trust: user-defined policies (`module:Class`) that its runs may import.
            world: the game that is played, as for `goldrush.record`.

        Raises BadInput where there is no study that can be read.
        """
        if world is not None:
            world_named(world)
        return cls(folder, trust)

    @classmethod
    def play(
        cls,
        plan: StudyPlan | str | Path,
        folder: str | Path,
        *,
        trust: Trust = (),
        world: str | type[Game] | Maker | None = None,
        jobs: int | None = None,
        backend: Backend | None = None,
        models: Models | str | Path | None = None,
        on_step: OnStep | None = None,
    ) -> Study:
        """Record a study by a `plan`, a TOML file whose rosters may import the policies in `trust`.
        A plan that names its `world` by a file or module is played only if the same is given here.
        Others (`folder`, `jobs`, `backend`, `models`, `on_step`) and errors: as of `study`.
        """
        end_if_inherited()
        if not isinstance(plan, StudyPlan):
            plan = read_plan(path_of(plan, "the plan"), names_of(trust), world)
        # New interpreters import the script again; with one process none is needed.
        is_alone = jobs == 1 and get_start_method() != "fork" and sys.platform != "darwin"
        chosen = backend or (this_process() if is_alone else processes(jobs_of(jobs)))
        carry_out(plan, folder, backend=chosen, models=models_of(models), on_step=on_step)
        return cls(folder, import_names(sorted(set(plan.policies))))

    def __repr__(self) -> str:
        plan = self.manifest.plan
        left = len(self.manifest.runs) - len(self.manifest.played)
        counts = [format_count(len(self.manifest.runs), "run")]
        counts += [
            format_count(len(plan[f"{name}s"]), name) for name in ("treatment", "roster", "seed")
        ]
        end = f", {left} not played" if left else ""
        return f"<Study {self.folder}: {', '.join(counts)}{end}>"

    def runs(
        self,
        *,
        treatment: str | None = None,
        roster: str | None = None,
        rounds: int | None = None,
        seed: int | None = None,
    ) -> list[Run]:
        """The runs that are played, in the order of the plan; only those of a `treatment`, a
        `roster` (by name), a horizon (`rounds`, in the world's units) or a `seed`, if given. Raises
        BadInput for a value that the study does not have.
        """
        asked = {"treatment": treatment, "roster": roster, "rounds": rounds, "seed": seed}
        asked = {name: value for name, value in asked.items() if value is not None}
        for name, value in asked.items():
            there = list(self.manifest.plan[name if name == "rounds" else f"{name}s"])
            if value not in there:
                says = f"the study has no {name} {format_value(str(value))}"
                raise BadInput(says, f"give one of {', '.join(map(str, there))}")
        return [
            Run.open(self.folder / run.path, self.trust)
            for run in self.manifest.played
            if asked.items() <= {**attrs.asdict(run.cell), "seed": run.seed}.items()
        ]

    def results(self, *, measures: Functions = (), jobs: int | None = None) -> Results[Any, Any]:
        """Every run measured, by cell; worked out once. `measures` and errors: as of `report`."""
        users = user_measures(measures)
        if users not in self._results:
            self._results[users] = results_of(self.folder, jobs=jobs, users=users)
        return self._results[users]

    def answer(
        self,
        outcome: str | None = None,
        *,
        contrasts: Sequence[str] = (),
        measures: Functions = (),
        jobs: int | None = None,
    ) -> StudyAnswer:
        """What the study says of an outcome: `sentences`, `standings` by treatment, roster and
        policy, and the tested `comparisons` by kind (treatments, rosters, policies, wordings).

        `outcome`, `contrasts` and `measures` are as for `report`; `jobs`: number of processes,
        None: one per processor. Raises BadInput as `report`.
        """
        require("scipy", "comparisons need", "stats")
        from goldrush.replay.report.answer import answer_of

        return answer_of(self.results(measures=measures, jobs=jobs), outcome, contrasts)

    def table(
        self, name: str = RUNS, *, measures: Functions = (), jobs: int | None = None
    ) -> pyarrow.Table:
        """A table of all runs in Arrow's form, `to_pandas()` and `polars.from_arrow` away.

        Args:
            name: `runs`: a row for each run, with the path of its `journal`, its treatment, roster,
                horizon (by its name in the world: `rounds`), seed, number of agents, each measure
                of agents (`gold`; a game's `score`) as their mean at the end, and each measure
                of the whole run and of its halves (`NAME_first_half`, `NAME_second_half`), null
                where undefined. Any other name is that of a table of `Run.tables`, over all runs.
            measures: measures of your own, as for `Run.measures`.
            jobs: number of processes that measure for `runs`; None: one per processor.

        Raises BadInput for another name, for a study that is not finished, and where pyarrow is not
        installed (goldrush-sim[tables]).
        """
        from goldrush.replay.data.arrow import rows_table
        from goldrush.replay.data.encoded import arrow_table

        if name != RUNS:
            paths = [self.folder / run.path for run in self.manifest.played]
            return arrow_table(paths, name, user_measures(measures))
        whole = (studied(self.manifest.world).players.horizon, *_WHOLE)
        return rows_table(list(self._rows(jobs, measures)), _TEXT, whole)

    def _rows(self, jobs: int | None, measures: Functions) -> Iterable[dict[str, Any]]:
        results = self.results(measures=measures, jobs=jobs)
        outcomes = [outcome_named(results, name) for name in results.measures.outcomes]
        for cell, of_cell in results.by_cell.items():
            for one in of_cell:
                halves = {
                    f"{name}_{half}": value
                    for name, pair in one.halves.items()
                    for half, value in zip(("first_half", "second_half"), pair, strict=True)
                }
                yield {
                    "journal": str(self.folder / one.path),
                    "treatment": cell.treatment,
                    "roster": cell.roster,
                    results.of.players.horizon: cell.rounds,
                    "seed": one.seed,
                    "agents": len(one.policies),
                    **{outcome.name: outcome.of_run(one) for outcome in outcomes},
                    **halves,
                }

    def failures(self) -> list[Failures]:
        """How often answers of each language model failed. Raises JournalError."""
        names = studied(self.manifest.world).players.policy_set.names_in
        texts = self.manifest.plan["rosters"]
        asking = {name for name, text in texts.items() if text and any(map(is_model, names(text)))}
        runs = [run for run in self.manifest.played if run.cell.roster in asking]
        return merge_failures(one for run in runs for one in usage(self.folder / run.path).failures)

    def verdicts(self) -> Verdicts:
        """What the study says of the criteria of its world: `criterion`, `verdict`, `note`.

        If there are none, the list has the `reason`, and shows it in place of brackets.

        Raises BadInput as `report`.
        """
        require("scipy", "verdicts need", "stats")
        from goldrush.replay.study.verdicts import Assessment

        return Assessment(self.results()).verdicts

    def report(
        self,
        path: str | Path | None = None,
        *,
        outcome: str | None = None,
        criteria: bool = False,
        contrasts: Sequence[str] = (),
        measures: Functions = (),
        jobs: int | None = None,
        figures: str | Path | None = None,
        tables: str | Path | None = None,
        models: Models | str | Path | None = None,
        names_hosts: bool = False,
        force: bool = False,
    ) -> Path:
        """Write the report of the study and return its path.

        Args:
            path: where; None: `report.html` in the folder.
            outcome: the measure that is compared; None: that of the world, such as gold.
            criteria: add change over time: halves of runs, verdicts on the world's criteria.
            contrasts: what is compared, as for `study`; none: as planned, else all pairs.
            measures: measures of your own, as for `Run.measures`.
            jobs: how many processes measure; None: one a processor.
            figures: a folder for all figures as files, each as `Figure.save` writes it without a
                width, with its data and its caption.
            tables: a folder for all tables as CSV and LaTeX.
            models: how language models are reached, for their prices and, if `names_hosts`, the
                hosts of their servers, which no journal has.
            force: replace another file that goldrush wrote.

        Raises BadInput for a study that is not finished or whose journals are not those of its
        manifest, for an unknown outcome, for a place that cannot be written, and without
        goldrush-sim[stats]; WriteFailed where the system refuses.
        """
        from goldrush.replay.report.report import report

        _, written = report(
            self.folder, path, jobs=jobs, figures=figures, tables=tables, force=force,
            outcome=outcome, criteria=criteria, contrasts=contrasts, users=user_measures(measures),
            models=models_of(models), names_hosts=names_hosts,
        )  # fmt: skip
        return written

    def figures(self) -> dict[str, str]:
        """The figures of the report: their captions by name. Raises as `report`."""
        return {figure.name: figure.caption for figure in self._figures()}

    def figure(self, name: str = "answer") -> Figure:
        """A figure of the report, which shows itself in a notebook and can be saved for a paper.

        Args:
            name: one of `figures()`, such as `answer`, or its beginning, if only one has it:
                `forest` for `forest-200`.

        Raises BadInput for another name, and as `report`.
        """
        from goldrush.replay.report.figure import figure_named

        return figure_named(self._figures(), name)

    def _figures(self) -> list[Figure]:
        require("scipy", "figures of a study need", "stats")
        from goldrush.replay.report.page import StudyPage
        from goldrush.replay.report.reported import study_of

        study = study_of(self.results(), criteria=True)  # with all figures
        return list(StudyPage(study).figures.values())

    def view(
        self,
        path: str | Path | None = None,
        *,
        outcome: str | None = None,
        measures: Functions = (),
        jobs: int | None = None,
        force: bool = False,
    ) -> Path:
        """Write one page of all runs, with a table and small charts, and return its path. Also of a
        study that is not finished.

        Args:
            path: where; None: `runs.html` in the folder.
            outcome: the measure that is charted, by name; None: the outcome of the world.
            measures: measures of your own, as for `Run.measures`.
            jobs: number of processes; None: one per processor.
            force: replace another file that goldrush wrote.

        Raises BadInput for an unknown measure, and for a place that cannot be written; WriteFailed
        where the system refuses.
        """
        from goldrush.replay.view.overview import write_overview

        users = user_measures(measures)
        return write_overview(
            self.folder, path, outcome=outcome, users=users, jobs=jobs, force=force
        ).path


def _rosters(of: Tools, given: Rosters) -> str | Sequence[str] | dict[str, str]:
    """Rosters as text. Raises BadInput for a policy that other processes cannot import."""
    if not isinstance(given, Mapping):
        return given
    texts: dict[str, str] = {}
    for name, roster in given.items():
        found = roster_of(of.players, roster)
        if found.policies:
            agents = ", ".join(map(str, sorted(found.policies)))
            raise BadInput(
                f"roster {name} has policies that other processes cannot import (agents {agents})",
                "give classes that stand at the top of a module of their own",
            )
        assert found.text is not None  # a list is not the default roster
        texts[name] = found.text
    return texts
