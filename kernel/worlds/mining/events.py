"""The events of the mining world: submissions and derived events.

A row holds the fields in the order given here; its round is that of the commit. Enumerations
(kinds, reasons, outcomes) are held as the index of the name.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from goldrush.kernel.shape import (
    AGENT,
    AGENTS,
    AMOUNT,
    BOOLEAN,
    FROM_MODELS,
    INTEGER,
    NATURAL,
    PLOT,
    WORD,
    at_most,
    one_of,
    optional,
    record,
    several,
    text,
)
from goldrush.kernel.world import EventType, if_given

# The actions of an agent on a plot.
KINDS: Final = ("defend", "mine", "claim", "raid")
DEFEND, MINE, CLAIM, RAID = range(4)


class Reason:
    """The reasons for removing an action, in the order in which they are checked."""

    MALFORMED, OFF_GRID, BAD_AMOUNT, NOT_OWNER, ALREADY_OWNED = range(5)
    OWN_PLOT, UNOWNED, DUPLICATE, BUDGET = range(5, 9)


class RaidOutcome:
    """The outcomes of a raid."""

    VOID, TRUCE, BLOCKED, CAPTURED = range(4)


class Remedy:
    """The remedies of an authority for a detected capture."""

    RESTORED, FINED = range(2)


def _names(family: type) -> tuple[str, ...]:
    """The names of the codes of a family, by code."""
    return tuple(name.lower().replace("_", "-") for name in vars(family) if name.isupper())


REASONS: Final = _names(Reason)
OUTCOMES: Final = _names(RaidOutcome)
REMEDIES: Final = _names(Remedy)

ITEMS_MAX = 1_000  # actions in a plan
MEMO_MAX = 2_000  # characters
SAY_MAX = 280  # code points, after cleaning
OVERFLOW = "overflow"  # the error of a plan with more than ITEMS_MAX actions
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1  # the range of plots and amounts in a plan

Action = tuple[int, int, int] | None  # (kind, plot, amount), or null for a malformed item
# In the journal's form: codes of kinds, 64-bit integers. Rows hold tuples and no lists, because the
# garbage collector visits a list of integers at every pass and such a tuple once.
Actions = tuple[Action, ...]


_INT64: Final = at_most(INT64_MAX)
_ACTION: Final = optional(record(kind=one_of(KINDS), plot=_INT64, amount=_INT64))


def show_action(action: Action) -> list[Any] | None:
    """`[kind, plot, amount]` with the kind's name, or None."""
    return None if action is None else [KINDS[action[0]], action[1], action[2]]


ACTIONS: Final = msgspec.structs.replace(
    several(_ACTION, ITEMS_MAX),
    name="list of actions",
    show=lambda value: [show_action(action) for action in value],  # in an eighth of the time
    entity="plot",
    ids=lambda shown: [action[1] for action in shown if action is not None],
)
_REMOVAL: Final = msgspec.structs.replace(
    record(index=NATURAL, reason=one_of(REASONS)), name="[index, reason]"
)
# Fields of several events.
_AGENT: Final = AGENT.means("whose submission, or whose mining, it is")
_PLOT: Final = PLOT.means("the plot's id: row × columns + column")
_WINNER: Final = "the agent who gets the plot; null where a raid captures nothing"
_WORDS: Final = several(WORD).means("the 64-bit words that were drawn, 16 hex digits each")

EVENTS: Final = (
    EventType(
        "submitted",
        {
            "agent": _AGENT,
            "actions": ACTIONS.means(
                f"the plan: kind ({', '.join(KINDS)}), plot, stamina points; an item that is no "
                "action is null"
            ),
            "error": FROM_MODELS["error"].means("why there is no plan, or only a part of it"),
            "say": optional(text(SAY_MAX)).means(
                "what the others are told; null without communication"
            ),
            "memo": optional(text(MEMO_MAX)).means("what the agent notes for itself"),
            "source": FROM_MODELS["source"].means(
                "what a language model wrote (raw) and took; null for scripted agents"
            ),
        },
        is_input=True,
        text="{agent} submits {actions:actions}{error}{say}{memo}",
        cases={
            "error": if_given("; error {error}"),
            "say": if_given("; says {say:quoted}"),
            "memo": if_given("; notes {memo:quoted}"),
        },
    ),
    EventType(
        "pruned",
        {
            "agent": _AGENT,
            "removed": several(_REMOVAL).means(
                "items of the plan, from 0, that were removed, and why: " + ", ".join(REASONS)
            ),
            "cost": NATURAL.means("stamina spent on what is left of the plan", "points"),
        },
        text="{agent}: removed {removed:removed}; {cost} stamina spent",
    ),
    EventType(
        "claim_drawn",
        {
            "plot": _PLOT,
            "claimants": AGENTS.means("agents who claim the plot, ascending"),
            "winner": AGENT.means(_WINNER),
            "words": _WORDS,
        },
        text="plot {plot}: claimed by {claimants}{words}",
        cases={"words": if_given("; the draw gives it to {winner:plain}")},
    ),
    EventType(
        "raid_resolved",
        {
            "plot": _PLOT,
            "owner": optional(AGENT).means(
                "the agent who has the plot when it is raided; null if nobody's"
            ),
            "raiders": AGENTS.means("agents who raid the plot, ascending"),
            "defense": NATURAL.means("stamina of its defence", "points"),
            "outcome": one_of(OUTCOMES).means("how the raid ends: " + ", ".join(OUTCOMES)),
            "winner": optional(AGENT).means(_WINNER),
            "words": _WORDS,
        },
        text="plot {plot} of {owner}: raided by {raiders}; {outcome}",
        cases={
            "outcome": {
                "void": "there is nothing to take",
                "truce": "it is in truce",
                "blocked": "its defence ({defense}) holds",
                "captured": "{winner} captures it",
            }
        },
    ),
    EventType(
        "ruled",
        {
            "plot": _PLOT,
            "captor": AGENT.means("the agent who captured the plot"),
            "victim": AGENT.means("the agent who lost it"),
            "detected": BOOLEAN.means("whether the authority saw it"),
            "remedy": optional(one_of(REMEDIES)).means(
                f"what it did: {', '.join(REMEDIES)}; null: nothing"
            ),
            "fine": AMOUNT.means("what the captor pays", "gold"),
            "words": _WORDS,
        },
        text="plot {plot}: the capture by {captor} {remedy}",
        cases={
            "remedy": {
                None: "is not detected",
                "restored": "is undone, {victim} has it back",
                "fined": "costs it a fine of {fine:amount} gold",
            }
        },
    ),
    EventType(
        "mining_settled",
        {
            "plot": _PLOT,
            "agent": _AGENT,
            "stamina": INTEGER.means("stamina mined with", "points"),
            "gold": AMOUNT.means("mined; 0 where the plot was lost in this round", "gold"),
        },
        text="{agent} mines {plot} with {stamina} stamina: {gold:amount} gold",
    ),
)
SUBMITTED, PRUNED, CLAIM_DRAWN, RAID_RESOLVED, RULED, MINING_SETTLED = range(len(EVENTS))
