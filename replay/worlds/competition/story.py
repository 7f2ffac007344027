"""The sentences of a season's events that more than their own fields decide: what was claimed
before a test, the arena's subjects, which of the fields are given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.worlds.competition.formats import format_apart, format_number, format_subject
from goldrush.kernel import fold
from goldrush.kernel.errors import JournalError
from goldrush.kernel.journal import START, JournalReader
from goldrush.kernel.text import format_count
from goldrush.kernel.world import Event
from goldrush.kernel.worlds.competition import VOCABULARY
from goldrush.kernel.worlds.competition.arena import Arena, Rules, Subject
from goldrush.kernel.worlds.competition.events import CODES, EVENTS, Joined
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS
from goldrush.kernel.worlds.competition.terms import Move, Part
from goldrush.replay.sentences import EventSentences, Sentence, forked, quoted
from goldrush.replay.tools import Names, Story
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
    before the damage.
    """
    names: dict[int, str] = {}
    try:
        with JournalReader(path) as reader:
            world = season_world(reader)
            for commit in reader:
                if commit.kind == START:
                    state = fold.start(world, reader, commit)
                    names.update((agent.ordinal, agent.name) for agent in state.agents.values())
                for block in commit.blocks[1::2]:
                    joined = map(Joined._make, block.rows(CODES[Joined]))
                    names.update((new.ordinal, new.name) for new in joined)
    except (JournalError, *fold.REFUSED):
        pass  # reported to whoever reads the events
    return names


def story_of(path: str | Path) -> Story:
    """The Story of one journal, with the subjects and the rules of its arena."""
    arena: Arena | None = None
    rules: Rules | None = None
    try:
        with JournalReader(path) as reader:
            world = season_world(reader)
            state = fold.start(world, reader, next(iter(reader)))
            arena, rules = state.arena, state.rules
    except (JournalError, StopIteration, *fold.REFUSED):
        pass  # reported to whoever reads the events
    return Story(partial(sentences, arena=arena, rules=rules), names=names_in, brief=BRIEF)


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
    chosen = {name: partial(choose, season) for name, choose in _CHOSEN.items()}
    forms = {
        "agent": season.name,
        "agents": season.listed,
        "conduct": season.conduct,
        "number": format_number,
        "subject": season.about,
        "word": _word,
    }
    return EventSentences(EVENTS, VOCABULARY, chosen, forms)


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

    def open(self, event: Event, subjects: Sequence[Any] = ()) -> None:
        """Begin the assignment of an event, unless it has begun."""
        if event.unit != self._unit:
            self._unit, self._subjects, self._tables = event.unit, [], {}
        if subjects:
            self._subjects = list(map(self._subject, subjects))

    def table(self, event: Event) -> tuple[_Table, Subject | None]:
        """The table of an event so far, and its subject."""
        self.open(event)
        number, subjects = event["table"], self._subjects
        subject = subjects[number] if number < len(subjects) else None
        return self._tables.setdefault(number, _Table()), subject

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
        if self._rules is None or not self._rules.is_shaped(conduct):
            return quoted(value)
        return conduct_text(conduct, self._rules)

    def about(self, value: Any) -> str:
        """A subject as text, by its [objective, treatment]."""
        subject = self._subject(value)
        return quoted(value) if subject is None else format_subject(subject)

    def _subject(self, value: Any) -> Subject | None:
        return self._arena.subject(_tupled(value)) if self._arena else None


def _tupled(value: Any) -> Any:
    return tuple(map(_tupled, value)) if isinstance(value, list) else value


def _word(value: Any) -> str:
    """A name, quoted if it is not a plain word."""
    is_name = isinstance(value, str) and _NAME.fullmatch(value) is not None
    return value if is_name else quoted(value)


def _ids(value: Any) -> str:
    """The ids of contributions, as "#0, #1"."""
    return ", ".join(f"#{quoted(id)}" for id in value) if isinstance(value, list) else ""


def _either(value: Any, yes: str, no: str, other: str) -> str:
    """One of three texts: for True, False, and any other value."""
    return yes if value is True else no if value is False else other


def _taken(event: Event) -> str:
    return _either(event["taken"], "taken", "left", "without asking")


