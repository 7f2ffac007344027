"""The events of seasons in columns: their setup, types of lists, what each field means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from goldrush.kernel.worlds.competition.acts.roundtable import MOVES
from goldrush.kernel.worlds.competition.events import (
    CODE,
    CODES,
    EVENTS,
    Concluded,
    LeaderboardPosted,
    Scored,
    Tested,
)
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS
from goldrush.kernel.worlds.competition.terms import (
    Class,
    ContractEnd,
    EliminationCause,
    Fate,
    Income,
    Part,
    Reward,
    ScoreStep,
    Signal,
    names_of,
)
from goldrush.replay.data.columns import JSON, TEXT, Column, Type, Types, records

RUNS: Final = records("list of (seed, digest)", {"seed": "int64", "digest": "string"})
STEPS: Final = records(
    "list of (rule, dimension, before, after)",
    {"rule": "string", "dimension": "string", "before": "int64", "after": "int64"},
)
_STANCES: Final = records("list of (agent, proposal)", {"agent": "int64", "proposal": "int64"})
_RANKS: Final = records(
    "list of (rank, agent, rolling, all_time)",
    {"rank": "int64", "agent": "int64", "rolling": "int64", "all_time": "int64"},
)
_BY_HAND: Final = records("list of (assignment, agent)", {"assignment": "int64", "agent": "int64"})


def _types() -> Types:
    """The types of the kinds of fields that only seasons have."""
    lists: Sequence[tuple[type[Any], str, Type]] = (
        (Tested, "runs", RUNS),
        (Scored, "steps", STEPS),
        (Concluded, "stances", _STANCES),
        (LeaderboardPosted, "rows", _RANKS),
    )
    named = {EVENTS[CODES[form]].fields[field].name: type for form, field, type in lists}
    return {CODE.name: TEXT, **named}


TYPES: Final = _types()
SETUP: Final = (
    Column("config", JSON, "", "all settings by name, the arena with its subjects among them"),
    Column("cast", JSON, "", "ordinal, policy and options of each; at the start name and role too"),
    Column("parent", TEXT, "", "SHA-256 of the journal that was forked, in hex"),
    Column("changes", JSON, "", "the settings that a fork changes, with their new values"),
    Column("program", JSON, "", "the options that name another program, of a fork that changes it"),
    Column("replaced", _BY_HAND, "", "the contributions that were put in by hand"),
)


def _of(family: type) -> str:
    return ", ".join(names_of(family))


FIELDS: Final[Mapping[str, tuple[str, str]]] = {
    "agent": ("", "who did it, was asked, or is meant, by ordinal"),
    "question": ("", "which question a model was asked"),
    "text": ("", "what a model wrote; the digest"),
    "source": ("", "the model, its settings and what its answer came with; null where none wrote"),
    "by": ("", "who opens, proposes or sets, by ordinal"),
    "subject": ("", "[objective, treatment] of a proposed project"),
    "approved": ("", "whether the user approves"),
    "class": ("", "the class it changes to: " + _of(Class)),
    "allowed": ("", "what the admin said; null: not asked"),
    "team": ("", "who is to sit at the table, by ordinal; null leaves it open"),
    "day": ("days", "the day of the assignment, from 0"),
    "project": ("", "the project, from 0"),
    "subjects": ("", "[objective, treatment] for each table"),
    "directive": ("", "[team, order], each or both null"),
    "table": ("", "the table of the assignment, from 0"),
    "order": ("", "who speaks, in order, by ordinal; null leaves it open"),
    "rounds": ("rounds", "how many rounds the table may take; null leaves it open"),
    "at": ("", "the id of the proposal that is tested; null: the bar"),
    "part": ("", "the part of a claim: " + _of(Part)),
    "conduct": ("", "the conduct, as the arena writes it"),
    "treatment": ("", "the treatment under which it was run"),
    "value": ("of the objective", "what the run showed; null: undefined"),
    "runs": ("", "the seed of each run, and the digest of what it did"),
    "number": ("", "which of the agent's trials of the assignment, from 0"),
    "round": ("", "the round, from 0"),
    "id": ("", "the contribution, from 0 at each table"),
    "move": ("", "what the contribution does: " + ", ".join(MOVES)),
    "target": ("", "the id of the proposal that it refers to; what a contract promises"),
    "claim": ("", "[value, edge]: what a proposal claims, and under which other treatment too"),
    "words": ("", "what was said; the 64-bit words that were drawn, 16 hex digits each"),
    "because": ("", "[ids relied on, whether on own trials]"),
    "signal": ("", "the judge's: " + _of(Signal)),
    "ids": ("", "the contributions that are redirected"),
    "reason": ("", "why"),
    "dissent": ("", "what was held against the conclusion"),
    "rejected": ("", "whether the assistant rejects the conclusion"),
    "adopted": ("", "whether the admin adopts it"),
    "questions": ("", "what the agent was asked"),
    "answers": ("", "its answers, word for word"),
    "extra": ("", "whether it is the extra debrief of the bottom scorer"),
    "trait": ("", "what stands out in the agent"),
    "from": ("", "the contributions that show it"),
    "persona": ("", "the persona that is proposed"),
    "taken": ("", "whether the agent takes it; null: not asked"),
    "skill": ("", "[objective, treatment, conduct, value] to remember"),
    "before": ("", "the instructions until then"),
    "after": ("", "the instructions from then on"),
    "raw": ("of 3", "as rated: " + ", ".join(DIMENSIONS)),
    "reasons": ("", "a reason for each of them"),
    "fate": ("", "what the agent chooses: " + _of(Fate)),
    "conditions": ("", "what the agent asks for: [name, choice] of each"),
    "due": ("", "the assignment in which the contract is settled"),
    "terms": ("", "[conditions, target, due]; null: none other than those asked for"),
    "condition": ("", "the condition of the contract"),
    "kept": ("", "whether the user keeps it"),
    "participants": ("", "who sits at the table, by ordinal"),
    "who": ("", "whose act it is, by ordinal"),
    "act": ("", "what was done: its index in the step, the event, the fields of that"),
    "code": ("", "why it counts as not done"),
    "proposal": ("", "the id of the conclusion; null: none"),
    "stances": ("", "which proposal each stands for in the end"),
    "tied": ("", "between whom, or which proposals, it was drawn"),
    "steps": ("", "what rules changed: " + _of(ScoreStep)),
    "final": ("of 3", "the scores as they stand: " + ", ".join(DIMENSIONS)),
    "total": ("of 12", "their sum"),
    "rubric": ("of 12", "the sum of the four by the rubric alone, whatever was rated"),
    "amount": ("sparks", "gained, or lost if below 0"),
    "balance": ("sparks", "what the agent has then"),
    "why": ("", "where sparks moved: " + _of(Income)),
    "rows": ("", "the leaderboard, the first rank first"),
    "streak": ("tables", "bottom places in a row"),
    "cause": ("", "why it faces elimination: " + _of(EliminationCause)),
    "for": ("", "in whose place, by ordinal"),
    "ordinal": ("", "the newcomer's"),
    "name": ("", "its name"),
    "inherits": ("", "whose memory, by ordinal; null: nobody's"),
    "outcome": ("", "how the contract ends: " + _of(ContractEnd)),
    "reward": ("", "what is reached: " + _of(Reward)),
    "stage": ("", "the stage that is reached"),
}
