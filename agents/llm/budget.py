"""Ceilings of tokens and cost, reserved before a question is sent.

The upper bound of a question is reserved first and replaced by the usage that the server reports. A
token is at least a byte of text, so a question has at most as many tokens as bytes, and WRAPPING
more for the server's template. If usage is not reported, or a connection breaks after the question
was sent, the upper bound stays counted; for an answer that is longer, an estimate from its size.
"""

from __future__ import annotations

import fcntl
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import add
from typing import Final, NamedTuple

from goldrush.agents.llm.model import Model
from goldrush.agents.llm.models import Endpoint, Models
from goldrush.agents.llm.question import Amount
from goldrush.kernel.errors import BadInput


class Budget:
    """The tokens, the cost and the requests so far, with their ceilings: of a run or, in a file, of
    the runs of a study together (`Models.shared`), whose processes take turns.
    """

    def __init__(
        self,
        models: Models,
        names: Sequence[str],
        taken: Sequence[Amount] = (),
        requests: int = 0,
    ) -> None:
        """Begin with the usage of earlier answers and the `requests` for them, which a shared
        budget has already. `names`: of the models that will be asked.

        Raises BadInput for a ceiling of cost without the price of a model.
        """
        self._models = models
        self._prices = prices(models.by_name)
        self._names = dict.fromkeys((*names, *(amount.name for amount in taken)))
        if fault := self._unpriced():
            raise BadInput(*fault)
        self._own = [0.0, 0.0, float(requests)]
        for amount in taken if models.shared is None else ():
            self.take(amount)

    @contextmanager
    def counts(self) -> Iterator[list[float]]:
        """Tokens, cost and requests so far, to be changed in place."""
        if self._models.shared is None:
            yield self._own
            return
        with open(self._models.shared, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # until the file is closed
            counts = list(COUNTS.unpack(file.read(COUNTS.size)))
            yield counts
            file.seek(0)
            file.write(COUNTS.pack(*counts))

    def take(self, amount: Amount, sign: int = 1, requests: int = 0) -> None:
        """Count the usage of a question, and requests. `sign`: -1 undoes it."""
        with self.counts() as counts:
            counts[0] += sign * amount.tokens
            counts[1] += sign * self.cost_of(amount)
            counts[2] += requests
        self._names[amount.name] = None

    def share(self, path: str) -> None:
        """Write a new file with these counts, for `Models.shared`."""
        with open(path, "xb") as file:
            file.write(COUNTS.pack(*self._own))

    def reserve(self, amounts: Sequence[Amount]) -> tuple[str, str] | None:
        """Count the upper bounds of questions, which are then sent. If they could exceed a ceiling,
        nothing is counted, and the result is the ceiling as text and its option.
        """
        tokens, cost = sum(a.tokens for a in amounts), sum(map(self.cost_of, amounts))
        wanted = (tokens, cost, len(amounts))
        with self.counts() as counts:
            for what, used, more in zip(_CEILINGS, counts, wanted, strict=True):
                most = getattr(self._models, f"max_{what}")
                if most is not None and used + more > most:
                    form = "{:.4f}" if what == "cost" else "{:,.0f}"
                    would, left = map(form.format, (more, max(0.0, most - used)))
                    may = f"cost up to {would}" if what == "cost" else f"take up to {would} {what}"
                    return f"it may {may}, and {left} of {most:,} are left", f"--max-{what}"
            counts[:] = map(add, counts, wanted)
        return None

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
        with self.counts() as counts:
            for what, used in zip(_CEILINGS, counts, strict=True):
                most = getattr(self._models, f"max_{what}")
                if most is not None and used >= most:
                    return f"--max-{what} {most if type(most) is int else f'{most:g}'}"
        return None

    def _unpriced(self, *more: str) -> tuple[str, str] | None:
        """What a ceiling of cost lacks, and what to give; None: nothing. `more`: names of models
        besides those that were asked.
        """
        for name in (*self._names, *more) if self._models.max_cost is not None else ():
            if name not in self._prices:
                give = f"give price_in and price_out in a table [{name}] (--models FILE)"
                return f"a ceiling of cost needs the price of {name}", give
        return None


_CEILINGS: Final = ("tokens", "cost", "requests")  # options of `Models`, as they are counted
COUNTS: Final = struct.Struct("<3d")  # a shared budget: tokens, cost, requests


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
