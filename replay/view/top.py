"""What the page of a run says without its script, as HTML: the headline, what the run is about, the
standings, where two runs part, and the journal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from goldrush.kernel.measures import Value
from goldrush.kernel.text import escaped, format_count
from goldrush.kernel.world import World
from goldrush.replay.journal.diff import Diff
from goldrush.replay.outcome import RunOutcome, means_of
from goldrush.replay.policies import beside, last_of
from goldrush.replay.text import SENTENCE_DIGITS, capitalized, format_change, format_number
from goldrush.replay.view.chart import POLICIES_MAX
from goldrush.replay.view.frame import escape_text, filled
from goldrush.replay.view.shown import ShownRun

CAUSES_MAX = 6  # causes of a difference that are listed

Hues = Mapping[str, int]  # by policy, an index of replay.colours.HUES


def top_of(run: ShownRun, hues: Hues) -> str:
    """The top of the page of one run."""
    outcome = run.outcome
    first, *others = [run.title] if outcome is None else outcome.sentences
    parts = [
        _kicker(_named(run)),
        f"<h1>{escape_text(first)}</h1>",
        f'<p class="lead">{escape_text(" ".join(others))}</p>' if others else "",
        _about(run.outline.about.text),
        *(f'<p class="fork">{escape_text(fork)}</p>' for _, fork in run.outline.declared.history),
        _front(_standings(outcome, hues)),
        _part(run),
    ]
    return "\n".join(filter(None, parts))


def top_of_two(runs: Sequence[ShownRun], hues: Hues, difference: Diff, world: World[Any]) -> str:
    """The top of a page for two runs, whose outcomes are of the units that both have, and their
    difference.
    """
    vocabulary = world.vocabulary
    outcomes = [run.outcome for run in runs if run.outcome is not None]
    headline, table = "Two runs", ""
    if len(outcomes) == len(runs):
        totals = [run.total for run in runs]
        count = format_count(vocabulary.unit_of(min(totals)), vocabulary.unit)
        after = "At the end" if totals[0] == totals[1] else f"After {count}"
        headline, table = compared(*outcomes, after=after), _comparison(outcomes, hues)
    lines = "".join(
        f"<li><strong>{which}</strong> {escape_text(_named(run))}</li>"
        for which, run in zip("AB", runs, strict=True)
    )
    parts = [
        _kicker(f"two runs of {world.name}"),
        *(_part(run, f"<strong>{which}</strong> ") for which, run in zip("AB", runs, strict=True)),
        f"<h1>{escape(headline)}</h1>",
        _about(runs[0].outline.about.text),
        f'<ul class="runs">{lines}</ul>',
        *(
            f'<p class="fork">{escape_text(fork[1])}</p>'
            for fork in runs[0].outline.declared.history
            if fork in runs[1].outline.declared.history
        ),
        _front(table + _parting(difference, runs, vocabulary.unit), "front two"),
    ]
    return "\n".join(filter(None, parts))


def _named(run: ShownRun) -> str:
    """A run: its title and its roster."""
    return ": ".join(filter(None, (run.title, run.outline.declared.roster)))


def _kicker(text: str) -> str:
    """The line above the headline, with the place for whether the journal is the one named."""
    return (
        f'<div class="kicker"><p>{escape_text(text)}</p><p class="check" id="check">The script of '
        "this page has not run.</p></div>"
    )


def _about(text: str) -> str:
    return f'<p class="world">{escape_text(text)}</p>' if text else ""


def _front(beside_chart: str, name: str = "front") -> str:
    """The place of the chart, and what stands beside it."""
    place = f'<div id="outcome"></div><div id="standings">{beside_chart}</div>'
    return f'<div class="{name}">{place}</div>'


def _part(run: ShownRun, which: str = "") -> str:
    """What of a run the player has, if not all; how far a damaged journal goes."""
    notes, units = [], run.outline.vocabulary.units
    if run.trouble is not None:
        notes.append(f"The journal breaks off: all of this is of the {units} up to {run.total:,}.")
    if not run.whole:
        shown = f"{units} {run.first:,} to {run.last:,} of {run.total:,}"
        above = f"all {units}{' that both have' if which else ''}"
        notes.append(f"The player has {shown}; what stands above it is of {above}.")
    return f'<p class="note">{which}{escape(" ".join(notes))}</p>' if notes else ""


def journal_of(run: ShownRun, index: int, which: str = "") -> str:
    """The facts of a run, its journal for download, and how it is verified; `which`: A or B."""
    header = run.outline.header
    assert header is not None  # of a run that is shown
    known = [
        ("world", f"{header.world}, rules {header.rules}"),
        *run.outline.about.facts,
        ("journal", f"{run.size:,} bytes"),
    ]
    facts = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape_text(text)}</dd></div>" for name, text in known
    )
    name = f"run-{which.lower()}.journal" if which else "run.journal"
    title = f"<strong>{which}</strong> The journal" if which else "The journal"
    trouble = "" if run.trouble is None else f"<p>It breaks off: {escape_text(run.trouble)}.</p>"
    parts = {
        "number": str(index + 1), "index": str(index), "title": title, "facts": facts,
        "trouble": trouble, "sha256": run.sha256, "name": name,
        "command": escape_text(f"goldrush verify {name}{run.option}"),
    }  # fmt: skip
    return filled(Path(__file__).with_name("journal.html"), parts)


def _table(name: str, head: Sequence[str], rows: Sequence[Sequence[str]], hues: Hues) -> str:
    """A table of policies: the first cell of a row is the policy, all others are numbers."""
    first, *others = head
    heads = f'<th scope="col">{escape_text(first)}</th>' + "".join(
        f'<th scope="col" class="number">{escape_text(title)}</th>' for title in others
    )
    body = "".join(
        '<tr><th scope="row"><svg class="swatch-box" viewBox="0 0 12 12" aria-hidden="true"><rect '
        f'width="12" height="12" rx="2" fill="var(--hue-{hues[last_of(policy)]})"/></svg>'
        f"{escape_text(policy)}</th>"
        + "".join(f'<td class="number">{escape(cell)}</td>' for cell in cells)
        + "</tr>"
        for policy, *cells in rows[:POLICIES_MAX]
    )
    left = len(rows) - POLICIES_MAX
    more = f'<p class="note">and {format_count(left, "more group")}</p>' if left > 0 else ""
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{name}">'
        f'<table class="standings"><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>'
        f"</div>{more}"
    )


def _standings(outcome: RunOutcome | None, hues: Hues) -> str:
    """The final standings by policy; empty where agents have none."""
    if outcome is None or not outcome.standings or not outcome.compares:
        return ""
    head, *rows = outcome.rows
    each = zip(outcome.standings, rows, strict=True)
    return _table(
        "Standings by policy", head, [[of.policy, *cells] for of, (_, *cells) in each], hues
    )


def _outcomes(a: RunOutcome, b: RunOutcome) -> dict[str, tuple[Value, Value]]:
    """By group of agents (`policies.beside`) the mean outcomes, the largest difference first; None
    where the group is not there. Empty where they are of the runs.
    """
    if not (a.by_agent and b.by_agent):
        return {}
    labels = beside(a.policies, b.policies)
    before, after = map(means_of, (a.by_agent, b.by_agent), labels)
    means = {
        label: (before.get(label), after.get(label)) for label in dict.fromkeys([*before, *after])
    }
    return dict(sorted(means.items(), key=lambda group: -abs(_change(*group[1]) or 0.0)))


def _change(a: Value, b: Value) -> Value:
    """B − A; None if either is undefined."""
    return None if a is None or b is None else b - a


def compared(a: RunOutcome, b: RunOutcome, *, after: str) -> str:
    """What differs in the outcome of two runs, as a sentence; the largest difference.
    `after`: how far both go: `After 50 rounds`.
    """
    title = escaped(a.measure.title)
    if a.value is not None and b.value is not None:  # of the runs
        values = f"{format_number(a.value)} in run A, {format_number(b.value)} in run B"
        return f"{capitalized(title)}: {values}."
    both = {label: each for label, each in _outcomes(a, b).items() if None not in each}
    if not both:
        return f"The two runs have no policy in common whose {title} can be compared."
    changed = {
        label: each for label, each in both.items() if len(set(map(format_number, each))) > 1
    }
    if not changed:
        return f"{after} both runs have the same mean {title} of each policy."
    label, (before, end) = next(iter(changed.items()))
    change = _change(before, end) or 0.0
    difference = f"{format_number(abs(change))} {'more' if change > 0 else 'less'}"
    return (
        f"{after} {escaped(label)} has {format_number(end)} {title} on average in run B, "
        f"{difference} than in run A."
    )


def _comparison(outcomes: Sequence[RunOutcome], hues: Hues) -> str:
    """The outcomes of two runs by group of agents; empty where they are of the runs."""
    a, b = outcomes
    counts = [Counter(labels) for labels in beside(a.policies, b.policies)]
    rows = [
        [
            label,
            " | ".join(dict.fromkeys(f"{count[label]:,}" for count in counts)),
            *map(format_number, means),
            format_change(*means, SENTENCE_DIGITS),
        ]
        for label, means in _outcomes(a, b).items()
    ]
    agents = "agents in A | B" if any("|" in row[1] for row in rows) else "agents"
    head = ["policy", agents, f"mean {a.measure.title} in A", "in B", "B − A"]
    return _table("Outcome of both runs by policy", head, rows, hues) if rows else ""


def _parting(difference: Diff, runs: Sequence[ShownRun], unit: str) -> str:
    """Where two runs part, and the causes. A page names no path: the runs are A and B."""
    if difference.same:
        return '<section class="difference"><h2>The two runs are the same</h2></section>'
    causes = []
    for cause in difference.causes:
        text = cause.text
        for name, side in (("A", difference.a), ("B", difference.b)):
            if text.startswith(f"{side.path}: "):
                text = f"{name}: {text.removeprefix(f'{side.path}: ')}"
        causes.append(f"<li>{escape_text(f'{cause.kind}: {text}')}</li>")
    left = len(causes) - CAUSES_MAX
    more = f"<li>and {left} more: goldrush diff has all</li>" if left > 0 else ""
    lines = []
    unit = escape(unit)
    if difference.first is not None:
        at = difference.first.round
        is_here = any(run.first <= at <= run.last for run in runs)
        where = f'<a href="#{unit}={at}">{unit} {at:,}</a>' if is_here else f"{unit} {at:,}"
        lines.append(f"The first event that differs is in {where}.")
    if difference.prefix is not None:
        short, long = "AB" if difference.prefix == "a" else "BA"
        is_over = (difference.a if short == "A" else difference.b).finished
        last = f"{unit} {runs['AB'.index(short)].total:,}"
        how = "ends" if is_over else "breaks off"
        lines.append(f"Run {short} is the beginning of run {long}: it {how} with {last}.")
    lines += [
        f"Run {'AB'[index]} is forked after {unit} {first - 1:,}."
        for index, run in enumerate(runs)
        for first, text in run.outline.declared.history
        if (first, text) not in runs[1 - index].outline.declared.history
    ]
    heading = "Where the two runs part, and why"
    return (
        f'<section class="difference" aria-label="{heading}"><h2>{heading}</h2>'
        f"<p>{' '.join(lines)}</p><ul>{''.join(causes[:CAUSES_MAX])}{more}</ul></section>"
    )
