"""What is said of a run of an episode: its subject, how it went, and on what it rests that it is
derived again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import format_count
from goldrush.kernel.worlds.episode.config import MODEL, VECTOR, about_of
from goldrush.kernel.worlds.episode.events import ARRAY, GAVE
from goldrush.kernel.worlds.episode.values import TYPE
from goldrush.replay.text import format_number
from goldrush.replay.tools import Basis, Description
from goldrush.replay.worlds.episode.measures import MeasuredEpisodes
from goldrush.replay.worlds.episode.parameters import ModelSettings
from goldrush.replay.worlds.episode.subjects import LiveSubjects
from goldrush.replay.worlds.episode.versions import format_versions

NAMED_MAX: Final = 10  # agents, variables or arrays that a sentence names


def described(setup: Mapping[str, object]) -> Description:
    """What START says of the subject; empty if it is not valid. Raises nothing."""
    try:
        about = about_of(setup.get("subject"))
    except BadInput:
        return Description()
    assumed = "" if about.autoreset else ", assumed: the environment does not say"
    facts: list[tuple[str, str | None]] = [
        ("subject", f"{about.name}, {'an' if about.kind[0] in 'aeA' else 'a'} {about.kind}"),
        ("names", few(about.agents)),
        ("autoreset", f"{about.known_autoreset}{assumed}" if about.kind == VECTOR else ""),
        ("recorded", "digests and values" if about.values else "digests; values of numbers alone"),
        ("not recorded", few(about.ignored)),
        ("seed is", "taken by nothing" if about.seed_parameter == "" else about.seed_parameter),
        ("versions", ", ".join(f"{name} {version}" for name, version in about.versions.items())),
    ]
    config = ModelSettings if about.kind == MODEL else None
    return Description(facts=[(name, text) for name, text in facts if text], config=config)


def few(texts: Sequence[object]) -> str:
    """The first of some texts, and the number of the others."""
    left = len(texts) - NAMED_MAX
    more = f" and {left:,} more" if left > 0 else ""
    return ", ".join(map(str, texts[:NAMED_MAX])) + more


def headline(run: MeasuredEpisodes) -> Sequence[str]:
    """What a headline says of a measured run."""
    if not run.roster:
        return [_of_model(run)]
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
        steps = format_count(run.best.length, "step")
        return [f"{episodes}, with a return{together} of {best} after {steps}."]
    return [
        f"{episodes} with a mean return{together} of {format_number(run.of('mean_return'))}.",
        f"The best, episode {run.best.number} from step {run.best.first:,} on, has {best}.",
    ]


def _of_model(run: MeasuredEpisodes) -> str:
    """What is said of a model: its variables at the end."""
    known = [(measure.title, run.of(name)) for name, measure in run.known.items()]
    texts = [f"{title} is {format_number(value)}" for title, value in known if value is not None]
    if not texts:
        return f"Nothing that the model reports changes in {format_count(run.counted, 'step')}."
    return f"Reported last: {few(texts)}."


def basis_of(path: str, subjects: LiveSubjects) -> Basis:
    """See Tools.basis: the versions here, and what is given in place of the recorded subject;
    values of which a run has the type alone, and what it leaves out. Raises JournalError.
    """
    types: dict[str, str] = {}
    count, is_compared = 0, False
    with JournalReader(path) as reader:
        commits = iter(reader)
        about = about_of((next(commits).setup or {})["subject"])
        for commit in commits:
            for block in commit.blocks:
                is_compared |= bool(block.rows(GAVE))
                for _, name, _, value in block.rows(ARRAY):
                    is_type = type(value) is tuple and value[0] == TYPE
                    is_compared |= not is_type
                    if is_type:
                        types[name], count = value[1], count + 1
    rests_on = format_versions(about.versions)
    if given := subjects.other_than(about.name):
        rests_on += f", by {given} in place of the recorded {about.name}"
    not_compared: list[str] = []
    if types:
        named = few([f"{name} ({kind})" for name, kind in types.items()])
        values = format_count(count, "value")
        not_compared.append(f"{values} of which the type alone is recorded: {named}")
    if about.ignored:
        not_compared.append(f"what was left out: {few(about.ignored)}")
    return Basis(rests_on, "; ".join(not_compared), is_compared)
