"""What the page of a season shows of each assignment: the workers, and its tables: what was argued,
who stands where, who was right, and what the scores rest on.

What the rules say (stances, whether claims hold, the grounds of scores) is worked out here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from goldrush.agents.worlds.competition.formats import REFUSALS, format_subject
from goldrush.kernel.text import escaped
from goldrush.kernel.world import Event, Step, World
from goldrush.kernel.worlds.competition.settle import grounds_at
from goldrush.kernel.worlds.competition.state import AgentState, SeasonState
from goldrush.kernel.worlds.competition.table import Roundtable
from goldrush.kernel.worlds.competition.terms import Part, Status
from goldrush.replay.text import capitalized
from goldrush.replay.tools import ClosedUnit, View
from goldrush.replay.worlds.competition.proof import Proof, proof_at
from goldrush.replay.worlds.competition.quality import Atlases
from goldrush.replay.worlds.competition.right import (
    challenges_of,
    format_best,
    format_challenge,
    format_choice,
    format_conclusion,
    format_proven,
    format_quality,
    format_right,
)
from goldrush.replay.worlds.competition.score import grounds_of, score_at

_HERE: Final = Path(__file__).parent
TABLE: Final = "At the table"
_AT_THE_TABLE: Final = ("tried", "spoke", "tested", "judged", "stood", "concluded")
_QUESTIONS: Final = {"spoke": "speak", "stood": "stand"}  # to models, by event of the answer
_MARK: Final = re.compile(r"@(\d+)")


class SeasonFields:
    """The fields of the assignments of one season.

    - `status`, `points`, `recent`, `sparks`: of workers, by agent, None of the other offices;
      `recent`: points within the window of the leaderboard;
    - `tables`: see `_table`.

    Behind an event at a table are the number of the `table`; `id` and `refs`, the contributions
    that it is and refers to; `refused`, the reason of a refusal; of a proposal `claim`: [value
    claimed, value tested, whether it holds]; of a contribution `marks`: what became of it.
    """

    def __init__(self, world: World[Any]) -> None:
        self._world = world
        self._atlases: Atlases | None = None
        self._state: SeasonState | None = None  # of a table that is not closed yet
        self._tables: Sequence[Roundtable] = ()
        self._proofs: Sequence[Proof] = ()
        self._told: list[Mapping[str, object]] = []
        self._grounds: dict[tuple[int, int], str] = {}
        self._refused: dict[int, str] = {}  # codes by identity of the event
        self._answers: dict[tuple[int, str], list[Event]] = {}
        self._spoken: dict[int, int] = {}

    def add(self, step: Step, state: SeasonState) -> None:
        """Note the tables when all of their events are there, before they are cleared."""
        if not self._world.unit_done(state):
            return
        if self._atlases is None:
            self._atlases = Atlases(state.arena)
        self._tables = state.tables
        self._proofs = [proof_at(state, table) for table in state.tables]
        self._told = [
            self._table(state, table, proof)
            for table, proof in zip(state.tables, self._proofs, strict=True)
        ]
        self._grounds = {}
        for table in state.tables if state.rules is not None else ():
            grounds = grounds_at(state, table)
            for agent in grounds:
                lines = grounds_of(score_at(state, table, agent, grounds))
                self._grounds[table.number, agent] = "\n".join(
                    f"{name}: {'; '.join(of)}" for name, of in zip(_DIMENSIONS, lines, strict=True)
                )

    def close(self, unit: ClosedUnit) -> Mapping[str, object]:
        state: SeasonState = unit.state
        agents = list(state.agents.values())
        recent = {agent: rolling for _, agent, rolling, _ in state.leaderboard}
        told, self._told = self._told, []
        self._note(unit.events)
        return {
            "status": [_status(each) for each in agents],
            "points": [each.all_time if each.is_worker else None for each in agents],
            "recent": [recent.get(each.ordinal) for each in agents],
            "sparks": [each.sparks if each.is_worker else None for each in agents],
            "tables": told,
        }

    def behind(self, event: Event) -> Mapping[str, object]:
        number = event.fields.get("table")
        is_at_table = event.name in (*_AT_THE_TABLE, "scored")
        if not is_at_table or type(number) is not int or number >= len(self._tables):
            return {}
        table = self._tables[number]
        code = self._refused.get(id(event))
        more: dict[str, object] = {"table": number}
        if code is not None:
            more["refused"] = f"{REFUSALS.get(code, code)} ({code})"
        refs = [event.fields.get(name) for name in ("target", "at", "proposal")]
        if found := [ref for ref in refs if type(ref) is int]:
            more["refs"] = found
        if event.name == "spoke":
            more |= self._contribution(event, table, code)
        if event.name == "scored":
            more["why"] = self._grounds.get((number, event["agent"]), "")
        agent: Any = event.fields.get("agent")
        answers = self._answers.get((agent, _QUESTIONS.get(event.name, "")))
        if answers:
            more["answered"] = answers.pop(0)
        return more

    def _note(self, events: Sequence[Event]) -> None:
        """Note what the lines of a unit refer to: acts that were refused, answers of models."""
        self._refused, self._answers, self._spoken = {}, {}, {}
        for index, event in enumerate(events):
            if event.name == "refused":  # of equal acts the last one before
                before = reversed(events[:index])
                acts = (e for e in before if id(e) not in self._refused and _is_same(e, event))
                self._refused |= {id(act): event["code"] for act in islice(acts, 1)}
            if event.name == "answered":
                key = event["agent"], event["question"]
                self._answers.setdefault(key, []).append(event)

    def _contribution(
        self, event: Event, table: Roundtable, code: str | None
    ) -> Mapping[str, object]:
        """What is behind a contribution; one that was refused out of turn has no number."""
        next_id = self._spoken.get(table.number, 0)
        said = table.contributions[next_id] if next_id < len(table.contributions) else None
        if said is None or said.agent != event["agent"] or (said.code or None) != code:
            return {"move": str(event["move"])}
        self._spoken[table.number] = next_id + 1
        more: dict[str, object] = {"id": next_id, "move": str(event["move"])}
        marks = ["the conclusion"] if self._proofs[table.number].conclusion == next_id else []
        if next_id in table.removed:
            marks.append("redirected: does not count")
        proposed = next((each for each in table.proposals() if each.id == next_id), None)
        if proposed is not None:
            more["claim"] = [
                proposed.claimed, table.tests.get((next_id, Part.BASE)),
                table.held(next_id, Part.BASE),
            ]  # fmt: skip
            if table.is_sharp(proposed):
                marks.append("sharp")
        return {**more, "marks": marks} if marks else more

    def _table(self, state: SeasonState, table: Roundtable, proof: Proof) -> Mapping[str, object]:
        """A table by the rules.

        - `about`: its subject; `bar`: the value that claims must exceed;
        - `says`: sentences on who was right, what it should have concluded, and how good the
          conclusion is; then what was proven, who changed sides and what was concluded;
        - `sides`: [agent, stance at the end of the talk, that the proof left, final stance];
        - `scores`: [agent, final scores, total].
        """
        quality = None
        if state.rules is not None and self._atlases is not None:
            quality = self._atlases.of_table(table, state.rules.bar(table.subject))
        says = [
            format_right(proof, _mark), format_best(proof, _mark), format_quality(proof, quality),
            *(format_challenge(each, proof, _mark) for each in challenges_of(proof)),
            format_proven(proof), format_choice(proof), format_conclusion(proof, _mark),
        ]  # fmt: skip
        return {
            "about": format_subject(table.subject),
            "bar": table.bar,
            "says": [_parts(capitalized(line)) for line in says if line],
            "sides": [[side.agent, side.talked, side.proven, side.final] for side in proof.sides],
            "scores": [
                [agent, list(scores), table.totals[agent]]
                for agent, scores in sorted(
                    table.final.items(), key=lambda each: -table.totals[each[0]]
                )
            ],
        }  # fmt: skip


_DIMENSIONS: Final = ("novelty", "accuracy", "impact", "challenge")


def _status(agent: AgentState) -> str | None:
    """The status of a worker in a word; None of another office."""
    if not agent.is_worker:
        return None
    return "deleted" if agent.status == Status.GONE else agent.status


def _is_same(event: Event, refused: Event) -> bool:
    """Whether an event is the act that was refused."""
    act = refused["act"]
    return act.get("event") == event.name and all(
        act[name] == value for name, value in event.fields.items() if name in act
    )


def _mark(agent: int) -> str:
    """An agent in a sentence that `_parts` takes apart."""
    return f"@{agent}"


def _parts(text: str) -> list[object]:
    """A sentence with its agents, as the parts of a line."""
    texts = _MARK.split(escaped(text))
    return [["agent", int(part)] if index % 2 else part for index, part in enumerate(texts)]


VIEW: Final = View(
    script=_HERE / "view.js",
    style=_HERE / "view.css",
    fields=SeasonFields,
    by_agent=("status", "points", "recent", "sparks"),
    ranks="points",
    drawn=("tables", TABLE),
    groups={
        TABLE: _AT_THE_TABLE,
        "Scores": ("scored",),
        "What became of it": ("digested", "adopted", "bottomed"),
        "Ratings": ("rated",),
        "Debriefings": ("debriefed", "trait_recorded", "interviewed"),
        "Answers of models": ("answered",),
        "Sparks": ("sparks_moved",),
    },
    folded=("Ratings", "Debriefings", "Answers of models", "Sparks"),
    left_out=("leaderboard_posted",),
)
