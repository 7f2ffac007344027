"""The events of a season as text, a line each: trials, claims and their reasons, tests, outcomes.

Text by agents is quoted and escaped. Agents have their names from the journal.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
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
from goldrush.kernel.worlds.competition.arena import Arena, Rules, Subject
from goldrush.kernel.worlds.competition.events import CODES, Joined
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS
from goldrush.kernel.worlds.competition.terms import EliminationCause, Move, Part
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
    return Story(
        partial(story, arena=arena, rules=rules),
        partial(chronicle, arena=arena, rules=rules),
        names_in,
        brief=BRIEF,
    )


def story(
    events: Iterable[Event],
    names: Names | None = None,
    arena: Arena | None = None,
    rules: Rules | None = None,
) -> Iterator[str]:
    """The events as text, in order.

    Args:
        events: the events, in journal order.
        names: the agents' names by ordinal; an agent without one is shown by its number.
        arena: for subjects and for whether claims hold; without it subjects are shown as JSON.
        rules: the rules of the arena; without them conducts are shown as JSON.
    """
    teller = _Teller(names or {}, arena, rules)
    for event in events:
        yield teller.tell(event)


def chronicle(
    events: Iterable[Event],
    names: Names | None = None,
    arena: Arena | None = None,
    rules: Rules | None = None,
) -> Iterator[tuple[int, int, str]]:
    """The events as (unit, unit, text), in order; the arguments are those of `story`."""
    teller = _Teller(names or {}, arena, rules)
    for event in events:
        yield event.unit, event.unit, teller.tell(event)


@attrs.define
class _At:
    """The bar of a table, and by contribution the claimed values and the tested bases, so far."""

    bar: float | None = None
    claimed: dict[int, float] = attrs.field(factory=dict)
    tested: dict[int, float | None] = attrs.field(factory=dict)


class _Teller:
    """Formats events. Keeps the bars and claims of the assignment, to judge tests by."""

    def __init__(self, names: Names, arena: Arena | None, rules: Rules | None) -> None:
        self._names = names
        self._arena = arena
        self._rules = rules
        self._unit: int | None = None
        self.subjects: list[Subject | None] = []
        self.tables: dict[int, _At] = {}

    def tell(self, event: Event) -> str:
        """An event as text; as JSON if its type is unknown."""
        if event.unit != self._unit:
            self._unit, self.subjects, self.tables = event.unit, [], {}
        tell = _WORDS.get(event.name)
        return tell(self, event) if tell else json.dumps(event.as_dict())

    def name(self, agent: Any) -> str:
        """The name of an agent."""
        known = self._names.get(agent) if type(agent) is int else None
        return known or f"agent {_quoted(agent)}"

    def listed(self, agents: Any) -> str:
        """The names of several agents."""
        if not isinstance(agents, (list, tuple)):
            return _quoted(agents)
        return ", ".join(map(self.name, agents)) or "nobody"

    def conduct(self, value: Any) -> str:
        """A conduct as text; as JSON if it is not valid in the arena."""
        conduct = _tupled(value)
        if self._rules is None or not self._rules.is_shaped(conduct):
            return _quoted(value)
        return conduct_text(conduct, self._rules)

    def at(self, event: Event) -> _At:
        """The table of an event so far."""
        return self.tables.setdefault(event["table"], _At())

    def subject(self, value: Any) -> Subject | None:
        """The subject by its [objective, treatment]; None if unknown."""
        return self._arena.subject(_tupled(value)) if self._arena else None

    def about(self, value: Any) -> str:
        """A subject as text."""
        subject = self.subject(value)
        return _quoted(value) if subject is None else format_subject(subject)


def _tupled(value: Any) -> Any:
    return tuple(map(_tupled, value)) if isinstance(value, list) else value


def _quoted(value: Any) -> str:
    return json.dumps(value)


def _word(value: Any) -> str:
    """A name, quoted if it is not a plain word."""
    is_name = isinstance(value, str) and _NAME.fullmatch(value) is not None
    return value if is_name else _quoted(value)


def _ids(value: Any) -> str:
    """The ids of contributions, as "#0, #1"."""
    return ", ".join(f"#{_quoted(id)}" for id in value) if isinstance(value, list) else ""


def _either(said: Any, yes: str, no: str, other: str) -> str:
    """One of three texts: for True, False, and any other value."""
    return yes if said is True else no if said is False else other


def _taken(event: Event) -> str:
    return _either(event["taken"], "taken", "left", "without asking")


# Before a table.


def _started(t: _Teller, event: Event) -> str:
    config = event["config"]
    arena = config["arena"]
    return (
        f"a season of the {event['world']} world starts (rules {event['rules']}): "
        f"{format_count(config['assignments'], 'assignment')}, {config['workers']} workers, arena "
        f"{_word(arena['name'])} with {format_count(len(arena['subjects']), 'subject')}, "
        f"seed {config['seed']}"
    )


def _answered(t: _Teller, event: Event) -> str:
    text = event["text"]
    shown = text if len(text) <= ANSWER_SHOWN else text[:ANSWER_SHOWN] + "..."
    asked = _word(event["question"]).rstrip("_")
    return f"{t.name(event['agent'])} was asked to {asked}: {_quoted(shown)}"


def _opened(t: _Teller, event: Event) -> str:
    subjects = event["subjects"]
    about = _quoted(subjects)
    if isinstance(subjects, list):
        about = " and ".join(map(t.about, subjects))
        t.subjects = list(map(t.subject, subjects))
    place = f"day {event['day']}, project {event['project']}"
    directed = f", with the directive {_quoted(event['directive'])}" if event["directive"] else ""
    return f"{t.name(event['by'])} opens the assignment ({place}): {about}{directed}"


def _class_moved(t: _Teller, event: Event) -> str:
    asked = ("and the admin allows it", "and the admin does not allow it", "without asking")
    how = _either(event["allowed"], *asked)
    return f"{t.name(event['agent'])} wants to run as {_word(event['class'])}, {how}"


def _table_set(t: _Teller, event: Event) -> str:
    parts = [
        f"{name} {t.listed(event[name])}" for name in ("team", "order") if event[name] is not None
    ]
    if event["rounds"] is not None:
        parts.append(f"up to {_quoted(event['rounds'])} rounds")
    return f"{t.name(event['by'])} sets the table: {'; '.join(parts) or 'as it is'}"


# At the table.


def _tested(t: _Teller, event: Event) -> str:
    value, at = event["value"], event["at"]
    runs = f"{len(event['runs'])} run{'' if len(event['runs']) == 1 else 's'}"
    how = f"{t.conduct(event['conduct'])} under {_word(event['treatment'])}, {runs}"
    if at is None:
        t.at(event).bar = value
        return f"the bar is {format_number(value)} ({how})"
    if event["part"] == Part.BASE:
        t.at(event).tested[at] = value
    return f"tested: {event['part']} of #{at} is {_beside_claim(t, event)} ({how})"


def _beside_claim(t: _Teller, event: Event) -> str:
    """A tested value, and whether the claim held and was sharp if claim and subject are known."""
    table, number, value = t.at(event), event["table"], event["value"]
    claimed = table.claimed.get(event["at"])
    subject = t.subjects[number] if number < len(t.subjects) else None
    if claimed is None or subject is None:
        return format_number(value)
    tested, promised = format_apart(value, claimed)
    compared = f"{tested} for {promised} claimed"
    if not subject.holds(value, claimed):
        return f"{compared}: it does not hold"
    is_sharp = event["part"] == Part.BASE and subject.is_sharp(value, claimed, table.bar)
    return f"{compared}: it holds{', and is sharp' if is_sharp else ''}"


def _tried(t: _Teller, event: Event) -> str:
    return (
        f"{t.name(event['agent'])} tries {t.conduct(event['conduct'])} under "
        f"{_word(event['treatment'])}, on its own: {format_number(event['value'])}"
    )


def _roundtable(t: _Teller, event: Event) -> str:
    drawn = ", as drawn" if event["words"] else ""
    return (
        f"table {event['table']} opens for up to {event['rounds']} rounds; "
        f"they speak in the order {t.listed(event['order'])}{drawn}"
    )


def _spoke(t: _Teller, event: Event) -> str:
    move, target = event["move"], f"#{_quoted(event['target'])}"
    says = {
        Move.PROPOSE: "proposes",
        Move.AMEND: f"amends {target} to",
        Move.CHALLENGE: f"challenges the {_word(event['part'])} of {target}",
        Move.SUPPORT: f"supports {target}",
        Move.PASS: "passes",
    }.get(move if isinstance(move, str) else "", f"does {_quoted(move)}")
    if move in (Move.PROPOSE, Move.AMEND):
        says += f" {t.conduct(event['conduct'])}, claims {_claim(t, event)}"
    said = f": {_quoted(event['words'])}" if event["words"] else ""
    return f"#{event['id']} {t.name(event['agent'])} {says}{_because(event)}{said}"


def _claim(t: _Teller, event: Event) -> str:
    claim = event["claim"]
    if not isinstance(claim, list) or len(claim) != 2:
        return _quoted(claim)
    claimed, edge = claim
    if type(claimed) in (int, float):
        t.at(event).claimed[event["id"]] = claimed
    return _quoted(claimed) + ("" if edge is None else f", also under {_word(edge)}")


def _because(event: Event) -> str:
    because = event["because"]
    if not isinstance(because, list) or len(because) != 2:
        return "" if because is None else f", because of {_quoted(because)}"
    ids, own = because
    reasons = [_ids(ids)] * bool(ids) + ["its own trials"] * (own is True)
    return f", because of {' and '.join(reasons)}" if reasons else ""


def _stood(t: _Teller, event: Event) -> str:
    target = event["target"]
    stands = "no proposal" if target is None else f"#{_quoted(target)}"
    said = f": {_quoted(event['words'])}" if event["words"] else ""
    return f"{t.name(event['agent'])} stands by {stands} in the end{_because(event)}{said}"


def _judged(t: _Teller, event: Event) -> str:
    ids = _ids(event["ids"])
    reason = f": {_quoted(event['reason'])}" if event["reason"] else ""
    return f"judge, round {event['round']}: {_word(event['signal'])}{ids and f' {ids}'}{reason}"


def _refused(t: _Teller, event: Event) -> str:
    return f"refused: the act of {t.name(event['who'])} ({event['act']['event']}), {event['code']}"


def _concluded(t: _Teller, event: Event) -> str:
    if event["proposal"] is None:
        return f"table {event['table']} comes to no conclusion"
    stances: dict[int, list[int]] = {}
    for agent, proposal in event["stances"]:
        stances.setdefault(proposal, []).append(agent)
    held = "; ".join(f"#{at} {t.listed(agents)}" for at, agents in sorted(stances.items()))
    drawn = f", drawn among {_ids(list(event['tied']))}" if event["tied"] else ""
    table, tested = t.at(event), ""
    if event["proposal"] in table.tested:
        value, bar = format_apart(table.tested[event["proposal"]], table.bar)
        tested = f", tested {value} where the bar is {bar}"
    return (
        f"table {event['table']} concludes on #{event['proposal']}, "
        f"{t.conduct(event['conduct'])}{tested}{drawn}; final stances: {held}"
    )


def _digested(t: _Teller, event: Event) -> str:
    dissent = f"; dissent: {_quoted(event['dissent'])}" if event["dissent"] else ""
    rejects = "; it rejects the conclusion" if event["rejected"] is True else ""
    return f"assistant: {_quoted(event['text'])}{dissent}{rejects}"


# After the tables.


def _debriefed(t: _Teller, event: Event) -> str:
    questions, answers = event["questions"], event["answers"]
    extra = "once more " if event["extra"] else ""
    said = [_quoted(questions), _quoted(answers)]
    if isinstance(questions, list) and isinstance(answers, list) and len(questions) == len(answers):
        said = [f"{_quoted(q)} {_quoted(a)}" for q, a in zip(questions, answers, strict=True)]
    return f"therapist debriefs {t.name(event['agent'])} {extra}- {' '.join(said)}"


def _skill(t: _Teller, event: Event) -> str:
    skill, says = event["skill"], _quoted(event["skill"])
    if isinstance(skill, list) and len(skill) == 4:
        says = f"{t.conduct(skill[2])} for {t.about(skill[:2])}"
    return f"a skill for {t.name(event['agent'])}, {_taken(event)}: {says}"


def _rewritten(t: _Teller, event: Event) -> str:
    before, after = event["before"] or {}, event["after"] or {}
    changed = [f"{_word(k)} {_quoted(v)}" for k, v in after.items() if before.get(k) != v]
    return (
        f"instructions of {t.name(event['agent'])} rewritten, {_taken(event)}: "
        f"{', '.join(changed) or 'nothing new'}"
    )


def _rated(t: _Teller, event: Event) -> str:
    reasons = event["reasons"]
    why = " ".join(map(str, reasons)) if isinstance(reasons, list) else reasons
    return f"therapist rates {t.name(event['agent'])} {_quoted(event['raw'])}: {_quoted(why)}"


def _scored(t: _Teller, event: Event) -> str:
    parts = zip(DIMENSIONS, event["final"], strict=True)
    scores = ", ".join(f"{name} {score}" for name, score in parts)
    steps = "; ".join(f"{rule}: {name} {a} to {b}" for rule, name, a, b in event["steps"])
    after = f" ({steps})" if steps else ""
    return f"{t.name(event['agent'])} scores {event['total']}: {scores}{after}"


def _sparks(t: _Teller, event: Event) -> str:
    return (
        f"{t.name(event['agent'])} has {format_count(event['balance'], 'spark')} "
        f"({event['amount']:+d}, {event['why']})"
    )


def _leaderboard(t: _Teller, event: Event) -> str:
    rows = (f"{rank} {t.name(agent)} {rolling}" for rank, agent, rolling, _ in event["rows"])
    return f"leaderboard: {', '.join(rows)}"


def _bottomed(t: _Teller, event: Event) -> str:
    drawn = f", drawn among {t.listed(event['tied'])}" if event["tied"] else ""
    row = f"{event['streak']} in a row" if event["streak"] > 1 else "for the first time"
    return f"{t.name(event['agent'])} is last at table {event['table']}, {row}{drawn}"


def _faced(t: _Teller, event: Event) -> str:
    why = {
        EliminationCause.BOTTOMS: "it was last too often",
        EliminationCause.SPARKS: "it has no sparks",
    }
    return f"{t.name(event['agent'])} faces elimination: {why[event['cause']]}"


def _joined(t: _Teller, event: Event) -> str:
    inherits = event["inherits"]
    memory = "" if inherits is None else f" with the memory of {t.name(inherits)}"
    return f"{event['name']} joins{memory}"


def _interviewed(t: _Teller, event: Event) -> str:
    said = f"{_quoted(event['questions'])} {_quoted(event['answers'])}"
    return f"{t.name(event['agent'])} is interviewed: {said}"


def _terms(conditions: Any, target: Any, due: Any) -> str:
    return f"target {_quoted(target)} by assignment {_quoted(due)} for {_quoted(conditions)}"


def _offered(t: _Teller, event: Event) -> str:
    terms = _terms(event["conditions"], event["target"], event["due"])
    return f"{t.name(event['agent'])} offers a contract: {terms}"


def _reviewed(t: _Teller, event: Event) -> str:
    who = f"the contract of {t.name(event['agent'])}"
    if event["approved"] is True:
        return f"the user approves {who}"
    if event["terms"] is None:
        return f"the user refuses {who}"
    answer = _either(event["taken"], "which it takes", "which it leaves", "")
    return f"the user has other terms for {who}: {_quoted(event['terms'])}, {answer}"


def _kept(t: _Teller, event: Event) -> str:
    keeps = _either(event["kept"], "keeps", "does not keep", "says nothing of")
    return f"the user {keeps} the condition {_word(event['condition'])} of {t.name(event['agent'])}"


def _forked(t: _Teller, event: Event) -> str:
    parts = [f"{name} becomes {_quoted(value)}" for name, value in event["changes"].items()]
    if event["program"] is not None:
        named = {"program": "of the same name", **event["program"]}
        parts.append(f"another program tests: {_quoted(named['program'])}")
    if event["cast"] is not None:
        parts.append("another cast")
    parts += [
        f"what {t.name(agent)} said in assignment {assignment} is put in by hand"
        for assignment, agent in event["replaced"]
    ]
    return f"the season is forked off {event['parent'][:16]}: " + ("; ".join(parts) or "no change")


_WORDS: Final[Mapping[str, Callable[[_Teller, Event], str]]] = {
    "season_started": _started,
    "answered": _answered,
    "project_proposed": lambda t, e: (
        f"{t.name(e['by'])} proposes a project: {t.about(e['subject'])}"
    ),
    "project_reviewed": lambda t, e: (
        f"the user {'approves' if e['approved'] is True else 'refuses'} the project"
    ),
    "class_moved": _class_moved,
    "team_recommended": lambda t, e: f"therapist recommends the team {t.listed(e['team'])}",
    "assignment_opened": _opened,
    "table_set": _table_set,
    "tested": _tested,
    "tried": _tried,
    "roundtable_opened": _roundtable,
    "spoke": _spoke,
    "stood": _stood,
    "judged": _judged,
    "refused": _refused,
    "concluded": _concluded,
    "digested": _digested,
    "adopted": lambda t, e: (
        f"admin {'adopts' if e['adopted'] is True else 'does not adopt'} the conclusion"
    ),
    "debriefed": _debriefed,
    "trait_recorded": lambda t, e: f"therapist on {t.name(e['agent'])}: {_quoted(e['trait'])}",
    "persona_proposed": lambda t, e: (
        f"a persona for {t.name(e['agent'])}, {_taken(e)}: {_quoted(e['persona'])}"
    ),
    "skill_distilled": _skill,
    "instructions_rewritten": _rewritten,
    "rated": _rated,
    "scored": _scored,
    "sparks_moved": _sparks,
    "leaderboard_posted": _leaderboard,
    "bottomed": _bottomed,
    "elimination_faced": _faced,
    "fate_chosen": lambda t, e: f"{t.name(e['agent'])} chooses {_quoted(e['fate'])}",
    "relegated": lambda t, e: f"{t.name(e['agent'])} is benched",
    "returned": lambda t, e: f"{t.name(e['agent'])} returns in the place of {t.name(e['for'])}",
    "deleted": lambda t, e: f"{t.name(e['agent'])} is deleted",
    "joined": _joined,
    "interviewed": _interviewed,
    "contract_offered": _offered,
    "contract_reviewed": _reviewed,
    "contract_signed": lambda t, e: f"{t.name(e['agent'])} has a contract: {_terms(*e['terms'])}",
    "condition_kept": _kept,
    "contract_settled": lambda t, e: f"the contract of {t.name(e['agent'])} ends: {e['outcome']}",
    "reward_unlocked": lambda t, e: f"{t.name(e['agent'])} unlocks {e['reward']}",
    "stage_reached": lambda t, e: f"{t.name(e['agent'])} reaches stage {e['stage']}",
    "project_completed": lambda t, e: f"project {e['project']} is completed",
    "forked": _forked,
    "assignment_closed": lambda t, e: (
        f"assignment {e['assignment']} closes with digest {e['digest']}"
    ),
    "season_ended": lambda t, e: f"the season ends with assignment {e['assignment']}",
}
