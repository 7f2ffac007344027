"""People who play: somebody who is asked what a language model would be, and answers in its form.

Nobody is asked here: `ask` is brought by whoever has a person at hand, a terminal mostly. What a
person answers is recorded and never asked for again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.agents.llm.question import Message
from goldrush.kernel.errors import BadInput

HUMAN: Final = "human"  # the policy of who is asked


def every_field(name: str, before: Mapping[str, Any]) -> bool:
    """All fields are asked for."""
    return True


@attrs.frozen
class Inquiry:
    """One question to a person.

    - `who`: whom the person plays; `unit`: what is played, in words ("assignment 3").
    - `messages`: what a model in its place would be sent.
    - `schema`: the JSON schema of the answer.
    - `fault(text)`: what is wrong with an answer, given as JSON, in words; None where it can count.
    - `asks(name, before)`: whether a field is to be asked for, with the fields before it answered
      so; where not, it is null, or false.
    """

    who: str
    unit: str
    messages: Sequence[Message]
    schema: Mapping[str, Any]
    fault: Callable[[str], str | None]
    asks: Callable[[str, Mapping[str, Any]], bool] = every_field


# Gives the answer, as JSON. Raises KeyboardInterrupt where the person stops.
Ask = Callable[[Inquiry], str]


def required_person(ask: Ask | None, who: str) -> Ask:
    """How people are asked. Raises BadInput where nobody can be."""
    if ask is None:
        raise BadInput(
            f"{who} is played by a person, and nobody can be asked here",
            "play it by itself in a terminal, or give somebody else the seat",
        )
    return ask
