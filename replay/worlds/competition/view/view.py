"""What the page of a season shows of each assignment: the workers, and its tables: what was argued,
who stands where, who was right, and what the therapist says of the scores.

What the rules say (stances, whether claims hold) is worked out here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from goldrush.agents.worlds.competition.formats import REFUSALS, format_subject
from goldrush.kernel.text import escaped
from goldrush.kernel.world import RecordedEvent, Step, World
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.table import Roundtable
from goldrush.kernel.worlds.competition.terms import Part
from goldrush.replay.tools import ClosedUnit, UnitFields, View
from goldrush.replay.view.chart import short
from goldrush.replay.worlds.competition.right import account_of, sides

_HERE: Final = Path(__file__).parent
TABLE, SCORES = "At the table", "Scores"
_AT_THE_TABLE: Final = ("tried", "spoke", "tested", "judged", "stood", "concluded")
_QUESTIONS: Final = {"spoke": "speak", "stood": "stand"}  # to models, by event of the answer
_MARK: Final = re.compile(r"@(\d+)")


def fields_of(unit: ClosedUnit) -> Mapping[str, object]:
    """See Tools.fields."""
    state: SeasonState = unit.state
    ranks = {agent: rank for rank, agent, _, _ in state.leaderboard}
    rolling = {agent: points for _, agent, points, _ in state.leaderboard}
    agents = state.agents.values()
    named = ("role", "status", "class_", "sparks", "stage", "bottoms", "all_time", "persona")
    return {
        "projects": state.projects,
        **{name.strip("_"): [getattr(agent, name) for agent in agents] for name in named},
        "rank": [ranks.get(agent.ordinal) for agent in agents],
        "recent points": [rolling.get(agent.ordinal) for agent in agents],
    }


class SeasonFields(UnitFields):
    """The fields of the assignments of one season.

    Those of the world (`fields_of`), and `tables`: see `_table`.

    Behind an event at a table are the number of the `table`; `id` and `refs`, the contributions
    that it is and refers to; `refused`, the reason of a refusal; of a proposal `claim`: [value
    claimed, value tested, whether it holds]; of a contribution `marks`: what became of it.
    """

    def __init__(self, world: World[Any]) -> None:
        self._world = world
        self._tables: Sequence[Roundtable] = ()  # of the assignment that was closed last
        self._fields: list[Mapping[str, object]] = []
        self._refused: dict[int, str] = {}  # codes by identity of the event
        self._answers: dict[tuple[int, str], list[RecordedEvent]] = {}

    def add(self, step: Step, state: SeasonState) -> None:
        """Note the tables when all of their events are there, before they are cleared."""
        if self._world.unit_done(state):
            self._tables = state.tables
            self._fields = list(map(_table, state.tables))

    def close(self, unit: ClosedUnit) -> Mapping[str, object]:
        tables, self._fields = self._fields, []
        self._note(unit.events)
        return {**fields_of(unit), "tables": tables}

    def behind(self, event: RecordedEvent) -> Mapping[str, object]:
        number = event.fields.get("table")
        is_at_table = event.name in _AT_THE_TABLE
        if not is_at_table or type(number) is not int or number >= len(self._tables):
            return {"table": -1} if is_at_table else {}
        table, code = self._tables[number], self._refused.get(id(event))
        more: dict[str, object] = {"table": number} if number else {}
        refs = [event.fields.get(name) for name in ("target", "at", "proposal")]
        if found := [ref for ref in refs if type(ref) is int]:
            more["refs"] = found
        if event.name == "spoke":
            more["move"] = str(event["move"])
        if code is not None:
            more["refused"] = f"{REFUSALS.texts.get(code, code)} ({code})"
        elif event.name == "spoke":
            more |= _contribution(table, event["id"])
        agent: Any = event.fields.get("agent")
        answers = self._answers.get((agent, _QUESTIONS.get(event.name, "")))
        if answers:
            more["answered"] = answers.pop(0)
        return more

    def _note(self, events: Sequence[RecordedEvent]) -> None:
        """Note what the lines of a unit refer to: acts that were refused, answers of models."""
        self._refused, self._answers = {}, {}
        for index, event in enumerate(events):
            if event.name == "refused":  # of equal acts the last one before
                before = (each for each in reversed(events[:index]) if _is_same(each, event))
                acts = (act for act in before if id(act) not in self._refused)
                self._refused |= {id(act): event["code"] for act in [next(acts, event)]}
            if event.name == "answered":
                key = event["agent"], event["question"]
                self._answers.setdefault(key, []).append(event)


def _table(table: Roundtable) -> Mapping[str, object]:
    """A table by the rules.

    - `about`: its subject; `bar`: the value that claims must exceed; `group`: the title of its
      events;
    - `says`: sentences on who was right, who changed sides, what was concluded, and what should
      have been;
    - `sides`: [agent, stance at the end of the talk, that the proof left, final stance];
    - `scores`: [agent, final scores, total, the therapist's reasons for each score].
    """
    totals = table.totals
    return {
        "about": format_subject(table.subject),
        "bar": short(table.bar),
        "group": TABLE,
        "says": list(map(_parts, account_of(table, "@{}".format))),
        "sides": [[side.agent, side.talked, side.proven, side.final] for side in sides(table)],
        "scores": [
            [
                agent, list(table.final[agent]), totals[agent],
                [escaped(reason, keep="\n") for reason in table.reasons.get(agent, ())],
            ]
            for agent in sorted(totals, key=lambda agent: (-totals[agent], agent))
        ],
    }  # fmt: skip


def _contribution(table: Roundtable, number: int) -> Mapping[str, object]:
    """What is behind a contribution that was not refused."""
    said = table.contributions[number]
    marks = ["the conclusion"] if table.chosen == said else []
    more: dict[str, object] = {"id": number}
    if number in table.removed:
        marks.append("redirected: does not count")
    elif said.is_proposal:
        test = short(table.base_value(said))
        more["claim"] = [short(said.claimed), test, table.held(number, Part.BASE)]
        marks += ["sharp"] * table.is_sharp(said)
    return {**more, "marks": marks} if marks else more


def _is_same(event: RecordedEvent, refused: RecordedEvent) -> bool:
    """Whether an event is the act that was refused."""
    act = refused["act"]
    return act.get("event") == event.name and all(
        act[name] == value for name, value in event.fields.items() if name in act
    )


def _parts(text: str) -> list[object]:
    """A sentence with its agents, as the parts of a line."""
    texts = _MARK.split(escaped(text))
    return [["agent", int(part)] if index % 2 else part for index, part in enumerate(texts)]


VIEW: Final = View(
    script=_HERE / "view.js",
    style=_HERE / "view.css",
    fields=SeasonFields,
    ranks="all_time",
    drawn=("tables", TABLE, SCORES),
    groups={
        TABLE: _AT_THE_TABLE,
        SCORES: ("scored",),
        "What became of it": ("digested", "adopted", "bottomed"),
        "Debriefings": ("debriefed", "trait_recorded", "interviewed"),
        "Answers of models": ("answered",),
        "Sparks": ("sparks_moved",),
    },
    folded=("Debriefings", "Answers of models", "Sparks"),
    left_out=("leaderboard_posted", "rated"),
)
