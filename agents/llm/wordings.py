"""Wordings: the texts of a prompt as data, and how an agent of a roster is asked with them.

A wording changes messages of a version's prompt and renames what answers name. What is said when,
limits and lists stay in code. Source: SPEC-mining, section 13.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache

import attrs

from goldrush.agents.llm.messages import Messages
from goldrush.agents.llm.model import DEFAULT, FIXED, NONE

ID, ROW_COL = "id", "row,col"  # how plots are named


@attrs.frozen
class Wordable:
    """What wordings can change in one version of a world's prompt.

    Attributes:
        messages: the default texts.
        kinds, keys: the kinds of action and the keys of the answer that can be renamed.
        agents, plots: whether agents, and plots, can be renamed.
        items: ids of the messages of items in lists, whose size counts into their part's limit.
    """

    messages: Messages
    kinds: Sequence[str] = ()
    keys: Sequence[str] = ()
    agents: bool = False
    plots: bool = False
    items: Collection[str] = ()


@attrs.frozen
class Names:
    """What agents call the things of a world; the journal holds the world's own names.

    Attributes:
        kinds, keys: the names of kinds of action and keys of the answer, by the world's own; what
            is absent keeps its name.
        agents: by id; None: the ids.
        plots: `id` or `row,col`.
    """

    kinds: Mapping[str, str] = attrs.field(factory=dict)
    keys: Mapping[str, str] = attrs.field(factory=dict)
    agents: Sequence[str] | None = None
    plots: str = ID

    def agent(self, agent: int) -> str:
        """The name of an agent."""
        return str(agent) if self.agents is None else self.agents[agent]

    def kind(self, kind: str) -> str:
        """The name of a kind of action."""
        return self.kinds.get(kind, kind)

    def key(self, key: str) -> str:
        """The name of a key of the answer."""
        return self.keys.get(key, key)


@attrs.frozen(eq=False)
class Wording:
    """A wording of one version of a prompt.

    Attributes:
        name: in rosters.
        text: the canonical form, a JSON object; empty for the default.
        variants: the messages of each variant, at least one.
        names: the names of things.
    """

    name: str
    text: str
    variants: Sequence[Messages]
    names: Names = Names()


@attrs.frozen
class Framed:
    """How one agent of a roster is asked.

    Attributes:
        wording: the wording of its prompts.
        variant: the index of its variant.
        notes: whether its answers may have a note to itself, and its prompt shows the last.
        reasoning: see model.Model.
        persona: a text that it is shown as written; None: none.
        order: see model.Framing.
    """

    wording: Wording
    variant: int = 0
    notes: bool = False
    reasoning: str = NONE
    persona: str | None = None
    order: str = FIXED

    @property
    def messages(self) -> Messages:
        """The messages of its prompts."""
        return self.wording.variants[self.variant]


@cache
def default_of(wordable: Messages) -> Wording:
    """The wording that every version of a prompt has."""
    return Wording(DEFAULT, "", (wordable,))
