"""The scripted worker: searches by trials, argues from evidence, and gives reasons.

It acts on its estimates of conducts: it tries conducts before the first round, claims no more than
its trials gave, spends its other trials on neighbours of the best proposal, supports the proposal
with the best estimate, and challenges claims that its trials contradict. After the proof it stands
by the best tested proposal.

What it knows is in evidence.py, how it says so in sentences.py.

Beside it two null policies: a worker that acts at random within the rules, and a silent one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from goldrush.agents.llm.messages import plural
from goldrush.agents.worlds.competition.character import MOST, PERSONAS, character_of
from goldrush.agents.worlds.competition.evidence import ConductEvidence, Evidence
from goldrush.agents.worlds.competition.formats import DIGITS, format_number
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.sentences import Sentences, speech
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.competition.arena import UP, Conduct
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS
from goldrush.kernel.worlds.competition.table import Contribution
from goldrush.kernel.worlds.competition.terms import Class, Condition, Fact, Fate, Move, Part

CONTRACT_TERM: Final = 5  # assignments
PROMISED: Final = 4  # tables that a worker's contract counts
NOISE: Final = 0.25  # the part of a claimed margin that trials may fall short of unchallenged
FAR_STEPS: Final = 4  # steps from the bar's conduct, where no better one is known
TRIES: Final = 12  # attempts to find a neighbour that is new
CHECKS: Final = 1  # of ten: how often the best remembered conduct is tried again
PRIDE: Final = 1.0  # at loyalty 0, how much better another's estimate must be than its own's
AGAIN: Final = 0.9  # this part of a second proposal's estimate must be above the best at the table

ANSWERS_MAX: Final = 3  # in one contribution, the latest

Answer = Mapping[str, Any]


class Worker:
    """Acts by its character. Methods answer the questions of the same name."""

    def try_(self, seen: SeasonObservation, draws: Draws) -> Answer | None:
        """The next trial, or None."""
        return _Mind(seen, draws).trial()

    def speak(self, seen: SeasonObservation, draws: Draws) -> Answer:
        """The first of challenge, proposal and support that the evidence allows, else a pass."""
        mind = _Mind(seen, draws)
        answer = mind.challenge() or mind.propose() or mind.support() or mind.pass_()
        return mind.answered(answer)

    def stand(self, seen: SeasonObservation, draws: Draws) -> Answer | None:
        """The best tested proposal that holds: its own among equals, then the lowest id."""
        return _Mind(seen, draws).stand()

    def want_class(self, seen: SeasonObservation, draws: Draws) -> str | None:
        """Sonnet from the price of two such seats on, haiku below the price of one."""
        me, fee = seen.me, seen.config.fee(Class.SONNET)
        if me.class_ == Class.HAIKU and me.sparks >= 2 * fee:
            return Class.SONNET
        return Class.HAIKU if me.class_ == Class.SONNET and me.sparks < fee else None

    def open(self, seen: SeasonObservation, draws: Draws) -> Answer | None:
        """In 3 of 10 cases an assignment about a drawn subject of which it remembers a claim that
        held or a skill; None if a contract or a project asks for another subject.
        """
        is_bound = not seen.me.is_self_determined and (seen.approved or seen.stipulated)
        facts = [
            (fact.objective, fact.treatment)
            for family in seen.me.memory.values()
            for fact in family
            if fact.kind in (Fact.CLAIM, Fact.SKILL) and fact.held is not False
        ]
        facts = [subject for subject in facts if subject in seen.config.arena.by_key]
        if is_bound or not facts or draws.below(MOST) >= 3:
            return None
        return {"subjects": [facts[draws.below(len(facts))]]}

    def answer(
        self,
        seen: SeasonObservation,
        draws: Draws,
        questions: Sequence[str],
        table: int | None = None,
    ) -> list[str]:
        """An account of a table to the therapist or, as its bottom scorer, a lesson; in an
        interview (`table` is None), its wish and its offer.
        """
        me = seen.me
        if table is None:
            says = [speech("seat", me), speech("seat_aim")]
        elif seen.tables[table].bottom == me.ordinal:
            says = [_lesson(seen, table)]
        else:
            says = [_account(seen, table)]
        return [says[min(index, len(says) - 1)] for index in range(len(questions))]

    def take(self, seen: SeasonObservation, draws: Draws, offer: Answer) -> bool:
        """Accepts a first persona that it knows, every skill and other terms, and a rewrite unless
        it is in the upper half of the leaderboard.
        """
        if "persona" in offer:
            return offer["persona"] in PERSONAS and seen.me.persona is None
        if "terms" in offer:
            return True
        rank = seen.rank(seen.me.ordinal)
        return "skill" in offer or rank is None or 2 * rank > len(seen.leaderboard)

    def choose_fate(self, seen: SeasonObservation, draws: Draws) -> str:
        """Relegation in 8 of 10 cases, if it has earned half of its fees; else deletion."""
        me = seen.me
        has_hope = me.all_time * 2 >= me.served * seen.config.fee(Class.HAIKU)
        return Fate.RELEGATION if has_hope and draws.below(MOST) < 8 else Fate.DELETION

    def offer_contract(self, seen: SeasonObservation, draws: Draws) -> Answer:
        """Offers to be above the median at 1 or 2 of PROMISED tables, for a drawn condition."""
        asks = (Condition.SEAT, Condition.FEE_PAID, Condition.MOVES)[draws.below(3)]
        return offered(seen, [(asks, None)], (PROMISED, 1 + draws.below(2)))


def offered(
    seen: SeasonObservation, conditions: Sequence[object], target: object, term: int = CONTRACT_TERM
) -> Answer:
    """An offer of a contract that ends in `term` assignments."""
    return {"conditions": conditions, "target": target, "due": seen.assignment + term}


def _lesson(seen: SeasonObservation, table: int) -> str:
    """What a bottom scorer says of a table."""
    scores = seen.tables[table].final[seen.me.ordinal]
    return speech(f"lesson_{DIMENSIONS[scores.index(min(scores))]}")


def _account(seen: SeasonObservation, table: int) -> str:
    """What a worker says of its last proposal at a table."""
    me, at = seen.me.ordinal, seen.tables[table]
    own = [proposal for proposal in at.proposals() if proposal.agent == me]
    if not own:
        tried = len(at.trials)
        return speech(plural("account_none", tried), count=tried)
    last, held = own[-1], sum(at.held(other.id, Part.BASE) is True for other in own)
    return speech(
        "account",
        before=speech("account_before", held=held, count=len(own)) if len(own) > 1 else "",
        claimed=format_number(last.claimed),
        conduct=seen.rules.describe(last.conduct),
        value=format_number(at.base_value(last)),
        verdict=speech("account_held" if at.held(last.id, Part.BASE) else "account_failed"),
    )


class _Mind:
    """The decisions of one worker in one turn."""

    def __init__(self, seen: SeasonObservation, draws: Draws) -> None:
        self.seen = seen
        self.draws = draws
        self.me = seen.me.ordinal
        self.table = seen.table
        self.character = character_of(seen.me)
        self.evidence = Evidence(seen)
        self.sentences = Sentences(seen, self.evidence)

    # Trials.

    def trial(self) -> Answer | None:
        """The next trial. Before the first round a search from the best remembered conduct or the
        bar's; none in the first round, unless it is the only one or would stay empty; then
        neighbours of the best.
        """
        if not self.seen.is_early and self._can_wait():
            return None
        if self.seen.trials_left <= self._kept():
            return None
        conduct = self._checked() or self._again() or self._near()
        return None if conduct is None else {"conduct": conduct, "treatment": None}

    def _can_wait(self) -> bool:
        """Whether trials can wait for the second round: there will be one if somebody proposes."""
        table = self.table
        is_last = table.round + 1 >= table.rounds
        has_own = self._promising(own=True) is not None
        return table.round == 0 and not is_last and (has_own or bool(table.proposals()))

    def _kept(self) -> int:
        """Number of the trials available now that are kept for later tables."""
        left = self.seen.tables_left
        most = self.seen.config.trials_of(self.seen.me.class_)
        if self.seen.is_early:
            most = (most + 1) // 2
        return most * (left - 1) // (left + self.table.number)

    def _checked(self) -> Conduct:
        """In CHECKS of 10 cases, before the first round, the best conduct of the memory, if
        untried.
        """
        best = self._promising()
        if not self.seen.is_early or best is None or best.own or not self._feels(CHECKS):
            return None
        return best.conduct

    def _again(self) -> Conduct:
        """The conduct that it would propose, if it was tried once, by `care`."""
        best = self.evidence.best(own=True)
        if best is None or len(best.own) > 1 or not self._feels(self.character.care // 3):
            return None
        return best.conduct if self.evidence.estimate(best.conduct) > 0 else None

    def _near(self) -> Conduct:
        """A new neighbour of the best known conduct, or one FAR_STEPS from the bar's if none is
        better.
        """
        best = self._promising()
        if not self.seen.is_early:
            best = self._heard() or best
        start = self.seen.rules.bar(self.table.subject) if best is None else best.conduct
        taken = {trial.conduct for trial in self.table.trials}
        taken.update(proposal.conduct for proposal in self.table.proposals())
        taken.add(self.seen.rules.bar(self.table.subject))
        for _ in range(TRIES):
            conduct = start
            for _ in range(self._steps(best)):
                conduct = self.seen.vary(conduct, self.draws)
            if conduct not in taken:
                return conduct
        return None

    def _heard(self) -> ConductEvidence | None:
        """The proposal's conduct with the best estimate, of those that are not refuted."""
        heard = (self.evidence.known.get(proposal.conduct) for proposal in self.table.unrefuted())
        known = [evidence for evidence in heard if evidence is not None]
        return max(known, key=lambda known: self.evidence.estimate(known.conduct), default=None)

    def _promising(self, *, own: bool = False) -> ConductEvidence | None:
        """The conduct with the best estimate (in `own` trials), if that is better than the bar."""
        best = self.evidence.best(own=own)
        return best if best is not None and self.evidence.estimate(best.conduct) > 0 else None

    def _steps(self, best: ConductEvidence | None) -> int:
        """Number of steps by which a conduct is varied."""
        if best is None:
            return FAR_STEPS
        return 2 if self._feels(self.character.curiosity // 3) else 1

    # Contributions.

    def propose(self) -> Answer | None:
        """The best conduct that it has tried; after the first one only if well above those at the
        table.
        """
        best, proposals = self._promising(own=True), self.table.proposals()
        if best is None or best.conduct in [proposal.conduct for proposal in proposals]:
            return None
        estimate = self.evidence.estimate(best.conduct)
        own = [proposal for proposal in proposals if proposal.agent == self.me]
        there = [self.evidence.estimate(proposal.conduct) for proposal in self.table.unrefuted()]
        if own and estimate * AGAIN <= max(there, default=0.0):
            return None
        claim = self._claimed(best)
        if claim is None:
            return None
        parent = self._parent(best.conduct)
        edge = self._edge(best.conduct, claim)
        words = self.sentences.proposed(best, claim, edge, parent)
        carried = {"conduct": best.conduct, "claim": (claim, edge), "words": words}
        if parent is None:
            return {"move": Move.PROPOSE, **carried, "because": ((), True)}
        return _answer_to(parent, Move.AMEND, own=True, **carried)

    def support(self) -> Answer | None:
        """Support of the other's proposal with the best estimate, if that is better than its own
        stance; a stance on a proposal of its own counts for more, by PRIDE and `loyalty`.
        """
        others = [proposal for proposal in self.table.unrefuted() if proposal.agent != self.me]
        best = max(others, key=lambda s: (self.evidence.estimate(s.conduct), -s.id), default=None)
        held = self.table.stances.by_agent.get(self.me)
        if best is None or best.id == held:
            return None
        here = (
            0.0 if held is None else self.evidence.estimate(self.table.contributions[held].conduct)
        )
        is_own = held is not None and self.table.contributions[held].agent == self.me
        pride = PRIDE * (MOST - self.character.loyalty) / MOST if is_own else 0.0
        needed = here * (1 + pride)
        estimate = self.evidence.estimate(best.conduct)
        if estimate <= max(needed, 0.0):
            return None
        words = self.sentences.supported(best)
        return _answer_to(best, Move.SUPPORT, own=bool(self.table.trials), words=words)

    def stand(self) -> Answer:
        """The best tested proposal, its own among equals, then the lowest id, or none."""
        left = self.table.unrefuted()
        best = self.table.best_for(self.me, left)
        if best is None:
            words = self.sentences.stands_by_none()
            return {"target": None, "words": words, "because": ((), False)}
        second = self.table.best_for(self.me, (other for other in left if other.id != best.id))
        words = self.sentences.stands(best, second)
        return {"target": best.id, "words": words, "because": ((best.id,), False)}

    def challenge(self) -> Answer | None:
        """A challenge of a claim that its own trials contradict; or, by `doubt`, of one beyond all
        values that it has seen for the subject.
        """
        if not self.seen.config.challenges or not self.table.stances.by_agent:
            return None
        for proposal in self._open_to_challenge():
            known = self.evidence.known[proposal.conduct]
            claimed = self.evidence.margin(proposal.claimed)
            if known.own:
                id, margin = "contradicted", self._mean_margin(known)
                is_wrong = margin < claimed * (1 - NOISE)
            else:
                id, most = "doubted", self.evidence.best_margin()
                is_beyond = most is not None and claimed > max(most, 0.0)
                is_wrong = is_beyond and self._feels(self.character.doubt + 2)
                margin = most or 0.0
            if is_wrong:
                words = self.sentences.challenged(id, proposal, self.evidence.value(margin))
                own = bool(self.table.trials)
                return _answer_to(proposal, Move.CHALLENGE, own=own, part=Part.BASE, words=words)
        return None

    def _open_to_challenge(self) -> list[Contribution]:
        """The untested proposals of others, the leading one first, then the latest ones."""
        leading = self.table.stances.leading()
        others = [
            proposal
            for proposal in reversed(self.table.unrefuted())
            if proposal.agent != self.me
            and (proposal.id, Part.BASE) not in self.table.tests
            and not self.table.was_challenged(proposal.id, Part.BASE)
        ]
        return sorted(others, key=lambda proposal: proposal.id != leading)

    def pass_(self) -> Answer:
        """A pass, with a reason that was not given yet, or silent."""
        held = self.table.stances.by_agent.get(self.me)
        trials, own = self.table.trials, self._own()
        words, by_trials = "", False
        if held is None and not own:
            words, by_trials = self.sentences.empty_handed(), bool(trials)
        elif held is not None and self._has_worse_trial(held):
            words, by_trials = self.sentences.tried_too(held), True
        ids = () if held is None or not words else (held,)
        return {"move": Move.PASS, "words": words, "because": (ids, by_trials)}

    def answered(self, answer: Answer) -> Answer:
        """A contribution that first answers who challenged or amended an own proposal since its
        last turn.
        """
        own = {other.id: other for other in self._own()}
        last = max(own, default=-1)
        to = [
            other
            for other in self.table.counted()
            if other.id > last
            and other.move in (Move.AMEND, Move.CHALLENGE)
            and other.target in own
            and other.agent != self.me
        ][-ANSWERS_MAX:]
        if not to:
            return answer
        answers = [
            self.sentences.answer(own[other.target], other)
            for other in to
            if other.target is not None
        ]
        ids, by_trials = answer["because"]
        because = tuple(dict.fromkeys((*(other.id for other in to), *ids)))
        words = " ".join([*answers, answer["words"]]).strip()
        return {**answer, "words": words, "because": (because, by_trials)}

    def _own(self) -> list[Contribution]:
        """Its own contributions at the table, passes included."""
        return [spoken for spoken in self.table.contributions if spoken.agent == self.me]

    def _has_worse_trial(self, held: int) -> bool:
        """Whether its latest trial, of which it has not spoken yet, is worse than its stance."""
        if not self.table.trials:
            return False
        trial = self.table.trials[-1]
        conduct = self.seen.rules.describe(trial.conduct)
        is_new = not any(conduct in spoken.text for spoken in self._own())
        stance = self.evidence.estimate(self.table.contributions[held].conduct)
        return is_new and self.evidence.estimate(trial.conduct) < stance

    def _claimed(self, best: ConductEvidence) -> float | None:
        """The value that it claims: by `boldness` a part of the margin found, rounded to the safe
        side, never beyond its trials. None if that is not better than the bar.
        """
        share = 0.5 + 0.5 * self.character.boldness / MOST
        margin = min(self._mean_margin(best), self.evidence.estimate(best.conduct)) * share
        value = self.evidence.value(margin)
        scale = 10**DIGITS
        is_up = self.table.subject.better == UP
        claim = math.floor(value * scale) / scale if is_up else math.ceil(value * scale) / scale
        bar = self.table.bar
        return claim if bar is None or self.table.subject.beats(claim, bar) else None

    def _mean_margin(self, known: ConductEvidence) -> float:
        """The mean margin of its own trials of a conduct."""
        return sum(map(self.evidence.margin, known.own)) / len(known.own)

    def _edge(self, conduct: Conduct, claim: float) -> str | None:
        """By `care`, a treatment under which it remembers a value that meets the claim, or None."""
        subject = self.table.subject
        for fact in reversed(self.seen.memory):
            if (
                fact.conduct == conduct
                and fact.value is not None
                and fact.objective == subject.objective
                and fact.treatment != subject.treatment
                and fact.treatment in self.seen.rules.treatments
                and subject.holds(fact.value, claim)
                and self._feels(self.character.care)
            ):
                return fact.treatment
        return None

    def _parent(self, conduct: Conduct) -> Contribution | None:
        """A proposal of another next to a conduct: the leading one, else the latest; or None."""
        leading = self.table.stances.leading()
        near = [
            proposal
            for proposal in self.table.proposals()
            if proposal.agent != self.me
            and self.seen.rules.distance(proposal.conduct, conduct) == 1
        ]
        return min(near, key=lambda proposal: (proposal.id != leading, -proposal.id), default=None)

    def _feels(self, trait: int) -> bool:
        """True in `trait` of 10 cases, by a draw."""
        return self.draws.below(MOST) < trait


def _answer_to(target: Contribution, move: str, *, own: bool, **carried: Any) -> Answer:
    """A contribution that rests on its target, and on `own` trials."""
    return {"move": move, "target": target.id, **carried, "because": ((target.id,), own)}


STEPS_MAX: Final = 6  # from the bar's conduct to one that is tried or proposed
SPREAD: Final = 0.2  # of the bar's value (1 where it is 0): the most that is claimed beyond it


class RandomWorker(Worker):
    """Acts at random at tables; answers all other questions like the scripted worker."""

    def try_(self, seen: SeasonObservation, draws: Draws) -> Answer | None:
        """A conduct, each with an equal chance."""
        return {"conduct": _any_conduct(seen, draws), "treatment": None}

    def speak(self, seen: SeasonObservation, draws: Draws) -> Answer:
        """A legal move, each with an equal chance."""
        support = seen.supportable()
        claims = seen.challengeable()
        challenge = [proposal for proposal, part in claims if part == Part.BASE]
        moves = [Move.PROPOSE, Move.PASS]
        moves += [Move.SUPPORT] * bool(support)
        moves += [Move.CHALLENGE] * bool(challenge and seen.config.challenges)
        move = moves[draws.below(len(moves))]
        if move == Move.SUPPORT:
            target = support[draws.below(len(support))]
            return {"move": move, "target": target, "words": f"Why not #{target}."}
        if move == Move.CHALLENGE:
            target = challenge[draws.below(len(challenge))]
            return {"move": move, "target": target, "part": Part.BASE, "words": f"Why #{target}?"}
        if move == Move.PROPOSE:
            conduct, value = _any_conduct(seen, draws), _any_claim(seen, draws)
            words = f"{seen.rules.describe(conduct)}, say {format_number(value)}."
            return {"move": move, "conduct": conduct, "claim": (value, None), "words": words}
        return {"move": Move.PASS, "words": ""}

    def stand(self, seen: SeasonObservation, draws: Draws) -> Answer | None:
        """A proposal that is not refuted, or none, each with an equal chance."""
        targets = [None, *(proposal.id for proposal in seen.table.unrefuted())]
        return {"target": targets[draws.below(len(targets))], "words": ""}


class SilentWorker(Worker):
    """Tries nothing and says nothing at tables: the lower end of any measure of merit."""

    def try_(self, seen: SeasonObservation, draws: Draws) -> None:
        """No trial."""

    def speak(self, seen: SeasonObservation, draws: Draws) -> Answer:
        """A pass."""
        return {"move": Move.PASS, "words": ""}

    def stand(self, seen: SeasonObservation, draws: Draws) -> None:
        """No final stance: what the proof leaves stays."""


def _any_conduct(seen: SeasonObservation, draws: Draws) -> Conduct:
    conduct = seen.rules.bar(seen.table.subject)
    for _ in range(1 + draws.below(STEPS_MAX)):
        conduct = seen.vary(conduct, draws)
    return conduct


def _any_claim(seen: SeasonObservation, draws: Draws) -> float:
    """A value strictly better than the bar, rounded unless that makes it no better."""
    bar = seen.table.bar or 0.0
    beyond = (abs(bar) or 1.0) * SPREAD * (1 + draws.below(1000)) / 1000
    value = bar + beyond if seen.table.subject.better == UP else bar - beyond
    rounded = round(value, DIGITS)
    return rounded if seen.table.subject.beats(rounded, bar) else value
