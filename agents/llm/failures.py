"""Answers of language models that brought nothing, counted by model and kind.

An answer fails where it is missing, cut off before it said anything that can be read, refused, or
unreadable: where its recorded error is one of KINDS. Whatever else is wrong with it (a plan that is
too long, actions that the rules remove), it was an answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import attrs

from goldrush.agents.llm.budget import Amount
from goldrush.kernel.text import escaped

# What is recorded as the error of an answer: nothing came, the model refused, it was cut off before
# it said anything that can be read, or what came cannot be read.
NO_ANSWER, REFUSAL, CUT, NO_JSON = "no-answer", "refusal", "cut", "no-json"

KINDS: Final[Mapping[str, str]] = {
    NO_ANSWER: "missing", CUT: "cut off", REFUSAL: "refused", NO_JSON: "unreadable",
}  # fmt: skip
FIRST: Final = 20  # answers of a model before the share that failed says anything
MOSTLY: Final = 0.5  # a model has hardly played where a larger share of its answers failed


@attrs.frozen
class Earlier:
    """An answer that a run has already: what it took, of which model, and its recorded error."""

    amount: Amount
    error: str | None


@attrs.frozen
class Failures:
    """What became of the answers of a `model`, called as the roster does: how many `answers` there
    are, and how many of them failed, by their error (a key of KINDS).
    """

    model: str
    answers: int
    kinds: Mapping[str, int]

    @property
    def failed(self) -> int:
        """How many failed."""
        return sum(self.kinds.values())

    @property
    def share(self) -> float:
        """The part of the answers that failed, from 0 to 1; 0 without answers."""
        return self.failed / self.answers if self.answers else 0.0

    @property
    def hardly_played(self) -> bool:
        """Whether more than MOSTLY of the answers failed."""
        return self.share > MOSTLY

    def __str__(self) -> str:
        of = f"llm:{self.model}: {self.failed:,} of {self.answers:,} answers"
        if len(self.kinds) == 1:
            return f"{of} {KINDS[next(iter(self.kinds))]}"
        return f"{of} failed: {format_kinds(self.kinds)}" if self.kinds else f"{of} failed"


class Tally:
    """Counts the answers of many models."""

    def __init__(self, answers: Iterable[tuple[str, str | None]] = ()) -> None:
        """`answers`: (model, error) of each."""
        self._answers: Counter[str] = Counter()
        self._kinds: dict[str, Counter[str]] = {}
        for model, error in answers:
            self.add(model, error)

    def add(self, model: str, error: str | None) -> None:
        """Count one answer."""
        kind = failure_kind(error)
        self.merge(Failures(model, 1, {} if kind is None else {kind: 1}))

    def merge(self, failures: Failures) -> None:
        """Count what was counted elsewhere."""
        self._answers[failures.model] += failures.answers
        self._kinds.setdefault(failures.model, Counter()).update(failures.kinds)

    def of(self, model: str) -> Failures:
        """What was counted of one model."""
        kinds = self._kinds.get(model, Counter())
        there = {kind: kinds[kind] for kind in KINDS if kind in kinds}
        return Failures(model, self._answers[model], there)

    def all(self) -> list[Failures]:
        """What was counted of every model, by name."""
        return [self.of(model) for model in sorted(self._answers)]


def merge_failures(parts: Iterable[Failures]) -> list[Failures]:
    """What was counted in parts, by model."""
    tally = Tally()
    for part in parts:
        tally.merge(part)
    return tally.all()


def failure_kind(error: object) -> str | None:
    """The error of an answer, if it failed."""
    return error if type(error) is str and error in KINDS else None


def format_kinds(kinds: Mapping[str, int]) -> str:
    """Numbers of failed answers in words, in the order of KINDS."""
    return ", ".join(f"{kinds[kind]:,} {word}" for kind, word in KINDS.items() if kind in kinds)


def format_failures(failures: Iterable[Failures], nothing: str) -> list[str]:
    """A line for each model whose answers failed; where all did, `nothing` says what that means."""
    return [
        escaped(f"{one}: {nothing}" if one.failed == one.answers else str(one))
        for one in failures
        if one.failed
    ]
