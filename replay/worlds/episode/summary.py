"""An episode journal in few sentences: what was run, how it went, and what is not compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import START, JournalReader
from goldrush.kernel.text import format_count
from goldrush.kernel.worlds.episode.config import About, about_of
from goldrush.kernel.worlds.episode.events import ARRAY, GAVE, RESET
from goldrush.kernel.worlds.episode.subject import VECTOR
from goldrush.kernel.worlds.episode.values import TYPE
from goldrush.kernel.worlds.episode.world import episode_world
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.text import format_list, format_number
from goldrush.replay.worlds.episode.episodes import closed_units
from goldrush.replay.worlds.episode.measures import MeasuredEpisodes

NAMED_MAX: Final = 10  # agents, variables, resets or arrays that a sentence names


@attrs.frozen
class NotRecorded:
    """What a reader must know of the inputs and of what is missing.

    Attributes:
        drawn: the steps of the resets whose seeds were drawn.
        unseeded: the steps of the resets without a seed.
        types: by name of an array, the class whose values were not encoded.
    """

    drawn: Sequence[int]
    unseeded: Sequence[int]
    types: Mapping[str, str]


@reader_of
def not_recorded(path: str | Path) -> NotRecorded:
    """What is missing in a journal, or was drawn. Raises JournalError."""
    drawn: list[int] = []
    unseeded: list[int] = []
    types: dict[str, str] = {}
    with JournalReader(path) as reader:
        for commit, _ in closed_units(episode_world(), reader):
            for block in commit.blocks:
                for seed, is_drawn, _ in block.rows(RESET):
                    drawn += [commit.unit - 1] if is_drawn else []
                    unseeded += [commit.unit - 1] if seed is None else []
                for _, name, _, value in block.rows(ARRAY):
                    if type(value) is tuple and value[0] == TYPE:
                        types[name] = value[1]
    return NotRecorded(drawn, unseeded, types)


def not_compared(
    path: str, not_found: Callable[[str, Sequence[str]], Sequence[str]]
) -> tuple[str, bool]:
    """See Tools.not_compared: values of which a run has the type alone, and what it leaves out.
    `not_found`: that of it at which nothing stood, by the subject.
    """
    types: dict[str, str] = {}
    ignored: Sequence[str] = ()
    nothing: Sequence[str] = ()
    values, is_any = 0, False
    with JournalReader(path) as reader:
        for commit in reader:
            if commit.kind == START and commit.setup:
                about = about_of(commit.setup["subject"])
                ignored, nothing = about.ignored, not_found(about.name, about.ignored)
            for block in commit.blocks:
                is_any |= bool(block.rows(GAVE))
                for _, name, _, value in block.rows(ARRAY):
                    is_type = type(value) is tuple and value[0] == TYPE
                    is_any |= not is_type
                    if is_type:
                        types[name], values = value[1], values + 1
    named = few([f"{name} ({kind})" for name, kind in types.items()])
    counted = format_count(values, "value")
    told = f"{counted} of which the type alone is recorded: {named}" if types else ""
    left_out = f"what was left out: {few(ignored)}" if ignored else ""
    missed = f"matched nothing: {few(nothing)}" if nothing else ""
    return "; ".join(filter(None, (told, left_out, missed))), is_any


def facts_of(setup: Mapping[str, object]) -> Sequence[tuple[str, str]]:
    """What START says of the subject, by name; empty if it is not valid. Raises nothing."""
    try:
        about = about_of(setup.get("subject"))
    except BadInput:
        return []
    versions = ", ".join(f"{name} {version}" for name, version in about.versions.items())
    facts: list[tuple[str, str | None]] = [
        ("subject", f"{about.name}, {_an(about.kind)}"),
        ("names", few(about.agents)),
        ("autoreset", _autoreset(about)),
        ("recorded", "digests and values" if about.values else "digests; values of numbers alone"),
        ("not recorded", few(about.ignored)),
        ("seed is", "taken by nothing" if about.seed_parameter == "" else about.seed_parameter),
        ("versions", versions),
    ]
    return [(name, text) for name, text in facts if text]


def _autoreset(about: About) -> str:
    assumed = "" if about.autoreset else ", assumed: the environment does not say"
    return f"{about.known_autoreset}{assumed}" if about.kind == VECTOR else ""


def _an(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiouAE' else 'a'} {noun}"


def few(texts: Sequence[object]) -> str:
    """The first of some texts, and the number of the others."""
    left = len(texts) - NAMED_MAX
    more = f" and {left:,} more" if left > 0 else ""
    return ", ".join(map(str, texts[:NAMED_MAX])) + more


def headline(run: MeasuredEpisodes) -> Sequence[str]:
    """What a headline says of a measured run."""
    if not run.roster:
        return _of_model(run)
    finished = run.finished_in(run.whole) if run.units else []
    together = ", added over the agents," if len(run.roster) > 1 else ""
    if not finished:
        return [f"No episode has come to its end; the return{together} is "
                f"{format_number(run.of('return'))} so far."]  # fmt: skip
    episodes = format_count(len(finished), "finished episode")
    if run.best is None:
        return [f"{episodes}; no return is a finite number."]
    best = format_number(run.best.total)
    if len(finished) == 1:
        return [f"{episodes}, with a return{together} of {best} after "
                f"{format_count(run.best.length, 'step')}."]  # fmt: skip
    return [
        f"{episodes} with a mean return{together} of {format_number(run.of('mean_return'))}.",
        f"The best, episode {run.best.number} from step {run.best.first:,} on, has {best}.",
    ]


def _of_model(run: MeasuredEpisodes) -> Sequence[str]:
    """What is said of a model: its variables at the end."""
    known = [(measure.title, run.of(name)) for name, measure in run.known.items()]
    texts = [f"{title} is {format_number(value)}" for title, value in known if value is not None]
    if not texts and run.still:
        return [f"Nothing that the model reports changes in {format_count(run.steps, 'step')}."]
    if not texts:
        return [f"A model of {format_count(run.steps, 'step')} that reports no numbers."]
    left = len(texts) - NAMED_MAX
    shown = [*texts[:NAMED_MAX], *([f"{left:,} more variables"] if left > 0 else [])]
    return [f"Reported last: {format_list(shown)}."]
