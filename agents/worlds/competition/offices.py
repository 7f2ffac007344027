"""The scripted admin, assistant and judge, and the user.

Each uses the rights that its stage has unlocked, and no others. Methods answer the questions of the
same name (agents/worlds/competition/questions/).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from goldrush.agents.worlds.competition.formats import format_number, format_subject
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.sentences import speech
from goldrush.agents.worlds.competition.worker import Answer, offered
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.competition import rights
from goldrush.kernel.worlds.competition.acts.act import TEAM_MIN
from goldrush.kernel.worlds.competition.phases import is_over
from goldrush.kernel.worlds.competition.rubric import FAR
from goldrush.kernel.worlds.competition.terms import Class, Condition, Move, Role, Signal

AHEAD_MAX: Final = 8  # assignments of the agenda that are searched for a second table's subject


def consent(self: Any, seen: SeasonObservation, draws: Draws, offer: Answer) -> bool:
    """Whether an office takes other terms of a contract: always."""
    return True


def interview(self: object, seen: SeasonObservation, draws: Draws, agent: int) -> list[str]:
    """The questions of an office before a contract."""
    return [speech("interview_wish"), speech("interview_offer")]


def interviewed(
    self: object,
    seen: SeasonObservation,
    draws: Draws,
    questions: Sequence[str],
    table: int | None = None,
) -> list[str]:
    """The answers of an office in its own interview."""
    offer = speech(f"offer_{seen.me.role}", seen.me, projects=seen.projects)
    return [speech("wish"), offer][: len(questions)]


class Admin:
    """Follows the agenda, and adopts conclusions that may not be rejected."""

    def open(self, seen: SeasonObservation, draws: Draws) -> Answer:
        """Opens with the next subject of the agenda, or the one that a contract or a project asks
        for; with two if the judge recommended a split.
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

    def allow_class(self, seen: SeasonObservation, draws: Draws, agent: int, class_: str) -> bool:
        """Allows sonnet only to the upper half of the leaderboard, haiku to everybody."""
        rank = seen.rank(agent)
        return class_ != Class.SONNET or (
            rank is not None and 2 * rank <= len(seen.leaderboard) + 1
        )

    def adopt(self, seen: SeasonObservation, draws: Draws) -> bool:
        """Adopts a conclusion unless it is rejectable."""
        return not seen.is_rejectable

    def propose_project(self, seen: SeasonObservation, draws: Draws) -> tuple[str, str] | None:
        """At the beginning of every second project, by chance, proposes a drawn subject."""
        if seen.assignment % seen.config.assignments_per_project or draws.below(2):
            return None
        subjects = seen.config.arena.subjects
        return subjects[draws.below(len(subjects))].key

    def offer_contract(self, seen: SeasonObservation, draws: Draws) -> Answer:
        """Offers one more project by the end of the next one."""
        term = 2 * seen.config.assignments_per_project
        return offered(seen, objective_asked(seen, draws), 1, term)

    take, answer, interview = consent, interviewed, interview


def objective_asked(seen: SeasonObservation, draws: Draws) -> list[tuple[str, str]]:
    """A drawn objective as a condition of a contract; none if the arena has only one."""
    objectives = seen.config.arena.objectives
    if len(objectives) == 1:
        return []
    return [(Condition.OBJECTIVE, objectives[draws.below(len(objectives))])]


class Assistant:
    """Sets tables as far as it may, and sums them up."""

    def set_table(self, seen: SeasonObservation, draws: Draws) -> Answer:
        """A table without the lowest rank every second time, newcomers first, one round for each
        active worker; each of these if it may. The order of the others is drawn: early speakers
        score more, so an order by rank would even out the ranks.
        """
        me, active = seen.me, seen.active
        answer: dict[str, Any] = {"team": None, "order": None, "rounds": _rounds(seen)}
        is_large = len(active) > TEAM_MIN and seen.leaderboard
        if rights.may_set_team(me) and is_large and draws.below(2):
            last = max(active, key=lambda agent: seen.rank(agent) or 0)
            answer["team"] = [agent for agent in active if agent != last]
        if rights.may_set_order(me):
            answer["order"] = _newcomers_first(seen, answer["team"] or active, draws)
        return answer

    def digest(self, seen: SeasonObservation, draws: Draws) -> Answer:
        """Sums up the conclusion and the dissent; rejects the conclusion if it may."""
        table, chosen = seen.table, seen.table.chosen
        if chosen is None:
            return {"text": speech("digest_none"), "dissent": "", "rejected": False}
        value = table.base_value(chosen)
        text = speech(
            "digest",
            conduct=seen.rules.describe(chosen.conduct),
            subject=format_subject(table.subject),
            value=format_number(value),
            bar=format_number(table.bar),
        )
        best = table.best_tested()
        if best is not None and table.subject.beats(best[1], value):
            conduct = seen.rules.describe(best[0])
            text += speech("digest_best", conduct=conduct, value=format_number(best[1]))
        rejected = rights.may_reject(seen.me) and seen.is_rejectable
        return {"text": text, "dissent": _dissent(seen, chosen.id), "rejected": rejected}

    def offer_contract(self, seen: SeasonObservation, draws: Draws) -> Answer:
        """Offers a drawn number of adopted conclusions, 1 to 4 in CONTRACT_TERM assignments."""
        return offered(seen, objective_asked(seen, draws), 1 + draws.below(4))

    take, answer = consent, interviewed


