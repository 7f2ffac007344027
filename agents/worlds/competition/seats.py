"""The seats of a season, and the language models of one: one, or one for each class of a worker.

The options of a seat are those of its model. If it has another model as a sonnet, they also have
the options of that model, with names that begin with `sonnet.`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from msgspec.structs import replace

from goldrush.agents.llm.failures import NO_ANSWER
from goldrush.agents.llm.model import Model, options_by_prefix
from goldrush.agents.llm.question import Answer
from goldrush.agents.llm.wording_rosters import framed_of
from goldrush.agents.llm.wordings import Framed
from goldrush.agents.roster import Entry, Roster
from goldrush.agents.trust import LLM
from goldrush.agents.worlds.competition.wordings import UNFRAMED, wordable
from goldrush.kernel.shape import BOOLEAN, Schema, record
from goldrush.kernel.world import Row
from goldrush.kernel.worlds.competition.events import Answered
from goldrush.kernel.worlds.competition.state import AgentState, SeasonState
from goldrush.kernel.worlds.competition.terms import Class


class Seat(Entry, frozen=True, kw_only=True):
    """One agent of a season; its name is unique."""

    name: str
    role: str

    @classmethod
    def of(cls, agent: AgentState) -> Self:
        """The seat of an agent during a season."""
        return cls(agent.ordinal, agent.policy, agent.options, name=agent.name, role=agent.role)

    def as_dict(self) -> dict[str, Any]:
        """The seat as a journal stores it."""
        seat = {"ordinal": self.agent, "name": self.name, "role": self.role}
        return {**seat, "policy": self.policy, "options": dict(self.options)}

    @property
    def label(self) -> str:
        """The agent's name."""
        return self.name


def model_at(agent: AgentState) -> Model:
    """The model of an agent in its current class. Raises BadInput for invalid options."""
    options = options_by_prefix(agent.options)
    return Model.asked(options.get(agent.class_, options[""]))


def framed_at(agent: AgentState, state: SeasonState) -> Framed:
    """How an agent is asked that is a model (or in whose place a policy plays), or a person; any
    other as a model would be that has no options. Raises BadInput for options that no season has.
    """
    if "prompt" not in agent.options:
        return UNFRAMED
    seat = seats_at(agent, state)[-1 if agent.class_ == Class.SONNET else 0]
    seed = state.config.seed
    return framed_of(seat, seed, wordable(), roster_of(state.agents.values()))


def roster_of(agents: Iterable[AgentState]) -> Roster:
    """Everybody as a roster, those that are gone included; policies in the place of models, whose
    options they have, count as these.
    """
    seats = map(Seat.of, agents)
    return Roster(
        [replace(seat, policy=LLM) if "model" in seat.options else seat for seat in seats]
    )


def seats_at(agent: AgentState, state: SeasonState) -> list[Seat]:
    """As `seats_of`, during a season: who joined has taken over all options of another agent, but
    the text of a wording stands with the lowest agent alone.
    """
    seats = seats_of(agent)
    if "wording_text" not in agent.options:
        return seats
    holder = roster_of(state.agents.values()).wordings.get(agent.options.get("wording", ""))
    if holder is None or holder.agent == agent.ordinal:
        return seats
    return [replace(seat, options=_without(seat.options, "wording_text")) for seat in seats]


def _without(options: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {option: value for option, value in options.items() if option != name}


def seats_of(agent: AgentState) -> list[Seat]:
    """The seats of an agent: one, or one for each model of its classes."""
    seat = Seat.of(agent)
    if "model" not in agent.options:
        return [seat]
    return [replace(seat, options=options) for options in options_by_prefix(agent.options).values()]


def short_schema() -> Schema:
    """The schema of the short question that agents.seats.with_models_resolved asks models."""
    return record(adopted=BOOLEAN).schema


def answer_in(row: Row) -> Answer:
    """The answer that an `answered` row records. It names the model, for an agent that joins a
    season has that of the seat that it takes.
    """
    agent, name, text, source = Answered(*row)
    error = (source or {}).get("error")
    return Answer.recorded(agent, name, None if error == NO_ANSWER else text, error, source)
