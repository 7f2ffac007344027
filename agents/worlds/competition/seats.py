"""The language models of an agent: one, or one for each class of a worker.

An agent's options are those of its model. If it has another model as a sonnet, they also have the
options of that model, with names that begin with `sonnet.`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from goldrush.agents.llm.models import Model, model_from
from goldrush.kernel.worlds.competition.state import AgentState
from goldrush.kernel.worlds.competition.terms import Class

_FRONT: Final = f"{Class.SONNET}."


def options_of(model: Model, sonnet: Model | None = None) -> dict[str, Any]:
    """The options of an agent with this model, and with `sonnet` as a sonnet."""
    more = {} if sonnet is None else sonnet.as_options()
    return {**model.as_options(), **{f"{_FRONT}{name}": value for name, value in more.items()}}


def by_class(options: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """The options of an agent's models by class; without sonnet if both are the same."""
    found: dict[str, dict[str, Any]] = {Class.HAIKU: {}}
    for name, value in options.items():
        class_ = Class.SONNET if name.startswith(_FRONT) else Class.HAIKU
        found.setdefault(class_, {})[name.removeprefix(_FRONT)] = value
    return dict(found)


def models_of(options: Mapping[str, Any]) -> list[Model]:
    """The models of an agent. Raises BadInput for invalid options."""
    return [model_from(one) for one in by_class(options).values()]


def model_at(agent: AgentState) -> Model:
    """The model of an agent in its current class. Raises BadInput for invalid options."""
    options = by_class(agent.options)
    return model_from(options.get(agent.class_, options[Class.HAIKU]))
