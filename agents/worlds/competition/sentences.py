"""The sentences of the scripted worker: each a reason with what it rests on.

A sentence is put together from parts, each in several forms. Which forms is decided by how often
its kind has been used: the assignment, and the earlier contributions of the kind at the table. So
no sentence of a kind repeats the forms of another one for as long as there are unused ones, and no
random draw is spent on words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean
from typing import Final

from goldrush.agents.worlds.competition.evidence import ConductEvidence, Evidence
from goldrush.agents.worlds.competition.formats import format_apart, format_number
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.kernel.worlds.competition.table import Contribution
from goldrush.kernel.worlds.competition.terms import Move, Part

Forms = Sequence[Sequence[str]]  # the forms of each part of a sentence

# 2^64 divided by the golden ratio: multiples of it modulo 2^64 are spread evenly.
GOLDEN: Final = 0x9E3779B97F4A7C15

# Parts of several sentences.
CLAIMED: Final = (
    "I claim {claim}.",
    "So I claim {claim}.",
    "{claim} should hold.",
    "I expect {claim} or better from a test.",
    "I answer for {claim}.",
    "My claim is {claim}.",
)
NO_SIDE: Final = (
    ", and no claim so far convinces me.",
    ", and I support no claim yet.",
    ", and I take no side yet.",
)
SECOND: Final = (
    "; the next best that holds is #{second}, at {seconded}.",
    ", ahead of #{second} with {seconded}.",
    ". #{second} follows with {seconded}.",
    ", and no other does better: #{second} has {seconded}.",
)

PROPOSED: Final[Forms] = (
    (
        "{conduct} gave {value} in {trials}",
        "In {trials}, {conduct} came to {value}",
        "I ran {conduct} and got {value} ({trials})",
        "{value} is what I measured for {conduct} in {trials}",
        "I bring {conduct}: {value} in {trials}",
    ),
    (
        "; the bar is {bar}. ",
        ", against a bar of {bar}. ",
        ", where the bar asks for {bar}. ",
        ", {margin} beyond the bar. ",
        "; that is better than the bar by {margin}. ",
    ),
    CLAIMED,
)
AMENDED: Final[Forms] = (
    (
        "One step from #{target}, {conduct} gave {value} in {trials}. ",
        "#{target} can be improved: {conduct} came to {value} in {trials}. ",
        "I changed #{target} a little, to {conduct}, and got {value} ({trials}). ",
        "Near #{target} there is {conduct}, with {value} in {trials}. ",
        "I started from #{target}; {conduct} gave {value} in {trials}. ",
    ),
    (
        "#{target} claims {targeted}. ",
        "For #{target} {targeted} is claimed. ",
        "The claim of #{target} is {targeted}. ",
        "",
    ),
    CLAIMED,
)
SUPPORTED: Final[Forms] = (
    (
        "I support #{target}: ",
        "#{target} is better than anything I have: ",
        "My choice is #{target}: ",
        "I join #{target}: ",
        "#{target} convinces me: ",
    ),
    (
        "{shown}. ",
        "as we heard, {shown}. ",
        "note that {shown}. ",
        "for this subject, {shown}. ",
    ),
)
SUPPORT_BY_TRIAL: Final[Forms] = (
    (
        "My own trial of it gave {value}.",
        "I tried it as well: {value}.",
        "When I ran it, it came to {value}.",
        "{value} in a trial of mine agrees with that.",
        "I can confirm it: {value} in my trial.",
    ),
)
SUPPORT_BY_COMPARISON: Final[Forms] = (
    (
        "The best that I found myself is {conduct}, with {value}.",
        "I have nothing better than {conduct}, at {value}.",
        "My best trial was {conduct}: only {value}.",
        "{conduct}, my own best, stopped at {value}.",
        "Compare my {conduct}: {value}.",
    ),
)
CONTRADICTED: Final[Forms] = (
    (
        "I tried what #{target} proposes and got {value}",
        "My trial of #{target} came to {value}",
        "{value} is what #{target} gave when I ran it",
        "I have run the conduct of #{target}: {value}",
    ),
    (
        ", not {targeted}.",
        ", not as good as the {targeted} that it claims.",
        "; it claims {targeted}.",
        ". The claim of {targeted} should not hold.",
    ),
)
DOUBTED: Final[Forms] = (
    (
        "#{target} claims {targeted}",
        "{targeted} is a bold claim for #{target}",
        "I question the {targeted} of #{target}",
        "#{target} promises {targeted}",
        "The {targeted} of #{target} should be tested",
        "I would like to see #{target} reach {targeted}",
        "I doubt that #{target} reaches {targeted}",
    ),
    (
        ". No trial or test that I know is better than {value}.",
        "; the best trial or test that I know gave {value}.",
        ", and no test or trial of mine has come beyond {value}.",
        ". The best of my trials and the tests so far is {value}.",
        ": that is beyond all tests and trials I know, {value} at best.",
        ", where my trials and our tests gave nothing better than {value}.",
    ),
)
NOTHING_TO_CLAIM: Final[Forms] = (
    (
        "The best I tried, {conduct}, gave {value}",
        "My trials ended at {value} with {conduct}",
        "{conduct} was my best trial, and it gave {value}",
        "I searched and found {conduct} at {value}",
        "I got no further than {value}, with {conduct}",
    ),
    (
        "; the bar is {bar}. ",
        ", against a bar of {bar}. ",
        ", where the bar asks for {bar}. ",
    ),
    (
        "I claim nothing yet.",
        "That is too little to claim.",
        "I wait for something better.",
        "It is not worth a claim.",
    ),
)
NOTHING_TRIED: Final[Forms] = (
    (
        "I have tried nothing here",
        "I come without a trial",
        "I have no trial of my own to show",
        "Nothing of mine was run",
    ),
    NO_SIDE,
)
NO_VALUE: Final[Forms] = (
    (
        "None of my trials gave a value",
        "My trials gave no value",
        "All that I tried came out without a value",
    ),
    NO_SIDE,
)
TRIED_TOO: Final[Forms] = (
    (
        "I tried {conduct} as well, and got {value}",
        "{conduct} gave {value} in a trial of mine",
        "One of my trials, of {conduct}, came to {value}",
        "I have also run {conduct}: {value}",
        "A trial of mine, {conduct}, ended at {value}",
        "I spent a trial on {conduct}, for {value}",
        "{value} is what {conduct} gave in my trial",
    ),
    (
        "; that leaves me with #{target}.",
        ", which does not beat #{target}.",
        "; I stay with #{target}.",
        "; #{target} is ahead of it.",
        ", so I do not move from #{target}.",
        ", no reason to leave #{target}.",
    ),
)
# Answers to those who challenged or amended a proposal of its own.
CONCEDED: Final[Forms] = (
    (
        "#{by} was right about #{target}: ",
        "I accept the challenge #{by} to my #{target}: ",
        "#{by} has a point on #{target}: ",
        "To #{by}, on #{target}: ",
    ),
    (
        "it was tested at {value}, and I claimed {targeted}.",
        "the test gave {value}, less good than my {targeted}.",
        "my {targeted} did not hold, the test says {value}.",
        "I claimed {targeted}, the test came to {value}.",
    ),
)
DEFENDED: Final[Forms] = (
    (
        "#{by} doubted #{target}: ",
        "To the challenge #{by}: ",
        "#{by} asked for a test of #{target}: ",
        "As for #{by}, ",
    ),
    (
        "the test gave {value}, and my {targeted} holds.",
        "#{target} was tested at {value} and stands at its claim of {targeted}.",
        "my claim of {targeted} met its test, {value}.",
        "{value} in the test, {targeted} in my claim: it holds.",
    ),
)
TAKEN_UP: Final[Forms] = (
    (
        "#{by} starts from my #{target}",
        "I see that #{by} changes my #{target}",
        "#{by} builds on #{target}",
        "My #{target} was taken up in #{by}",
        "My #{target} is the start of #{by}",
        "#{by} goes on from #{target}",
    ),
    (
        ": it claims {value}, my #{target} claimed {targeted}.",
        "; it claims {value}, and I claimed {targeted}.",
        ", from my claim of {targeted} to one of {value}.",
        ", claiming {value} where I claimed {targeted}.",
    ),
)
# Final stances, after the proof.
STANDS_ALONE: Final[Forms] = (
    (
        "Only #{target} holds",
        "#{target} is the one claim that held",
        "The proof left one proposal, #{target}",
        "Nothing but #{target} came through the tests",
    ),
    (
        ": it was tested at {value}.",
        ", with a tested {value}.",
        "; its test gave {value}.",
        " ({value} in its test).",
    ),
)
STANDS_BY_NONE: Final[Forms] = (
    (
        "Nothing of mine came through the tests",
        "I have no proposal that holds",
        "None of my claims held",
        "The proof left me nothing",
    ),
    (
        ", so I stand by none.",
        "; I take no side.",
        ", and I vote for nothing.",
    ),
)
STANDS_BY_OWN: Final[Forms] = (
    (
        "My #{target} was tested at {value}",
        "#{target}, my own, came out at {value}",
        "I stand by my #{target}, tested at {value}",
        "The test of my #{target} gave {value}",
        "My proposal #{target} reached {value}",
    ),
    SECOND,
)
STAYS: Final[Forms] = (
    (
        "I stay with #{target}: tested at {value}",
        "The test bears #{target} out at {value}, and I stay",
        "#{target} was the right choice, at {value}",
        "I keep to #{target}, which gave {value}",
        "#{target} remains my choice with {value}",
    ),
    SECOND,
)
CHANGES: Final[Forms] = (
    (
        "I change sides from #{left} to #{target}: ",
        "I leave #{left} for #{target}: ",
        "From #{left} I go over to #{target}: ",
        "The tests move me from #{left} to #{target}: ",
        "I was with #{left} and now choose #{target}: ",
        "Not #{left} but #{target}: ",
        "#{target} has overtaken #{left} for me: ",
    ),
    (
        "by test {value}, against {lefted}.",
        "{value} in the tests where #{left} has {lefted}.",
        "{value} against {lefted}.",
        "it was tested at {value}, #{left} at {lefted}.",
        "{lefted} was the test of #{left}, {value} that of #{target}.",
        "the tests gave {value} and, for #{left}, {lefted}.",
    ),
)
REFUTED: Final[Forms] = (
    (
        "#{left} claimed {claimed} and was tested at {lefted}. ",
        "The test refuted #{left}: {lefted}, not {claimed}. ",
        "#{left} did not hold, at {lefted} for a claim of {claimed}. ",
        "I was wrong to trust #{left}: {claimed} claimed, {lefted} tested. ",
        "With #{left} refuted ({lefted} instead of {claimed}) I look again. ",
    ),
    (
        "#{target}, at {value}, is the best that holds.",
        "I take #{target}, tested at {value}.",
        "My stance goes to #{target} with {value}.",
        "#{target} leads what is left, with {value}.",
    ),
)
CHOOSES: Final[Forms] = (
    (
        "I had no side; ",
        "Without a stance until now, ",
        "Now that all is tested, ",
        "The results decide for me: ",
    ),
    (
        "#{target} was tested at {value}, the best that holds.",
        "I take #{target}, the best of the tests with {value}.",
        "the best that holds is #{target}, at {value}.",
        "my choice is #{target}, which reached {value}.",
    ),
)


class Sentences:
    """The sentences of one worker in one turn. Each method gives one reason."""

    def __init__(self, seen: SeasonObservation, evidence: Evidence) -> None:
        self._seen = seen
        self._table = seen.table
        self._evidence = evidence

    # Contributions.

    def proposed(self, best: ConductEvidence, claim: float, edge: str | None) -> str:
        """The reason for a proposal of its own best conduct."""
        return self._formed(
            PROPOSED if self._table.bar is not None else (PROPOSED[0], (". ",), PROPOSED[2]),
            self._number(Move.PROPOSE),
            claim=format_number(claim),
            **self._of_trials(best),
        ) + self._remembered(best, edge)

    def amended(
        self, best: ConductEvidence, parent: Contribution, claim: float, edge: str | None
    ) -> str:
        """The reason for an amendment of another's proposal."""
        return self._formed(
            AMENDED,
            self._number(Move.AMEND),
            target=str(parent.id),
            targeted=format_number(parent.claimed),
            claim=format_number(claim),
            **self._of_trials(best),
        ) + self._remembered(best, edge)

    def supported(self, target: Contribution) -> str:
        """The reason for supporting a proposal."""
        tested = self._table.tests.get((target.id, Part.BASE))
        shown = (
            f"it claims {format_number(target.claimed)}"
            if tested is None
            else f"it was tested at {format_number(tested)}"
        )
        forms, values = self._compared(target)
        number = self._number(Move.SUPPORT)
        return self._formed(
            (*SUPPORTED, *forms), number, target=str(target.id), shown=shown, **values
        ).rstrip()

    def _compared(self, target: Contribution) -> tuple[Forms, dict[str, str]]:
        """What its own trials add to a support."""
        own = self._evidence.known[target.conduct].own
        if own:
            return SUPPORT_BY_TRIAL, {"value": format_number(fmean(own))}
        mine = self._evidence.best(own=True)
        if mine is None:
            return (), {}
        return SUPPORT_BY_COMPARISON, {
            "conduct": self._seen.rules.describe(mine.conduct),
            "value": format_number(self._known(mine)),
        }

    def contradicted(self, target: Contribution, value: float) -> str:
        """The reason for challenging a claim that its own trials contradict."""
        return self._challenged(CONTRADICTED, target, value)

    def doubted(self, target: Contribution, value: float) -> str:
        """The reason for challenging a claim beyond all values that it has seen."""
        return self._challenged(DOUBTED, target, value)

    def _challenged(self, forms: Forms, target: Contribution, value: float) -> str:
        return self._formed(
            forms,
            self._number(Move.CHALLENGE),
            target=str(target.id),
            targeted=format_number(target.claimed),
            value=format_number(value),
        )

    def empty_handed(self) -> str:
        """The reason for a pass without a stance."""
        number, best = self._number(Move.PASS), self._evidence.best(own=True)
        if best is None:
            return self._formed(NO_VALUE if self._table.trials else NOTHING_TRIED, number)
        forms = NOTHING_TO_CLAIM
        if self._table.bar is None:
            forms = (forms[0], (". ",), forms[2])
        return self._formed(forms, number, **self._of_trials(best))

    def tried_too(self, held: int) -> str:
        """What its latest trial gave, if it leaves the worker with its stance."""
        trial = self._table.trials[-1]
        return self._formed(
            TRIED_TOO,
            self._number(Move.PASS),
            conduct=self._seen.rules.describe(trial.conduct),
            value=format_number(trial.value),
            target=str(held),
        )

    def answer(self, own: Contribution, other: Contribution) -> str:
        """The answer to a challenge or an amendment of a proposal of its own."""
        if other.move == Move.AMEND:
            forms, value = TAKEN_UP, other.claim[0] if other.claim else None
        else:
            forms = CONCEDED if self._table.is_sustained(other) else DEFENDED
            value = self._table.tests.get(other.challenged)
        claimed, shown = format_apart(own.claimed, value)
        return self._formed(
            forms,
            self._number(other.move, other.id),
            by=str(other.id),
            target=str(own.id),
            targeted=claimed,
            value=shown,
        )

    # Final stances.

    def stands(self, target: Contribution, second: Contribution | None) -> str:
        """The reason for a final stance. `second`: the best of the other proposals that hold."""
        me, table = self._seen.me.ordinal, self._table
        before = table.talk_stances().by_agent.get(me)
        left = None if before is None else table.contributions[before]
        if left is not None and left.id != target.id:
            forms = REFUTED if left.id in table.stances.refuted else CHANGES
            other = left
        elif second is None:
            forms, other = STANDS_ALONE, target
        elif left is None:
            forms, other = CHOOSES, second
        else:
            forms, other = (STANDS_BY_OWN if target.agent == me else STAYS), second
        value, others = format_apart(
            table.tests[target.id, Part.BASE], table.tests[other.id, Part.BASE]
        )
        return self._formed(
            forms,
            self._stand_number(),
            target=str(target.id),
            value=value,
            left=str(other.id),
            lefted=others,
            claimed=format_number(other.claimed),
            second=str(other.id),
            seconded=others,
        )

    def stands_by_none(self) -> str:
        """The reason for a final stance of none."""
        return self._formed(STANDS_BY_NONE, self._stand_number())

    def _stand_number(self) -> int:
        seats = self._table.participants
        return self._seen.assignment * len(seats) + seats.index(self._seen.me.ordinal)

    # Parts.

    def _number(self, move: str, below: int | None = None) -> int:
        """The number of a sentence about a move. It repeats where more contributions of a kind than
        two for each participant are made at a table.
        """
        earlier = self._table.contributions[:below]
        count = sum(other.move == move for other in earlier)
        return self._seen.assignment * 2 * len(self._table.participants) + count

    @staticmethod
    def _formed(forms: Forms, number: int, **values: str) -> str:
        """A sentence from these parts, with the forms that its number takes."""
        rest = (number * GOLDEN % (1 << 64)) * math.prod(map(len, forms)) >> 64
        text = ""
        for part in forms:
            rest, index = divmod(rest, len(part))
            text += part[index]
        return text.format(**values)

    def _of_trials(self, best: ConductEvidence) -> dict[str, str]:
        count = len(best.own)
        return {
            "conduct": self._seen.rules.describe(best.conduct),
            "value": format_number(fmean(best.own)),
            "trials": "one trial" if count == 1 else f"{count} trials, on average",
            "bar": format_number(self._table.bar),
            "margin": format_number(abs(self._evidence.margin(fmean(best.own)))),
        }

    def _known(self, mine: ConductEvidence) -> float:
        """What is known best of a conduct of its own: its test, or its trials."""
        for said in self._table.proposals():
            tested = self._table.tests.get((said.id, Part.BASE))
            if said.conduct == mine.conduct and tested is not None:
                return tested
        return fmean(mine.own)

    @staticmethod
    def _remembered(best: ConductEvidence, edge: str | None) -> str:
        memory = " I remember it from before." * best.remembered
        return memory + (f" I saw it reach that under {edge}, too." if edge else "")
