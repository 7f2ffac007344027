"""The competition's own part of a report: verdicts on the protocol, stability, the control."""

from __future__ import annotations

from typing import Final

from goldrush.agents.worlds.competition.cast import PLANTED
from goldrush.agents.worlds.competition.treatments import NO_ELIMINATION, TREATMENTS
from goldrush.kernel.worlds.competition.config import SeasonConfig
from goldrush.replay.report.chapter import Chapter
from goldrush.replay.report.figures import EFFECT, Effect, effects
from goldrush.replay.report.page import (
    NONE,
    Block,
    Content,
    Heading,
    Marked,
    TableBlock,
    Text,
    number,
    p_value,
    subsection,
)
from goldrush.replay.report.sections import ReportedStudy, figure
from goldrush.replay.report.styles import styles_of
from goldrush.replay.report.verdicts import format_effect, in_brief
from goldrush.replay.study.judging import SizeVerdict
from goldrush.replay.worlds.competition.measures import TABLES_MIN
from goldrush.replay.worlds.competition.study import (
    CRITERIA,
    FOUND_SHARE,
    SEASONS_MIN,
    SIZES,
    STABLE_MIN,
    controls,
    format_pooled,
    needs,
    planted,
    stabilities,
    values_of,
    verdicts,
)


def _summary(study: ReportedStudy) -> list[Block]:
    """The verdicts as tiles, a sentence, and the effects behind them."""
    judgements = verdicts(study.results)
    if not judgements:
        return [Text(f"No verdicts: {needs(study.results)}.", leads=True)]
    sizes = styles_of([f"{size} workers" for size in SIZES])
    names = [verdict.criterion for verdict in judgements]
    measures = {criterion.name: criterion.measure for criterion in CRITERIA}
    rows = [f"{criterion}: {measures[criterion]}" for criterion in names]
    shown = [
        Effect(
            f"{verdict.criterion}: {test.measure}", test.change, sizes[f"{workers} workers"],
            f"{verdict.criterion}, {test.measure}, {workers} workers: "
            f"{format_effect(test.change)}, p {p_value(test.holm)}",
        )
        for verdict in judgements
        for workers, judged in verdict.by_size.items()
        for test in judged.findings
        if test.change.effect is not None
    ]  # fmt: skip
    return [
        *in_brief(judgements, names),
        figure(
            study, "effects", effects({"The protocol against its null": shown}, rows, sizes),
            f"The effect of each measure over pairs of seasons with the same seed: {EFFECT}.",
            list(study.results.by_cell),
        ),
    ]  # fmt: skip


def _arenas(study: ReportedStudy) -> list[Block]:
    arenas = sorted({run.kept.arena for runs in study.results.by_cell.values() for run in runs})
    of = "arena" if len(arenas) == 1 else "arenas"
    return [Text(f"The seasons were played in the {of} {' and '.join(arenas)}.")]


def _criteria(study: ReportedStudy) -> list[Block]:
    return [
        Heading(2, "Criteria: does the protocol work?", "criteria"),
        *_summary(study),
        *_verdicts(study),
        *_stability(study),
        *_planted(study),
        *_control(study),
    ]


