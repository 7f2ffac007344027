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
from goldrush.agents.llm.models import LLM, Model, Models
from goldrush.agents.people import HUMAN
from goldrush.agents.trust import import_policy, is_import_name
from goldrush.agents.worlds.competition import chance
from goldrush.agents.worlds.competition.offices import Admin, Assistant, Judge, User
from goldrush.agents.worlds.competition.seats import models_of, options_of
from goldrush.agents.worlds.competition.therapist import Therapist
from goldrush.agents.worlds.competition.worker import Worker
from goldrush.kernel.errors import BadInput, format_value, unknown
from goldrush.kernel.text import check_name
from goldrush.kernel.worlds.competition.config import CLASSES
from goldrush.kernel.worlds.competition.names import name_of
from goldrush.kernel.worlds.competition.state import AgentState
from goldrush.kernel.worlds.competition.terms import OFFICES, Class, Role

SCRIPTED, RANDOM, SILENT = "scripted", "random", "silent"
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
    RANDOM: {**_SCRIPTS, Role.WORKER: chance.Worker},
    SILENT: {**_SCRIPTS, Role.WORKER: chance.Silent},
}
# The catalogue entries of policies.
CATALOGUE: Final = {
    SCRIPTED: CatalogueEntry("Plays its role by a script; a worker argues from evidence."),
    RANDOM: CatalogueEntry("A worker that tries, claims and supports at random within the rules."),
    SILENT: CatalogueEntry("A worker that never contributes: a control, which must rank last."),
    "llm:MODEL": CatalogueEntry(
        "A language model, asked over the OpenAI protocol; see season --help."
    ),
    HUMAN: CatalogueEntry("You: asked in this terminal with the prompt of a model."),
    "package.module:Class": CatalogueEntry(
        "A user-defined policy: a class with the methods of the role's script."
    ),
}
Entry = dict[str, Any]


def cast_of(
    workers: int,
    parts: Sequence[str] = (),
    models: Models | None = None,
    by_class: Mapping[str, str] | None = None,
) -> list[Entry]:
    """The cast of a season, as a journal's setup holds it.

    Args:
        workers: number of workers on the active roster.
        parts: the agents that are not scripted: `judge=POLICY`, `worker=POLICY` or a policy alone
            for all workers, `ada=POLICY` for the agent of that name; a later part overrides an
            earlier one. A policy is `scripted`, `random` or `silent` (workers only), `human`,
            `llm:MODEL` with a name in `models` or on a server, or `package.module:Class`.
        models: the language models that can be named.
        by_class: names of the models of workers as haiku and as sonnet.

    Raises:
        BadInput: for a malformed part, an unknown name, class or policy, a repeated name, and a
            policy of workers in an office.

    """
    roles = [*OFFICES, Role.USER, *[Role.WORKER] * workers]
    cast: list[Entry] = [
        {
            "ordinal": ordinal,
            "name": role if role != Role.WORKER else name_of(ordinal - len(OFFICES) - 1),
            "role": role,
            "policy": SCRIPTED,
            "options": {},
        }
        for ordinal, role in enumerate(roles)
    ]
    if by_class:
        options = _by_class(by_class, models)
        for entry in cast:
            if entry["role"] == Role.WORKER:
                entry.update(policy=LLM, options=options)
        if any(_parsed(part, cast)[0] == Role.WORKER for part in parts):
            raise BadInput("workers are cast twice: by class and by name", "cast them once")
    assign(cast, parts, models)
    return cast


def _by_class(names: Mapping[str, str], models: Models | None) -> Mapping[str, Any]:
    """The options of workers with these models, by class."""
    for name in names:
        if name not in CLASSES:
            raise unknown("class", name, CLASSES)
    if Class.HAIKU not in names:
        raise BadInput("no model is given for haiku", f"write {Class.HAIKU}=MODEL")
    chosen = {class_: _model(name, models) for class_, name in names.items()}
    return options_of(chosen[Class.HAIKU], chosen.get(Class.SONNET))


