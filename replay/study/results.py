"""What a study's runs have come to: of each journal the figures for comparisons and pictures.

A run measured whole is large; what is kept of it here is small, so that thousands fit, and is
worked out by many processes at once.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from goldrush.agents.llm.failures import Failures, together
from goldrush.agents.mining.roster import can_mean, names_by_agent
from goldrush.kernel.errors import BadInput, shown
from goldrush.kernel.journal import JournalReader, open_regular, sha256_in
from goldrush.kernel.mining.config import MiningConfig
from goldrush.replay.forged import telling_forged
from goldrush.replay.measures import Span, Value, mean
from goldrush.replay.mining.counting import Tie
from goldrush.replay.mining.measured import Measured, measured_by
from goldrush.replay.mining.measures import HALF_LIFE, MEASURES, Counts
from goldrush.replay.mining.spells import check_statsmodels
from goldrush.replay.study.manifest import Listed, Manifest, read_manifest
from goldrush.replay.study.models import is_model
from goldrush.replay.study.plan import Cell
from goldrush.replay.usage import failures_by
from goldrush.replay.workers import each_of

POINTS: Final = 40  # of a curve over the rounds


@attrs.frozen
class Totals:
    """What theory speaks of, summed over the rounds of a run; see `Counts` for what is counted.

    `owned`: plots at round start, a round at a time. `long_plots` and `long_raids`: plots held for
    5 rounds or more, and raid actions on them; `new_plots` and `new_raids`: on the others.
    """

    owned: int
    raided: int
    raids: int
    speculative: int
    defended: int
    defended_raided: int
    defended_captured: int
    defended_undone: int
    overrun: int
    undefended_captured: int
    staked: int
    defend: int
    long_plots: int
    long_raids: int
    new_plots: int
    new_raids: int


@attrs.frozen
class Result:
    """A run's figures. `run`, `halves` and `halves_whole` (without burn-in): by measure. `curves`:
    by measure, the mean of each window of rounds. `gold`: by agent, at the end; `policies`: by
    agent; `failures`: what became of the answers of those that are models. `lengths`: how many
    ownership spells have which length, and whether their end was seen.
    """

    cell: Cell
    seed: int
    config: MiningConfig
    rounds: int
    run: Mapping[str, Value]
    halves: Mapping[str, tuple[Value, Value]]
    halves_whole: Mapping[str, tuple[Value, Value]]
    curves: Mapping[str, Sequence[Value]]
    gold: Sequence[float]
    policies: Sequence[str]
    lengths: Mapping[tuple[int, bool], int]
    ties: Sequence[Tie]
    totals: Totals
    failures: Sequence[Failures] = ()


@attrs.frozen
class Results:
    """The results of a study by cell, seeds in the order of the plan; `journals`: by cell, where
    they are, in the same order.
    """

    folder: str
    manifest: Manifest
    by_cell: Mapping[Cell, Sequence[Result]]
    journals: Mapping[Cell, Sequence[str]]

    def config(self, cell: Cell) -> MiningConfig:
        """The configuration of a cell's first run."""
        return self.by_cell[cell][0].config

    def failures(self, cell: Cell) -> list[Failures]:
        """What became of the answers of a cell's models, over all its runs."""
        return together(one for result in self.by_cell[cell] for one in result.failures)


def results_of(
    folder: str | Path,
    *,
    jobs: int | None = None,
    on_run: Callable[[int, int], None] | None = None,
) -> Results:
    """Measure every run of a study, `jobs` at a time; `on_run` is told (runs measured, in all).

    Raises BadInput for a folder without a study, one that is not finished, and one whose journals
    are not those that its manifest lists; WorkerDied.
    """
    check_statsmodels()
    manifest = read_manifest(folder)
    if not manifest.finished:
        left = sum(run.sha256 is None for run in manifest.runs)
        raise BadInput(
            f"the study in {folder} is not finished: {left:,} of {len(manifest.runs):,} runs are "
            "left, or were when it stopped",
            "give the command of the study again, it goes on",
        )
    by_cell: dict[Cell, list[Result]] = {}
    journals: dict[Cell, list[str]] = {}
    texts = manifest.plan["rosters"]
    tasks = [(str(folder), run, texts[run.cell.roster]) for run in manifest.runs]
    for place, result in enumerate(each_of(_result, tasks, jobs)):
        by_cell.setdefault(result.cell, []).append(result)
        journals.setdefault(result.cell, []).append(manifest.runs[place].path)
        if on_run is not None:
            on_run(place + 1, len(tasks))
    return Results(str(folder), manifest, by_cell, journals)


