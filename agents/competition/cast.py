"""Who plays in a season: the cast as people write it, and the policies behind the names.

Every role can be played by its script, at random, by a language model, by a person at the terminal,
or by somebody's own class. A model that plays a worker is one in both classes unless it is told
otherwise: as a sonnet it is shown more, as from tier 1 on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.agents.competition import chance
from goldrush.agents.competition.offices import Admin, Assistant, Judge, User
from goldrush.agents.competition.seats import models_of, options_of
from goldrush.agents.competition.therapist import Therapist
from goldrush.agents.competition.worker import Worker
from goldrush.agents.listed import Listed
from goldrush.agents.llm.models import LLM, Model, Models
from goldrush.agents.people import HUMAN
from goldrush.agents.trust import is_own, made
from goldrush.kernel.competition.config import CLASSES
from goldrush.kernel.competition.names import name_of
from goldrush.kernel.competition.state import Agent
from goldrush.kernel.competition.terms import OFFICES, Class, Role
from goldrush.kernel.errors import BadInput, shown, unknown
from goldrush.kernel.text import check_name

SCRIPTED, RANDOM, SILENT = "scripted", "random", "silent"
_SCRIPTS: Final[Mapping[str, Callable[[], Any]]] = {
    Role.ADMIN: Admin,
    Role.ASSISTANT: Assistant,
    Role.JUDGE: Judge,
    Role.THERAPIST: Therapist,
    Role.USER: User,
    Role.WORKER: Worker,
}
# By name, what plays each role.
POLICIES: Final[Mapping[str, Mapping[str, Callable[[], Any]]]] = {
    SCRIPTED: _SCRIPTS,
    RANDOM: {**_SCRIPTS, Role.WORKER: chance.Worker},
    SILENT: {**_SCRIPTS, Role.WORKER: chance.Silent},
}
# What a role or a name can be played by, with a line of what it does.
LISTED: Final = {
    SCRIPTED: Listed("What the role does by its script; a worker argues from evidence."),
    RANDOM: Listed("A worker that tries, claims and supports at random within the rules."),
    SILENT: Listed("A worker that says nothing, to see whether scores tell."),
    "llm:MODEL": Listed("A language model, asked over the OpenAI protocol; see season --help."),
    HUMAN: Listed("You: asked in this terminal, shown what a model would be."),
    "package.module:Class": Listed(
        "A policy of your own: a class with the methods of the role's script."
    ),
}
Entry = dict[str, Any]


def cast_of(
    workers: int,
    parts: Sequence[str] = (),
    models: Models | None = None,
    by_class: Mapping[str, str] | None = None,
) -> list[Entry]:
    """The cast of a season with so many workers, as a journal's setup holds it.

    Everybody is scripted but for what `parts` says: `judge=POLICY`, `worker=POLICY` for all
    workers, `ada=POLICY` for the one of that name, the last word counting; a policy alone is said
    of all workers. A policy is `scripted`, `random` or `silent` (workers only), `human`,
    `llm:MODEL` by a name that `models` or a server knows, or package.module:Class. `by_class`: the
    names of the models that workers are as haiku and as sonnet, unless `parts` says something else
    of one of them.

    Raises BadInput for a part that is none, a name that nobody has, or that is given twice, a class
    or a policy that there is not, and a policy of workers in an office.
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
        if any(_said_of(part, cast)[0] == Role.WORKER for part in parts):
            raise BadInput("all workers are cast by class, and once more", "cast them once")
    assign(cast, parts, models)
    return cast


def _by_class(names: Mapping[str, str], models: Models | None) -> Mapping[str, Any]:
    """The options of workers that are a model as haiku and a model as sonnet."""
    for name in names:
        if name not in CLASSES:
            raise unknown("class", name, CLASSES)
    if Class.HAIKU not in names:
        raise BadInput("no model is given for haiku", f"write {Class.HAIKU}=MODEL")
    chosen = {class_: _model(name, models) for class_, name in names.items()}
    return options_of(chosen[Class.HAIKU], chosen.get(Class.SONNET))


