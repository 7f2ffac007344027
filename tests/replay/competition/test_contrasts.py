from collections import defaultdict
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import attrs
import pytest

from goldrush.agents.competition.cast import RANDOM, SCRIPTED, SILENT
from goldrush.agents.competition.treatments import INDEPENDENT, NO_MEMORY, NO_STAKES, with_more
from goldrush.kernel.treatments import BASELINE
from goldrush.replay.competition import contrasts
from goldrush.replay.competition.contrasts import (
    CRITERIA,
    NOT_SUPPORTED,
    SIZES,
    SUPPORTED,
    UNDECIDED,
    Kept,
    Verdict,
    controls,
    verdicts,
)
from goldrush.replay.competition.sections import CHAPTER
from goldrush.replay.report.page import NONE, Marked, Table
from goldrush.replay.study.plan import Cell
from goldrush.replay.study.results import Result

CELLS = (
    (BASELINE, SCRIPTED), (INDEPENDENT, SCRIPTED), (NO_MEMORY, SCRIPTED), (NO_STAKES, SCRIPTED),
    (BASELINE, RANDOM),
)  # fmt: skip
OURS = CELLS[0]
SEEDS = range(12)
STABLE = {5: (1.0, 1.0), 6: (-1.0, -1.0), 7: (2.0, 2.0), 8: (-2.0, -2.0)}
UNSTABLE = {5: (1.0, 1.0), 6: (1.0, -1.0), 7: (-1.0, 1.0), 8: (-1.0, -1.0)}

Better = Callable[[int], float]  # by seed: how much better the protocol is than its null


@attrs.frozen
class Made:
    """Results that nobody recorded."""

    by_cell: dict[Cell, list[Any]]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contrasts, "RESAMPLES", 300)


def season(cell: Cell, seed: int, worth: float, totals: Iterable[float] = ()) -> Result[Any, Kept]:
    """A season in which everything that criteria ask for is worth so much."""
    return Result(
        cell=cell,
        seed=seed,
        config=None,
        units=40,
        run={"percentile": worth, "validity": worth},
        halves={},
        halves_whole={"percentile": (0.5, 0.5 + worth)},
        curves={},
        policies=(),
        own=Kept("nk", STABLE if worth > 0 else UNSTABLE, tuple(totals)),
    )


def study(better: Better, sizes: Iterable[int] = SIZES, seeds: Iterable[int] = SEEDS) -> Made:
    """A study of all cells that criteria need."""
    by_cell = {}
    for treatment, roster in CELLS:
        for workers in sizes:
            name = treatment if workers == SIZES[0] else with_more(treatment)
            cell = Cell(name, roster, 40)
            is_ours = (treatment, roster) == OURS
            by_cell[cell] = [season(cell, s, better(s) if is_ours else 0.0) for s in seeds]
    return Made(by_cell)


def judged(made: Made) -> dict[str, Verdict]:
    found = {verdict.criterion: verdict for verdict in verdicts(made)}
    assert [criterion.name for criterion in CRITERIA] == list(found)
    return found


def without_stability(found: dict[str, Verdict]) -> list[Verdict]:
    return [found[criterion.name] for criterion in CRITERIA if criterion.roster == SCRIPTED]


def test_what_is_better_in_every_season_at_both_sizes_is_supported() -> None:
    found = judged(study(lambda seed: 0.1 + seed / 100))

    assert {SUPPORTED} == {verdict.verdict for verdict in found.values()}
    measures = [finding.measure for finding in found["scores measure merit"].findings]
    assert ["validity", "stability"] * 2 == measures


def test_what_is_worse_is_not_supported() -> None:
    for verdict in without_stability(judged(study(lambda seed: -0.1 - seed / 100))):
        assert NOT_SUPPORTED == verdict.verdict


def test_what_is_the_same_is_undecided_and_says_where() -> None:
    for verdict in judged(study(lambda seed: 0.0)).values():
        assert UNDECIDED == verdict.verdict
        assert "6 workers" in verdict.note
        assert "12 workers" in verdict.note


def test_one_size_alone_decides_nothing_but_against() -> None:
    for verdict in judged(study(lambda seed: 0.1 + seed / 100, sizes=[6])).values():
        assert (UNDECIDED, "no seasons with 12 workers") == (verdict.verdict, verdict.note)
    for verdict in without_stability(judged(study(lambda seed: -0.1 - seed / 100, sizes=[6]))):
        assert NOT_SUPPORTED == verdict.verdict


def test_the_right_sign_in_fewer_than_three_of_four_seasons_is_not_enough() -> None:
    def mostly(ahead: int) -> Better:
        return lambda seed: 1 + seed / 100 if seed < ahead else -seed / 1000

    seeds = range(20)
    for verdict in without_stability(judged(study(mostly(15), seeds=seeds))):
        assert SUPPORTED == verdict.verdict
    for verdict in without_stability(judged(study(mostly(14), seeds=seeds))):
        assert UNDECIDED == verdict.verdict
        assert all(finding.p < 0.05 for finding in verdict.findings)


def test_seasons_are_paired_by_seed_and_others_left_out() -> None:
    made = study(lambda seed: 0.1 + seed / 100)
    null = Cell(INDEPENDENT, SCRIPTED, 40)
    made.by_cell[null] = [*made.by_cell[null][::-1][:7], season(null, 99, 0.0)]
    finding = judged(made)["the table beats its members"].findings[0]

    assert (6, 7) == (finding.workers, finding.seeds)
    assert pytest.approx(sum(0.1 + seed / 100 for seed in SEEDS[5:]) / 7) == finding.protocol
    assert 0 == finding.null


def test_without_pairs_there_is_no_verdict() -> None:
    made = study(lambda seed: 1.0)
    only = {cell: runs for cell, runs in made.by_cell.items() if cell.treatment == BASELINE}

    assert ["scores measure merit"] == [one.criterion for one in verdicts(Made(only))]
    assert [] == verdicts(Made({Cell(BASELINE, SCRIPTED, 40): made.by_cell[Cell(*OURS, 40)]}))


def test_a_report_has_a_row_for_each_verdict_and_each_finding() -> None:
    made = study(lambda seed: 0.1 + seed / 100)
    parts = CHAPTER.sections(SimpleNamespace(results=made))
    first, second, stable = (part for part in parts if isinstance(part, Table))

    assert [[name, Marked(SUPPORTED, "")] for name in judged(made)] == first.rows
    assert len(second.rows) == sum(len(one.findings) for one in judged(made).values())
    assert {"12 of 12", NONE} == {row[-1] for row in second.rows}
    assert len(stable.rows) == len(made.by_cell)


def test_the_control_counts_seasons_in_which_the_silent_worker_is_last() -> None:
    cell, totals = Cell(BASELINE, "one-silent", 40), [(5.0, 1.0), (5.0, 6.0), (1.0, 1.0)]
    runs = [season(cell, seed, 0.0, of) for seed, of in enumerate(totals)]
    by_cell = defaultdict(list, study(lambda seed: 0.0).by_cell)
    by_cell[cell] = [attrs.evolve(run, policies=(SCRIPTED, SILENT)) for run in runs]

    assert [(cell, 3, 1)] == [(one.cell, one.seasons, one.last) for one in controls(Made(by_cell))]
