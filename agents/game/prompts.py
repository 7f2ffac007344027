"""How models and people are asked in a `Game`: from its docstring, its observations and the types
of its submissions. A game declares none of it; `prompt` replaces the observation as JSON by text.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cached_property
from os.path import basename
from typing import Any, Final

from goldrush.agents.game.step import StepView
from goldrush.agents.llm.failures import INVALID, NO_ANSWER, NO_JSON, REFUSAL
from goldrush.agents.llm.json_object import object_in
from goldrush.agents.llm.messages import Messages
from goldrush.agents.llm.options import FIELD
from goldrush.agents.llm.question import Message, Source
from goldrush.agents.llm.wording_rosters import framed_in
from goldrush.agents.llm.wordings import Framed, Wordable
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.game.declared import one_of
from goldrush.kernel.game.game import Game, doc_of
from goldrush.kernel.game.hints import Field
from goldrush.kernel.game.records import Observation, State
from goldrush.kernel.game.world import Compiled
from goldrush.kernel.shape import AGENT, Schema, record
from goldrush.kernel.world import Row

_FRAME: Final = Messages("goldrush.agents.game")


def wordable_of(game: type[Game]) -> Wordable:
    """What wordings can change: the game's docstring, and what stands around what it shows."""
    messages = Messages.of({"rules": doc_of(game).replace("$", "$$"), **_FRAME.texts})
    return Wordable(messages, long=("settings", "seen", "form"))


class GamePrompts:
    """How models and people are asked in one step of a game. `wordable`: see `wordable_of`."""

    def __init__(self, compiled: Compiled, view: StepView, wordable: Wordable) -> None:
        self.compiled, self.view, self._wordable = compiled, view, wordable

    @cached_property
    def _framed(self) -> Callable[[int], Framed]:
        """How an agent is asked."""
        return framed_in(self.view.state.roster, self.view.state.config.seed, self._wordable)

    def messages(self, agent: int) -> list[Message]:
        """The rules, the settings, and what the agent sees."""
        game, framed = self.view.state.config, self._framed(agent)
        worded = framed.messages
        seen = self._seen(agent)
        asks = self.view.asks
        settings = {name: value for name, value in game.as_dict().items() if name != "seed"}
        rules = [worded("rules"), worded("settings", settings=json.dumps(settings))]
        with self.compiled.running("prompt", self.view.state):
            text = game.prompt(seen, agent)
        if text is None:
            text = worded("seen", seen=json.dumps(shown(seen)))
        fields = [
            f"{json.dumps(name)}: {self._range(agent, name, field)}"
            for name, field in asks.types.items()
        ]
        if framed.reasoning == FIELD:
            fields = ['"reasoning": text', *fields]
        you = worded("you", agent=agent, agents=game.agents)
        now = [you, framed.persona, text, worded("answer", form=f"{{{', '.join(fields)}}}")]
        return [
            {"role": "system", "content": "\n\n".join(filter(None, rules))},
            {"role": "user", "content": "\n\n".join(filter(None, now))},
        ]

    def _seen(self, agent: int) -> Any:
        with self.compiled.running("observe", self.view.state):
            return self.view.state.config.observe(self.view.state, agent)

    def schema(self, agent: int) -> Schema:
        """The JSON schema of the answer. Raises BadInput for a number without a range."""
        asks = self.view.asks
        for name, field in asks.types.items():
            is_free = field.kind.entity == "agent" or field.kind.schema.get("type") == "string"
            if not (field.choices or field.range is not None or is_free):
                raise BadInput(
                    f"{asks.__name__}.{name} has no range, so no model can be asked for it",
                    f"give it one, as in `{name}: int = within(0, 10)`",
                )
        schema = dict(record(**{name: field.kind for name, field in asks.types.items()}).schema)
        last = self.view.state.config.agents - 1
        kinds = schema["properties"] = {
            name: _up_to(last, kind) if asks.types[name].kind.entity == "agent" else kind
            for name, kind in schema["properties"].items()
        }
        for name, values in self.legal(agent).items():
            kinds[name] = {**kinds[name], "enum": values}
        return schema

    def legal(self, agent: int) -> Mapping[str, list[object]]:
        """By field, the legal values, where the game lists them. Raises BadInput for what is no
        list of them.
        """
        game, asks = self.view.state.config, self.view.asks
        if self.compiled.phase(self.view.state).asks is None:
            return {}
        seen = self._seen(agent)
        with self.compiled.running("legal", self.view.state):
            values = game.legal(seen, agent)
            if values is None:
                return {}
            if not isinstance(values, Mapping):
                if len(asks.types) > 1:
                    field = next(iter(asks.types))
                    raise _no_legal(game, values, f'give them by field: {{"{field}": [...], ...}}')
                values = dict.fromkeys(asks.types, values)
            return {
                name: _listed(game, values[name], asks.types.get(name), self.view)
                for name in values
            }

    def row(self, agent: int, text: str | None, error: str | None, source: Source) -> Row:
        """The submission in an answer; with an error, where it has none, the default or nothing."""
        asks = self.view.asks
        is_lost = error in (NO_ANSWER, REFUSAL)
        given = None if is_lost else object_in(text or "", asks.types)
        if given is None:
            return self._default(agent, error or NO_JSON, source)
        values, legal = [], self.legal(agent)
        for name, field in asks.types.items():
            value = in_row(given.get(name), field)
            is_illegal = name in legal and given.get(name) not in legal[name]
            if is_illegal or not field.kind.holds(value):
                return self._default(agent, INVALID, source)
            values.append(value)
        row = (agent, *values, None, source)
        compiled, agents = self.compiled, self.view.state.config.agents
        if compiled.names_stranger(compiled.codes[asks], [row], agents):
            return self._default(agent, INVALID, source)
        return row

    def _default(self, agent: int, error: str, source: Source) -> Row:
        asks, legal = self.view.asks, self.legal(agent)
        if asks.missing is None:
            return (agent, *[None] * len(asks.types), error, source)
        values = zip(asks.types.items(), asks.default()[1:-2], strict=True)
        row = (in_row(legal[n][0], f) if n in legal else value for (n, f), value in values)
        return (agent, *row, error, source)

    def _range(self, agent: int, name: str, field: Field) -> str:
        choices = self.legal(agent).get(name, field.choices)
        if choices:
            return " or ".join(map(json.dumps, choices))
        if field.kind.entity == "agent":
            last = self.view.state.config.agents - 1
            return field.kind.name.replace(AGENT.name, f"integer from 0 to {last}")
        return field.kind.name


