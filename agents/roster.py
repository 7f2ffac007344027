"""Rosters: who plays, and the text that a user types.

- `greedy*8,share*2`: eight agents, then two
- `greedy,share`: two agents; where their number is given, repeated up to it
- `greedy`: all agents
- `share[part=0.5;patience=3]*2`: a policy with settings
- `judge=llm:NAME`: the policy of a seat, where seats have names

What a policy's name stands for is told in agents/seats.py.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from goldrush.agents.trust import HUMAN, LLM, RECORDED
from goldrush.kernel.errors import BadInput
from goldrush.kernel.records import Record
from goldrush.kernel.settings import parsed_value, separated
from goldrush.kernel.text import check_name

if TYPE_CHECKING:
    from goldrush.agents.recorded import Recording

SPLIT: Final = ",;*[]"  # separate the parts of a roster's text
DISTRIBUTION: Final = "distribution"  # the option with the name of a policy's distribution

_COMMA = r",(?![^\[\]]*\])"  # none of those between brackets
_ENTRY = (
    r"(?P<name>(?:recorded|llm):[^*,]+?|[^*,\[\]]+?)\s*"
    r"(?:\[(?P<settings>[^\[\]]*)\]\s*)?(?:\*\s*(?P<count>[0-9]{1,6}))?"
)
_HOW: Final = "write policy, policy*count or policy[setting=value], as in greedy-mine*8,raid*2"


Persona = Callable[[int, int], str]  # of an agent, by its id and the run's seed


class Entry(msgspec.Struct, frozen=True):
    """One agent of a roster.

    Attributes:
        options: the settings of the policy, the request options of a model, or the SHA-256 of a
            replayed journal.
    """

    agent: int
    policy: str
    options: Mapping[str, Any] = {}

    def as_dict(self) -> dict[str, Any]:
        """The entry as a journal stores it."""
        return {"agent": self.agent, "policy": self.policy, "options": dict(self.options)}

    @property
    def settings(self) -> dict[str, Any]:
        """The options without DISTRIBUTION: the settings of a policy."""
        return {name: value for name, value in self.options.items() if name != DISTRIBUTION}

    @property
    def label(self) -> str:
        """The agent's name in messages."""
        return f"agent {self.agent}"


class Roster(Record, frozen=True, dict=True):
    """The agents of a run and what their policies need; only the entries go into a journal.

    Attributes:
        entries: one for each agent, by id.
        recordings: the journals that `recorded` agents replay.
        trust: names of user-defined policies that may be imported (see agents/trust.py).
        policies: the objects that play `external` agents, by agent.
    """

    entries: Sequence[Entry]
    recordings: Sequence[Recording] = ()
    trust: Sequence[str] = ()
    policies: Mapping[int, object] = {}

    def as_setup(self) -> list[dict[str, Any]]:
        """The roster as a journal stores it."""
        return [entry.as_dict() for entry in self.entries]

    @property
    def sources(self) -> list[str]:
        """The paths of the journals that `recorded` agents replay."""
        return [recording.path for recording in self.recordings]

    @cached_property
    def wordings(self) -> Mapping[str, Entry]:
        """By the name of each wording, the lowest agent that has it."""
        lowest: dict[str, Entry] = {}
        for entry in self.entries:
            name = entry.options.get("wording") if entry.policy in (LLM, HUMAN) else None
            if type(name) is str and (name not in lowest or entry.agent < lowest[name].agent):
                lowest[name] = entry
        return lowest


E = TypeVar("E", bound=Entry)


class RosterPart(msgspec.Struct, frozen=True):
    """One part of a roster's text, between commas: a policy, its settings, the number of agents and
    the seat, if these are given.
    """

    name: str
    settings: Mapping[str, Any] = {}
    count: int | None = None
    seat: str = ""

    def __str__(self) -> str:
        policy = format_policy(self.name, self.settings)
        return f"{self.seat}={policy}" if self.seat else policy

    @property
    def argument(self) -> str:
        """What follows the colon of the name: a model, or the path of a journal."""
        return self.name.partition(":")[2]


def entries_in(roster: Sequence[Mapping[str, Any]]) -> tuple[Entry, ...]:
    """The entries of a roster as a journal stores it."""
    return tuple(Entry(item["agent"], item["policy"], item["options"]) for item in roster)


def with_personas(entries: Iterable[E], seed: int) -> list[E]:
    """New agents, each with the text of its persona in a run of this seed, if its option is a
    function yet (see agents/llm/personas.py), which it raises as.
    """

    def with_persona(entry: E) -> E:
        persona = entry.options.get("persona")
        if not callable(persona):
            return entry
        options = {**entry.options, "persona": persona(entry.agent, seed)}
        return msgspec.structs.replace(entry, options=options)

    return list(map(with_persona, entries))


def format_policy(name: str, settings: Mapping[str, object]) -> str:
    """A policy with its settings, in the form of a roster's text."""
    if not settings:
        return name
    return f"{name}[{';'.join(f'{key}={_value(value)}' for key, value in settings.items())}]"


def _value(value: Any) -> str:
    is_plain = False
    with suppress(BadInput):  # a text that looks like a tuple
        is_plain = type(value) is str and parsed_value(value) == value
    return value if is_plain and not separated(value, ";") else json.dumps(value)


def parts_of(text: str, *, seated: bool = False) -> list[RosterPart]:
    """The parts of a roster's text. `seated`: they may name seats. Raises BadInput for a malformed
    one.
    """
    return [_part(part.strip(), seated=seated) for part in re.split(_COMMA, text)]


def _part(text: str, *, seated: bool) -> RosterPart:
    front, equals, policy = text.partition("=")
    seat = front.strip() if seated and equals and not set(front) & set("[:") else ""
    match = re.fullmatch(_ENTRY, policy.strip() if seat else text)
    if match is None:
        raise BadInput(f"{text!r} is no entry of a roster", _HOW)
    count = None if match["count"] is None else int(match["count"])
    if count == 0:
        raise BadInput(f"{text!r} stands for 0 agents", "leave the entry out")
    if not match["name"].startswith(RECORDED + ":"):  # a path may be any
        check_name("policy", match["name"])
    between = match["settings"]
    settings = {} if between is None else parsed_settings(between, text, _HOW)
    if DISTRIBUTION in settings:
        raise BadInput(f"{text!r} sets {DISTRIBUTION}", _HOW)
    return RosterPart(match["name"], settings, count, seat)


def parsed_settings(between: str, text: str, how: str) -> dict[str, Any]:
    """Settings `name=value;...`, sorted by name, so that equal settings have equal bytes.

    Raises BadInput, with the whole text and the correct form, for a malformed or repeated setting.
    """
    settings: dict[str, Any] = {}
    for pair in between.split(";"):
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not (name and equals and value):
            raise BadInput(f"{text!r} has {pair!r} between its brackets", how)
        several = separated(value, ";")
        if several is not None:
            instead = f"a semicolon separates them: {text.replace(pair, f'{name}={several}')}"
            raise BadInput(f"{text!r} has {value!r} as the value of {name}", instead)
        if name in settings:
            raise BadInput(f"{text!r} sets {name} twice", "set it once")
        settings[name] = parsed_value(value)
    return dict(sorted(settings.items()))
