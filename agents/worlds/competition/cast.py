"""The cast of a season: from the text that a user types to the policy of each agent.

Every role can be played by its script, a language model, a person at the terminal, or a
user-defined policy; a worker also at random. A worker has the same model in both of its classes,
unless `by_class` names two; as a sonnet it is shown more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.agents.catalogue import CatalogueEntry
from goldrush.agents.llm.model import FRAMING, Model, options_of
from goldrush.agents.llm.models import Models
from goldrush.agents.llm.versions import decided
from goldrush.agents.llm.wording_rosters import recorded_once
from goldrush.agents.roster import Entry, RosterPart, parts_of, split_parts
from goldrush.agents.seats import (
    MODEL,
    NAMED,
    OWN,
    PERSON,
    Options,
    Typed,
    catalogue_of,
    check_models,
    format_options,
    is_outside,
    model_of,
    player_of,
    unknown_policy,
    with_wording,
)
from goldrush.agents.targets import import_policy
from goldrush.agents.trust import HUMAN, LLM, is_import_name
from goldrush.agents.worlds.competition.offices import Admin, Assistant, Judge, User
from goldrush.agents.worlds.competition.seats import Seat
from goldrush.agents.worlds.competition.therapist import Therapist
from goldrush.agents.worlds.competition.versions import PROMPT
from goldrush.agents.worlds.competition.worker import RandomWorker, SilentWorker, Worker
from goldrush.kernel.errors import BadInput, format_value, unknown
from goldrush.kernel.worlds.competition.config import CLASSES
from goldrush.kernel.worlds.competition.names import name_of
from goldrush.kernel.worlds.competition.state import AgentState
from goldrush.kernel.worlds.competition.terms import OFFICES, Class, Role

SCRIPTED, RANDOM, SILENT = "scripted", "random", "silent"
PLANTED: Final = "planted"  # a cast of workers: the first half scripted, the others random
_SCRIPTS: Final[Mapping[str, Callable[[], Any]]] = {
    Role.ADMIN: Admin,
    Role.ASSISTANT: Assistant,
    Role.JUDGE: Judge,
    Role.THERAPIST: Therapist,
    Role.USER: User,
    Role.WORKER: Worker,
}
# By name, the policy of each role.
POLICIES: Final[Mapping[str, Mapping[str, Callable[[], Any]]]] = {
    SCRIPTED: _SCRIPTS,
    RANDOM: {**_SCRIPTS, Role.WORKER: RandomWorker},
    SILENT: {**_SCRIPTS, Role.WORKER: SilentWorker},
}
_OTHERS: Final = f"{HUMAN}, {LLM}:MODEL or package.module:Class"
_FAMILIES: Final = (MODEL, PERSON, OWN, NAMED)
# The catalogue entries of policies.
CATALOGUE: Final = {
    SCRIPTED: CatalogueEntry("Plays its role by a script; a worker argues from evidence."),
    RANDOM: CatalogueEntry("A worker that tries, claims and supports at random within the rules."),
    SILENT: CatalogueEntry("A worker that never contributes: a control, which must rank last."),
    PLANTED: CatalogueEntry("All workers: the first half scripted, the others random; a control."),
    **catalogue_of(_FAMILIES, command="season", methods="the methods of the role's script"),
}


class _Offer:
    """What seasons offer to those who name players; see agents.seats.Offer."""

    families = _FAMILIES
    recording = None
    prompt = PROMPT

    def unknown(self, name: str) -> BadInput:
        take = f"take {', '.join(POLICIES)}, {_OTHERS}"
        return BadInput(f"there is no policy {format_value(name)}", take)

    def model_options(self, model: Model) -> Options:
        return decided(model, PROMPT).as_options()

    def policy_options(self, part: RosterPart, trust: Collection[str]) -> Options:
        if part.name not in POLICIES and not is_import_name(part.name):
            raise self.unknown(part.name)
        return {}

    def can_make(self, entry: Entry, trust: Collection[str]) -> bool:
        if entry.policy not in POLICIES and not is_import_name(entry.policy):
            raise unknown_policy(entry)
        if entry.options:
            raise unknown_policy(entry, f" with {format_options(entry)}")
        return entry.policy in POLICIES or entry.policy in trust


OFFER: Final = _Offer()


def cast_of(
    workers: int,
    parts: Sequence[str] = (),
    models: Models | None = None,
    by_class: Mapping[str, str] | None = None,
) -> list[Seat]:
    """The cast of a season.

    Args:
        workers: number of workers on the active roster.
        parts: the agents that are not scripted: `judge=POLICY`, `worker=POLICY` or a policy alone
            for all workers, `ada=POLICY` for the agent of that name; a later part overrides an
            earlier one. A policy is `scripted`, `random` or `silent` (workers only), `human`,
            `llm:MODEL` with a name in `models` or on a server, or `package.module:Class`; for all
            workers also `planted`: the first half is `scripted`, the others are `random`.
        models: the language models that can be named.
        by_class: names of the models of workers as haiku and as sonnet.

    Raises BadInput for a malformed part, an unknown name, class or policy, a repeated name, and a
    policy of workers in an office.
    """
    policy, options = (LLM, _by_class(by_class, models)) if by_class else (SCRIPTED, {})
    cast = [Seat(n, SCRIPTED, name=role, role=role) for n, role in enumerate((*OFFICES, Role.USER))]
    cast += [
        Seat(len(cast) + n, policy, options, name=name_of(n), role=Role.WORKER)
        for n in range(workers)
    ]
    if by_class and any(_parsed(part, cast)[0] == Role.WORKER for part in parts):
        raise BadInput("workers are cast twice: by class and by name", "cast them once")
    return recast(cast, parts, models)


def _by_class(names: Mapping[str, str], models: Models | None) -> Mapping[str, Any]:
    """The options of workers with these models, by class."""
    for name in names:
        if name not in CLASSES:
            raise unknown("class", name, CLASSES)
    if Class.HAIKU not in names:
        raise BadInput("no model is given for haiku", f"write {Class.HAIKU}=MODEL")
    parts = {class_: _part(f"{LLM}:{name}", models) for class_, name in names.items()}
    chosen = {c: decided(model_of(part, models), PROMPT) for c, part in parts.items()}
    haiku, sonnet = chosen[Class.HAIKU], chosen.get(Class.SONNET)
    if sonnet is not None and sonnet != haiku and sonnet.name == haiku.name:
        raise BadInput(
            f"the models of the two classes are both {haiku.name}, with other options",
            "give each a table of its own in a file of models (--models)",
        )
    for name in FRAMING if sonnet is not None else ():
        if getattr(sonnet, name) != getattr(haiku, name):
            raise BadInput(
                f"the models of the two classes have another {name}",
                "a worker has one in both: give both the same",
            )
    return options_of({"": haiku} if sonnet is None else {"": haiku, Class.SONNET: sonnet})


def _part(text: str, models: Models | None) -> RosterPart:
    """A policy with its settings. Raises BadInput for a model without a name."""
    parts = parts_of(text)
    if len(parts) > 1 or parts[0].count is not None:
        raise BadInput(f"{format_value(text)} is no policy", "write policy or llm:MODEL")
    is_unnamed = parts[0].name in (LLM, f"{LLM}:")
    if is_unnamed and not (models and (models.default or len(models.by_name) == 1)):
        raise BadInput(f"{LLM} alone names no model", f"write {LLM}:MODEL")
    return parts[0]


def recast(cast: Sequence[Seat], parts: Sequence[str], models: Models | None = None) -> list[Seat]:
    """A cast with the policies that `parts` name. `parts` and errors: as in `cast_of`."""
    seats, typed = {seat.agent: seat for seat in cast}, set[str]()
    for part in parts:
        called, text = _parsed(part, cast)
        named = [seat for seat in cast if called in (seat.name, seat.role)]
        if not named or not text:
            names = ", ".join(seat.name for seat in cast[:12])
            raise BadInput(
                f"{format_value(part)} names no agent or role, or no policy",
                f"write NAME=POLICY; there are {names}",
            )
        if called in typed:
            raise BadInput(f"{called} is cast twice", "cast each once")
        typed.add(called)
        if (called, text) == (Role.WORKER, PLANTED):
            for place, seat in enumerate(named):
                policy = SCRIPTED if place < len(named) // 2 else RANDOM
                seats[seat.agent] = attrs.evolve(seat, policy=policy, options={})
            continue
        played = _part(text, models)
        policy, options = player_of(OFFER, played, Typed(models))
        for seat in named:
            _check_role(seat, policy)
            seats[seat.agent] = attrs.evolve(seat, policy=policy, options=options)
    check_models(seats.values(), PROMPT)
    return list(recorded_once(list(seats.values()), cast))


def _parsed(part: str, cast: Sequence[Seat]) -> tuple[str, str]:
    """(name or role, policy) of a part; a policy alone is that of all workers."""
    head, bracket, settings = part.partition("[")
    seat, equals, policy = head.partition("=")
    if equals or not part or any(part in (seat.name, seat.role) for seat in cast):
        return seat, f"{policy}{bracket}{settings}"
    return Role.WORKER, part


def worded_cast(
    text: str | None, by_class: Mapping[str, str], wording: str, models: Models | None
) -> tuple[str | None, Mapping[str, str]]:
    """The text of a cast, and the models of workers by class, with a wording for the models and
    people that name none; the same if there are none. Raises BadInput.
    """
    parts = [] if text is None else split_parts(text)
    worded = [_worded(part, wording, models) for part in parts]
    front = f"{LLM}:"  # a worker has one wording: that of its model as haiku
    classes = {
        class_: _worded(f"{front}{name}", wording, models).removeprefix(front)
        if class_ == Class.HAIKU
        else name
        for class_, name in by_class.items()
    }
    return ",".join(worded) or None, classes


def _worded(text: str, wording: str, models: Models | None) -> str:
    head, bracket, settings = text.partition("[")
    who, equals, policy = head.rpartition("=")
    part = _part(f"{policy}{bracket}{settings}", models)
    worded = with_wording(part, wording, models)
    return text if worded == part else f"{who}{equals}{worded}"


def name_in(part: str) -> str:
    """The name of the policy in a part, without its settings."""
    return part.partition("[")[0].rpartition("=")[2]


def _check_role(seat: Seat, policy: str) -> None:
    """Raises BadInput for a policy of workers in an office."""
    if seat.role != Role.WORKER and policy in (RANDOM, SILENT):
        raise BadInput(
            f"{policy} is a policy of workers, and {seat.name} is not a worker",
            f"take {SCRIPTED}, {_OTHERS}",
        )


def is_own(policy: str) -> bool:
    """Whether a policy is the user's, so that its name imports code."""
    return policy not in POLICIES and not is_outside(policy)


def policy_of(agent: AgentState, trust: Collection[str]) -> Any:
    """A new policy of an agent. Raises BadInput if it fails, or is user-defined and not trusted."""
    own = POLICIES.get(agent.policy)
    return import_policy(agent.policy, trust) if own is None else own[agent.role]()


def check_playable(cast: Iterable[Seat], trust: Collection[str]) -> None:
    """Raises BadInput if a user-defined policy is not trusted, fails, or lacks a method."""
    for role, policy in sorted({(seat.role, seat.policy) for seat in cast if is_own(seat.policy)}):
        import_policy(policy, trust, questions_of(role))


def questions_of(role: str) -> list[str]:
    """The names of the questions to a role, which are methods of its scripted policy."""
    return [name for name in vars(_SCRIPTS[role]) if not name.startswith("_")]
