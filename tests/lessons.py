"""A small world in which people count from 0 and players are called cast: lessons of a school.

In each lesson everybody answers, and one of those who did is drawn and praised. Like worlds to
come it shares nothing with mining but the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from goldrush.kernel import run
from goldrush.kernel.codec import fingerprint
from goldrush.kernel.draws import Draws
from goldrush.kernel.journal import Header, JournalReader, JournalWriter
from goldrush.kernel.shape import AGENT, AGENTS, TEXT, WORD, several
from goldrush.kernel.world import Batch, Block, EventType, Past, Vocabulary, World
from goldrush.replay.tools import Tools

ANSWERED, PRAISED = range(2)


@attrs.frozen
class School:
    """`lesson`: how many are closed; `praised` in the one under way; `marks` by player."""

    seed: int
    lessons: int
    cast: Sequence[Mapping[str, Any]]
    lesson: int = 0
    praised: int = 0
    marks: tuple[int, ...] = (0, 0, 0)


def initial(setup: Mapping[str, Any]) -> School:
    return School(setup["seed"], setup["lessons"], setup["cast"])


def decide(school: School, inputs: Block) -> list[Batch]:
    agents = tuple(agent for agent, _ in inputs.rows(ANSWERED))
    draws = Draws(school.seed, school.lesson, "praise")
    return [(PRAISED, [(agents[draws.below(len(agents))], agents, draws.words())])]


def evolve(school: School, block: Block) -> School:
    for agent, _, _ in block.rows(PRAISED):
        marks = list(school.marks)
        marks[agent] += 1
        school = attrs.evolve(school, marks=tuple(marks), praised=school.praised + 1)
    return school


def fork(school: School, facts: Mapping[str, Any], past: Past) -> School:
    return attrs.evolve(
        school,
        seed=facts["changes"].get("seed", school.seed),
        cast=facts["cast"] or school.cast,
    )


LESSONS: World[School] = World(
    name="lessons",
    rules=1,
    events=(
        EventType("answered", {"agent": AGENT, "answer": TEXT}, is_input=True),
        EventType(
            "praised",
            {"agent": AGENT, "others": AGENTS, "words": several(WORD)},
        ),
    ),
    initial=initial,
    decide=decide,
    evolve=evolve,
    ended=lambda school: school.lesson >= school.lessons,
    unit_done=lambda school: school.praised == 1,
    close=lambda school: attrs.evolve(school, lesson=school.lesson + 1, praised=0),
    digest=lambda school: fingerprint((school.seed, school.lesson, school.marks)),
    fork=fork,
    vocabulary=Vocabulary("lesson", "term_started", "term_ended", first=0, players="cast"),
)
HEADER = Header(LESSONS.name, LESSONS.rules)


def member(ordinal: int, policy: str) -> dict[str, Any]:
    return {"ordinal": ordinal, "policy": policy, "options": {}}


CAST = [member(0, "eager"), member(1, "eager"), member(2, "shy")]
SETUP = {"seed": 5, "lessons": 4, "cast": CAST}
UNCHANGED: Mapping[str, Any] = {"changes": {}, "cast": None, "replaced": []}


def answer(school: School) -> list[Batch]:
    """The shy one is silent in the first lesson."""
    agents = range(3) if school.lesson else range(2)
    return [(ANSWERED, [(agent, f"{school.lesson}.{agent}") for agent in agents])]


def play(path: Path, setup: Mapping[str, Any] = SETUP) -> Path:
    with JournalWriter(path, HEADER) as journal:
        run.last_of(run.steps(LESSONS, setup, journal, ask=answer))
    return path


def forked(parent: Path, unit: int, out: Path, **facts: Any) -> Path:
    """A fork after a unit, by its number in the journal."""
    whole = {**UNCHANGED, **facts}
    with JournalReader(parent) as reader:
        run.last_of(
            run.fork_steps(LESSONS, reader, unit, lambda _: whole, out, ask_of=lambda *_: answer)
        )
    return out


class LessonTools(Tools):
    """Of a world that has nothing but its rules."""

    def world(self, setup: Mapping[str, Any]) -> World[School]:
        return LESSONS


TOOLS = LessonTools()
