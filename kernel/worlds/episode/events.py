"""The events of an episode: what was done to an environment or a model, and what it gave."""

from __future__ import annotations

from typing import Final

import msgspec

from goldrush.kernel.shape import (
    AGENT,
    AGENTS,
    BOOLEAN,
    NATURAL,
    WORD,
    Kind,
    optional,
    text,
)
from goldrush.kernel.world import OTHER, EventType
from goldrush.kernel.worlds.episode.values import VALUE, shown

NAME_MAX: Final = 500  # characters of the name of an array or a parameter

RESET, ACTED, CHANGED, CLOSED, TURN, GAVE, ARRAY = range(7)

_NAME: Final = text(NAME_MAX)
_DIGEST: Final = msgspec.structs.replace(WORD, entity=None)
_REWARD: Final = Kind(
    "number",
    lambda value: type(value) is float,
    shown,
    schema={"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]},
)
_AGENT: Final = optional(AGENT)

EVENTS: Final = (
    EventType(
        "reset",
        {
            "seed": optional(NATURAL).means("the seed; null: it was reset without one"),
            "is_drawn": BOOLEAN.means("the caller gave no seed, so the recorder drew this one"),
            "options": VALUE.means("further options of the call"),
        },
        is_input=True,
        text="reset{seed}{is_drawn}{options}",
        cases={
            "seed": {None: "", OTHER: " by seed {seed}"},
            "is_drawn": {True: ", which was drawn because none was given", OTHER: ""},
            "options": {None: "", OTHER: ", with the options {options}"},
        },
    ),
    EventType(
        "acted",
        {
            "agent": _AGENT.means("who acts; null: all together, in a vector environment"),
            "action": VALUE.means("the action, with the type of its numbers"),
        },
        is_input=True,
        text="{agent}: {action}",
        cases={"agent": {None: "all act", OTHER: "{agent} acts"}},
    ),
    EventType(
        "changed",
        {
            "name": _NAME.means("the attribute of the model that is set before the step"),
            "value": VALUE.means("its new value"),
        },
        is_input=True,
        text="{name} is set to {value}",
    ),
    EventType("closed", {}, is_input=True, text="the recording is closed"),
    EventType(
        "turn",
        {
            "agents": AGENTS.means("who must act next"),
            "is_over": BOOLEAN.means("the episode is over, or the model has stopped"),
        },
        text="{is_over}",
        cases={"is_over": {True: "the episode is over", OTHER: "to act next: {agents}"}},
    ),
    EventType(
        "gave",
        {
            "agent": AGENT.means("who gets it"),
            "reward": _REWARD.means("the reward of the step"),
            "terminated": BOOLEAN.means("the agent has come to its end"),
            "truncated": BOOLEAN.means("the agent was cut off, by a limit of time for example"),
        },
        text="{agent} gets the reward {reward}{terminated}{truncated}",
        cases={
            "terminated": {True: ", terminated", OTHER: ""},
            "truncated": {True: ", truncated", OTHER: ""},
        },
    ),
    EventType(
        "array",
        {
            "agent": _AGENT.means("whose observation or info it is; null: that of all"),
            "name": _NAME.means("where it stands: observation, info[score], report[Gini]"),
            "digest": _DIGEST.means("64 bits of its type, shape and bytes"),
            "value": VALUE.means("the value, where it is recorded"),
        },
        text="{agent}{name}{value}",
        cases={
            "agent": {None: "", OTHER: "{agent}: "},
            "value": {None: " has the digest {digest}", OTHER: " is {value}"},
        },
    ),
)
