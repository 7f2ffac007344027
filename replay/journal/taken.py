"""The usage of answers of language models together: their number, failures, tokens and cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import add
from typing import Any, Final

import msgspec

from goldrush.agents.llm.failures import KINDS, Failures
from goldrush.kernel.grouping import grouped
from goldrush.kernel.text import escaped, format_count

SUMS: Final = {  # of answers, with their heads
    "tokens_in": "tokens in", "tokens_cached": "cached", "tokens_out": "tokens out",
    "tokens_reasoning": "reasoning", "tries": "tries",
}  # fmt: skip
HEAD: Final = ("answers", "failed", *SUMS.values(), "uncounted", "cost")


class Taken(msgspec.Struct, frozen=True):
    """The usage of some answers together.

    Attributes:
        model: whose they are (see `versions.subject_of`); empty: of several.
        answers: the number of answers, including submissions without one.
        errors: the number of answers with each error; `cut`: of those that were cut off, and read.
        tokens_in, tokens_out: the tokens that servers counted.
        tokens_cached, tokens_reasoning: those of them that were in a server's cache, and those of
            reasoning, as far as servers report them.
        uncounted: the number of answers without a full count of tokens.
        tries: the number of requests.
        cost: the cost of the counted tokens at the given prices; None if a price is missing.
        reported: the names of the model that servers gave, and `fingerprints` those of systems.
        created: the first and the last time of an answer by the server's clock, in seconds.
    """

    model: str
    answers: int
    errors: Mapping[str, int]
    cut: int
    tokens_in: int
    tokens_out: int
    tokens_cached: int
    tokens_reasoning: int
    uncounted: int
    tries: int
    cost: float | None
    reported: tuple[str, ...]
    fingerprints: tuple[str, ...]
    created: tuple[int, ...]

    def __add__(self, other: Taken) -> Taken:
        sums: dict[str, Any] = {
            name: getattr(self, name) + getattr(other, name)
            for name in ("answers", "cut", *SUMS, "uncounted")
        }
        for name in ("reported", "fingerprints", "created"):
            sums[name] = tuple(sorted({*getattr(self, name), *getattr(other, name)}))
        return Taken(
            **{**sums, "created": sums["created"][:1] + sums["created"][1:][-1:]},
            model=self.model if self.model == other.model else "",
            errors=dict(sorted((Counter(self.errors) + Counter(other.errors)).items())),
            cost=None if None in (self.cost, other.cost) else (self.cost or 0) + (other.cost or 0),
        )

    @property
    def failures(self) -> Failures:
        """The answers that failed."""
        kinds = {kind: self.errors[kind] for kind in KINDS if kind in self.errors}
        return Failures(self.model, self.answers, kinds, self.cut)

    @property
    def failed(self) -> str:
        """The errors with their numbers, as text; empty: none."""
        return ", ".join(f"{count} {escaped(error)}" for error, count in self.errors.items())

    @property
    def cells(self) -> Sequence[str]:
        """The row of a table under HEAD."""
        at_least = "at least " if self.uncounted else ""
        cost = "-" if self.cost is None else f"{at_least}{self.cost:.4f}"
        numbers = (f"{getattr(self, name):,}" for name in (*SUMS, "uncounted"))
        return (str(self.answers), self.failed or "0", *numbers, cost)

    def __str__(self) -> str:
        errors = self.failed
        counted = f" ({format_count(self.uncounted, 'answer')} not counted)"
        return (
            f"{format_count(self.answers, 'answer')} of language models, "
            f"{sum(self.errors.values()):,} failed{f' ({errors})' if errors else ''}; "
            f"{self.tokens_in:,} tokens in, {self.tokens_out:,} out"
            f"{counted if self.uncounted else ''}"
        )


def by_model(parts: Iterable[Taken]) -> list[Taken]:
    """The sums of each model, sorted by it."""
    groups = sorted(grouped(parts, lambda taken: taken.model).items())
    return [reduce(add, taken) for _, taken in groups]


def total_of(parts: Iterable[Taken]) -> Taken:
    """The sum of all, which may be none."""
    return reduce(add, parts, Taken("", 0, {}, 0, 0, 0, 0, 0, 0, 0, 0.0, (), (), ()))
