"""Audit of a draw in any world: the participants, the key, the draw words, and the outcome computed
again.

A draw is a function of its key, and its event holds the draw words taken. So a world only names the
draw (`Occasion`) and the fields of its event (`DrawAudits`); the rest is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Self, TypeVar

import attrs

from goldrush.kernel import draws
from goldrush.kernel.world import Row
from goldrush.replay.text import format_table

Outcome = int | bool | float | tuple[int, ...] | None
S = TypeVar("S")


@attrs.frozen
class DrawAudits(Generic[S]):
    """The draws of a world.

    Attributes:
        kinds: their kinds.
        audits: by code of an event, `audit(state, row)` with the state after the event's step.
    """

    kinds: Sequence[str]
    audits: Mapping[int, Callable[[S, Row], TieBreak]]


def _hex(words: Sequence[int | str]) -> tuple[str, ...]:
    """Words in hex; those that are already, as in a changed copy of a draw, stay."""
    return tuple(word if isinstance(word, str) else f"{word:016x}" for word in words)


@attrs.frozen
class Occasion:
    """The identity of a draw.

    Attributes:
        location: the numbers that locate it, by name, the unit first (round and plot, say).
        where: the location as text.
        parts: the parts of the key.
        tied: the noun for a participant.
        decides: the noun for the outcome.
        named: the kind of the draw; empty: the last part of the key.
        name: what the rules of a game call the draw, with the rest of its key: `bite, 3`; empty in
            other worlds.
    """

    location: Mapping[str, int]
    where: str
    parts: tuple[int | str, ...]
    tied: str = "agent"
    decides: str = "winner"
    named: str = ""
    name: str = ""

    @property
    def kind(self) -> str:
        return self.named or str(self.parts[-1])

    @property
    def kinds(self) -> Sequence[str]:
        """Its kind, its name, and the first part of that."""
        return self.kind, *([self.name, self.name.partition(",")[0]] if self.name else [])

    @property
    def draws(self) -> draws.Draws:
        """Its draws, with no word taken."""
        return draws.Draws(*self.parts)


@attrs.frozen
class TieBreak:
    """A draw as it was recorded and as it was computed again.

    Attributes:
        occasion: the identity of the draw.
        participants: in the order in which the draw had them.
        draw_words: the 64-bit words in the event, in hex.
        outcome: the outcome in the event: a winner, an order, a number, whether a chance was met;
            None where nobody wins.
        outcome_again: the outcome computed again.
        rule: how the outcome follows, as text.
        participants_again: the participants by the rest of the journal; None where only the event
            names them.
        draw_words_again: the words that the key gives; none where nothing had to be drawn.
        index: the winner's index among the participants; None where nothing was drawn, and for
            shuffles and chances.
    """

    occasion: Occasion
    participants: Sequence[int]
    draw_words: Sequence[str] = attrs.field(converter=_hex)
    outcome: Outcome
    outcome_again: Outcome
    rule: str
    participants_again: Sequence[int] | None = None
    draw_words_again: Sequence[str] = attrs.field(default=(), converter=_hex)
    index: int | None = None

    @property
    def kind(self) -> str:
        return self.occasion.kind

    @property
    def location(self) -> Mapping[str, int]:
        """The numbers that locate it, by name, the unit first."""
        return self.occasion.location

    @property
    def key(self) -> str:
        """The packed key in hex."""
        return self.occasion.draws.key.hex()

    @property
    def holds(self) -> bool:
        """Whether the participants are right and in order, and draw words and outcome are those
        that the key gives.
        """
        again = self.participants if self.participants_again is None else self.participants_again
        in_order = list(self.participants) == sorted(set(again))
        same = self.draw_words == self.draw_words_again and self.outcome == self.outcome_again
        return in_order and same

    def __str__(self) -> str:
        """The draw as `goldrush audit` prints it."""
        rows = [
            *self._took_part(),
            ("key", self.key),
            ("words", ", ".join(self.draw_words) or "none: nothing was drawn"),
            ("rule", self.rule),
            ("index", "-" if self.index is None else str(self.index)),
            (self.occasion.decides, self.format_outcome(self.outcome_again)),
            ("recorded", self.format_outcome(self.outcome)),
            ("holds", "yes" if self.holds else f"NO: the key gives {self.format_again()}"),
        ]
        head = f"{self.kind} {self.occasion.where}"
        return f"{head}\n\n{format_table(rows)}"

    def _took_part(self) -> list[tuple[str, str]]:
        """Rows with the participants as recorded and, if they differ, as derived again."""
        again = self.participants_again
        rows = [("took part", self.participants)]
        if again is not None and tuple(again) != tuple(self.participants):
            rows.append(("should have", again))
        tied = f"{self.occasion.tied}s"
        return [(head, f"{tied} {', '.join(map(str, among))}") for head, among in rows if among]

    def format_outcome(self, outcome: Outcome) -> str:
        """An outcome of the draw as text."""
        if outcome is None:
            return "nobody" if self.occasion.tied == "agent" else "none"
        if isinstance(outcome, tuple):
            return f"{self.occasion.tied}s {', '.join(map(str, outcome))}"
        if isinstance(outcome, (bool, float)):
            return str(outcome)
        return f"{self.occasion.tied} {outcome}"

    def format_again(self) -> str:
        """What the key gives, as text."""
        words = ", ".join(self.draw_words_again) or "no words"
        return f"{self.format_outcome(self.outcome_again)} with {words}"

    def as_dict(self) -> dict[str, Any]:
        again = self.participants_again
        return {
            "kind": self.kind,
            **self.location,
            "participants": self.participants,
            **({} if again is None else {"participants_again": again}),
            "key": self.key,
            "words": self.draw_words,
            "words_again": self.draw_words_again,
            "index": self.index,
            "outcome": self.outcome,
            "outcome_again": self.outcome_again,
            "rule": self.rule,
            "holds": self.holds,
        }

    @classmethod
    def drawn(
        cls, occasion: Occasion, participants: Sequence[int], words: Sequence[int],
        outcome: Outcome, again: Sequence[int] | None = None,
    ) -> Self:  # fmt: skip
        """One participant wins: by a draw, if there are two or more. `participants`: those in the
        event; `again`: the participants by the rest of the journal, if it names them.
        """
        among = participants if again is None else again
        count = len(among)
        if count < 2:
            rule = "one participant wins without a draw" if count else "nobody took part"
            first = among[0] if count else None
            return cls(occasion, participants, words, outcome, first, rule, again)
        draws = occasion.draws
        index = draws.below(count)  # a word that is not under 2^64 - (2^64 mod count) is passed
        rule = f"below({count}): word {draws.taken - 1} mod {count} is {index}"
        return cls(
            occasion, participants, words, outcome, among[index], rule, again, draws.words(), index,
        )  # fmt: skip

    @classmethod
    def chance(
        cls, occasion: Occasion, probability: float, words: Sequence[int], outcome: Outcome,
        meaning: str,
    ) -> Self:  # fmt: skip
        """A chance without participants: it is met or not. `probability`: of the chance, 0 to 1;
        `meaning`: what follows if the chance is met, as text.
        """
        draws = occasion.draws
        again = draws.chance(probability)
        threshold = int(probability * 2**64)
        return cls(
            occasion, (), words, outcome, again,
            f"chance({probability}): {meaning} where the word is under {threshold}",
            draw_words_again=draws.words(),
        )  # fmt: skip

    @classmethod
    def shuffled(
        cls, occasion: Occasion, participants: Sequence[int], words: Sequence[int],
        outcome: Outcome, *, nth: int | None = None, meaning: str = "",
        again: Sequence[int] | None = None,
    ) -> Self:  # fmt: skip
        """All participants are shuffled.

        Args:
            participants: those in the event.
            nth: the index in the order that decides; None: the outcome is the whole order.
            meaning: what follows from the order, as text.
            again: the participants by the rest of the journal, if it names them.
        """
        among = participants if again is None else again
        draws = occasion.draws
        order = draws.shuffled(among)
        outcome_again: Outcome = tuple(order)
        if nth is not None:
            outcome_again = order[nth] if nth < len(order) else None
        return cls(
            occasion, participants, words, outcome, outcome_again,
            f"Fisher-Yates from the top gives {', '.join(map(str, order))}{meaning}", again,
            draws.words(),
        )  # fmt: skip
