"""The events of a season in words, a line each.

Text that came from agents is quoted and escaped: it is data, and may have been written by a model.
Agents have the names that the journal gives them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from goldrush.kernel import fold
from goldrush.kernel.competition import COMPETITION
from goldrush.kernel.competition.conduct import OBJECTIVES, aimed, described, is_conduct_shaped
from goldrush.kernel.competition.events import DIMENSIONS, JOINED
from goldrush.kernel.errors import JournalError
from goldrush.kernel.journal import START, JournalReader
from goldrush.kernel.world import Event

Names = Mapping[int, str]

ANSWER_SHOWN: Final = 500  # characters of what a model wrote; --json has all
_NAME = re.compile(r"[a-z0-9_-]{1,40}", re.ASCII)  # of policies, treatments, signals


def names_in(path: str | Path) -> dict[int, str]:
    """The names of everybody who was ever in a season, by ordinal.

    Of a broken journal those up to where it breaks.
    """
    names: dict[int, str] = {}
    try:
        with JournalReader(path) as reader:
            for commit in reader:
                if commit.kind == START:
                    state = fold.start(COMPETITION, reader, commit)
                    names.update((agent.ordinal, agent.name) for agent in state.agents.values())
                for block in commit.blocks[1::2]:
                    names.update((row[0], row[1]) for row in block.rows(JOINED))
    except (JournalError, *fold.REFUSED):
        pass  # whoever reads the events will meet it
    return names


def story(events: Iterable[Event], names: Names | None = None) -> Iterator[str]:
    """The events in order, in words."""
    teller = _Teller(names or {})
    for event in events:
        yield teller.tell(event)


def chronicle(
    events: Iterable[Event], names: Names | None = None
) -> Iterator[tuple[int, int, str]]:
    """The events in words: (assignment, assignment, what happened)."""
    teller = _Teller(names or {})
    for event in events:
        yield event.unit, event.unit, teller.tell(event)


class _Teller:
    """Tells events; what it is to call agents it is given."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def tell(self, event: Event) -> str:
        """One event in words; an event that this page does not know as JSON."""
        words = _WORDS.get(event.name)
        return words(self, event) if words else json.dumps(event.as_dict())

    def name(self, agent: Any) -> str:
        """What an agent is called."""
        known = self._names.get(agent) if type(agent) is int else None
        return known or f"agent {_quoted(agent)}"

    def listed(self, agents: Sequence[int]) -> str:
        """Several agents."""
        return ", ".join(map(self.name, agents)) or "nobody"


def _quoted(value: Any) -> str:
    return json.dumps(value)


def _word(value: Any) -> str:
    """A name as it is; anything else that stands in the place of one quoted."""
    is_name = isinstance(value, str) and _NAME.fullmatch(value) is not None
    return value if is_name else _quoted(value)


def _conduct(value: Any) -> str:
    conduct = tuple(value) if isinstance(value, list) else value
    is_one = is_conduct_shaped(conduct) and all(
        name is None or _NAME.fullmatch(name) for name in (*conduct[:2], conduct[3])
    )
    return described(conduct) if is_one else _quoted(value)


def _started(t: _Teller, event: Event) -> str:
    config = event["config"]
    return (
        f"a season of the {event['world']} world starts (rules {event['rules']}): "
        f"{config['assignments']} assignments, {config['workers']} workers, seed {config['seed']}"
    )


def _answered(t: _Teller, event: Event) -> str:
    answer = event["answer"]
    shown = answer if len(answer) <= ANSWER_SHOWN else answer[:ANSWER_SHOWN] + "..."
    return f"{t.name(event['who'])} was asked to {_word(event['asked'])}: {_quoted(shown)}"


def _subject(value: Any) -> str:
    if isinstance(value, list) and len(value) == 2:
        is_known = isinstance(value[0], str) and value[0] in OBJECTIVES
        objective = aimed(value[0]) if is_known else _word(value[0])
        return f"{objective} under {_word(value[1])}"
    return _quoted(value)


