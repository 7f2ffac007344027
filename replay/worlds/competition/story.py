"""The sentences of a season's events: how its values are shown, and what more than an event's own
fields decides, like what was claimed before a test.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.worlds.competition.formats import format_apart, format_number, format_subject
from goldrush.agents.worlds.competition.versions import PROMPTS
from goldrush.kernel import fold
from goldrush.kernel.errors import JournalError
from goldrush.kernel.journal import START, JournalReader
from goldrush.kernel.text import format_count
from goldrush.kernel.world import Event, EventType
from goldrush.kernel.worlds.competition import VOCABULARY
from goldrush.kernel.worlds.competition.arena import Arena, Rules, Subject
from goldrush.kernel.worlds.competition.events import CODES, EVENTS, Joined
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS
from goldrush.kernel.worlds.competition.terms import Condition, Part
from goldrush.replay.sentences import EventSentences, Sentence, quoted
from goldrush.replay.tools import Names
from goldrush.replay.worlds.competition.steps import conduct_text, season_world

ANSWER_SHOWN: Final = 500  # characters of an answer; --json has all
# Names of the events of the brief story.
BRIEF: Final = frozenset(
    {
        "assignment_opened", "spoke", "tested", "stood", "refused", "concluded", "adopted",
        "scored", "bottomed", "elimination_faced", "fate_chosen", "relegated", "returned",
        "deleted", "joined", "contract_signed", "contract_settled", "reward_unlocked",
        "stage_reached", "project_completed", "assignment_closed",
    }
)  # fmt: skip
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,40}", re.ASCII)  # of policies, treatments, signals


def names_in(path: str | Path) -> dict[int, str]:
    """The names of all agents that a season ever had, by ordinal; of a damaged journal those
    before the damage, which is reported to whoever reads the events.
    """
    names: dict[int, str] = {}
    with suppress(JournalError, *fold.REFUSED), JournalReader(path) as reader:
        world = season_world(reader)
        for commit in reader:
            if commit.kind == START:
                names |= fold.start(world, reader, commit).names
            for block in commit.blocks[1::2]:
                joined = map(Joined._make, block.rows(CODES[Joined]))
                names.update((new.ordinal, new.name) for new in joined)
    return names


def sentences_of(path: str | Path, types: Iterable[EventType]) -> Callable[[], EventSentences]:
    """The function that makes the sentences of one pass over a journal, with the names of its
    agents, the subjects and the rules of its arena.
    """
    of_arena: dict[str, Any] = {}
    with suppress(JournalError, StopIteration, *fold.REFUSED), JournalReader(path) as reader:
        state = fold.start(season_world(reader), reader, next(iter(reader)))
        of_arena = {"arena": state.arena, "rules": state.rules}
    return partial(sentences, names_in(path), **of_arena)


def sentences(
    names: Names | None = None, arena: Arena | None = None, rules: Rules | None = None
) -> EventSentences:
    """The sentences of the events of one pass over a season.

    Args:
        names: the agents' names by ordinal; an agent without one is shown by its number.
        arena: for subjects and for whether claims hold; without it subjects are shown as JSON.
        rules: the rules of the arena; without them conducts are shown as JSON.
    """
    season = _Season(names or {}, arena, rules)
    chosen: dict[str, Callable[[Event], Sentence]] = {
        "season_started": _started,
        "assignment_opened": season.opened,
        "table_set": _table_set,
        "tested": season.tested,
        "spoke": season.spoke,
        "concluded": season.concluded,
        "debriefed": partial(_asked, "therapist debriefs {agent}{extra}:"),
        "interviewed": partial(_asked, "{agent} is interviewed for a contract:"),
        "instructions_rewritten": _rewritten,
    }
    forms = {
        "agent": season.name,
        "agents": season.listed,
        "answer": lambda text: quoted(text[:ANSWER_SHOWN] + "..." * (len(text) > ANSWER_SHOWN)),
        "asked": lambda question: _word(question).rstrip("_"),
        "because": _because,
        "claim": _claim,
        "conditions": _conditions,
        "conduct": season.conduct,
        "ids": format_ids,
        "joined": lambda texts: quoted(
            " ".join(map(str, texts)) if isinstance(texts, list) else texts
        ),
        "number": format_number,
        "redirected": lambda ids: f" {format_ids(ids)}" if format_ids(ids) else "",
        "ranks": lambda rows: ", ".join(f"{row[0]} {season.name(row[1])} {row[2]}" for row in rows),
        "runs": lambda runs: format_count(len(runs), "run"),
        "rated": _rated,
        "scores": _scores,
        "signed": "{:+d}".format,
        "skill": season.skill,
        "sparks": lambda balance: format_count(balance, "spark"),
        "stances": season.stances,
        "steps": lambda steps: "; ".join("{}: {} {} to {}".format(*step) for step in steps),
        "streak": lambda count: f"{count} in a row" if count > 1 else "for the first time",
        "subject": season.about,
        "subjects": season.subjects,
        "target": _target,
        "terms": _terms,
        "word": _word,
    }
    return EventSentences(EVENTS, VOCABULARY, chosen, forms, names, PROMPTS)


@attrs.define
class _Table:
    """The bar of a table, and by contribution the claimed values and the tested bases, so far."""

    bar: float | None = None
    claimed: dict[int, float] = attrs.field(factory=dict)
    tested: dict[int, float | None] = attrs.field(factory=dict)


class _Season:
    """The names and the arena of a season, with the bars and claims of the assignment so far, by
    which tests are judged.
    """

    def __init__(self, names: Names, arena: Arena | None, rules: Rules | None) -> None:
        self._names = names
        self._arena = arena
        self._rules = rules
        self._unit: int | None = None
        self._subjects: list[Subject | None] = []
        self._tables: dict[int, _Table] = {}

    def _open(self, event: Event) -> None:
        """Begin the assignment of an event, unless it has begun."""
        if event.unit != self._unit:
            self._unit, self._subjects, self._tables = event.unit, [], {}

    def _table(self, event: Event) -> _Table:
        """The table of an event so far."""
        self._open(event)
        return self._tables.setdefault(event["table"], _Table())

    def name(self, agent: Any) -> str:
        """The name of an agent."""
        known = self._names.get(agent) if type(agent) is int else None
        return known or f"agent {quoted(agent)}"

    def listed(self, agents: Any) -> str:
        """The names of several agents."""
        if not isinstance(agents, (list, tuple)):
            return quoted(agents)
        return ", ".join(map(self.name, agents)) or "nobody"

    def conduct(self, value: Any) -> str:
        """A conduct as text; as JSON if it is not valid in the arena."""
        conduct = _tupled(value)
        if self._rules is None or not self._rules.conduct.holds(conduct):
            return quoted(value)
        return conduct_text(conduct, self._rules)

    def about(self, value: Any) -> str:
        """A subject as text, by its [objective, treatment]."""
        subject = self._subject(value)
        return quoted(value) if subject is None else format_subject(subject)

    def subjects(self, value: Any) -> str:
        """The subjects of an assignment."""
        return " and ".join(map(self.about, value)) if isinstance(value, list) else quoted(value)

    def skill(self, value: Any) -> str:
        """A skill: [objective, treatment, conduct, value]."""
        if not isinstance(value, list) or len(value) != 4:
            return quoted(value)
        return f"{self.conduct(value[2])} for {self.about(value[:2])}"

    def stances(self, value: Sequence[tuple[int, int]]) -> str:
        """Who stands by each proposal."""
        held: dict[int, list[int]] = {}
        for agent, proposal in value:
            held.setdefault(proposal, []).append(agent)
        return "; ".join(f"#{at} {self.listed(agents)}" for at, agents in sorted(held.items()))

    def _subject(self, value: Any) -> Subject | None:
        return self._arena.subject(_tupled(value)) if self._arena else None

    def opened(self, event: Event) -> Sentence:
        """The opening of an assignment, with the team and order of a directive that has them."""
        self._open(event)
        subjects, directive = event["subjects"], event["directive"]
        if isinstance(subjects, list):
            self._subjects = list(map(self._subject, subjects))
        directed = ", with the directive {directive:quoted}" if directive else ""
        if isinstance(directive, list) and len(directive) == 2:
            parts = [
                f"the {name} {{directive.{index}:agents}}"
                for index, name in enumerate(("team", "order"))
                if directive[index]
            ]
            directed = f", with {' and '.join(parts)}" if parts else ""
        return Sentence(
            "{by} opens the assignment (day {day}, project {project}): {subjects:subjects}"
            + directed
        )

    def spoke(self, event: Event) -> Sentence:
        """A contribution, whose claim is kept for the tests."""
        claim = event["claim"]
        if isinstance(claim, list) and len(claim) == 2 and type(claim[0]) in (int, float):
            self._table(event).claimed[event["id"]] = claim[0]
        return Sentence()

    def tested(self, event: Event) -> Sentence:
        """A tested value, and whether the claim held and was sharp if claim and subject are
        known.
        """
        table, at, value = self._table(event), event["at"], event["value"]
        is_base = event["part"] == Part.BASE
        if at is None:
            table.bar = value
        elif is_base:
            table.tested[at] = value
        number, claimed = event["table"], table.claimed.get(at)
        subject = self._subjects[number] if number < len(self._subjects) else None
        if claimed is None or subject is None:
            return Sentence(values=[format_number(value)])
        compared = "{} for {} claimed".format(*format_apart(value, claimed))
        if not subject.holds(value, claimed):
            return Sentence(values=[f"{compared}: it does not hold"])
        is_sharp = is_base and subject.is_sharp(value, claimed, table.bar)
        return Sentence(values=[f"{compared}: it holds{', and is sharp' if is_sharp else ''}"])

    def concluded(self, event: Event) -> Sentence:
        """A conclusion, with its test beside the bar where it was tested."""
        table, proposal = self._table(event), event["proposal"]
        if proposal not in table.tested:
            return Sentence(values=[""])
        value, bar = format_apart(table.tested[proposal], table.bar)
        return Sentence(values=[f", tested {value} where the bar is {bar}"])


def _tupled(value: Any) -> Any:
    return tuple(map(_tupled, value)) if isinstance(value, list) else value


def _word(value: Any) -> str:
    """A name, quoted if it is not a plain word."""
    is_name = isinstance(value, str) and _NAME.fullmatch(value) is not None
    return value if is_name else quoted(value)


def format_ids(value: object) -> str:
    """The ids of contributions, as "#0, #1"."""
    return ", ".join(f"#{quoted(id)}" for id in value) if isinstance(value, (list, tuple)) else ""


def _claim(value: Any) -> str:
    if not isinstance(value, list) or len(value) != 2:
        return quoted(value)
    claimed, edge = value
    return quoted(claimed) + ("" if edge is None else f", also under {_word(edge)}")


def _because(value: Any) -> str:
    if not isinstance(value, list) or len(value) != 2:
        return "" if value is None else f", because of {quoted(value)}"
    ids, on_own = value
    reasons = [format_ids(ids)] if ids and isinstance(ids, list) else []
    reasons += ["its own trials"] * (on_own is True)
    return f", because of {' and '.join(reasons)}" if reasons else ""


def _scores(scores: Iterable[object]) -> str:
    return ", ".join(map("{} {}".format, DIMENSIONS, scores))


def _rated(scores: Any) -> str:
    """Scores as rated; a list of another length as JSON."""
    is_rating = isinstance(scores, list) and len(scores) == len(DIMENSIONS)
    return _scores(map(quoted, scores)) if is_rating else quoted(scores)


def _started(event: Event) -> Sentence:
    config = event["config"]
    arena = config["arena"]
    return Sentence(
        "a season of the {world} world starts (rules {rules}): {}, {} workers, arena {:word} with "
        "{}, seed {}",
        (
            format_count(config["assignments"], "assignment"),
            config["workers"],
            arena["name"],
            format_count(len(arena["subjects"]), "subject"),
            config["seed"],
        ),
    )


def _table_set(event: Event) -> Sentence:
    parts = [f"{name} {{{name}:agents}}" for name in ("team", "order") if event[name] is not None]
    if event["rounds"] is not None:
        parts.append("up to {rounds:quoted} rounds")
    return Sentence(f"{{by}} sets the table: {'; '.join(parts) or 'as it is'}")


def _asked(front: str, event: Event) -> Sentence:
    """Questions, each with its answer."""
    questions, answers = event["questions"], event["answers"]
    pairs = "asked {questions:quoted}, it answers {answers:quoted}"
    if isinstance(questions, list) and isinstance(answers, list) and len(questions) == len(answers):
        numbers = range(len(questions))
        pairs = "; ".join(
            f"asked {{questions.{n}:quoted}}, it answers {{answers.{n}:quoted}}" for n in numbers
        )
    return Sentence(f"{front} {pairs}")


_CONDITIONS: Final = {
    Condition.SEAT: "a seat at every table",
    Condition.FEE_PAID: "its seat for nothing",
    Condition.MOVES: "one more contribution",
}


def _conditions(value: Any) -> str:
    """What an agent asks for in a contract: [name, choice] of each."""
    if not isinstance(value, list):
        return quoted(value)
    return " and ".join(map(_condition, value)) or "nothing"


def _condition(value: Any) -> str:
    if not isinstance(value, list) or len(value) != 2 or not isinstance(value[0], str):
        return quoted(value)
    name, choice = value
    if name == Condition.OBJECTIVE:
        return f"the objective {_word(choice)} once"
    return _CONDITIONS.get(name, quoted(value))


def _target(value: Any) -> str:
    """What a contract promises; see contract.Contract.target."""
    if isinstance(value, list) and len(value) == 2:
        tables, better = map(quoted, value)
        return f"above the middle of the table at {better} of its next {tables} tables"
    return f"a target of {quoted(value)}"


def _terms(value: Any) -> str:
    """The terms of a contract: [conditions, target, due]."""
    if not isinstance(value, list) or len(value) != 3:
        return quoted(value)
    conditions, target, due = value
    return f"{_target(target)} by assignment {quoted(due)}, for {_conditions(conditions)}"


def _rewritten(event: Event) -> Sentence:
    before, after = event["before"] or {}, event["after"] or {}
    holes, values = [], []
    for name, value in after.items():
        if name not in before:
            holes.append("{:word} {:quoted}")
            values += [name, value]
        elif before[name] != value:
            holes.append("{:word} from {:quoted} to {:quoted}")
            values += [name, before[name], value]
    changed = ", ".join(holes) or "nothing new"
    front = "therapist rewrites the instructions of {agent}"
    if type(event["taken"]) is bool:
        front = "therapist recommends other instructions to {agent}"
    return Sentence(f"{front}, {{taken}}: {changed}", values)
