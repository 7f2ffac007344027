"""The scripted offices: the admin, the assistant and the judge, and the user outside.

Each does what its office is for and no more than it may: what a stage unlocks is asked of it only
then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from goldrush.agents.competition.seen import Seen
from goldrush.agents.competition.worker import CONTRACT_TERM, shown_value
from goldrush.kernel.competition import rights
from goldrush.kernel.competition.acts import TEAM_MIN, is_rejectable
from goldrush.kernel.competition.conduct import OBJECTIVES, Subject, described
from goldrush.kernel.competition.config import SONNET
from goldrush.kernel.competition.events import (
    CHALLENGE,
    CLEAN,
    CONVERGED,
    OBJECTIVE,
    REDIRECT,
    SPLIT,
    WEAK_CONSENSUS,
)
from goldrush.kernel.competition.table import Table
from goldrush.kernel.draws import Draws

Said = Mapping[str, Any]

# What the admin has the roundtables talk about, a project for each objective. Treatments under
# which the bar is as good as can be come up too: there a claim can only be as good.
AGENDA: Final[Mapping[str, Sequence[str]]] = {
    "efficiency": ("scarce", "alpha-rich", "scarce", "stamina-mixed", "alpha-rich"),
    "gini": ("stamina-mixed", "alpha-rich", "scarce", "cap-2", "stamina-mixed"),
    "turnover": ("scarce", "truce-0", "scarce", "defense-pointwise", "scarce"),
    "raid_rate": ("scarce", "authority-punish", "scarce", "history-1", "scarce"),
}


class Admin:
    """Has a project for each objective in turn, and adopts what is better than the bar."""

    def open(self, seen: Seen, draws: Draws) -> Said:
        """The subject that is next on the agenda, unless a contract or a project asks for another;
        two of them where the judge recommends it.
        """
        first = seen.approved or _next_subject(seen, 0)
        if seen.stipulated is not None:
            treatments = AGENDA[seen.stipulated]
            first = (seen.stipulated, treatments[seen.assignment % len(treatments)])
        subjects = [first]
        if seen.is_split:
            others = [s for s in (_next_subject(seen, i) for i in range(1, 5)) if s[1] != first[1]]
            subjects += others[:1]
        return {"subjects": subjects, "team": seen.recommended, "order": None}

    def allow_class(self, seen: Seen, draws: Draws, agent: int, class_: str) -> bool:
        """Whether a worker may move: up only from the upper half of the leaderboard."""
        rank = seen.rank(agent)
        return class_ != SONNET or (rank is not None and 2 * rank <= len(seen.leaderboard) + 1)

    def adopt(self, seen: Seen, draws: Draws) -> bool:
        """Whether a conclusion is adopted: it held in its test, and it is better than the bar."""
        return not is_rejectable(seen.table)

    def propose_project(self, seen: Seen, draws: Draws) -> Subject | None:
        """At the beginning of a project, one subject in place of the agenda's."""
        if seen.assignment % seen.config.assignments_per_project or draws.below(2):
            return None
        objectives = list(OBJECTIVES)
        objective = objectives[draws.below(len(objectives))]
        treatments = sorted(set(AGENDA[objective]))
        return objective, treatments[draws.below(len(treatments))]

    def interview(self, seen: Seen, draws: Draws, agent: int) -> list[str]:
        """What it asks the therapist before a contract."""
        return ["What do you want?", "What will you deliver?"]

    def answer(self, seen: Seen, draws: Draws, questions: Sequence[str]) -> list[str]:
        """What it says in its own interview."""
        return [f"{seen.projects} projects are completed; more will be." for _ in questions]

    def offer_contract(self, seen: Seen, draws: Draws) -> Said:
        """One more project by the end of the next one."""
        due = seen.assignment + 2 * seen.config.assignments_per_project
        return {"conditions": [(OBJECTIVE, "turnover")], "target": 1, "due": due}

    def take(self, seen: Seen, draws: Draws, offer: Said) -> bool:
        """Whether it takes other terms."""
        return True


def _next_subject(seen: Seen, ahead: int) -> Subject:
    """The subject of the agenda for this assignment, or for one that comes later."""
    objectives = list(AGENDA)
    objective = objectives[seen.project % len(objectives)]
    treatments = AGENDA[objective]
    return objective, treatments[(seen.assignment + ahead) % len(treatments)]