def _opened(t: _Teller, event: Event) -> str:
    subjects = event["subjects"]
    about = _quoted(subjects)
    if isinstance(subjects, list):
        about = " and ".join(map(_subject, subjects))
    place = f"day {event['day']}, project {event['project']}"
    directed = f", with the directive {_quoted(event['directive'])}" if event["directive"] else ""
    return f"{t.name(event['by'])} opens the assignment ({place}): {about}{directed}"


def _class_moved(t: _Teller, event: Event) -> str:
    asked = ("and the admin allows it", "and the admin does not allow it", "without asking")
    how = _either(event["allowed"], *asked)
    return f"{t.name(event['agent'])} wants to run as {_word(event['class'])}, {how}"


def _table_set(t: _Teller, event: Event) -> str:
    parts = []
    if event["team"] is not None:
        parts.append(f"team {_agents(t, event['team'])}")
    if event["order"] is not None:
        parts.append(f"order {_agents(t, event['order'])}")
    if event["rounds"] is not None:
        parts.append(f"up to {_quoted(event['rounds'])} rounds")
    return f"{t.name(event['by'])} sets the table: {'; '.join(parts) or 'as it is'}"


def _agents(t: _Teller, value: Any) -> str:
    return t.listed(value) if isinstance(value, list) else _quoted(value)


def _tested(t: _Teller, event: Event) -> str:
    value = "undefined" if event["value"] is None else f"{event['value']:.6g}"
    runs = f"{len(event['runs'])} run{'' if len(event['runs']) == 1 else 's'}"
    how = f"{_conduct(event['conduct'])} under {_word(event['treatment'])}, {runs}"
    if event["at"] is None:
        return f"the bar is {value} ({how})"
    return f"tested: {event['part']} of #{event['at']} is {value} ({how})"


def _roundtable(t: _Teller, event: Event) -> str:
    drawn = ", as drawn" if event["words"] else ""
    return (
        f"table {event['table']} opens for up to {event['rounds']} rounds; "
        f"they speak in the order {t.listed(event['order'])}{drawn}"
    )


def _spoke(t: _Teller, event: Event) -> str:
    who, move = f"#{event['id']} {t.name(event['agent'])}", event["move"]
    at = "" if event["target"] is None else f" #{_quoted(event['target'])}"
    if move == "propose":
        says = f"proposes {_conduct(event['conduct'])}, claims {_claim(event['claim'])}"
    elif move == "amend":
        says = f"amends{at} to {_conduct(event['conduct'])}, claims {_claim(event['claim'])}"
    elif move == "challenge":
        says = f"challenges the {_word(event['part'])} of{at}"
    elif move == "support":
        says = f"supports{at}"
    elif move == "pass":
        says = "passes"
    else:
        says = f"does {_quoted(move)}"
    words = f": {_quoted(event['words'])}" if event["words"] else ""
    return f"{who} {says}{words}"


def _claim(value: Any) -> str:
    if not isinstance(value, list) or len(value) != 2:
        return _quoted(value)
    claimed, edge = value
    return _quoted(claimed) + ("" if edge is None else f", also under {_word(edge)}")


def _judged(t: _Teller, event: Event) -> str:
    ids = event["ids"] if isinstance(event["ids"], list) else []
    at = ", ".join(f"#{_quoted(i)}" for i in ids)
    reason = f": {_quoted(event['reason'])}" if event["reason"] else ""
    return (
        f"judge, round {event['round']}: {_word(event['signal'])}{f' {at}' if at else ''}{reason}"
    )


def _refused(t: _Teller, event: Event) -> str:
    return f"refused: the act of {t.name(event['who'])} ({event['act']['event']}), {event['code']}"


def _concluded(t: _Teller, event: Event) -> str:
    if event["proposal"] is None:
        return f"table {event['table']} comes to no conclusion"
    stances: dict[int, list[int]] = {}
    for agent, proposal in event["stances"]:
        stances.setdefault(proposal, []).append(agent)
    held = "; ".join(f"#{at} {t.listed(agents)}" for at, agents in sorted(stances.items()))
    tied = ", ".join(f"#{at}" for at in event["tied"])
    drawn = f", drawn among {tied}" if tied else ""
    return (
        f"table {event['table']} concludes on #{event['proposal']}, "
        f"{_conduct(event['conduct'])}{drawn}; stances: {held}"
    )