# Before a table.


def _started(season: _Season, event: Event) -> Sentence:
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


def _answered(season: _Season, event: Event) -> Sentence:
    text = event["text"]
    shown = text if len(text) <= ANSWER_SHOWN else text[:ANSWER_SHOWN] + "..."
    asked = _word(event["question"]).rstrip("_")
    return Sentence("{agent} was asked to {}: {:quoted}", (asked, shown))


def _opened(season: _Season, event: Event) -> Sentence:
    subjects, directive = event["subjects"], event["directive"]
    about = "{subjects:quoted}"
    if isinstance(subjects, list):
        season.open(event, subjects)
        about = " and ".join(f"{{subjects.{table}:subject}}" for table in range(len(subjects)))
    directed = ", with the directive {directive:quoted}" if directive else ""
    if isinstance(directive, list) and len(directive) == 2:
        named = zip(("team", "order"), directive, range(2), strict=True)
        parts = [f"the {name} {{directive.{at}:agents}}" for name, value, at in named if value]
        directed = f", with {' and '.join(parts)}" if parts else ""
    return Sentence(
        f"{{by}} opens the assignment (day {{day}}, project {{project}}): {about}{directed}"
    )


def _class_moved(season: _Season, event: Event) -> Sentence:
    asked = ("and the admin allows it", "and the admin does not allow it", "without asking")
    return Sentence(
        f"{{agent}} wants to run as {{class:word}}, {_either(event['allowed'], *asked)}"
    )


def _table_set(season: _Season, event: Event) -> Sentence:
    parts = [f"{name} {{{name}:agents}}" for name in ("team", "order") if event[name] is not None]
    if event["rounds"] is not None:
        parts.append("up to {rounds:quoted} rounds")
    return Sentence(f"{{by}} sets the table: {'; '.join(parts) or 'as it is'}")


# At the table.


def _tested(season: _Season, event: Event) -> Sentence:
    value, at = event["value"], event["at"]
    runs = format_count(len(event["runs"]), "run")
    how = f"({{conduct:conduct}} under {{treatment:word}}, {runs})"
    if at is None:
        season.table(event)[0].bar = value
        return Sentence(f"the bar is {{value:number}} {how}")
    if event["part"] == Part.BASE:
        season.table(event)[0].tested[at] = value
    beside = _beside_claim(season, event)
    return Sentence(f"tested: {{part}} of #{{at}} is {{}} {how}", (beside,))


def _beside_claim(season: _Season, event: Event) -> str:
    """A tested value, and whether the claim held and was sharp if claim and subject are known."""
    table, subject = season.table(event)
    value, claimed = event["value"], table.claimed.get(event["at"])
    if claimed is None or subject is None:
        return format_number(value)
    tested, promised = format_apart(value, claimed)
    compared = f"{tested} for {promised} claimed"
    if not subject.holds(value, claimed):
        return f"{compared}: it does not hold"
    is_sharp = event["part"] == Part.BASE and subject.is_sharp(value, claimed, table.bar)
    return f"{compared}: it holds{', and is sharp' if is_sharp else ''}"


def _roundtable(season: _Season, event: Event) -> Sentence:
    drawn = ", as drawn" if event["words"] else ""
    return Sentence(
        "table {table} opens for up to {rounds} rounds; they speak in the order "
        f"{{order:agents}}{drawn}"
    )


def _spoke(season: _Season, event: Event) -> Sentence:
    move = event["move"]
    says = {
        Move.PROPOSE: "proposes",
        Move.AMEND: "amends #{target:quoted} to",
        Move.CHALLENGE: "challenges the {part:word} of #{target:quoted}",
        Move.SUPPORT: "supports #{target:quoted}",
        Move.PASS: "passes",
    }.get(move if isinstance(move, str) else "", "does {move:quoted}")
    values = [_because(event)]
    if move in (Move.PROPOSE, Move.AMEND):
        says += " {conduct:conduct}, claims {}"
        values.insert(0, _claim(season, event))
    return Sentence(f"#{{id}} {{agent}} {says}{{}}{_words(event)}", values)


