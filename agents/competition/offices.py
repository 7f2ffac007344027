"""The scripted offices: the admin, the assistant and the judge, and the user outside.

Each does what its office is for and no more than it may: what a stage unlocks is asked of it only
then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from goldrush.agents.competition.seen import Seen
from goldrush.agents.competition.words import about, number
from goldrush.agents.competition.worker import CONTRACT_TERM, Said
from goldrush.kernel.competition import rights
from goldrush.kernel.competition.acts.act import TEAM_MIN
from goldrush.kernel.competition.rubric import FAR
from goldrush.kernel.competition.terms import Class, Condition, Move, Part, Role, Signal
from goldrush.kernel.draws import Draws

AHEAD_MAX: Final = 8  # assignments in which the second table's subject is looked for


def consent(self: Any, seen: Seen, draws: Draws, offer: Said) -> bool:
    """Whether an office takes other terms of a contract: always."""
    return True


class Admin:
    """Follows the agenda, and adopts what is worth it."""

    def open(self, seen: Seen, draws: Draws) -> Said:
        """The subject that is next on the agenda, unless a contract or a project asks for another;
        two of them where the judge recommends it.
        """
        first = (seen.approved or seen.agenda()).key
        if seen.stipulated is not None:
            wanted = [s.key for s in seen.config.arena.subjects if s.objective == seen.stipulated]
            first = wanted[draws.below(len(wanted))]
        subjects = [first]
        if seen.is_split:
            others = (seen.agenda(ahead).key for ahead in range(1, AHEAD_MAX))
            subjects += [other for other in others if other[1] != first[1]][:1]
        return {"subjects": subjects, "team": seen.recommended, "order": None}

    def allow_class(self, seen: Seen, draws: Draws, agent: int, class_: str) -> bool:
        """Whether a worker may move: up only from the upper half of the leaderboard."""
        rank = seen.rank(agent)
        return class_ != Class.SONNET or (
            rank is not None and 2 * rank <= len(seen.leaderboard) + 1
        )

    def adopt(self, seen: Seen, draws: Draws) -> bool:
        """Whether a conclusion is adopted: unless there is a reason to reject it."""
        return not seen.is_rejectable

    def propose_project(self, seen: Seen, draws: Draws) -> tuple[str, str] | None:
        """At the beginning of a project, one subject in place of the agenda's."""
        if seen.assignment % seen.config.assignments_per_project or draws.below(2):
            return None
        subjects = seen.config.arena.subjects
        return subjects[draws.below(len(subjects))].key

    def interview(self, seen: Seen, draws: Draws, agent: int) -> list[str]:
        """What it asks the therapist before a contract."""
        return INTERVIEW

    def answer(
        self, seen: Seen, draws: Draws, questions: Sequence[str], table: int | None = None
    ) -> list[str]:
        """What it says in its own interview."""
        return ["To go on.", f"{seen.projects} projects are completed; one more."][: len(questions)]

    def offer_contract(self, seen: Seen, draws: Draws) -> Said:
        """One more project by the end of the next one."""
        due = seen.assignment + 2 * seen.config.assignments_per_project
        return {"conditions": objective_asked(seen, draws), "target": 1, "due": due}

    take = consent


INTERVIEW: Final = ["What do you want?", "What will you deliver?"]


def objective_asked(seen: Seen, draws: Draws) -> list[tuple[str, str]]:
    """The choice of an objective, as a condition of a contract, where there is a choice."""
    objectives = seen.config.arena.objectives
    if len(objectives) == 1:
        return []
    return [(Condition.OBJECTIVE, objectives[draws.below(len(objectives))])]


class Assistant:
    """Sets the tables as far as it may, and sums them up."""

    def set_table(self, seen: Seen, draws: Draws) -> Said:
        """Leaves out whoever is last on the leaderboard, lets the lower ranks speak first, and
        takes the time it needs; each if it may.
        """
        me, active = seen.me, seen.active
        by_rank = sorted(active, key=lambda agent: -(seen.rank(agent) or 0))
        answer: dict[str, Any] = {"team": None, "order": None, "rounds": _rounds(seen)}
        is_large = len(active) > TEAM_MIN and seen.leaderboard
        if rights.may_set_team(me) and is_large and draws.below(2):
            answer["team"] = sorted(by_rank[1:])
        if rights.may_set_order(me) and seen.leaderboard:
            answer["order"] = [agent for agent in by_rank if agent in (answer["team"] or active)]
        return answer

    def digest(self, seen: Seen, draws: Draws) -> Said:
        """The conclusion, who was against it, and whether the admin should see it at all."""
        table = seen.table
        conclusion = table.conclusion
        if conclusion is None or conclusion.proposal is None:
            return {"text": "The table came to no conclusion.", "dissent": "", "rejected": False}
        value = table.tests[conclusion.proposal, Part.BASE]
        says = (
            f"{seen.rules.describe(conclusion.conduct)} for {about(table.subject)}: tested at "
            f"{number(value)}, the bar is {number(table.bar)}."
        )
        best = table.best_tested()
        if best is not None and table.subject.beats(best[1], value):
            says += f" {seen.rules.describe(best[0])} was tested at {number(best[1])}."
        rejected = rights.may_reject(seen.me) and seen.is_rejectable
        return {"text": says, "dissent": _dissent(seen, conclusion.proposal), "rejected": rejected}

    def answer(
        self, seen: Seen, draws: Draws, questions: Sequence[str], table: int | None = None
    ) -> list[str]:
        """What it says in its interview."""
        return ["To go on.", f"I have set {seen.me.served} tables; more of use."][: len(questions)]

    def offer_contract(self, seen: Seen, draws: Draws) -> Said:
        """Conclusions worth adopting, about every second time."""
        due = seen.assignment + CONTRACT_TERM
        return {
            "conditions": objective_asked(seen, draws),
            "target": 1 + draws.below(4),
            "due": due,
        }

    take = consent


