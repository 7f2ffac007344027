"""People who play: they get the prompt of a language model and answer in the same form.

This module only defines the interface; the terminal (cli/people.py) and pages in browsers
(served.py) implement it. Answers are recorded and never asked for again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from goldrush.kernel.records import Record
from goldrush.kernel.shape import Schema

if TYPE_CHECKING:
    from goldrush.agents.llm.question import Message


def every_field(name: str, before: Mapping[str, object]) -> bool:
    """See `Inquiry.asks`."""
    return True


class Inquiry(Record, frozen=True):
    """One question to a person.

    Attributes:
        agent: the number of the agent that the person plays.
        player: the agent that the person plays: its label, or what its wording calls it.
        unit: label of the unit, as in "assignment 3"; empty: the prompt has a wording, which alone
            says it.
        messages: the prompt that a model would get.
        fault: the error in an answer (JSON), as text; None: it is valid.
        asks: `(name, before)`: whether a field is asked for, given the answers to the fields before
            it; otherwise it is null, or false.
    """

    agent: int
    player: str
    unit: str
    messages: Sequence[Message]
    schema: Schema
    fault: Callable[[str], str | None]
    asks: Callable[[str, Mapping[str, object]], bool] = every_field


# Returns the answer as JSON. Raises KeyboardInterrupt if the person stops.
Ask = Callable[[Inquiry], str]
# Asks questions that do not wait for each other: yields the index of each and its answer as JSON,
# in the order in which answers come. Raises KeyboardInterrupt.
AskTogether = Callable[[Sequence[Inquiry]], Iterable[tuple[int, str]]]


def in_turn(ask: Ask) -> AskTogether:
    """Asks one question after the other."""
    return lambda inquiries: ((at, ask(inquiry)) for at, inquiry in enumerate(inquiries))