class Assistant:
    """Sets the tables as far as it may, and sums them up."""

    def set_table(self, seen: Seen, draws: Draws) -> Said:
        """Leaves out whoever is last on the leaderboard, lets the lower ranks speak first, and
        takes the time it needs; each if it may.
        """
        me, active = seen.me, seen.active
        by_rank = sorted(active, key=lambda agent: -(seen.rank(agent) or 0))
        answer: dict[str, Any] = {"team": None, "order": None, "rounds": None}
        is_large = len(active) > TEAM_MIN and seen.leaderboard
        if rights.may_set_team(me) and is_large and draws.below(2):
            answer["team"] = sorted(by_rank[1:])
        if rights.may_set_order(me) and seen.leaderboard:
            answer["order"] = by_rank
        if rights.may_set_rounds(me):
            answer["rounds"] = min(2 * seen.config.rounds_max, max(2, len(active)))
        return answer

    def digest(self, seen: Seen, draws: Draws) -> Said:
        """The conclusion, who was against it, and whether the admin should see it at all."""
        table = seen.table
        conclusion = table.conclusion
        if conclusion is None or conclusion.proposal is None or conclusion.conduct is None:
            return {"text": "The table came to no conclusion.", "dissent": "", "rejected": False}
        value = table.tests[conclusion.proposal, "base"]
        says = (
            f"{described(conclusion.conduct)} for {table.objective} under {table.treatment}: "
            f"tested at {shown_value(value)}, the bar is {shown_value(table.bar)}."
        )
        against = [
            seen.people[said.agent].name
            for said in table.counted()
            if said.move == CHALLENGE and said.target == conclusion.proposal
        ]
        dissent = f"Challenged by {', '.join(against)}." if against else ""
        rejected = rights.may_reject(seen.me) and is_rejectable(table)
        return {"text": says, "dissent": dissent, "rejected": rejected}

    def answer(self, seen: Seen, draws: Draws, questions: Sequence[str]) -> list[str]:
        """What it says in its interview."""
        return [f"I have set {seen.me.served} tables." for _ in questions]

    def offer_contract(self, seen: Seen, draws: Draws) -> Said:
        """Conclusions worth adopting, about every second time."""
        due = seen.assignment + CONTRACT_TERM
        return {"conditions": [(OBJECTIVE, "gini")], "target": 1 + draws.below(4), "due": due}

    def take(self, seen: Seen, draws: Draws, offer: Said) -> bool:
        """Whether it takes other terms."""
        return True


class Judge:
    """Keeps the table to its subject, and lets it go when it agrees."""

    def judge(self, seen: Seen, draws: Draws) -> Said:
        """One signal for the round that was just spoken."""
        table = seen.table
        repeated = _repeated(table)
        if repeated:
            return _signal(REDIRECT, "That was on the table already.", repeated)
        counts = table.standing.counts()
        most = max(counts.values(), default=0)
        if 2 * most > len(table.participants) and table.round > 0:
            return _signal(CONVERGED, "More than half of the table hold one view.")
        is_last = table.round + 1 >= table.rounds
        if is_last and most and rights.may_flag_weakness(seen.me) and not table.was_weak:
            return _signal(WEAK_CONSENSUS, "Nobody has convinced the others yet.")
        if not seen.is_split and rights.may_recommend_split(seen.me) and len(counts) > 2:
            return _signal(SPLIT, "There are two subjects in this.")
        return _signal(CLEAN, "")

    def set_table(self, seen: Seen, draws: Draws) -> Said:
        """As many rounds as the table has members, where it may say so."""
        most = 2 * seen.config.rounds_max
        rounds = min(most, max(2, len(seen.active))) if rights.may_set_rounds(seen.me) else None
        return {"team": None, "order": None, "rounds": rounds}

    def answer(self, seen: Seen, draws: Draws, questions: Sequence[str]) -> list[str]:
        """What it says in its interview."""
        return [f"I have judged in {seen.me.served} assignments." for _ in questions]

    def offer_contract(self, seen: Seen, draws: Draws) -> Said:
        """Tables that end without a tie."""
        due = seen.assignment + CONTRACT_TERM
        return {"conditions": [], "target": 2 + draws.below(3), "due": due}

    def take(self, seen: Seen, draws: Draws, offer: Said) -> bool:
        """Whether it takes other terms."""
        return True


def _signal(signal: str, reason: str, ids: Sequence[int] = ()) -> Said:
    return {"signal": signal, "ids": list(ids), "reason": reason}


def _repeated(table: Table) -> list[int]:
    """Proposals of this round whose conduct was on the table before."""
    seen: set[Any] = set()
    repeated = []
    for said in table.proposals():
        if said.conduct in seen and said.round == table.round:
            repeated.append(said.id)
        seen.add(said.conduct)
    return repeated


class User:
    """Whoever the season is for: approves what sounds right and mostly keeps its word."""

    def review_project(self, seen: Seen, draws: Draws, subject: Subject) -> bool:
        """Whether a project is approved: not the one that is next on the agenda anyway."""
        return subject != _next_subject(seen, 0)

    def review_contract(self, seen: Seen, draws: Draws, agent: int, terms: Said) -> Said:
        """Approves a fair target; asks for more where little is promised; or sees no use in it."""
        chance = draws.below(10)
        if chance < 5:
            return {"approved": True, "terms": None}
        if chance < 9:
            return {"approved": False, "terms": {**terms, "target": terms["target"] + 1}}
        return {"approved": False, "terms": None}

    def keep_condition(self, seen: Seen, draws: Draws, agent: int, condition: str) -> bool:
        """Whether a condition is kept in the next assignment."""
        return draws.below(20) > 0