def _claim(season: _Season, event: Event) -> str:
    claim = event["claim"]
    if not isinstance(claim, list) or len(claim) != 2:
        return quoted(claim)
    claimed, edge = claim
    if type(claimed) in (int, float):
        season.table(event)[0].claimed[event["id"]] = claimed
    return quoted(claimed) + ("" if edge is None else f", also under {_word(edge)}")


def _because(event: Event) -> str:
    because = event["because"]
    if not isinstance(because, list) or len(because) != 2:
        return "" if because is None else f", because of {quoted(because)}"
    ids, on_own = because
    reasons = [_ids(ids)] * bool(ids) + ["its own trials"] * (on_own is True)
    return f", because of {' and '.join(reasons)}" if reasons else ""


def _words(event: Event) -> str:
    return ": {words:quoted}" if event["words"] else ""


def _stood(season: _Season, event: Event) -> Sentence:
    target = "no proposal" if event["target"] is None else "#{target:quoted}"
    return Sentence(
        f"{{agent}} stands by {target} in the end{{}}{_words(event)}", [_because(event)]
    )


def _judged(season: _Season, event: Event) -> Sentence:
    ids = _ids(event["ids"])
    reason = ": {reason:quoted}" if event["reason"] else ""
    return Sentence(f"judge, round {{round}}: {{signal:word}}{{}}{reason}", [ids and f" {ids}"])


def _refused(season: _Season, event: Event) -> Sentence:
    return Sentence("refused: the act of {who} ({}), {code}", [event["act"]["event"]])


def _concluded(season: _Season, event: Event) -> Sentence:
    if event["proposal"] is None:
        return Sentence("table {table} comes to no conclusion")
    stances: dict[int, list[int]] = {}
    for agent, proposal in event["stances"]:
        stances.setdefault(proposal, []).append(agent)
    held = "; ".join(f"#{at} {season.listed(agents)}" for at, agents in sorted(stances.items()))
    drawn = f", drawn among {_ids(list(event['tied']))}" if event["tied"] else ""
    table, tested = season.table(event)[0], ""
    if event["proposal"] in table.tested:
        value, bar = format_apart(table.tested[event["proposal"]], table.bar)
        tested = f", tested {value} where the bar is {bar}"
    return Sentence(
        f"table {{table}} concludes on #{{proposal}}, {{conduct:conduct}}{tested}{drawn}; final "
        "stances: {}",
        [held],
    )


def _digested(season: _Season, event: Event) -> Sentence:
    dissent = "; dissent: {dissent:quoted}" if event["dissent"] else ""
    rejects = "; it rejects the conclusion" if event["rejected"] is True else ""
    return Sentence(f"assistant: {{text:quoted}}{dissent}{rejects}")


# After the tables.


def _debriefed(season: _Season, event: Event) -> Sentence:
    questions, answers = event["questions"], event["answers"]
    extra = "once more " if event["extra"] else ""
    pairs = "{questions:quoted} {answers:quoted}"
    if isinstance(questions, list) and isinstance(answers, list) and len(questions) == len(answers):
        numbers = range(len(questions))
        pairs = " ".join(f"{{questions.{n}:quoted}} {{answers.{n}:quoted}}" for n in numbers)
    return Sentence(f"therapist debriefs {{agent}} {extra}- {pairs}")


def _persona(season: _Season, event: Event) -> Sentence:
    return Sentence(f"a persona for {{agent}}, {_taken(event)}: {{persona:quoted}}")


def _skill(season: _Season, event: Event) -> Sentence:
    front, skill = f"a skill for {{agent}}, {_taken(event)}: ", event["skill"]
    if isinstance(skill, list) and len(skill) == 4:
        return Sentence(f"{front}{{skill.2:conduct}} for {{:subject}}", [skill[:2]])
    return Sentence(f"{front}{{skill:quoted}}")


def _rewritten(season: _Season, event: Event) -> Sentence:
    before, after = event["before"] or {}, event["after"] or {}
    changed = [(name, value) for name, value in after.items() if before.get(name) != value]
    holes = ", ".join(["{:word} {:quoted}"] * len(changed)) or "nothing new"
    return Sentence(
        f"instructions of {{agent}} rewritten, {_taken(event)}: {holes}",
        [text for pair in changed for text in pair],
    )