def _digested(t: _Teller, event: Event) -> str:
    dissent = f"; dissent: {_quoted(event['dissent'])}" if event["dissent"] else ""
    rejects = "; it rejects the conclusion" if event["rejected"] is True else ""
    return f"assistant: {_quoted(event['text'])}{dissent}{rejects}"


def _debriefed(t: _Teller, event: Event) -> str:
    questions, answers = event["questions"], event["answers"]
    extra = "once more " if event["extra"] else ""
    said = [_quoted(questions), _quoted(answers)]
    if isinstance(questions, list) and isinstance(answers, list) and len(questions) == len(answers):
        said = [f"{_quoted(q)} {_quoted(a)}" for q, a in zip(questions, answers, strict=True)]
    return f"therapist debriefs {t.name(event['agent'])} {extra}- {' '.join(said)}"


def _taken(event: Event) -> str:
    return _either(event["taken"], "taken", "left", "without asking")


def _either(said: Any, yes: str, no: str, other: str) -> str:
    """What somebody said to a question: yes, no, or anything else, of whatever form."""
    return yes if said is True else no if said is False else other


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
        f"{t.name(event['agent'])} has {event['balance']} sparks "
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
    why = {"bottoms": "it was last too often", "sparks": "it has no sparks"}[event["cause"]]
    return f"{t.name(event['agent'])} faces elimination: {why}"


def _joined(t: _Teller, event: Event) -> str:
    inherits = event["inherits"]
    memory = "" if inherits is None else f" with the memory of {t.name(inherits)}"
    return f"{event['name']} joins{memory}"


def _interviewed(t: _Teller, event: Event) -> str:
    return f"{t.name(event['agent'])} is interviewed: {_quoted(event['answers'])}"


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


def _signed(t: _Teller, event: Event) -> str:
    terms = _terms(*event["terms"])
    return f"{t.name(event['agent'])} has a contract: {terms}"


def _kept(t: _Teller, event: Event) -> str:
    keeps = _either(event["kept"], "keeps", "does not keep", "says nothing of")
    return f"the user {keeps} the condition {_word(event['condition'])} of {t.name(event['agent'])}"


def _settled(t: _Teller, event: Event) -> str:
    return f"the contract of {t.name(event['agent'])} ends: {event['outcome']}"


def _forked(t: _Teller, event: Event) -> str:
    parts = [f"{name} becomes {_quoted(value)}" for name, value in event["changes"].items()]
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
        f"{t.name(e['by'])} proposes a project: {_subject(e['subject'])}"
    ),
    "project_reviewed": lambda t, e: (
        f"the user {'approves' if e['approved'] is True else 'refuses'} the project"
    ),
    "class_moved": _class_moved,
    "team_recommended": lambda t, e: f"therapist recommends the team {_agents(t, e['team'])}",
    "assignment_opened": _opened,
    "table_set": _table_set,
    "tested": _tested,
    "roundtable_opened": _roundtable,
    "spoke": _spoke,
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
    "skill_distilled": lambda t, e: (
        f"a skill for {t.name(e['agent'])}, {_taken(e)}: {_quoted(e['skill'])}"
    ),
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
    "contract_signed": _signed,
    "condition_kept": _kept,
    "contract_settled": _settled,
    "reward_unlocked": lambda t, e: f"{t.name(e['agent'])} unlocks {e['reward']}",
    "stage_reached": lambda t, e: f"{t.name(e['agent'])} reaches stage {e['stage']}",
    "project_completed": lambda t, e: f"project {e['project']} is completed",
    "forked": _forked,
    "assignment_closed": lambda t, e: (
        f"assignment {e['assignment']} closes with digest {e['digest']}"
    ),
    "season_ended": lambda t, e: f"the season ends with assignment {e['assignment']}",
}
