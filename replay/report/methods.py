"""The end of a report: the methods as a paper has them, versions and the checksum of the study."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import version
from typing import Final

from goldrush.kernel.journal import FORMAT
from goldrush.kernel.text import format_count
from goldrush.replay.report.page import Block, Heading, TableBlock, Text
from goldrush.replay.report.sections import ReportedStudy
from goldrush.replay.study.inference import EXACT_MAX
from goldrush.replay.text import format_ranges
from goldrush.version import __version__

_TESTS: Final = (
    "Intervals of means are 95% confidence intervals by Student's t over seeds. Comparisons are "
    "paired by seed: the two-sided Wilcoxon signed-rank test, zeros dropped, exact with ties for "
    f"up to {EXACT_MAX} changed pairs and else by the normal approximation with correction for "
    "continuity. Effects are matched-pairs rank-biserial correlations, their intervals by Fisher's "
    "z."
)
_POWER: Final = (
    "What could have been found is the mean difference for which the test has a power of 80% at "
    "0.05 divided by the number of comparisons, by the noncentral t distribution with 3/π times as "
    "many pairs (the asymptotic efficiency of the test), if differences are normal and vary as "
    "those seen."
)
_CRITERIA: Final = (
    "The criteria compare the second half of a run with the first after a burn-in of a tenth, by "
    "the same test one-sided, corrected over the sub-measures of a cell."
)


def methods(study: ReportedStudy) -> list[Block]:
    """Runs and exclusions, tests and corrections, versions and checksums."""
    return [
        Heading(2, "Methods", "methods"),
        Text(" ".join([_runs(study), *_stopped(study), _exclusions(study)])),
        Text(
            " ".join(
                [_TESTS, *_corrections(study), _POWER, *([_CRITERIA] if _judges(study) else [])]
            )
        ),
        *_own(study),
        Text(
            f"Computed by {_versions(study)}. The journals are deterministic: the same plan gives "
            "the same bytes, and goldrush verify checks them. The study is identified by the "
            f"SHA-256 of its manifest.json, {study.results.manifest.digest}, which lists that of "
            "every journal."
        ),
    ]


def _judges(study: ReportedStudy) -> bool:
    return study.question.criteria


def _runs(study: ReportedStudy) -> str:
    cells = study.results.by_cell
    sizes = sorted({len(runs) for runs in cells.values()})
    seeds = sorted({run.seed for runs in cells.values() for run in runs})
    each = " or ".join([*map(str, sizes[:-1]), format_count(sizes[-1], "run")])
    return (
        f"{study.runs} in {format_count(len(cells), 'cell')} (treatment, roster, horizon) with n = "
        f"{each} each, seeds {format_ranges(seeds).replace('-', '–')}; cells share seeds, and with "
        "them all random draws that do not depend on the treatment. The unit of analysis is the "
        "run."
    )


def _stopped(study: ReportedStudy) -> list[str]:
    """Runs that ended before their horizon."""
    stopped = [
        f"{run.path} ({study.of.vocabulary.number(run.units)})"
        for cell, runs in study.results.by_cell.items()
        for run in runs
        if run.units < cell.rounds
    ]
    if not stopped:
        return []
    return [
        f"{format_count(len(stopped), 'run')} ended before the horizon and counts up to its last "
        f"{study.of.vocabulary.unit}: {_some(stopped)}."
    ]


SOME: Final = 5  # runs that are named


def _some(names: Sequence[str]) -> str:
    more = len(names) - SOME
    return ", ".join([*names[:SOME], *([f"and {more:,} more"] if more > 0 else [])])


def _exclusions(study: ReportedStudy) -> str:
    """Runs without a value of the outcome, which count in nothing that is said of it."""
    outcome = study.answer.outcome
    without = [
        run.path
        for runs in study.results.by_cell.values()
        for run in runs
        if outcome.of_run(run) is None
    ]
    if not without:
        return "No run is excluded."
    return (
        f"{format_count(len(without), 'run')} without a value of {outcome.title}, left out of its "
        f"means and pairs: {_some(without)}."
    )


def _corrections(study: ReportedStudy) -> list[str]:
    counts = [f"{len(compared):,} of {kind}" for kind, compared in study.answer.comparisons.items()]
    if not counts:
        return []
    return [
        f"Holm's correction covers all comparisons of a kind ({', '.join(counts)}); a difference "
        "counts if its corrected p is below 0.05. Intervals are not corrected."
    ]


def _own(study: ReportedStudy) -> list[Block]:
    """The measures of the user, with the SHA-256 of their code."""
    rows = [[user.name, user.typed(), user.sha256 or "not known"] for user in study.results.users]
    if not rows:
        return []
    caption = "Measures of the author of this report, computed when it was made."
    return [TableBlock(["measure", "function", "SHA-256 of the file"], rows, caption)]


def _versions(study: ReportedStudy) -> str:
    world = study.of.world({})
    return (
        f"goldrush {__version__} ({world.name} rules {world.rules}, journal format "
        f"{FORMAT}), Python {platform.python_version()}, scipy {version('scipy')}"
    )
