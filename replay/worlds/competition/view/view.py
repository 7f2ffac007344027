"""What the page of a season carries beside its journal: the facts that its script folds from
derived events, and what takes the rules to work out.

The rules are asked for stances, whether claims hold, the grounds of scores, and each table without
one of those who sat there. All else the script reads from the events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from goldrush.agents.worlds.competition.formats import REFUSALS
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.walk import ROWS, Walk
from goldrush.kernel.world import Step
from goldrush.kernel.worlds.competition import VOCABULARY
from goldrush.kernel.worlds.competition.arena import Conduct, Rules
from goldrush.kernel.worlds.competition.events import (
    CODES,
    EVENTS,
    SIGNALS,
    Spoke,
    Tested,
    Tried,
    named,
)
from goldrush.kernel.worlds.competition.evolve import acts_in
from goldrush.kernel.worlds.competition.settle import grounds_at
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.table import Roundtable
from goldrush.kernel.worlds.competition.terms import Part, Phase
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.tools import View
from goldrush.replay.view.patterns import Patterns
from goldrush.replay.worlds.competition.career_text import format_career, format_departure
from goldrush.replay.worlds.competition.careers import Careers
from goldrush.replay.worlds.competition.glossary import ARENA_MAX, INTRODUCTION, WORDS, forms_of
from goldrush.replay.worlds.competition.proof import proof_at
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
from goldrush.replay.worlds.competition.score import STEPS, Score, grounds_of, score_at
from goldrush.replay.worlds.competition.steps import conduct_text, season_world

_HERE: Final = Path(__file__).parent
# Each before those that import from it.
_MODULES: Final = ("assignment", "words", "season", "transcript", "right", "stances")
# Events that the page shows otherwise than in their sentences.
_SHOWN: Final = (
    "answered", "spoke", "tested", "tried", "stood", "judged", "refused", "concluded", "rated",
    "scored", "leaderboard_posted", "bottomed",
)  # fmt: skip
CAREERS_MAX: Final = 200  # workers whose season is told, those with most points
LINE_MAX: Final = 300  # characters of a line of grounds, in which conducts may be programs
_TABLE_ACTS: Final = [CODES[form] for form in (Spoke, Tested, Tried)]


def facts(state: SeasonState) -> list[Any]:
    """What derived events determine: the sparks that a newcomer starts with; by agent ordinal,
    name, role, status, sparks, sum of all totals, stage, whether it is self-determined, policy; the
    leaderboard; how many projects are completed.
    """
    return [
        state.config.sparks_start,
        [
            [a.ordinal, a.name, a.role, a.status, a.sparks, a.all_time, a.stage,
             a.is_self_determined, a.policy]
            for a in state.agents.values()
        ],
        [list(row) for row in state.leaderboard],
        state.projects,
    ]  # fmt: skip


@reader_of
def computed(path: str | Path, first: int, last: int) -> dict[str, Any]:
    """What the rules say of the assignments `first` to `last`.

    - `missing`: why there are no rules of the arena, or None; `arena`: its rules as text, or None;
    - `conducts`: [conduct, text] of those that are no text themselves;
    - `tables`: [assignment, [table, ...]], see `_table`;
    - `departures`: [assignment, why somebody lost a seat]; `careers`: by worker, its season in
      sentences;
    - `introduction`: to seasons; `words`: [word, meaning, other forms];
    - `reasons`: of refusals, by code; `steps`: why scores were changed, by rule; `signals`: of the
      judge, in words;
    - `patterns`: of packed lines, in which an agent is its number behind an @.

    Raises what reading a journal raises.
    """
    tables: list[tuple[int, list[dict[str, Any]]]] = []
    texts: dict[Conduct, str] = {}
    careers: Careers | None = None
    with JournalReader(path) as reader:
        world = season_world(reader)
        shown = _Tables()
        walk = Walk(world, reader, ROWS)
        for commit, step, state in walk.steps():
            number = VOCABULARY.number(commit.unit)
            careers = Careers(state) if careers is None else careers
            if step is None:
                continue
            careers.add(step, state)
            is_closed = world.unit_done(state)
            if is_closed:
                careers.close(state)
            if number >= first:
                texts |= _conducts(step, state.rules)
                shown.add(state)
                if is_closed:
                    tables.append((number, shown.close(state)))
            if is_closed and number == last:
                break  # what is behind it may be broken
        rules = walk.state.rules
    assert careers is not None  # the page has units
    return {
        "missing": world.missing,
        "conducts": list(texts.items()),
        "tables": tables,
        "departures": [
            (each.assignment, shown.patterns.of(format_departure(each, _mark)))
            for each in careers.departures
            if each.assignment >= first
        ],
        "careers": {
            each.agent: [shown.patterns.of(line) for line in format_career(each, careers, _mark)]
            for each in sorted(careers.careers, key=lambda each: -each.points)[:CAREERS_MAX]
        },
        "introduction": INTRODUCTION,
        "arena": None if rules is None else rules.text[:ARENA_MAX],
        "reasons": REFUSALS,
        "steps": STEPS,
        "signals": SIGNALS,
        "words": [[word, text, forms_of(word)[1:]] for word, text in WORDS.items()],
        "patterns": shown.patterns.known,
    }


def _mark(agent: int) -> str:
    """An agent in a line of the page, which writes its name."""
    return f"@{agent}"


def _conducts(step: Step, rules: Rules | None) -> Iterator[tuple[Conduct, str]]:
    """The conducts of a step that are no text, as text."""
    for code, row in acts_in(step.inputs.batches):
        conduct = named(code, row).conduct if code in _TABLE_ACTS else None
        is_plain = conduct is None or isinstance(conduct, str)
        if not is_plain and rules is not None and rules.conduct.holds(conduct):
            yield conduct, conduct_text(conduct, rules)


class _Tables:
    """The tables of an assignment, with their stances as they change."""

    def __init__(self) -> None:
        self.patterns = Patterns()
        self._atlases: Atlases | None = None
        self._stances: list[dict[int, int]] = []
        self._moved: list[list[tuple[int, int, int | None]]] = []

    def add(self, state: SeasonState) -> None:
        """Note which stances a step of the talk changed; see `proof.sides` for those after it."""
        while len(self._stances) < len(state.tables):
            self._stances.append({})
            self._moved.append([])
        for table, before, moved in zip(state.tables, self._stances, self._moved, strict=True):
            now = table.stances.by_agent
            is_proven = table.conclusion is not None or state.phase == Phase.STAND
            if not is_proven and now != before:
                moved += [
                    (len(table.contributions), agent, now.get(agent))
                    for agent in sorted({*now, *before})
                    if now.get(agent) != before.get(agent)
                ]
                before.clear()
                before.update(now)

    def close(self, state: SeasonState) -> list[dict[str, Any]]:
        """The tables of an assignment that has all its events."""
        if self._atlases is None:
            self._atlases = Atlases(state.arena)
        tables = [
            _table(state, table, moved, self._atlases, self.patterns)
            for table, moved in zip(state.tables, self._moved, strict=True)
        ]
        self._stances, self._moved = [], []
        return tables


def _table(
    state: SeasonState,
    table: Roundtable,
    moved: Sequence[Any],
    atlases: Atlases,
    patterns: Patterns,
) -> dict[str, Any]:
    """A table by the rules.

    - `stances`: [contributions so far, agent, proposal or None], as they changed in the talk;
    - `sides`: [agent, stance at the end of the talk, stance that the proof left, final stance], in
      the order of speaking;
    - `claims`: [proposal, base held, sharp, edge held (None without one)];
    - `passes`: [contribution, agent, code] of those that were refused, and count as passes;
    - `removed`: contributions that the judge's redirections removed;
    - `percentile`: the share of all conducts that the conclusion is better than, where it is known;
    - `says`: sentences by subject: `proven`, how many claims held; `choice`, who changed sides;
      `conclusion`, what it is and why; `right`, who was right; `best`, what it should have
      concluded; `quality`, how good the conclusion is;
    - `challenges`: [whether it was right, in words];
    - `agents`: by ordinal, see `_grounds`; empty where the rules of the arena are not here.
    """
    quality = None
    agents: Mapping[int, Any] = {}
    if state.rules is not None:
        quality = atlases.of_table(table, state.rules.bar(table.subject))
        grounds = grounds_at(state, table)
        agents = {
            agent: _grounds(score_at(state, table, agent, grounds), patterns) for agent in grounds
        }
    proof = proof_at(state, table)
    return {
        "stances": moved,
        "sides": [[side.agent, side.talked, side.proven, side.final] for side in proof.sides],
        "says": {
            "proven": patterns.of(format_proven(proof)),
            "choice": patterns.of(format_choice(proof)),
            "conclusion": patterns.of(format_conclusion(proof, _mark)),
            "right": patterns.of(format_right(proof, _mark)),
            "best": patterns.of(format_best(proof, _mark)),
            "quality": patterns.of(format_quality(proof, quality)),
        },
        "challenges": [
            [each.is_sustained, patterns.of(format_challenge(each, proof, _mark))]
            for each in challenges_of(proof)
        ],
        "claims": [
            [said.id, table.held(said.id, Part.BASE), table.is_sharp(said),
             table.held(said.id, Part.EDGE)]
            for said in table.proposals()
        ],
        "passes": [[said.id, said.agent, said.code] for said in table.contributions if said.code],
        "removed": sorted(table.removed),
        "percentile": None if quality is None else round(quality.percentile, 4),
        "agents": agents,
    }  # fmt: skip


def _grounds(score: Score, patterns: Patterns) -> dict[str, Any]:
    """What an agent's scores rest on, and the table without it.

    - `rubric`: the four scores by the rubric;
    - `says`: what each of them rests on, in packed lines;
    - `without`: the conclusion without it: [proposal, whether it differs, those drawn among];
    - `went`: the others whose final stance differs: [agent, stance];
    - `gone`: the contributions that the table is folded without.

    What is empty is left out.
    """
    without = score.grounds.counterfactual
    found = {
        "rubric": score.rubric,
        "says": [[patterns.of(line[:LINE_MAX]) for line in lines] for lines in grounds_of(score)],
        "without": [without.conclusion.proposal, without.differs, without.conclusion.tied],
        "went": [(moved.agent, moved.without) for moved in score.went],
        "gone": score.gone,
    }
    return {name: value for name, value in found.items() if value not in (None, [])}


VIEW: Final = View(
    script=_HERE / "view.js",
    style=_HERE / "view.css",
    modules=[_HERE / f"{name}.js" for name in _MODULES],
    selectors=("agent", "table", "line"),
    told=[type.name for type in EVENTS if type.name not in _SHOWN],
    facts=facts,
    computed=computed,
)
