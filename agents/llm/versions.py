"""Versions of a world's prompt: which options agents of each may have, and what new rosters get.

Several versions stay playable beside each other. A journal names the version of each agent, so that
its prompts can be made, and its answers read, as they were; a new roster gets the last version.
Source: SPEC-mining, section 13.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import attrs

from goldrush.kernel.errors import BadInput

if TYPE_CHECKING:
    # Imported where a model plays: with it, commands of other runs would start later.
    from goldrush.agents.llm.model import Model
    from goldrush.agents.llm.wordings import Wordable

# Tokens of an answer where the user gives no limit: of a version without options, of the others,
# and where the server's template opens the reasoning.
TOKENS: Final = 500, 2_000, 8_000


@attrs.frozen
class PromptVersion:
    """A version of a world's prompt.

    Attributes:
        number: as a journal records it, from 1.
        options: those of `model.SAMPLING` and `model.FRAMING` that an entry may have.
        wordable: gives what wordings can change; None: nothing.
    """

    number: int
    options: Collection[str] = ()
    wordable: Callable[[], Wordable] | None = None


def numbers(versions: Sequence[PromptVersion]) -> str:
    """The numbers of versions, for messages."""
    return " and ".join(str(version.number) for version in versions)


def version_of(versions: Sequence[PromptVersion], options: Mapping[str, object]) -> PromptVersion:
    """The version in an entry's options. Raises BadInput for one that this goldrush lacks."""
    number = options.get("prompt")
    for version in versions:
        if type(number) is int and version.number == number:
            return version
    raise BadInput(
        f"an agent was asked with version {number} of the prompt; this goldrush has "
        f"{numbers(versions)}",
        "use the goldrush version that recorded the run",
    )


def decided(model: Model, versions: Sequence[PromptVersion]) -> Model:
    """A model for a new roster: what the user left open is decided, but for what a short question
    to its server decides. Raises BadInput for options that the version does not have.
    """
    from goldrush.agents.llm.model import ABSENT, NONE, OPEN, OPTION, RUN

    version = versions[-1]
    if model.prompt:
        version = next((v for v in versions if v.number == model.prompt), version)
        if version.number != model.prompt:
            raise BadInput(
                f"model {model.name} has version {model.prompt} of the prompt",
                f"give prompt = {numbers(versions)}",
            )
    is_new = {
        "reasoning": model.reasoning or NONE,
        "seed_from": RUN if model.seed is None else OPTION,
        "notes": True,
    }
    for name, absent in ABSENT.items():
        given = getattr(model, name)
        if name in version.options or given in (None, absent):
            continue
        raise BadInput(
            f"model {model.name} has {name}, which version {version.number} of the prompt lacks",
            "leave it out, or take the newest version",
        )
    chosen: dict[str, Any] = {
        name: is_new.get(name, absent) if name in version.options else absent
        for name, absent in ABSENT.items()
        if getattr(model, name) is None
    }
    first, later, opened = TOKENS
    tokens = (opened if model.reasoning == OPEN else later) if version.options else first
    return attrs.evolve(
        model, prompt=version.number, max_tokens=model.max_tokens or tokens, **chosen
    )