def assign(cast: Sequence[Entry], parts: Sequence[str], models: Models | None = None) -> None:
    """Change the policies of a cast in place. `parts` and errors: as in `cast_of`."""
    typed: set[str] = set()
    for part in parts:
        seat, policy = _parsed(part, cast)
        named = [entry for entry in cast if seat in (entry["name"], entry["role"])]
        if not named or not policy:
            names = ", ".join(entry["name"] for entry in cast[:12])
            raise BadInput(
                f"{format_value(part)} names no agent or role, or no policy",
                f"write NAME=POLICY; there are {names}",
            )
        if seat in typed:
            raise BadInput(f"{seat} is cast twice", "cast each once")
        typed.add(seat)
        policy, options = player_of(policy, models)
        for entry in named:
            _check_role(entry, policy)
            entry.update(policy=policy, options=options)


def _parsed(part: str, cast: Sequence[Entry]) -> tuple[str, str]:
    """(name or role, policy) of a part; a policy alone is that of all workers."""
    seat, equals, policy = part.partition("=")
    if equals or not part or any(part in (entry["name"], entry["role"]) for entry in cast):
        return seat, policy
    return Role.WORKER, part


def _check_role(entry: Entry, policy: str) -> None:
    """Raises BadInput for a policy of workers in an office."""
    role = entry["role"]
    if role != Role.WORKER and policy in (RANDOM, SILENT):
        raise BadInput(
            f"{policy} is a policy of workers, and {entry['name']} is not a worker",
            f"take {SCRIPTED}, {HUMAN}, {LLM}:MODEL or package.module:Class",
        )


def player_of(text: str, models: Models | None = None) -> tuple[str, Mapping[str, Any]]:
    """The policy and options of an entry, from a policy as text. Raises BadInput."""
    check_name("policy", text)
    family, _, name = text.partition(":")
    if text == HUMAN:
        from goldrush.agents.worlds.competition.prompt import VERSION

        return HUMAN, {"prompt": VERSION}
    if family != LLM:
        check_policy(text)
        return text, {}
    return LLM, options_of(_model(name, models))


def _model(name: str, models: Models | None) -> Model:
    from goldrush.agents.worlds.competition.prompt import VERSION

    models = models or Models()
    if not name and models.default is None and len(models.by_name) != 1:
        raise BadInput(f"{LLM} alone names no model", f"write {LLM}:MODEL")
    return attrs.evolve(models.named(name), prompt=VERSION)


def models_in(players: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Model]:
    """The models of players, given as (policy, options), each once.

    Raises BadInput for invalid options of a model.
    """
    found = (models_of(options) for policy, options in players if policy == LLM)
    return list(dict.fromkeys(model for models in found for model in models))


def with_models_resolved(cast: Sequence[Entry], models: Models | None) -> list[Entry]:
    """The cast with the request options of each model decided, by a short question.

    Entries need only policy and options. Raises BadInput if a model does not answer.
    """
    if not any(entry["policy"] == LLM for entry in cast):
        return list(cast)
    from goldrush.agents.worlds.competition.models import resolve_models

    return resolve_models(cast, models or Models())


def check_policy(name: str) -> None:
    """Raises BadInput for an unknown policy."""
    if name not in POLICIES and not is_import_name(name):
        raise BadInput(
            f"there is no policy {format_value(name)}",
            f"take {', '.join(POLICIES)}, {HUMAN}, {LLM}:MODEL or package.module:Class",
        )


def policy_of(agent: AgentState, trust: Collection[str]) -> Any:
    """A new policy of an agent. Raises BadInput if it fails, or is user-defined and not trusted."""
    own = POLICIES.get(agent.policy)
    return import_policy(agent.policy, trust) if own is None else own[agent.role]()


def check_playable(cast: Iterable[Entry], trust: Collection[str]) -> None:
    """Raises BadInput if a user-defined policy is not trusted, fails, or lacks a method.

    Entries need only role and policy.
    """
    for role, policy in sorted({(entry["role"], entry["policy"]) for entry in cast}):
        if policy not in (*POLICIES, LLM, HUMAN):
            import_policy(policy, trust, questions_of(role))


def questions_of(role: str) -> list[str]:
    """The names of the questions to a role, which are methods of its scripted policy."""
    return [name for name in vars(_SCRIPTS[role]) if not name.startswith("_")]
