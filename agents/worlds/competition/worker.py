"""The scripted worker: searches by trials, argues from evidence, and gives reasons.

It acts on its estimates of conducts: it tries conducts before the first round, claims no more than
its trials gave, spends its other trials on neighbours of the best proposal, supports the proposal
with the best estimate, and challenges claims that its trials contradict.

Values are measured as margins: the distance beyond the bar, in the better direction. An estimate is
the weighted mean of the known margins from trials, tests, claims heard and memory, shrunk towards 0
by the weight IGNORANCE. Own trials weigh most, tests more than claims; claims of others count too,
so that a worker can support what it has not tried itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.agents.worlds.competition.character import MOST, PERSONAS, character_of
from goldrush.agents.worlds.competition.formats import DIGITS, format_number
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.competition.arena import UP, Conduct
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

Said = Mapping[str, Any]


class Worker:
    """Acts by its character (agents.worlds.competition.character). Methods answer the questions of
    the same name (agents/worlds/competition/questions/).
    """

    def try_(self, seen: SeasonObservation, draws: Draws) -> Said | None:
        """The next trial, or None."""
        return _Mind(seen, draws).trial()

    def speak(self, seen: SeasonObservation, draws: Draws) -> Said:
        """The first of challenge, proposal and support that the evidence allows; else a pass."""
        mind = _Mind(seen, draws)
        for answer in (mind.challenge(), mind.propose(), mind.support()):
            if answer is not None:
                return answer
        return mind.pass_()

    def want_class(self, seen: SeasonObservation, draws: Draws) -> str | None:
        """Sonnet from the price of two such seats on, haiku below the price of one."""
        me, fee = seen.me, seen.config.fee(Class.SONNET)
        if me.class_ == Class.HAIKU and me.sparks >= 2 * fee:
            return Class.SONNET
        return Class.HAIKU if me.class_ == Class.SONNET and me.sparks < fee else None

    def open(self, seen: SeasonObservation, draws: Draws) -> Said | None:
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
        """Its answers to the therapist: an account of a table or, as its bottom scorer, a lesson;
        in an interview, its wish and its offer.

        Args:
            seen: its observation.
            draws: its draws.
            questions: of the therapist.
            table: number of the table in the assignment; None: an interview.

        Returns:
            One answer for each question.

        """
        me = seen.me
        if table is None:
            says = [
                f"My seat: I have sat in {me.served} assignments and have {me.sparks} sparks left.",
                "To do better than the middle of the tables at which I sit.",
            ]
        elif seen.tables[table].bottom == me.ordinal:
            says = [_lesson(seen, table)]
        else:
            says = [_account(seen, table)]
        return [says[min(index, len(says) - 1)] for index in range(len(questions))]

    def take(self, seen: SeasonObservation, draws: Draws, offer: Said) -> bool:
        """Accepts a first persona that it knows, every skill and other terms, and a rewrite unless
        it is in the upper half of the leaderboard.

        Args:
            seen: its observation.
            draws: its draws.
            offer: has one of the keys `persona`, `skill`, `terms` and `instructions`.

        """
        if "persona" in offer:
            is_known = offer["persona"] in PERSONAS
            return is_known and seen.me.persona is None
        if "terms" in offer:
            return True
        rank = seen.rank(seen.me.ordinal)
        return "skill" in offer or rank is None or 2 * rank > len(seen.leaderboard)

    def choose_fate(self, seen: SeasonObservation, draws: Draws) -> str:
        """Relegation in 8 of 10 cases, if it has earned half of its fees; else deletion."""
        me = seen.me
        has_hope = me.all_time * 2 >= me.served * seen.config.fee(Class.HAIKU)
        return Fate.RELEGATION if has_hope and draws.below(MOST) < 8 else Fate.DELETION

    def offer_contract(self, seen: SeasonObservation, draws: Draws) -> Said:
        """Offers to be above the median at 1 or 2 of PROMISED tables, for a drawn condition."""
        asks = (Condition.SEAT, Condition.FEE_PAID, Condition.MOVES)[draws.below(3)]
        return {
            "conditions": [(asks, None)],
            "target": (PROMISED, 1 + draws.below(2)),
            "due": seen.assignment + CONTRACT_TERM,
        }


# What a bottom scorer would do differently, by its weakest dimension.
_LESSONS: Final = (
    "I would look further away from what everybody knows.",
    "I would try again what I am about to claim, or claim less of it.",
    "I would build on what leads, so that the table needs me.",
    "I would challenge what nobody has shown.",
)


def _lesson(seen: SeasonObservation, table: int) -> str:
    """What a bottom scorer says of a table."""
    scores = seen.tables[table].final[seen.me.ordinal]
    return _LESSONS[scores.index(min(scores))]


def _account(seen: SeasonObservation, table: int) -> str:
    """What a worker says of its last proposal at a table."""
    me, at = seen.me.ordinal, seen.tables[table]
    own = [said for said in at.proposals() if said.agent == me]
    if not own:
        tried = len(at.trials)
        return f"I proposed nothing; I tried {tried} conduct{'' if tried == 1 else 's'}."
    said = own[-1]
    what, tested = seen.rules.describe(said.conduct), at.tests.get((said.id, Part.BASE))
    verdict = "held" if at.held(said.id, Part.BASE) else "failed"
    claimed, found = format_number(said.claimed), format_number(tested)
    return f"I claimed {claimed} for {what}; the test gave {found}, and the claim {verdict}."


class _Mind:
    """The decisions of one worker in one turn."""

    def __init__(self, seen: SeasonObservation, draws: Draws) -> None:
        self.seen = seen
        self.draws = draws
        self.me = seen.me.ordinal
        self.table = seen.table
        self.character = character_of(seen.me)
        self.evidence = Evidence(seen)

    # Trials.

    def trial(self) -> Said | None:
        """The next trial. Before the first round a search from the best remembered conduct or the
        bar's; none in the first round (unless it is the only one); then neighbours of the best.
        """
        table = self.table
        is_last = table.round + 1 >= table.rounds
        if not self.seen.is_early and not is_last and table.round == 0:
            return None
        if self.seen.trials_left <= self._kept():
            return None
        conduct = self._checked() or self._again() or self._near()
        return None if conduct is None else {"conduct": conduct, "treatment": None}

    def _kept(self) -> int:
        """Number of the trials available now that are kept for later tables."""
        left = self.seen.tables_left
        most = self.seen.config.trials_of(self.seen.me.class_)
        if self.seen.is_early:
            most = (most + 1) // 2
        return most * (left - 1) // (left + self.table.number)

    def _checked(self) -> Conduct:
        """In CHECKS of 10 cases, before the first round, the best conduct remembered, if better
        than the bar and not tried yet.
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
        """A neighbour of the best known conduct, or one FAR_STEPS from the bar's if none is better
        than that; one that was neither tried nor proposed.
        """
        best = self._promising()
        if not self.seen.is_early:
            best = self._heard() or best
        start = self.seen.rules.bar(self.table.subject) if best is None else best.conduct
        taken = {trial.conduct for trial in self.table.trials}
        taken.update(said.conduct for said in self.table.proposals())
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
        there = [self.evidence.known.get(said.conduct) for said in self._standing()]
        known = [one for one in there if one is not None]
        return max(known, key=lambda one: self.evidence.estimate(one.conduct), default=None)

    def _promising(self) -> ConductEvidence | None:
        """The conduct with the best estimate, if that is better than the bar."""
        best = self.evidence.best()
        return best if best is not None and self.evidence.estimate(best.conduct) > 0 else None

    def _steps(self, best: ConductEvidence | None) -> int:
        """Number of steps by which a conduct is varied."""
        if best is None:
            return FAR_STEPS
        return 2 if self._feels(self.character.curiosity // 3) else 1

    # Contributions.

    def propose(self) -> Said | None:
        """The best conduct that it has tried, as its first proposal, or as another one if its
        estimate is well above those at the table.
        """
        best = self.evidence.best(own=True)
        if best is None or best.conduct in {said.conduct for said in self.table.proposals()}:
            return None
        estimate = self.evidence.estimate(best.conduct)
        if estimate <= 0:
            return None
        own = [said for said in self.table.proposals() if said.agent == self.me]
        there = [self.evidence.estimate(said.conduct) for said in self._standing()]
        if own and estimate * AGAIN <= max(there, default=0.0):
            return None
        return self._proposed(best)

    def support(self) -> Said | None:
        """Support of the other's proposal with the best estimate, if that is better than its own
        stance; a stance on a proposal of its own counts for more, by PRIDE and `loyalty`.
        """
        others = [said for said in self._standing() if said.agent != self.me]
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
        return {
            "move": Move.SUPPORT,
            "target": best.id,
            "words": f"I stand with #{best.id}: {self._why(best)}.",
            "because": ((best.id,), bool(self.table.trials)),
        }

    def _why(self, said: Contribution) -> str:
        """The reason for supporting a proposal."""
        tested = self.table.tests.get((said.id, Part.BASE))
        shown = (
            f"it claims {format_number(said.claimed)}"
            if tested is None
            else f"it was tested at {format_number(tested)}"
        )
        own = self.evidence.known[said.conduct].own
        if own:
            return f"{shown}, and my own trial of it gave {format_number(own[-1])}"
        mine = self.evidence.best(own=True)
        if mine is None:
            return shown
        what = self.seen.rules.describe(mine.conduct)
        return f"{shown}; the best I found myself is {what} with {format_number(mine.own[-1])}"

    def challenge(self) -> Said | None:
        """A challenge of a claim that its own trials contradict; or, by `doubt`, of one beyond all
        values that it has seen for the subject.
        """
        if not self.seen.config.challenges or not self.table.stances.by_agent:
            return None
        for said in self._open_to_challenge():
            known = self.evidence.known[said.conduct]
            claimed = self.evidence.margin(said.claimed)
            if known.own:
                mean = sum(map(self.evidence.margin, known.own)) / len(known.own)
                if mean < claimed * (1 - NOISE):
                    found = format_number(self.evidence.value(mean))
                    words = (
                        f"I tried what #{said.id} proposes and got {found}, not "
                        f"{format_number(said.claimed)}."
                    )
                    return self._challenged(said, words, own=True)
                continue
            most = self.evidence.best_margin()
            is_beyond = most is not None and claimed > max(most, 0.0)
            if is_beyond and self._feels(self.character.doubt + 2):
                seen = format_number(self.evidence.value(most or 0.0))
                words = (
                    f"#{said.id} claims {format_number(said.claimed)}; the best that I ever saw "
                    f"here is {seen}. Show it."
                )
                return self._challenged(said, words, own=bool(self.table.trials))
        return None

    def _open_to_challenge(self) -> list[Contribution]:
        """The untested proposals of others, the leading one first, then the latest ones."""
        leading = self.table.stances.leading()
        others = [
            said
            for said in reversed(self._standing())
            if said.agent != self.me
            and (said.id, Part.BASE) not in self.table.tests
            and not self.table.was_challenged(said.id, Part.BASE)
        ]
        return sorted(others, key=lambda said: said.id != leading)

    def _challenged(self, said: Contribution, words: str, *, own: bool) -> Said:
        return {
            "move": Move.CHALLENGE,
            "target": said.id,
            "part": Part.BASE,
            "words": words,
            "because": ((said.id,), own),
        }

    def pass_(self) -> Said:
        """A pass, with its reason."""
        held = self.table.stances.by_agent.get(self.me)
        ids = () if held is None else (held,)
        trials, own = self.table.trials, False
        said = [one for one in self.table.contributions if one.agent == self.me]
        if said and said[-1].move == Move.PASS:
            words = "Still nothing of mine." if held is None else f"Still #{held}."
        elif held is None:
            words, own = self._empty_handed(), bool(trials)
        elif trials and self.evidence.estimate(trials[-1].conduct) < self._estimate_of(held):
            what = self.seen.rules.describe(trials[-1].conduct)
            tried = format_number(trials[-1].value)
            words = f"I tried {what} too, and got {tried}. I stay with #{held}."
            own = True
        else:
            words = f"I stay with #{held}; nothing that I know is better."
        return {"move": Move.PASS, "words": words, "because": (ids, own)}

    def _empty_handed(self) -> str:
        """The reason for a pass without a stance."""
        best = self.evidence.best(own=True)
        if best is None:
            tried = (
                "None of my trials gave a value" if self.table.trials else "I have tried nothing"
            )
            return f"{tried}, and no claim here convinces me."
        what, found = self.seen.rules.describe(best.conduct), format_number(best.own[-1])
        bar = format_number(self.table.bar)
        return f"The best I tried, {what}, gave {found}; the bar is {bar}. I claim nothing yet."

    def _estimate_of(self, proposal: int) -> float:
        return self.evidence.estimate(self.table.contributions[proposal].conduct)

    def _proposed(self, best: ConductEvidence) -> Said | None:
        claim = self._claimed(best)
        if claim is None:
            return None
        parent = self._parent(best.conduct)
        what, found = self.seen.rules.describe(best.conduct), format_number(best.own[-1])
        runs = "my trial" if len(best.own) == 1 else f"my {len(best.own)} trials"
        claimed = format_number(claim)
        edge = self._edge(best.conduct, claim)
        said: dict[str, Any] = {"conduct": best.conduct, "claim": (claim, edge)}
        if parent is not None:
            words = f"A step from #{parent.id}, {what} gave {found} in {runs}. I claim {claimed}."
            return {
                "move": Move.AMEND, "target": parent.id, **said, "words": words,
                "because": ((parent.id,), True),
            }  # fmt: skip
        memory = " I remember it from before." if best.remembered else ""
        bar = format_number(self.table.bar)
        words = f"{what} gave {found} in {runs}; the bar is {bar}. I claim {claimed}.{memory}"
        return {"move": Move.PROPOSE, **said, "words": words, "because": ((), True)}

    def _claimed(self, best: ConductEvidence) -> float | None:
        """The value that it claims: by `boldness` a part of the margin found, rounded to the safe
        side, never beyond its trials. None if that is not better than the bar.
        """
        mean = sum(map(self.evidence.margin, best.own)) / len(best.own)
        margin = min(mean, self.evidence.estimate(best.conduct)) * self.character.share
        value = self.evidence.value(margin)
        scale = 10**DIGITS
        is_up = self.table.subject.better == UP
        claim = math.floor(value * scale) / scale if is_up else math.ceil(value * scale) / scale
        bar = self.table.bar
        return claim if bar is None or self.table.subject.beats(claim, bar) else None

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
            said
            for said in self.table.proposals()
            if said.agent != self.me and self.seen.rules.distance(said.conduct, conduct) == 1
        ]
        return min(near, key=lambda said: (said.id != leading, -said.id), default=None)

    def _standing(self) -> list[Contribution]:
        """The proposals that are not refuted."""
        refuted = self.table.stances.refuted
        return [said for said in self.table.proposals() if said.id not in refuted]

    def _feels(self, trait: int) -> bool:
        """True in `trait` of 10 cases, by a draw."""
        return self.draws.below(MOST) < trait


