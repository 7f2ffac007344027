"""What the page of a run says without its script, as HTML: the headline, what the run is about, the
standings, where two runs part, and the journal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import attrs

from goldrush.kernel.measures import Value, mean
from goldrush.kernel.text import escaped, format_count
from goldrush.kernel.world import Vocabulary
from goldrush.replay.journal.diff import Diff
from goldrush.replay.outcome import RunOutcome, means_of, number_word
from goldrush.replay.policies import TURN, agents_by_policy, beside, last_of
from goldrush.replay.text import capitalized, format_number
from goldrush.replay.view.frame import escape_text
from goldrush.replay.view.front import RunFront
from goldrush.replay.view.numbers import POLICIES_MAX
from goldrush.replay.view.shown import ShownRun

NAMED_MAX = 3  # policies that the headline of two runs names
CAUSES_MAX = 4  # causes of a difference that are listed before the part that can be opened

Hues = Mapping[str, int]  # by policy, an index of replay.colours.HUES


def top_of(
    runs: Sequence[ShownRun], ends: Sequence[RunFront], hues: Hues, difference: Diff | None,
    vocabulary: Vocabulary, text: str,
) -> str:  # fmt: skip
    """The top of a page for one run, or for two and their difference. `ends`: of each run, the
    front for the units that both have; `text`: what the world is about.
    """
    about = f'<p class="world">{escape_text(text)}</p>' if text else ""
    if difference is None:
        [run] = runs
        agents = ", ".join(text for name, text in run.facts if name == "agents")
        parts = [
            _kicker(escape_text(f"{run.title}: {agents}" if agents else run.title)),
            _headline(run),
            about,
            _forks(run.forks),
            _front(_standings(run.front, hues)),
        ]
    else:
        outcomes = [front.outcome for front in ends if front.outcome is not None]
        is_compared = len(outcomes) == len(runs)
        after = _until(runs, vocabulary)
        lines = "".join(
            f"<li>{_which(index, runs)}{escape_text(run.title)}. {escape(_outcome(run))}</li>"
            for index, run in enumerate(runs)
        )
        parts = [
            _kicker(f"{escape_text(runs[0].title.partition(':')[0])}: two runs"),
            *(_damaged(index, runs, vocabulary) for index in range(len(runs))),
            f"<h1>{escape(compared(*outcomes, after=after)) if is_compared else 'Two runs'}</h1>",
            _lead(f"{_goes_on(runs, vocabulary.unit)} {_only(*outcomes)}") if is_compared else "",
            about,
            f'<ul class="runs">{lines}</ul>',
            _parting(difference, runs, vocabulary.unit),
            _front(_comparison(*outcomes, hues=hues) if is_compared else ""),
            _forks([fork for fork in runs[0].forks if fork in runs[1].forks]),
        ]
    notes = [_part(index, runs, vocabulary.units) for index in range(len(runs))]
    return "\n".join(filter(None, [*parts, *notes]))


def below_of(
    runs: Sequence[ShownRun], ends: Sequence[RunFront], hues: Hues, difference: Diff | None,
    vocabulary: Vocabulary,
) -> str:  # fmt: skip
    """What stands below the player: what follows from a difference, and the journals. `ends`: as
    for `top_of`.
    """
    parts = [_journal(index, runs) for index in range(len(runs))]
    if difference is not None:
        after = _until(runs, vocabulary)
        parts = [_consequences(ends, difference, hues, after), *parts]
    return "\n".join(filter(None, parts))


def _until(runs: Sequence[ShownRun], vocabulary: Vocabulary) -> str:
    """How far both runs go, where one goes on: `After 50 rounds`; else empty."""
    if not _goes_on(runs, vocabulary.unit):
        return ""
    until = vocabulary.unit_of(min(run.total for run in runs))
    return f"After {format_count(until, vocabulary.unit)}"


def _kicker(text: str) -> str:
    """The line above the headline, with the place for whether the journal is the one named."""
    return (
        f'<div class="kicker"><p>{text}</p><p class="check" id="check">The script of this page has '
        "not run.</p></div>"
    )


def _headline(run: ShownRun) -> str:
    """The first sentence of the outcome large, the others below it."""
    if run.front.outcome is None:
        return f"<h1>{escape_text(run.title)}</h1>"
    first, *others = run.front.outcome.sentences
    return f"<h1>{escape(first)}</h1>{_lead(' '.join(others))}"


def _lead(text: str) -> str:
    return f'<p class="lead">{escape(text.strip())}</p>' if text.strip() else ""


def _outcome(run: ShownRun) -> str:
    return "" if run.front.outcome is None else run.front.outcome.headline


def _front(table: str) -> str:
    """The place of the chart, and a table."""
    return f'<div class="front"><div id="outcome"></div><div id="standings">{table}</div></div>'


def _which(index: int, runs: Sequence[ShownRun]) -> str:
    return f"<strong>{'AB'[index]}</strong> " if len(runs) > 1 else ""


def _goes_on(runs: Sequence[ShownRun], unit: str) -> str:
    """Which of two runs is the longer one, and up to where they are compared, as a sentence; empty
    if neither is.
    """
    totals = [run.total for run in runs]
    if totals[0] == totals[1]:
        return ""
    return (
        f"Run {'AB'[totals[1] > totals[0]]} goes on to {unit} {max(totals):,}; the outcomes are "
        f"compared after {unit} {min(totals):,}, the last that both have."
    )


def _damaged(index: int, runs: Sequence[ShownRun], vocabulary: Vocabulary) -> str:
    """How much of a damaged run could be read; empty for a sound one."""
    if runs[index].trouble is None:
        return ""
    count = vocabulary.unit_of(runs[index].total)
    return (
        f'<p class="note">Run {"AB"[index]} is damaged: only its first '
        f"{escape(format_count(count, vocabulary.unit))} could be read.</p>"
    )


def _forks(forks: Sequence[tuple[int, str]]) -> str:
    return "".join(f'<p class="fork">{escape_text(text)}</p>' for _, text in forks)


def _part(index: int, runs: Sequence[ShownRun], units: str) -> str:
    """What of a run the player has, if not all; how far a damaged journal goes."""
    run = runs[index]
    span = f"{units} {run.first:,} to {run.last:,} of {run.total:,}"
    note = f"The player has {span}; headline, standings and chart are of the whole run."
    if run.trouble is not None:
        note = f"The journal breaks off: all of this is of {units} {run.first:,} to {run.total:,}."
    is_noted = not run.whole or run.trouble is not None
    return f'<p class="note">{_which(index, runs)}{escape(note)}</p>' if is_noted else ""


def _journal(index: int, runs: Sequence[ShownRun]) -> str:
    """The facts of a run, its journal for download, and how it is verified."""
    run = runs[index]
    facts = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape_text(text)}</dd></div>"
        for name, text in run.facts
    )
    name = "run.journal" if len(runs) == 1 else f"run-{'ab'[index]}.journal"
    command = f"goldrush verify {name}{run.option}"
    trouble = "" if run.trouble is None else f"<p>It breaks off: {escape_text(run.trouble)}.</p>"
    return (
        f'<section class="journal" aria-label="Journal {index + 1}"><h2>{_which(index, runs)}'
        f'The journal</h2><dl class="facts">{facts}</dl>{trouble}<p>SHA-256 <code>{run.sha256}'
        f'</code> <span class="seal" id="seal-{index}" role="status">Not compared: the script of '
        f"this page has not run.</span></p><p>The program that made this page wrote all that it "
        f'shows. To be sure, derive every event again: <span data-download="{name}">take the '
        f"journal</span> and type <code>{escape_text(command)}</code></p></section>"
    )


def _swatch(hue: int) -> str:
    """A square in the colour of a policy."""
    return (
        '<svg class="swatch-box" viewBox="0 0 12 12" aria-hidden="true">'
        f'<rect width="12" height="12" rx="2" fill="var(--hue-{hue})"/></svg>'
    )


def _table(name: str, head: Sequence[str], rows: Sequence[Sequence[str]], hues: Hues) -> str:
    """A table of policies: the first cell of a row is the policy, all others are numbers."""
    first, *others = head
    heads = f'<th scope="col">{escape_text(first)}</th>' + "".join(
        f'<th scope="col" class="number">{escape_text(title)}</th>' for title in others
    )
    body = "".join(
        f'<tr><th scope="row">{_swatch(hues[policy])}{escape_text(policy)}</th>'
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


def _standings(front: RunFront, hues: Hues) -> str:
    """The final standings by policy; empty where agents have none."""
    outcome = front.outcome
    if outcome is None or not outcome.standings or not outcome.compares:
        return ""
    (measure, _), *others = front.measures
    means = [means_of(values, outcome.policies) for _, values in others]
    rows = [
        [
            each.policy,
            f"{len(each.agents):,}",
            format_number(each.mean),
            _range(each.lowest, each.highest),
            *(format_number(by_policy[each.policy]) for by_policy in means),
        ]
        for each in outcome.standings
    ]
    head = ["policy", "agents", f"mean {measure.title}", "from – to"]
    head += [f"mean {other.title}" for other, _ in others]
    return _table("Standings by policy", head, rows, hues)


def _range(low: Value, high: Value) -> str:
    """The lowest and the highest value."""
    same = format_number(low) == format_number(high)
    return format_number(low) if same else f"{format_number(low)} – {format_number(high)}"


@attrs.frozen
class _Group:
    """Agents whose outcome is compared: their label, what they play in run A and in run B (empty:
    they are not there), their numbers in both, and their means (None where undefined).
    """

    label: str
    policies: tuple[str, str]
    members: tuple[Sequence[int], Sequence[int]]
    means: tuple[Value, Value]

    @property
    def agents(self) -> str:
        """How many there are, in A and in B where that differs."""
        return " | ".join(dict.fromkeys(f"{len(agents):,}" for agents in self.members))

    @property
    def change(self) -> Value:
        """The mean in B − that in A; None if either is undefined."""
        return _change(*self.means)

    def change_of(self, values: tuple[Mapping[int, Value], Mapping[int, Value]]) -> Value:
        """The same of other values, in A and in B, by agent; agents without one have 0."""
        a, b = (
            mean([of.get(agent, 0.0) for agent in agents])
            for of, agents in zip(values, self.members, strict=True)
        )
        return _change(a, b)


def _groups(a: RunOutcome, b: RunOutcome) -> list[_Group]:
    """The agents of two runs in groups (`policies.beside`), the largest difference first."""
    ours, theirs = map(agents_by_policy, beside(a.policies, b.policies))
    groups = []
    for label in dict.fromkeys([*ours, *theirs]):
        members = ours.get(label, []), theirs.get(label, [])
        policies, means = zip(
            *(
                (run.policies[agents[0]] if agents else "", _mean(run.by_agent, agents))
                for run, agents in zip((a, b), members, strict=True)
            ),
            strict=True,
        )
        groups.append(_Group(label, policies, members, means))
    return sorted(groups, key=lambda group: -abs(group.change or 0.0))


def _change(a: Value, b: Value) -> Value:
    return None if a is None or b is None else b - a


def _mean(values: Sequence[Value], agents: Sequence[int]) -> Value:
    return mean([values[agent] for agent in agents]) if values else None


def compared(a: RunOutcome, b: RunOutcome, *, after: str = "") -> str:
    """What differs in the outcome of two runs, as a sentence; the largest differences first.
    `after`: how far both go, where one goes on (`After 50 rounds`).
    """
    title = escaped(a.measure.title)
    if a.value is not None and b.value is not None:  # of the runs
        values = f"{format_number(a.value)} in run A, {format_number(b.value)} in run B"
        return f"{f'{after}: ' if after else ''}{capitalized(title)}: {values}."
    both = [group for group in _groups(a, b) if group.change is not None]
    if not both:
        return f"The two runs have no policy in common whose {title} can be compared."
    changed = [each for each in both if len({format_number(value) for value in each.means}) > 1]
    if not changed:
        both_have = f"{after} both runs have" if after else "Both runs end with"
        return f"{both_have} the same mean {title} of each policy."
    parts = [
        _difference(group, f" {title}" if not index else "", ends=not after)
        for index, group in enumerate(changed[:NAMED_MAX])
    ]
    left = len(changed) - len(parts)
    rest = f"{number_word(left)} more {'group differs' if left == 1 else 'groups differ'} less"
    head = f"{after}, in run B" if after else "In run B"
    return f"{head} {'; '.join([*parts, *([rest] if left else [])])}."


def _difference(group: _Group, title: str, *, ends: bool) -> str:
    """A clause on the outcome of a group in run B; `title`: of the measure, in the first clause;
    `ends`: it is that at the end of the run.
    """
    before, after = map(escaped, group.policies)
    count = len(group.members[1])
    is_one = count == 1
    number = "" if is_one else f"{number_word(count)} "
    if before == after:
        who = f"the {number}{after} agent{'' if is_one else 's'}"
    elif after.startswith(before + TURN):
        turn = (
            f"{'turns' if is_one else 'turn'} from {before} to {after.removeprefix(before + TURN)}"
        )
        who = f"the {number or 'one '}that {turn}"
    else:
        who = f"the {number or 'one '}with {before} in A and {after} in B"
    verb = "with"
    if title:
        verb = ("ends with" if is_one else "end with") if ends else ("has" if is_one else "have")
    each = " each on average" if title and not is_one else ""
    more = "more" if (group.change or 0.0) > 0 else "less"
    than = " than in A" if title else ""
    end = format_number(group.means[1])
    return (
        f"{who} {verb} {end}{title}{each}, {format_number(abs(group.change or 0.0))} {more}{than}"
    )


def _only(a: RunOutcome, b: RunOutcome) -> str:
    """The policies that play in one of two runs alone, as a sentence; empty without one, and where
    the same agents are compared.
    """
    parts = []
    for index, which in enumerate("AB"):
        groups = _groups(a, b)
        only = [escaped(each.policies[index]) for each in groups if not each.policies[1 - index]]
        left = len(only) - NAMED_MAX
        more = f" and {number_word(left)} more" if left > 0 else ""
        if only:
            parts.append(f"only in {which}: {', '.join(only[:NAMED_MAX])}{more}")
    text = "; ".join(parts)
    return f"{capitalized(text)}." if text else ""


def _comparison(a: RunOutcome, b: RunOutcome, *, hues: Hues) -> str:
    """The outcomes of two runs by group of agents, and their differences; empty where they are of
    the runs.
    """
    if not (a.by_agent or b.by_agent):
        return ""
    groups = _groups(a, b)
    rows = [
        [group.label, group.agents, *map(format_number, group.means), _signed(group.change)]
        for group in groups
    ]
    agents = "agents in A | B" if any("|" in group.agents for group in groups) else "agents"
    head = ["policy", agents, f"mean {a.measure.title} in A", "in B", "B − A"]
    shown = {group.label: hues[last_of(group.label)] for group in groups}
    return _table("Outcome of both runs by policy", head, rows, shown)


def _consequences(
    ends: Sequence[RunFront], difference: Diff,
    hues: Hues, after: str,
) -> str:  # fmt: skip
    """What the agents of each group have more or less in run B besides the outcome, as a table;
    empty where nothing else is measured. `after`: as for `compared`.
    """
    outcomes = [front.outcome for front in ends if front.outcome is not None]
    measures, theirs = ends[0].measures[1:], dict(ends[1].measures)
    when = after.lower() or "at the end"
    columns = {
        f"{measure.title} {when}": (dict(enumerate(ours)), dict(enumerate(theirs[measure])))
        for measure, ours in measures
        if measure in theirs
    }
    is_beginning = difference.same or difference.prefix is not None
    if is_beginning or len(outcomes) < len(ends) or not columns:
        return ""
    groups = _groups(*outcomes)
    rows = [
        [group.label, *(_signed(group.change_of(of)) for of in columns.values())]
        for group in groups
    ]
    shown = {group.label: hues[last_of(group.label)] for group in groups}
    return (
        f'<section class="follows" aria-label="Consequences"><h2>What follows for the agents</h2>'
        "<p>Mean of an agent, B − A.</p>"
        f"{_table('Consequences by policy', ['policy', *columns], rows, shown)}</section>"
    )


def _signed(value: Value) -> str:
    if value is None:
        return "-"
    return f"{'+' if value > 0 else '−' if value < 0 else ''}{format_number(abs(value))}"


def _parting(difference: Diff, runs: Sequence[ShownRun], unit: str) -> str:
    """Where two runs part, and the causes. A page names no path: the runs are A and B."""
    if difference.same:
        return '<section class="difference"><h2>The two runs are the same</h2></section>'
    texts = [cause.text for cause in difference.causes]
    for name, side in (("A", difference.a), ("B", difference.b)):
        front = f"{side.path}: "
        texts = [f"{name}: {t.removeprefix(front)}" if t.startswith(front) else t for t in texts]
    causes = "".join(
        f"<li>{escape_text(f'{cause.kind}: {text}')}</li>"
        for cause, text in zip(difference.causes, texts, strict=True)
    )
    count = len(difference.causes)
    listed = f"<ul>{causes}</ul>"
    if count > CAUSES_MAX:
        listed = f"<details><summary>{count} causes</summary>{listed}</details>"
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
        for first, text in run.forks
        if (first, text) not in runs[1 - index].forks
    ]
    where = f"<p>{' '.join(lines)}</p>" if lines else ""
    heading = "Where the two runs part, and why"
    return (
        f'<section class="difference" aria-label="{heading}"><h2>{heading}</h2>'
        f"{where}{listed}</section>"
    )