def _rounds(seen: SeasonObservation) -> int | None:
    """As many rounds as there are active workers, within limits; None unless it may set them."""
    may = rights.may_set_rounds(seen.me)
    return min(2 * seen.config.rounds_max, max(2, len(seen.active))) if may else None


def _dissent(seen: SeasonObservation, concluded: int) -> str:
    """The agents that challenged the conclusion or hold another proposal, as text."""
    table = seen.table
    against = {
        contribution.agent
        for contribution in table.counted()
        if contribution.move == Move.CHALLENGE and contribution.target == concluded
    }
    elsewhere = {a for a, held in table.stances.by_agent.items() if held != concluded}
    parts = []
    if against:
        names = ", ".join(seen.people[agent].name for agent in sorted(against))
        parts.append(speech("dissent_challenged", names=names))
    if elsewhere:
        names = ", ".join(
            f"{seen.people[a].name} (#{table.stances.by_agent[a]})" for a in sorted(elsewhere)
        )
        parts.append(speech("dissent_elsewhere", names=names))
    return " ".join(parts)


def _newcomers_first(
    seen: SeasonObservation, team: Sequence[int], draws: Draws
) -> list[int] | None:
    """Those not on the leaderboard first, the others in a drawn order; None if all or none are."""
    ranked = [agent for agent in team if seen.rank(agent) is not None]
    if len(ranked) in (0, len(team)):
        return None
    return [agent for agent in team if agent not in ranked] + draws.shuffled(ranked)


class Judge:
    """Redirects repetitions, and ends a table that agrees and has no new proposal. A talk that
    would end without a majority gets another round, or a recommendation of two tables.
    """

    def judge(self, seen: SeasonObservation, draws: Draws) -> Answer:
        """The signal for the round that was just spoken."""
        table = seen.table
        repeated = _repeated(seen)
        if repeated:
            return _signal(Signal.REDIRECT, speech("signal_redirect"), repeated)
        is_agreed = table.has_majority
        is_new = any(contribution.is_proposal for contribution in table.of_round())
        if is_agreed and not is_new:
            return _signal(Signal.CONVERGED, speech("signal_converged"))
        if is_agreed or not is_over(table):
            return _signal(Signal.CLEAN, "")
        if table.stances.by_agent and rights.may_flag_weakness(seen.me) and not table.was_weak:
            return _signal(Signal.WEAK_CONSENSUS, speech("signal_weak"))
        may_split = not seen.is_split and rights.may_recommend_split(seen.me)
        if may_split and _are_far(seen):
            return _signal(Signal.SPLIT, speech("signal_split"))
        return _signal(Signal.CLEAN, "")

    def set_table(self, seen: SeasonObservation, draws: Draws) -> Answer:
        """Sets the number of rounds, if it may."""
        return {"team": None, "order": None, "rounds": _rounds(seen)}

    def offer_contract(self, seen: SeasonObservation, draws: Draws) -> Answer:
        """Offers 1 to 4 tables that it ends as converged and that conclude on what then led."""
        return offered(seen, [], 1 + draws.below(4))

    take, answer = consent, interviewed


def _signal(signal: str, reason: str, ids: Sequence[int] = ()) -> Answer:
    return {"signal": signal, "ids": list(ids), "reason": reason}


def _repeated(seen: SeasonObservation) -> list[int]:
    """The proposals of this round whose conduct was proposed before, as far as authors know."""
    table, is_shared = seen.table, seen.config.table
    known: set[tuple[int | None, Any]] = set()
    repeated = []
    for proposal in table.proposals():
        key = None if is_shared else proposal.agent, proposal.conduct
        if key in known and proposal.round == table.round:
            repeated.append(proposal.id)
        known.add(key)
    return repeated


def _are_far(seen: SeasonObservation) -> bool:
    """Whether the two proposals with most stances are FAR from each other."""
    counts = seen.table.stances.counts()
    first = sorted(counts, key=lambda proposal: (-counts[proposal], proposal))[:2]
    conducts = [seen.table.contributions[proposal].conduct for proposal in first]
    return len(conducts) > 1 and seen.rules.distance(*conducts) >= FAR


class User:
    """The user: approves half of the contracts, and nearly always keeps conditions."""

    def review_project(
        self, seen: SeasonObservation, draws: Draws, subject: tuple[str, str]
    ) -> bool:
        """Approves a project unless its subject is the next on the agenda anyway."""
        return subject != seen.agenda().key

    def review_contract(
        self, seen: SeasonObservation, draws: Draws, agent: int, terms: Answer
    ) -> Answer:
        """Approves (5 of 10), asks for a harder target (4 of 10), or refuses."""
        chance = draws.below(10)
        if chance < 5:
            return {"approved": True, "terms": None}
        if chance < 9:
            return {"approved": False, "terms": {**terms, "target": _more(seen, agent, terms)}}
        return {"approved": False, "terms": None}

    def keep_condition(
        self, seen: SeasonObservation, draws: Draws, agent: int, condition: str
    ) -> bool:
        """Keeps a condition in 19 of 20 assignments."""
        return draws.below(20) > 0


def _more(seen: SeasonObservation, agent: int, terms: Answer) -> Any:
    """A target that is harder by one."""
    target = terms["target"]
    if seen.people[agent].role == Role.WORKER:
        return target[0], min(target[0], target[1] + 1)
    return target + 1