def _listed(game: Game, values: Any, field: Field | None, view: StepView) -> list[object]:
    """The legal values of a field. `field`: None for a field that the submission does not have."""
    if field is None:
        raise _no_legal(game, values, one_of("a field", view.asks.types))
    if isinstance(values, (str, set, frozenset)) or not (listed := list(values)):
        raise _no_legal(game, values, "give a list of at least one value, the default first")
    for value in listed if view.before is not None else ():
        if not field.kind.holds(in_row(value, field)):
            raise _no_legal(game, value, f"each must be {field.kind.name}")
    return listed


def _no_legal(game: Game, values: object, instead: str) -> BadInput:
    code = game.legal.__code__
    place = f"{basename(code.co_filename)}:{code.co_firstlineno}"
    return BadInput(f"{code.co_qualname}, {place}, gives {format_value(values)}", instead)


def _up_to(last: int, schema: Schema) -> Schema:
    """The schema of a value that names agents, up to the last one."""
    if schema == AGENT.schema:
        return {**schema, "maximum": last}
    if "items" in schema:
        return {**schema, "items": _up_to(last, schema["items"])}
    if "anyOf" in schema:
        return {"anyOf": [_up_to(last, each) for each in schema["anyOf"]]}
    return schema


def in_row(value: object, field: Field) -> object:
    """A value of JSON in the form of a row; one of no valid type becomes one that no kind holds."""
    if field.kind.schema.get("type") == "array" and not isinstance(value, list):
        return _Refused(value)
    try:
        return value if field.to_row is None else field.to_row(value)
    except (TypeError, ValueError, KeyError, AttributeError):
        return _Refused(value)


class _Refused:
    """A value that no kind holds, shown as it is."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __repr__(self) -> str:
        return repr(self._value)


def shown(seen: object) -> dict[str, object]:
    """An observation as plain values. Raises BadInput for one that is no record."""
    if isinstance(seen, Observation):
        return seen.as_dict()
    if isinstance(seen, State):
        return dict(zip(seen.types, seen.plain(), strict=True))
    raise BadInput(
        f"`observe` gives a {type(seen).__name__}, which no model can be shown",
        "return a record: class Seen(goldrush.Observation): ...",
    )