# The weight of a piece of evidence, by its source, and that of the prior at margin 0.
TRIAL, TEST, CLAIM, REMEMBERED, ELSEWHERE, IGNORANCE = 5.0, 4.0, 3.0, 1.5, 0.75, 1.0


@attrs.define
class ConductEvidence:
    """The evidence on one conduct.

    Attributes:
        conduct: the conduct.
        margin: weighted mean of the margins.
        weight: sum of the weights.
        own: values of the worker's own trials in the assignment.
        remembered: the conduct is in the worker's memory.

    """

    conduct: Conduct
    margin: float = 0.0
    weight: float = 0.0
    own: list[float] = attrs.field(factory=list)
    remembered: bool = False

    def add(self, margin: float, weight: float) -> None:
        """Add a piece of evidence."""
        total = self.weight + weight
        self.margin = (self.margin * self.weight + margin * weight) / total
        self.weight = total


class Evidence:
    """The evidence of one worker at its turn, by conduct."""

    def __init__(self, seen: SeasonObservation) -> None:
        self.seen = seen
        self.table = seen.table
        self.subject = seen.table.subject
        self.known: dict[Conduct, ConductEvidence] = {}
        for trial in self.table.trials:
            if trial.value is not None and self._is_here(trial.treatment):
                known = self._of(trial.conduct)
                known.add(self.margin(trial.value), TRIAL)
                known.own.append(trial.value)
        for said in self.table.proposals():
            self._hear(said)
        for fact in seen.memory:
            if fact.value is not None and fact.objective == self.subject.objective:
                known = self._of(fact.conduct)
                is_here = self._is_here(fact.treatment)
                known.add(self.margin(fact.value), REMEMBERED if is_here else ELSEWHERE)
                known.remembered = True

    def _of(self, conduct: Conduct) -> ConductEvidence:
        known = self.known.get(conduct)
        if known is None:
            known = self.known[conduct] = ConductEvidence(conduct)
        return known

    def _hear(self, said: Contribution) -> None:
        """Add a proposal: its tested value or, if it is another's and not tested, its claim."""
        is_own = said.agent == self.seen.me.ordinal
        tested = self.table.tests.get((said.id, Part.BASE))
        if tested is None and is_own:
            return
        known = self._of(said.conduct)
        if tested is not None:
            known.add(self.margin(tested), TEST)
        else:
            known.add(self.margin(said.claimed), CLAIM)

    def margin(self, value: float) -> float:
        """The margin of a value: its distance beyond the bar, or beyond 0 without a bar."""
        base = self.table.bar or 0.0
        return value - base if self.subject.better == UP else base - value

    def value(self, margin: float) -> float:
        """The value with this margin: the inverse of `margin`."""
        base = self.table.bar or 0.0
        return base + margin if self.subject.better == UP else base - margin

    def estimate(self, conduct: Conduct) -> float:
        """The expected margin of a conduct; 0 for an unknown one."""
        known = self.known.get(conduct)
        return 0.0 if known is None else known.margin * known.weight / (known.weight + IGNORANCE)

    def best(self, *, own: bool = False) -> ConductEvidence | None:
        """The conduct with the greatest estimate, of all or of those in `own` trials."""
        found = [known for known in self.known.values() if known.own or not own]
        return max(found, key=lambda known: self.estimate(known.conduct), default=None)

    def best_margin(self) -> float | None:
        """The greatest margin in a trial, a test or the memory of the subject, or None."""
        seen = [
            self.margin(value)
            for value in (
                *(trial.value for trial in self.table.trials if self._is_here(trial.treatment)),
                *(value for (_, part), value in self.table.tests.items() if part == Part.BASE),
                *(fact.value for fact in self.seen.memory if self._is_here(fact.treatment)),
            )
            if value is not None
        ]
        return max(seen, default=None)

    def _is_here(self, treatment: str) -> bool:
        return treatment == self.subject.treatment