def _verdicts(study: ReportedStudy) -> list[Block]:
    parts: list[Block] = [
        Heading(3, "The verdicts on the protocol", "protocol"),
        Text(
            " ".join(f"{c.name.capitalize()}: {c.text}." for c in CRITERIA)
            + " Each compares the protocol with its null, in pairs of seasons with the same seed. "
            "Supported: the measure differs as expected, with p < 0.05 by the one-sided "
            "Wilcoxon signed-rank test after Holm's correction over all criteria and sizes, and "
            f"in three quarters of the seasons, {' and '.join(f'with {n}' for n in SIZES)} "
            "workers. Not supported: at one of these sizes it passes the same test in the "
            "opposite direction, or differs in no season. Merit is judged only where the scores "
            f"find a planted difference: the roster {PLANTED} under {NO_ELIMINATION}."
        ),
    ]
    judgements = verdicts(study.results)
    if not judgements:
        return [*parts, Text(f"No verdicts: {needs(study.results)}.")]
    rows: list[list[Content]] = [
        [verdict.criterion, Marked(verdict.verdict, verdict.note)] for verdict in judgements
    ]
    head = [
        "criterion", "measure", "workers", "seasons", "protocol", "null", "effect", "p, Holm",
        "as expected",
    ]  # fmt: skip
    behind = [_row(judged) for verdict in judgements for judged in verdict.by_size.values()]
    return [
        *parts,
        TableBlock(["criterion", "verdict"], rows, "The verdicts on the protocol."),
        TableBlock(
            head,
            behind,
            "The figures behind the verdicts; in brackets 95% intervals.",
        ),
    ]


def _row(judged: SizeVerdict) -> list[str]:
    [finding] = judged.findings
    change = finding.change
    return [
        judged.criterion, finding.measure, str(judged.size), str(change.seeds),
        *values_of(finding), format_effect(change), p_value(finding.holm),
        f"{change.right} of {change.seeds}",
    ]  # fmt: skip


def _stability(study: ReportedStudy) -> list[Block]:
    rows = [
        [one.cell.treatment, one.cell.roster, str(one.seasons),
         format_pooled(one.stability, one.interval)]
        for one in stabilities(study.results)
    ]  # fmt: skip
    head = ["treatment", "roster", "seasons", "stability"]
    return subsection(
        "Stability of ranks",
        "stability",
        "Correlation, over workers with at least "
        f"{TABLES_MIN} tables, of the mean total at a worker's odd tables with that at its "
        "even tables. Each season is centred at its own mean, all seasons are pooled, and the "
        "Spearman–Brown formula corrects for the half length. In brackets the 95% interval by "
        f"a bootstrap over seasons. {NONE}: fewer than {SEASONS_MIN} seasons, of which a "
        "bootstrap would give too narrow an interval. Only treatments without elimination are "
        "shown: elimination selects on both halves together.",
        TableBlock(head, rows, "Stability of ranks, pooled over seasons."),
    )


def _planted(study: ReportedStudy) -> list[Block]:
    rows = [
        [one.cell.treatment, number(one.stability), f"{one.ahead} of {one.seasons}",
         "found" if one.is_found else "not found"]
        for one in planted(study.results)
    ]  # fmt: skip
    head = ["treatment", "stability", "scripted ahead", "the difference is"]
    return subsection(
        "The planted control",
        "planted",
        "The first half of the workers is scripted, the others act at random, and nobody is "
        "eliminated. The difference counts as found if the stability of ranks is above "
        f"{STABLE_MIN} and the mean total of the scripted workers is above that of the others "
        f"in {FOUND_SHARE:.0%} of the seasons.",
        TableBlock(head, rows, "A difference that was planted among the workers."),
    )


def _control(study: ReportedStudy) -> list[Block]:
    rows = [
        [one.cell.treatment, one.cell.roster, f"{one.last} of {one.seasons}"]
        for one in controls(study.results)
    ]
    head = ["treatment", "roster", "last"]
    return subsection(
        "The positive control",
        "control",
        "A worker that says nothing must rank last, or the scores measure nothing. Counted "
        "are the seasons in which its mean total is the lowest among the first workers.",
        TableBlock(head, rows, "Seasons in which the silent worker is last."),
    )


def _settings(treatment: str, config: SeasonConfig, agents: str) -> str:
    known = TREATMENTS.get(treatment)
    says = "" if known is None else f"{known.description[:1].upper()}{known.description[1:]}. "
    return f"{says}{agents} workers, arena {config.arena.name}."


CHAPTER: Final = Chapter(
    tables="protocol",
    head=_arenas,
    criteria=_criteria,
    settings=_settings,
)
