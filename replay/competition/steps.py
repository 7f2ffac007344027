"""The steps of a season, each with the state that it led to while its assignment was still open.

What a table looked like is gone from the state when its assignment closes. Whoever asks about a
table (who was tied, why a score is what it is) looks at the state in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import attrs

from goldrush.kernel import derive, fold
from goldrush.kernel.competition import COMPETITION
from goldrush.kernel.competition.events import REFUSED, SCORED
from goldrush.kernel.competition.evolve import acts_in, apply
from goldrush.kernel.competition.state import SeasonState, copied
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import END, FORK, START, UNIT, Commit, JournalReader
from goldrush.kernel.world import Row, Step
from goldrush.replay.forged import reader_of
from goldrush.replay.index import states_near


@attrs.frozen
class Moment:
    """A step, the commit that completes it, and the state after it. The state is the walk's own:
    copy it to keep it.
    """

    commit: Commit
    step: Step
    state: SeasonState


@attrs.frozen
class Judged:
    """An assignment when its scores were given: the state just before, with the ratings of the
    debrief in it, and the rows of `scored` in order.
    """

    state: SeasonState
    scored: tuple[Row, ...]


def moments(
    reader: JournalReader,
    commits: Iterable[Commit] | None = None,
    state: SeasonState | None = None,
) -> Iterator[Moment]:
    """Every step of a season, in order, its rows checked.

    `commits`: those to walk over, if not all; `state`: that before the first of them; the walk
    changes it. Raises what reading a journal raises; of forged events whatever they lead to, so it
    is for those who stand behind the door (see replay/forged.py).
    """
    under_way = fold.Steps(COMPETITION.arrange)
    for commit in reader if commits is None else commits:
        if next(fold.faults(COMPETITION, commit.blocks), None):
            raise fold.malformed(COMPETITION, reader.path, commit)
        if commit.kind == START:
            state = fold.start(COMPETITION, reader, commit)
        elif commit.kind == FORK:
            assert state is not None
            state = fold.forked(COMPETITION, reader, state, commit)
        elif commit.kind == UNIT:
            assert state is not None
            for step in under_way.completed_by(commit):
                for block in (step.inputs, step.derived):
                    state = COMPETITION.evolve(state, block)
                yield Moment(commit, step, state)
            state = fold.closed(COMPETITION, reader.path, state, commit)


def assignment_in(
    reader: JournalReader, assignment: int, *, derived: bool = False
) -> tuple[SeasonState, tuple[Commit, ...]]:
    """The state before a closed assignment, and the commits of it, whose digest is checked.

    In a long journal it is reached by way of an index; `derived`: from the start instead, and every
    event up to its close is derived again. Raises BadInput where the season has no such
    assignment, and what reading a journal raises up to there.
    """
    vocabulary = COMPETITION.vocabulary
    unit = vocabulary.unit_of(assignment)
    before: SeasonState | None = None
    commits: list[Commit] = []
    last = 0
    near = states_near(COMPETITION, reader, unit) if not derived else None
    for commit, state in near or derive.states(COMPETITION, reader):
        if commit.kind == END:
            break
        if commit.kind == UNIT and commit.unit == unit:
            commits.append(commit)
        elif commit.unit == unit - 1 and commit.digest is not None:
            before = copied(state)
        if commit.digest is not None:
            last = commit.unit
            if commits:
                fold.check_digest(COMPETITION, reader.path, state, commit)
                assert before is not None  # the reader lets no unit be left out
                return before, tuple(commits)
    raise BadInput(
        f"{reader.path} has no {vocabulary.unit} {assignment}",
        f"give one from {vocabulary.number(1)} to {vocabulary.number(last)}"
        if last
        else f"none of its {vocabulary.units} is closed",
    )


@reader_of
def state_before_scores(path: str | Path, assignment: int) -> Judged:
    """A closed assignment as it was when its debrief was judged. Raises as `assignment_in` does,
    and MalformedEvents where it has no scores.
    """
    with JournalReader(path) as reader:
        state, commits = assignment_in(reader, assignment)
        before = copied(state)
        for moment in moments(reader, commits, state):
            scored = tuple(moment.step.derived.rows(SCORED))
            if scored:
                return Judged(_with_acts(before, moment.step), scored)
            before = copied(moment.state)
        raise fold.malformed(COMPETITION, reader.path, commits[-1], ValueError("nobody is scored"))


def _with_acts(state: SeasonState, step: Step) -> SeasonState:
    """The state with the acts of a step in it, but for those that were refused."""
    refused = {act[0] for _, act, _ in step.derived.rows(REFUSED)}
    for place, (code, row) in enumerate(acts_in(step.inputs.batches)):
        if place not in refused:
            apply(state, code, row)
    return state