def assign(cast: Sequence[Entry], parts: Sequence[str], models: Models | None = None) -> None:
    """Change in place who plays what among a cast's entries, as `cast_of` takes it. Raises BadInput
    as it does.
    """
    typed: set[str] = set()
    for part in parts:
        who, policy = _said_of(part, cast)
        named = [entry for entry in cast if who in (entry["name"], entry["role"])]
        if not named or not policy:
            names = ", ".join(entry["name"] for entry in cast[:12])
            raise BadInput(f"{shown(part)} casts nobody", f"write NAME=POLICY; there are {names}")
        if who in typed:
            raise BadInput(f"{who} is cast twice", "cast each once")
        typed.add(who)
        policy, options = player_of(policy, models)
        for entry in named:
            _check_role(entry, policy)
            entry.update(policy=policy, options=options)


def _said_of(part: str, cast: Sequence[Entry]) -> tuple[str, str]:
    """Who is played by what: a policy alone is that of all workers."""
    who, equals, policy = part.partition("=")
    if equals or not part or any(part in (entry["name"], entry["role"]) for entry in cast):
        return who, policy
    return Role.WORKER, part


def _check_role(entry: Entry, policy: str) -> None:
    """Raises BadInput for a policy of workers in an office."""
    role = entry["role"]
    if role != Role.WORKER and policy in (RANDOM, SILENT):
        raise BadInput(
            f"{policy} is a policy of workers, and {entry['name']} is none",
            f"take {SCRIPTED}, {HUMAN}, {LLM}:MODEL or package.module:Class",
        )


def player_of(text: str, models: Models | None = None) -> tuple[str, Mapping[str, Any]]:
    """Policy and options of an entry, from what people write. Raises BadInput."""
    check_name("policy", text)
    family, _, name = text.partition(":")
    if text == HUMAN:
        from goldrush.agents.competition.prompt import VERSION

        return HUMAN, {"prompt": VERSION}
    if family != LLM:
        check_policy(text)
        return text, {}
    return LLM, options_of(_model(name, models))


def _model(name: str, models: Models | None) -> Model:
    from goldrush.agents.competition.prompt import VERSION

    models = models or Models()
    if not name and models.default is None and len(models.known) != 1:
        raise BadInput(f"{LLM} alone names no model", f"write {LLM}:MODEL")
    return attrs.evolve(models.named(name), prompt=VERSION)


def models_in(players: Iterable[tuple[str, Mapping[str, Any]]]) -> list[Model]:
    """The models among players, given by policy and options, each once.

    Raises BadInput for options that are no model's.
    """
    found = (models_of(options) for policy, options in players if policy == LLM)
    return list(dict.fromkeys(model for models in found for model in models))


def with_models_decided(cast: Sequence[Entry], models: Models | None) -> list[Entry]:
    """The cast, with how each model is asked found out where that is left open.

    Each is asked a short question. Raises BadInput where one does not answer it. Entries need no
    more than policy and options.
    """
    if not any(entry["policy"] == LLM for entry in cast):
        return list(cast)
    from goldrush.agents.competition.models import decided

    return decided(cast, models or Models())


def check_policy(name: str) -> None:
    """Raises BadInput for what is no policy of a season."""
    if name not in POLICIES and not is_own(name):
        raise BadInput(
            f"there is no policy {shown(name)}",
            f"take {', '.join(POLICIES)}, {HUMAN}, {LLM}:MODEL or package.module:Class",
        )


def policy_of(agent: Agent, trust: Collection[str]) -> Any:
    """The policy that an agent plays. Raises BadInput where it cannot be had, or is one of
    somebody's own that is not in `trust`.
    """
    own = POLICIES.get(agent.policy)
    return made(agent.policy, trust) if own is None else own[agent.role]()


def check_playable(cast: Iterable[Entry], trust: Collection[str]) -> None:
    """Raises BadInput where a class of somebody's own is not in `trust`, cannot be made, or lacks a
    method that its role is asked by. Entries need role and policy.
    """
    for role, policy in sorted({(entry["role"], entry["policy"]) for entry in cast}):
        if policy not in (*POLICIES, LLM, HUMAN):
            made(policy, trust, questions_of(role))


def questions_of(role: str) -> list[str]:
    """The questions that a role is asked: the methods of whoever plays it."""
    return [name for name in vars(_SCRIPTS[role]) if not name.startswith("_")]
