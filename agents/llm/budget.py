"""Ceilings of tokens and cost, reserved before a question is sent.

The upper bound of a question is reserved first and replaced by the usage that the server reports. A
token is at least a byte of text, so a question has at most as many tokens as bytes, and WRAPPING
more for the server's template. If usage is not reported, or a connection breaks after the question
was sent, the upper bound stays counted; for an answer that is longer, an estimate from its size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from goldrush.agents.llm.model import Model
from goldrush.agents.llm.models import Endpoint, Models
from goldrush.agents.llm.question import Amount
from goldrush.kernel.errors import BadInput


class Budget:
    """The tokens and the cost of a run so far, with its ceilings."""

    def __init__(self, models: Models, names: Sequence[str], taken: Sequence[Amount] = ()) -> None:
        """Begin with the usage of earlier answers. `names`: of the models that will be asked.

        Raises BadInput for a ceiling of cost without the price of a model.
        """
        self._max_tokens = models.max_tokens
        self._max_cost = models.max_cost
        self._prices = prices(models.by_name)
        self._names = dict.fromkeys(names)  # of those that are asked
        if fault := self._unpriced():
            raise BadInput(*fault)
        self.tokens = 0
        self.cost = 0.0
        for amount in taken:
            self.take(amount)

    def take(self, amount: Amount) -> None:
        """Count the usage of a question, or reserve its upper bound."""
        self.tokens += amount.tokens
        self.cost += self.cost_of(amount)
        self._names[amount.name] = None

    def give_back(self, amount: Amount) -> None:
        """Undo `take`."""
        self.tokens -= amount.tokens
        self.cost -= self.cost_of(amount)

    def cost_of(self, amount: Amount) -> float:
        """The cost of an amount; 0.0 without a price, which a ceiling of cost does not allow."""
        price = self._prices.get(amount.name, _FREE)
        return price.millionths(amount.tokens_in, amount.tokens_out) / 1_000_000

    def reached(self, name: str) -> str | None:
        """The ceiling that is reached before a question to this model, as its option with its value
        or with the price that it lacks; None: none is.
        """
        fault = self._unpriced(*filter(None, [name]))
        if fault is not None:
            return f"--max-cost: {'; '.join(fault)}"
        if self._max_tokens is not None and self.tokens >= self._max_tokens:
            return f"--max-tokens {self._max_tokens}"
        if self._max_cost is not None and self.cost >= self._max_cost:
            return f"--max-cost {self._max_cost:g}"
        return None

    def _unpriced(self, *more: str) -> tuple[str, str] | None:
        """What a ceiling of cost lacks, and what to give; None: nothing. `more`: names of models
        besides those that were asked.
        """
        for name in (*self._names, *more) if self._max_cost is not None else ():
            if name not in self._prices:
                give = f"give price_in and price_out in a table [{name}] (--models FILE)"
                return f"a ceiling of cost needs the price of {name}", give
        return None

    def objection(self, amounts: Sequence[Amount]) -> tuple[str, str] | None:
        """The ceiling that questions with these upper bounds could exceed, as text, and the option
        of the command line that sets it; None: they can be asked.
        """
        tokens = sum(amount.tokens for amount in amounts)
        if self._max_tokens is not None and self.tokens + tokens > self._max_tokens:
            left = self._max_tokens - self.tokens
            has = f"{left:,} of {self._max_tokens:,} are left"
            if left < 0:
                has = f"{self.tokens:,} of {self._max_tokens:,} are taken"
            return f"it may take up to {tokens:,} tokens, and {has}", "--max-tokens"
        cost = sum(map(self.cost_of, amounts))
        if self._max_cost is not None and self.cost + cost > self._max_cost:
            has = f"{max(0.0, self._max_cost - self.cost):.4f} of {self._max_cost:g} are left"
            return f"it may cost up to {cost:.4f}, and {has}", "--max-cost"
        return None


class Price(NamedTuple):
    """The price of 1,000,000 tokens of questions and of answers."""

    tokens_in: float
    tokens_out: float

    def millionths(self, tokens_in: int, tokens_out: int) -> float:
        """A million times the cost of so many tokens."""
        return tokens_in * self.tokens_in + tokens_out * self.tokens_out


_FREE: Final = Price(0.0, 0.0)


def prices(tables: Mapping[str, tuple[Model, Endpoint]]) -> Mapping[str, Price]:
    """The prices in a file of models, by the name of a table, and by the name of its model on the
    server, where no table is named so and as the first table has it.
    """
    known = {
        name: Price(endpoint.price_in, endpoint.price_out)
        for name, (_, endpoint) in tables.items()
        if endpoint.price_in is not None and endpoint.price_out is not None
    }
    for name, price in list(known.items()):
        on_server = tables[name][0].model
        if on_server not in tables:
            known.setdefault(on_server, price)
    return known


class Estimate(msgspec.Struct, frozen=True):
    """The estimate of a whole run for one model, named as in the roster.

    Attributes:
        questions: their number.
        tokens_in: expected tokens of all questions.
        most_in, most_out: upper bounds of the tokens of all questions and of all answers.
        most_cost: upper bound of the cost; None: there are no prices.
    """

    model: str
    questions: int
    tokens_in: int
    most_in: int
    most_out: int
    most_cost: float | None
