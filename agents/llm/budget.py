"""What answers may take: tokens and money, reserved before a question is sent.

A ceiling is kept by reserving the most that a question can take and, when the answer is there,
counting what the server says it took. A token is taken to be at least a byte of text, so that a
question has no more tokens than bytes; what servers wrap around a message is allowed for. Where a
server does not say what it took (or a connection broke off behind the question), the most counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from goldrush.agents.llm.models import Models
from goldrush.kernel.errors import BadInput

WRAPPING: Final = 256  # tokens that a server's own template may put around a question


@attrs.frozen
class Amount:
    """Tokens of questions and of answers of one model (by the name that the roster uses)."""

    name: str
    tokens_in: int
    tokens_out: int

    @property
    def tokens(self) -> int:
        """Both together."""
        return self.tokens_in + self.tokens_out


@attrs.frozen
class Objection:
    """Why something must not be asked, and the option that says so."""

    text: str
    option: str

    def __str__(self) -> str:
        return f"{self.text} ({self.option})"


class Budget:
    """What was taken so far, and whether more fits under the ceilings."""

    def __init__(self, models: Models, names: Sequence[str], taken: Sequence[Amount] = ()) -> None:
        """`names`: the models that will be asked; `taken`: what earlier answers took.

        Raises BadInput where a ceiling of cost is given and a price is not.
        """
        self._max_tokens = models.max_tokens
        self._max_cost = models.max_cost
        self._prices = prices(models, [*names, *(amount.name for amount in taken)])
        if self._max_cost is not None:
            for name in names:
                if name not in self._prices:
                    raise BadInput(
                        f"a ceiling of cost needs the price of {name}",
                        f"give price_in and price_out in a table [{name}] (--models FILE)",
                    )
        self.tokens = 0
        self.cost = 0.0
        for amount in taken:
            self.take(amount)

    def take(self, amount: Amount) -> None:
        """Count what a question took, or reserve what it can take at most."""
        self.tokens += amount.tokens
        self.cost += self.cost_of(amount)

    def give_back(self, amount: Amount) -> None:
        """Undo `take`."""
        self.tokens -= amount.tokens
        self.cost -= self.cost_of(amount)

    def cost_of(self, amount: Amount) -> float:
        """Its price; 0.0 where that is not known, which a ceiling of cost does not allow."""
        per_in, per_out = self._prices.get(amount.name, (0.0, 0.0))
        return (amount.tokens_in * per_in + amount.tokens_out * per_out) / 1_000_000

    def objection(self, amounts: Sequence[Amount]) -> Objection | None:
        """Why questions that take this at most must not be asked, if so: how much is left."""
        tokens = sum(amount.tokens for amount in amounts)
        if self._max_tokens is not None and self.tokens + tokens > self._max_tokens:
            left = self._max_tokens - self.tokens
            has = f"{left:,} of {self._max_tokens:,} are left"
            if left < 0:
                has = f"{self.tokens:,} of {self._max_tokens:,} are taken"
            return Objection(f"it may take up to {tokens:,} tokens, and {has}", "--max-tokens")
        cost = sum(map(self.cost_of, amounts))
        if self._max_cost is not None and self.cost + cost > self._max_cost:
            has = f"{max(0.0, self._max_cost - self.cost):.4f} of {self._max_cost:g} are left"
            return Objection(f"it may cost up to {cost:.4f}, and {has}", "--max-cost")
        return None


def prices(models: Models, names: Sequence[str]) -> Mapping[str, tuple[float, float]]:
    """The prices for 1,000,000 tokens in and out of the models that have both."""
    found = {}
    for name in dict.fromkeys(names):
        endpoint = models.endpoint(name)
        if endpoint.price_in is not None and endpoint.price_out is not None:
            found[name] = (endpoint.price_in, endpoint.price_out)
    return found


@attrs.frozen
class Estimate:
    """For one model, by the roster's name: `questions` in all; tokens of all questions, about and
    at most; tokens of all answers, at most; the most that it all can cost (None: no prices given).
    """

    model: str
    questions: int
    tokens_in: int
    most_in: int
    most_out: int
    most_cost: float | None
