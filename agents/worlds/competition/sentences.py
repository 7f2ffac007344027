"""The sentences of the scripted worker: each a reason with what it rests on.

A sentence is put together from parts, each in several forms (sentences.toml). Which forms is
decided by how often its kind has been used: the assignment, and the earlier contributions of the
kind at the table. So no sentence of a kind repeats the forms of another one for as long as there
are unused ones, and no random draw is spent on words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import fmean
from typing import Final

from goldrush.agents.llm.messages import Messages, plural
from goldrush.agents.worlds.competition.evidence import ConductEvidence, Evidence
from goldrush.agents.worlds.competition.formats import format_apart, format_number
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.kernel.worlds.competition.table import Contribution
from goldrush.kernel.worlds.competition.terms import Move

speech: Final = Messages("goldrush.agents.worlds.competition", "sentences.toml")

# 2^64 divided by the golden ratio: multiples of it modulo 2^64 are spread evenly.
GOLDEN: Final = 0x9E3779B97F4A7C15


@cache
def forms_of(id: str) -> Sequence[Sequence[str]]:
    """The forms of each part of a sentence."""
    return [part.split("\n") for part in speech.formats[id].split("\n\n")]


def sentence(parts: Sequence[Sequence[str]], number: int, values: Mapping[str, object]) -> str:
    """A sentence from these parts, with the forms that its number takes."""
    rest = (number * GOLDEN % (1 << 64)) * math.prod(map(len, parts)) >> 64
    text = ""
    for part in parts:
        rest, index = divmod(rest, len(part))
        form = part[index]
        phrase = form.format(**values, nothing="")
        text += f" {phrase}" if text and phrase and form[0] not in ",;:." else phrase
    return text


class Sentences:
    """The sentences of one worker in one turn. Each method gives one reason."""

    def __init__(self, seen: SeasonObservation, evidence: Evidence) -> None:
        self._seen = seen
        self._table = seen.table
        self._evidence = evidence

    # Contributions.

    def proposed(
        self,
        best: ConductEvidence,
        claim: float,
        edge: str | None,
        parent: Contribution | None = None,
    ) -> str:
        """The reason for a proposal of its own best conduct, or an amendment of another's."""
        values = {"claim": format_number(claim), **self._of_trials(best)}
        if parent is None:
            text = self._formed(self._number(Move.PROPOSE), "proposed", **values)
        else:
            values |= {"target": parent.id, "targeted": format_number(parent.claimed)}
            text = self._formed(self._number(Move.AMEND), "amended", **values)
        text += speech("remembered") if best.remembered else ""
        return text + (speech("edge", edge=edge) if edge else "")

    def supported(self, target: Contribution) -> str:
        """The reason for supporting a proposal."""
        tested = self._table.base_value(target)
        id, value = ("shown_claim", target.claimed) if tested is None else ("shown_test", tested)
        shown = speech(id, value=format_number(value))
        more, values = self._compared(target)
        number = self._number(Move.SUPPORT)
        return self._formed(number, "supported", *more, target=target.id, shown=shown, **values)

    def _compared(self, target: Contribution) -> tuple[Sequence[str], dict[str, object]]:
        """What its own trials add to a support."""
        own = self._evidence.known[target.conduct].own
        if own:
            return ["support_by_trial"], {"value": format_number(fmean(own))}
        mine = self._evidence.best(own=True)
        if mine is None:
            return (), {}
        return ["support_by_comparison"], {
            "conduct": self._seen.rules.describe(mine.conduct),
            "value": format_number(self._known(mine)),
        }

    def challenged(self, id: str, target: Contribution, value: float) -> str:
        """The reason for challenging a claim: its own trials contradict it (`contradicted`), or it
        is beyond all values that it has seen (`doubted`).
        """
        return self._formed(
            self._number(Move.CHALLENGE),
            id,
            target=target.id,
            targeted=format_number(target.claimed),
            value=format_number(value),
        )

    def empty_handed(self) -> str:
        """The reason for a pass without a stance."""
        number, best = self._number(Move.PASS), self._evidence.best(own=True)
        if best is None:
            return self._formed(number, "no_value" if self._table.trials else "nothing_tried")
        return self._formed(number, "nothing_to_claim", **self._of_trials(best))

    def tried_too(self, held: int) -> str:
        """What its latest trial gave, if it leaves the worker with its stance."""
        trial = self._table.trials[-1]
        return self._formed(
            self._number(Move.PASS),
            "tried_too",
            conduct=self._seen.rules.describe(trial.conduct),
            value=format_number(trial.value),
            target=held,
        )

    def answer(self, own: Contribution, other: Contribution) -> str:
        """The answer to a challenge or an amendment of a proposal of its own."""
        if other.move == Move.AMEND:
            id, value = "taken_up", other.claim[0] if other.claim else None
        else:
            id = "conceded" if self._table.is_sustained(other) else "defended"
            value = self._table.tests.get(other.challenged)
        claimed, shown = format_apart(own.claimed, value)
        return self._formed(
            self._number(other.move, other.id),
            id,
            by=other.id,
            target=own.id,
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
            id = "refuted" if left.id in table.stances.refuted else "changes"
            other = left
        elif second is None:
            id, other = "stands_alone", target
        elif left is None:
            id, other = "chooses", second
        else:
            id, other = ("stands_by_own" if target.agent == me else "stays"), second
        value, others = format_apart(table.base_value(target), table.base_value(other))
        return self._formed(
            self._stand_number(),
            id,
            target=target.id,
            value=value,
            other=other.id,
            others=others,
            claimed=format_number(other.claimed),
        )

    def stands_by_none(self) -> str:
        """The reason for a final stance of none."""
        return self._formed(self._stand_number(), "stands_by_none")

    def _stand_number(self) -> int:
        seats = self._table.participants
        return self._seen.assignment * len(seats) + seats.index(self._seen.me.ordinal)

    # Parts.

    def _number(self, move: str, below: int | None = None) -> int:
        """The number of a sentence about a move; it repeats after two for each participant at a
        table.
        """
        earlier = self._table.contributions[:below]
        count = sum(other.move == move for other in earlier)
        return self._seen.assignment * 2 * len(self._table.participants) + count

    def _formed(self, number: int, *ids: str, **values: object) -> str:
        parts = [part for id in ids for part in forms_of(id)]
        if self._table.bar is None and ids[0] in ("proposed", "nothing_to_claim"):
            parts[1] = ["."]  # in place of what is said of the bar
        return sentence(parts, number, values)

    def _of_trials(self, best: ConductEvidence) -> dict[str, object]:
        count = len(best.own)
        return {
            "conduct": self._seen.rules.describe(best.conduct),
            "value": format_number(fmean(best.own)),
            "trials": speech(plural("trials", count), count=count),
            "bar": format_number(self._table.bar),
            "margin": format_number(abs(self._evidence.margin(fmean(best.own)))),
        }

    def _known(self, mine: ConductEvidence) -> float:
        """What is known best of a conduct of its own: its test, or its trials."""
        for proposal in self._table.proposals():
            tested = self._table.base_value(proposal)
            if proposal.conduct == mine.conduct and tested is not None:
                return tested
        return fmean(mine.own)