def _result(task: tuple[str, Listed, str | None]) -> Result:
    folder, run, roster = task
    path = Path(folder, run.path)
    again = "give the command of the study again, it plays it anew"
    if not path.is_file():
        raise BadInput(f"{path} is missing", again)
    # Hashed before, so that nothing else is read, and while it is measured: it may be edited.
    with open_regular(str(path)) as file:
        sha256 = sha256_in(file)
        if sha256 == run.sha256:
            reader = JournalReader.over(file.fileno(), str(path), hashed=True)
            with reader, telling_forged(path):
                measured = measured_by(reader)
                sha256 = reader.sha256()
                asks = any(map(is_model, measured.roster))
                failures = failures_by(reader.again()) if asks else ()
    if sha256 != run.sha256:
        raise BadInput(f"{path} is not the journal that the manifest lists", again)
    if not measured.finished:
        raise BadInput(f"{path} is not finished", again)
    _check_begun(path, run, roster, measured)
    return result_of(run.cell, measured, failures)


def _check_begun(path: Path, run: Listed, roster: str | None, measured: Measured) -> None:
    """Raises BadInput unless a journal began as the manifest says, and played on undisturbed."""
    instead = "restore the manifest, or give the command of the study again, it plays it anew"
    if measured.forks:
        raise BadInput(f"{path} is a fork, which no study plays", instead)
    if measured.config != run.config:
        raise BadInput(f"{path} is a run of another configuration than the manifest says", instead)
    names = names_by_agent(roster, run.config.agents)
    for agent, (name, called) in enumerate(zip(names, measured.roster, strict=True)):
        if not can_mean(name, called):
            raise BadInput(
                f"{path} is a run of another roster than {shown(run.cell.roster)} in the manifest: "
                f"agent {agent} plays {shown(called)}, not {shown(name)}",
                instead,
            )


def result_of(cell: Cell, measured: Measured, failures: Sequence[Failures] = ()) -> Result:
    """What is kept of a run that was measured; `failures`: of the answers of its models."""
    halves = [name for name in MEASURES if name != HALF_LIFE]
    windows = _windows(measured.rounds)
    return Result(
        cell=cell,
        seed=measured.config.seed,
        config=measured.config,
        rounds=measured.rounds,
        run={name: measured.of(name) for name in MEASURES},
        halves={name: measured.compared(name) for name in halves},
        halves_whole={name: measured.compared(name, burn_in=False) for name in halves},
        curves={
            name: [mean(values[span.first - 1 : span.last]) for span in windows]
            for name, values in measured.values.items()
        },
        gold=tuple(measured.gold_after(measured.rounds)),
        policies=tuple(measured.roster),
        lengths=Counter((spell.length, spell.lost_to is not None) for spell in measured.spells),
        ties=measured.ties,
        totals=_totals(measured.counts),
        failures=failures,
    )


def _windows(rounds: int) -> list[Span]:
    """The rounds cut into at most POINTS windows of equal length, the last one shorter perhaps."""
    length = math.ceil(rounds / POINTS)
    return [Span(first, min(first + length - 1, rounds)) for first in range(1, rounds + 1, length)]


def _totals(counts: Sequence[Counts]) -> Totals:
    def grouped(age: str, what: str) -> int:
        groups = (f"{age}_claimed", f"{age}_captured")
        return sum(getattr(getattr(n, group), what) for n in counts for group in groups)

    held = {
        f"{age}_{what}": grouped(age, what)
        for age in ("long", "new")
        for what in ("plots", "raids")
    }
    return Totals(
        **{
            name: sum(getattr(n, name) for n in counts)
            for name in attrs.fields_dict(Totals)
            if name not in held
        },
        **held,
    )
