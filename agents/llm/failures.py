"""Failed answers of language models, by model, wording and kind.

An answer fails if it is missing, cut off before a readable part, refused or unreadable: if its
recorded error is in KINDS. So does one with actions of which none could be read, for which journals
have no error (NO_ACTION; see `Answer.failure`). Other errors (a plan that is too long, illegal
actions) are no failures, nor is an answer that was cut off and read all the same: such are counted
apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Self

import msgspec

from goldrush.kernel.text import escaped

# Recorded errors of answers: missing, refused, cut off before a readable part, unreadable.
NO_ANSWER, REFUSAL, CUT, NO_JSON = "no-answer", "refusal", "cut", "no-json"
INVALID = "invalid"  # of a game: a field is missing or has an illegal value
NO_ACTION = "no-action"  # never recorded: no action of the answer could be read

KINDS: Final[Mapping[str, str]] = {
    NO_ANSWER: "missing", CUT: "cut off", REFUSAL: "refused", NO_JSON: "unreadable",
    INVALID: "with an illegal value",
    NO_ACTION: "without a readable action",
}  # fmt: skip
FIRST: Final = 20  # answers of a model before the share of failed ones is meaningful
MOSTLY: Final = 0.5  # a model hardly played if a larger share of its answers failed


class Failures(msgspec.Struct, frozen=True):
    """The failed answers of one model with one wording.

    Attributes:
        model: its name, with its wording if that is not the default (see `versions.subject_of`).
        answers: number of all its answers.
        kinds: number of failed ones, by error (a key of KINDS).
        cut: number of those that were cut off but had a readable part, which was played.
    """

    model: str
    answers: int
    kinds: Mapping[str, int]
    cut: int = 0

    @classmethod
    def of(cls, model: str, error: str | None) -> Self:
        """The outcome of one answer."""
        kind = failure_kind(error)
        return cls(model, 1, {} if kind is None else {kind: 1})

    def __add__(self, other: Failures) -> Failures:
        both = {kind: self.kinds.get(kind, 0) + other.kinds.get(kind, 0) for kind in KINDS}
        kinds = {kind: count for kind, count in both.items() if count}
        return Failures(self.model, self.answers + other.answers, kinds, self.cut + other.cut)

    @property
    def failed(self) -> int:
        """Number of failed answers."""
        return sum(self.kinds.values())

    @property
    def share(self) -> float:
        """Share of failed answers, from 0 to 1; 0 without answers."""
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


def merge_failures(parts: Iterable[Failures]) -> list[Failures]:
    """The sums of counts, sorted by model."""
    sums: dict[str, Failures] = {}
    for part in parts:
        sums[part.model] = sums[part.model] + part if part.model in sums else part
    return [sums[model] for model in sorted(sums)]


def failure_kind(error: object) -> str | None:
    """The recorded error of an answer if it is a failure, else None."""
    return error if type(error) is str and error in KINDS else None


def format_kinds(kinds: Mapping[str, int]) -> str:
    """Numbers of failed answers as text, in the order of KINDS."""
    return ", ".join(f"{kinds[kind]:,} {word}" for kind, word in KINDS.items() if kind in kinds)


PLAYED_INSTEAD: Final = "their world's default stands for them, or nothing"


def format_failures(failures: Iterable[Failures]) -> list[str]:
    """A line for each model with failed answers, and one for each with answers that were cut off
    but played.
    """
    lines = []
    for counts in failures:
        if counts.failed:
            lines.append(f"{counts}: {PLAYED_INSTEAD}")
        lines += format_cut([counts])
    return list(map(escaped, lines))


def format_cut(failures: Iterable[Failures]) -> list[str]:
    """A line for each model with answers that were cut off but played."""
    return [
        f"llm:{counts.model}: {counts.cut:,} of {counts.answers:,} answers cut off, but played"
        for counts in failures
        if counts.cut
    ]