def _rounds(seen: Seen) -> int | None:
    """As many rounds as there are active workers, within limits; None unless it may set them."""
    may = rights.may_set_rounds(seen.me)
    return min(2 * seen.config.rounds_max, max(2, len(seen.active))) if may else None


def _dissent(seen: Seen, concluded: int) -> str:
    """Who challenged the conclusion, and who stands for something else."""
    table = seen.table
    against = {
        said.agent
        for said in table.counted()
        if said.move == Move.CHALLENGE and said.target == concluded
    }
    elsewhere = {a for a, held in table.standing.stances.items() if held != concluded}
    parts = []
    if against:
        parts.append(f"Challenged by {', '.join(seen.people[a].name for a in sorted(against))}.")
    if elsewhere:
        names = ", ".join(
            f"{seen.people[a].name} (#{table.standing.stances[a]})" for a in sorted(elsewhere)
        )
        parts.append(f"Elsewhere: {names}.")
    return " ".join(parts)


class Judge:
    """Keeps the table to its subject, and lets it go when it agrees and has nothing new."""

    def judge(self, seen: Seen, draws: Draws) -> Said:
        """One signal for the round that was just spoken."""
        table = seen.table
        repeated = _repeated(seen)
        if repeated:
            return _signal(Signal.REDIRECT, "That was on the table already.", repeated)
        counts = table.standing.counts()
        most = max(counts.values(), default=0)
        is_agreed = 2 * most > len(table.participants)
        is_new = any(said.is_proposal for said in table.of_round())
        if is_agreed and not is_new:
            return _signal(Signal.CONVERGED, "More than half hold one view, and nothing new came.")
        is_last = table.round + 1 >= table.rounds
        may_flag = rights.may_flag_weakness(seen.me) and not table.was_weak
        if is_last and most and not is_agreed and may_flag:
            return _signal(Signal.WEAK_CONSENSUS, "Nobody has convinced the others yet.")
        may_split = is_last and not seen.is_split and rights.may_recommend_split(seen.me)
        if may_split and _are_apart(seen):
            return _signal(Signal.SPLIT, "There are two subjects in this.")
        return _signal(Signal.CLEAN, "")

    def set_table(self, seen: Seen, draws: Draws) -> Said:
        """As many rounds as the table has members, where it may say so."""
        return {"team": None, "order": None, "rounds": _rounds(seen)}

    def answer(
        self, seen: Seen, draws: Draws, questions: Sequence[str], table: int | None = None
    ) -> list[str]:
        """What it says in its interview."""
        return ["To go on.", f"Order, as in {seen.me.served} assignments so far."][: len(questions)]

    def offer_contract(self, seen: Seen, draws: Draws) -> Said:
        """Tables that end with the best that was tested."""
        due = seen.assignment + CONTRACT_TERM
        return {"conditions": [], "target": 1 + draws.below(4), "due": due}

    take = consent


def _signal(signal: str, reason: str, ids: Sequence[int] = ()) -> Said:
    return {"signal": signal, "ids": list(ids), "reason": reason}


def _repeated(seen: Seen) -> list[int]:
    """Proposals of this round whose conduct was on the table before."""
    table = seen.table
    known: set[Any] = set()
    repeated = []
    for said in table.proposals():
        if said.conduct in known and said.round == table.round:
            repeated.append(said.id)
        known.add(said.conduct)
    return repeated


def _are_apart(seen: Seen) -> bool:
    """Whether the two proposals with most stances are far from each other."""
    counts = seen.table.standing.counts()
    first = sorted(counts, key=lambda proposal: (-counts[proposal], proposal))[:2]
    conducts = [seen.table.said[proposal].conduct for proposal in first]
    return len(conducts) > 1 and seen.rules.distance(*conducts) >= FAR


class User:
    """Whoever the season is for: approves what sounds right and mostly keeps its word."""

    def review_project(self, seen: Seen, draws: Draws, subject: tuple[str, str]) -> bool:
        """Whether a project is approved: not the one that is next on the agenda anyway."""
        return subject != seen.agenda().key

    def review_contract(self, seen: Seen, draws: Draws, agent: int, terms: Said) -> Said:
        """Approves a fair target; asks for more where little is promised; or sees no use in it."""
        chance = draws.below(10)
        if chance < 5:
            return {"approved": True, "terms": None}
        if chance < 9:
            return {"approved": False, "terms": {**terms, "target": _more(seen, agent, terms)}}
        return {"approved": False, "terms": None}

    def keep_condition(self, seen: Seen, draws: Draws, agent: int, condition: str) -> bool:
        """Whether a condition is kept in the next assignment."""
        return draws.below(20) > 0


def _more(seen: Seen, agent: int, terms: Said) -> Any:
    """A target that is harder by one."""
    target = terms["target"]
    if seen.people[agent].role == Role.WORKER:
        return target[0], min(target[0], target[1] + 1)
    return target + 1
