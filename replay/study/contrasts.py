"""Contrasts: what a study is asked to compare, and what a model does under all its wordings.

A roster of models has a subject, its agents without their wordings, and a wording: `null` is the
default with other samples, which show how much of a difference is noise, and `told` asks not to
raid, which shows that words move the model at all. Neither counts in a verdict over wordings.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import attrs

from goldrush.agents.llm.options import DEFAULT
from goldrush.agents.seats import MODEL, family_in
from goldrush.kernel.errors import BadInput, format_value, nearest
from goldrush.replay.study.judging import UNDECIDED
from goldrush.replay.study.records import Cell

TREATMENTS, ROSTERS, POLICIES, WORDINGS = "treatments", "rosters", "policies", "wordings"
NULL, TOLD = "null", "told"
CONTROLS: Final = {
    NULL: " (noise: the default with other samples)",
    TOLD: " (positive control: asked not to raid)",
}
SHARES: Final = ("seed", "wording", "sample", "rest")  # what `shares_of` gives
DEPENDS: Final = "depends on wording"


@attrs.frozen
class Worded:
    """Who plays in a cell: its agents as text, without the wording that its models share.
    `wording`: empty without models, and where they have several.
    """

    name: str
    wording: str = ""


def subject_in(policies: Sequence[str]) -> Worded:
    """The subject of a cell, from the labels of its agents."""
    parts = [_parted(label) for label in policies]
    wordings = {wording for _, wording in parts if wording}
    names = Counter([name for name, _ in parts] if len(wordings) == 1 else policies)
    text = ",".join(f"{n}*{count}" if len(names) > 1 else n for n, count in names.items())
    return Worded(text, wordings.pop() if len(wordings) == 1 else "")


def _parted(label: str) -> tuple[str, str]:
    """A label without its wording and sample, and these; empty for what is no model."""
    name, _, between = label.removesuffix("]").partition("[")
    if family_in(name) is not MODEL:
        return label, ""
    options = dict(each.split("=", 1) for each in between.split(";") if each)
    wording, sample = options.pop("wording", DEFAULT), options.pop("sample", "")
    if sample:
        wording = NULL if (wording, sample) == (DEFAULT, "1") else f"{wording};sample={sample}"
    rest = ";".join(f"{option}={value}" for option, value in options.items())
    return f"{name}[{rest}]" if rest else name, wording


def side_of(kind: str, cell: Cell, subject: Worded) -> tuple[str, str]:
    """The name of a cell in a contrast of this kind, and what its other side has, too."""
    if kind == TREATMENTS:
        return cell.treatment, cell.roster
    if kind == ROSTERS:
        return cell.roster, cell.treatment
    return subject.wording.partition("@")[0], f"{subject.name} under {cell.treatment}"


def contrasts_in(
    subjects: Mapping[Cell, Worded], texts: Iterable[str]
) -> set[tuple[str, str, str]]:
    """Contrasts of cells as (kind, a, b) from text, `plain-default` for plain − default. Raises
    BadInput for one whose sides are not two treatments, wordings or rosters of the study.
    """
    known: dict[str, tuple[str, str, str]] = {}
    for kind in (TREATMENTS, WORDINGS, ROSTERS):
        names = dict.fromkeys(side_of(kind, *of)[0] for of in subjects.items())
        known |= {f"{b}-{a}": (kind, a, b) for a in names for b in names if a != b and a and b}
    for text in texts:
        if text not in known:
            raise BadInput(
                f"the study has no contrast {format_value(text)}",
                f"{nearest(text, known)}write B-A, for B − A: two treatments, rosters or "
                f"wordings, such as {next(iter(known), 'plain-default')}",
            )
    return {known[text] for text in texts}


def is_control(wording: str) -> bool:
    """Whether a wording, or another sample of one, counts in no verdict."""
    return wording in CONTROLS or ";sample=" in wording


def over_wordings(outcomes: Mapping[str, str]) -> str:
    """The verdict on a model by its outcome under each wording, controls apart: the one that all
    share, else DEPENDS.
    """
    distinct = {outcome for wording, outcome in outcomes.items() if not is_control(wording)}
    return distinct.pop() if len(distinct) == 1 else DEPENDS if distinct else UNDECIDED


def shares_of(table: Mapping[str, Sequence[float]]) -> list[float | None] | None:
    """The variance of an outcome over the runs of a subject as shares of their sum: of the seed, of
    the wording, of the sample (None without `null`), and of the rest, a wording under some seeds.

    Of two crossed random factors without repetition, seeds and wordings without controls, mean
    squares give the components; below 0 one counts as 0. None: fewer than two of a factor, or
    nothing varies. `table`: values by wording, of the same seeds.
    """
    rows = [values for wording, values in table.items() if not is_control(wording)]
    if len(rows) < 2 or len(rows[0]) < 2:
        return None
    means, by_seed = (list(map(statistics.fmean, each)) for each in (rows, zip(*rows, strict=True)))
    mean = statistics.fmean(means)
    squares = sum(
        (value - means[at] - of_seed + mean) ** 2
        for at, row in enumerate(rows)
        for value, of_seed in zip(row, by_seed, strict=True)
    )
    rest = squares / ((len(rows) - 1) * (len(by_seed) - 1))
    seed = max(0.0, statistics.variance(by_seed) - rest / len(rows))
    wording = max(0.0, statistics.variance(means) - rest / len(by_seed))
    sample = None
    if NULL in table and DEFAULT in table:
        pairs = zip(table[NULL], table[DEFAULT], strict=True)
        sample = min(rest, statistics.fmean((a - b) ** 2 for a, b in pairs) / 2)
    total = seed + wording + rest
    parts = (seed, wording, sample, rest - (sample or 0.0))
    return [part and part / total for part in parts] if total else None