def _rated(season: _Season, event: Event) -> Sentence:
    reasons = event["reasons"]
    why = " ".join(map(str, reasons)) if isinstance(reasons, list) else reasons
    return Sentence("therapist rates {agent} {raw:quoted}: {:quoted}", [why])


def _scored(season: _Season, event: Event) -> Sentence:
    parts = zip(DIMENSIONS, event["final"], strict=True)
    scores = ", ".join(f"{name} {score}" for name, score in parts)
    steps = "; ".join(f"{rule}: {name} {a} to {b}" for rule, name, a, b in event["steps"])
    return Sentence("{agent} scores {total}: {}", [f"{scores} ({steps})" if steps else scores])


def _sparks(season: _Season, event: Event) -> Sentence:
    balance = format_count(event["balance"], "spark")
    return Sentence("{agent} has {} ({}, {why})", [balance, f"{event['amount']:+d}"])


def _leaderboard(season: _Season, event: Event) -> Sentence:
    rows = (f"{rank} {season.name(agent)} {rolling}" for rank, agent, rolling, _ in event["rows"])
    return Sentence("leaderboard: {}", [", ".join(rows)])


def _bottomed(season: _Season, event: Event) -> Sentence:
    drawn = ", drawn among {tied:agents}" if event["tied"] else ""
    row = "{streak} in a row" if event["streak"] > 1 else "for the first time"
    return Sentence(f"{{agent}} is last at table {{table}}, {row}{drawn}")


def _joined(season: _Season, event: Event) -> Sentence:
    memory = "" if event["inherits"] is None else " with the memory of {inherits}"
    return Sentence(f"{{name}} joins{memory}")


def _reviewed(season: _Season, event: Event) -> Sentence:
    if event["approved"] is True:
        return Sentence("the user approves the contract of {agent}")
    if event["terms"] is None:
        return Sentence("the user refuses the contract of {agent}")
    answer = _either(event["taken"], "which it takes", "which it leaves", "")
    return Sentence(
        f"the user has other terms for the contract of {{agent}}: {{terms:quoted}}, {answer}"
    )


def _kept(season: _Season, event: Event) -> Sentence:
    keeps = _either(event["kept"], "keeps", "does not keep", "says nothing of")
    return Sentence(f"the user {keeps} the condition {{condition:word}} of {{agent}}")


def _forked(season: _Season, event: Event) -> Sentence:
    others = []
    if event["program"] is not None:
        named = {"program": "of the same name", **event["program"]}
        others.append(f"another program tests: {quoted(named['program'])}")
    if event["cast"] is not None:
        others.append("another cast")
    others += [
        f"what {season.name(agent)} said in assignment {assignment} is put in by hand"
        for assignment, agent in event["replaced"]
    ]
    return forked("season", event, others)


def _project(season: _Season, event: Event) -> Sentence:
    approves = "approves" if event["approved"] is True else "refuses"
    return Sentence(f"the user {approves} the project")


def _adopted(season: _Season, event: Event) -> Sentence:
    adopts = "adopts" if event["adopted"] is True else "does not adopt"
    return Sentence(f"admin {adopts} the conclusion")


_CHOSEN: Final[Mapping[str, Callable[[_Season, Event], Sentence]]] = {
    "season_started": _started,
    "answered": _answered,
    "project_reviewed": _project,
    "class_moved": _class_moved,
    "assignment_opened": _opened,
    "table_set": _table_set,
    "tested": _tested,
    "roundtable_opened": _roundtable,
    "spoke": _spoke,
    "stood": _stood,
    "judged": _judged,
    "refused": _refused,
    "concluded": _concluded,
    "digested": _digested,
    "adopted": _adopted,
    "debriefed": _debriefed,
    "persona_proposed": _persona,
    "skill_distilled": _skill,
    "instructions_rewritten": _rewritten,
    "rated": _rated,
    "scored": _scored,
    "sparks_moved": _sparks,
    "leaderboard_posted": _leaderboard,
    "bottomed": _bottomed,
    "joined": _joined,
    "contract_reviewed": _reviewed,
    "condition_kept": _kept,
    "forked": _forked,
}
