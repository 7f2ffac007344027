"""The cast of a season: from the text that a user types to the policy of each agent.

Every role can be played by its script, a language model, a person at the terminal, or a
user-defined policy; a worker also at random. A worker has the same model in both of its classes,
unless it is given another one as a sonnet; as a sonnet it is shown more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from goldrush.agents.catalogue import CatalogueEntry
from goldrush.agents.llm.model import Model, options_by_prefix, prefixed_options
from goldrush.agents.llm.models import Models
from goldrush.agents.llm.options import FRAMING
from goldrush.agents.llm.wording_rosters import recorded_once
from goldrush.agents.roster import Entry, RosterPart, parts_of, with_personas
from goldrush.agents.seats import (
    MODEL,
    OWN,
    PERSON,
    Options,
    PolicySet,
    Typed,
    catalogue_of,
    check_models,
    format_options,
    is_outside,
    player_of,
    unknown_policy,
)
from goldrush.agents.targets import import_policy
from goldrush.agents.trust import HUMAN, LLM, OWN_FORM, check_folder, is_import_name
from goldrush.agents.worlds.competition.offices import Admin, Assistant, Judge, User
from goldrush.agents.worlds.competition.seats import Seat
from goldrush.agents.worlds.competition.therapist import Therapist
from goldrush.agents.worlds.competition.versions import PROMPT
from goldrush.agents.worlds.competition.worker import RandomWorker, SilentWorker, Worker
from goldrush.kernel.errors import BadInput, format_value
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
_OTHERS: Final = f"{HUMAN}, {LLM}:MODEL, {OWN_FORM}"
_FAMILIES: Final = (MODEL, PERSON, OWN)
# The catalogue entries of policies.
CATALOGUE: Final = {
    SCRIPTED: CatalogueEntry("Plays its role by a script; a worker argues from evidence."),
    RANDOM: CatalogueEntry("A worker that tries, claims and supports at random within the rules."),
    SILENT: CatalogueEntry("A worker that never contributes: a control, which must rank last."),
    PLANTED: CatalogueEntry("All workers: the first half scripted, the others random; a control."),
    **catalogue_of(_FAMILIES, "the methods of the role's script"),
}


class _SeasonPolicies(PolicySet, frozen=True):
    """The policies that the cast of a season can name. Each plays any role."""

    families = _FAMILIES

    def unknown(self, name: str) -> BadInput:
        check_folder(name)
        take = f"take {', '.join(POLICIES)}, {_OTHERS}"
        return BadInput(f"there is no policy {format_value(name)}", take)

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

    def _parts(self, text: str | None) -> list[RosterPart]:
        return [] if text is None else seated_in(text)


POLICY_SET: Final = _SeasonPolicies(
    "competition", {}, default="", agents=0, agents_max=0, method="", prompt=PROMPT
)


def cast_of(
    workers: int, parts: Iterable[str] = (), models: Models | None = None, seed: int = 0
) -> list[Seat]:
    """The cast of a season.

    Args:
        workers: number of workers on the active roster.
        parts: the agents that are not scripted: `judge=POLICY`, `worker=POLICY` or a policy alone
            for all workers, `ada=POLICY` for the agent of that name; a later part overrides an
            earlier one. A policy is `scripted`, `random` or `silent` (workers only), `human`,
            `llm:MODEL` with a name in `models` or on a server, or `package.module:Class`; for all
            workers also `planted`: the first half is `scripted`, the others are `random`. With
            `sonnet=llm:MODEL`, wherever it stands, all workers that are models have this model as
            sonnets.
        models: the language models that can be named.
        seed: of the season, for personas in a table.

    Raises BadInput for a malformed part, an unknown name or policy, a repeated name, and a policy
    of workers in an office.
    """
    cast = [Seat(n, SCRIPTED, name=role, role=role) for n, role in enumerate((*OFFICES, Role.USER))]
    cast += [
        Seat(len(cast) + n, SCRIPTED, name=name_of(n), role=Role.WORKER) for n in range(workers)
    ]
    return recast(cast, [part for text in parts for part in seated_in(text)], models, seed)


def seated_in(text: str) -> list[RosterPart]:
    """The parts of the text of a cast. Raises BadInput for a malformed one."""
    parts = parts_of(text, seated=True)
    for part in parts:
        if part.count is not None:
            raise BadInput(f"{text!r} counts agents", "write NAME=POLICY for each")
    return parts


def recast(
    cast: Sequence[Seat], parts: Iterable[RosterPart], models: Models | None = None, seed: int = 0
) -> list[Seat]:
    """A cast with the policies of these parts, which are as in `cast_of`. Raises BadInput as it."""
    seats, done = {seat.agent: seat for seat in cast}, set[str]()
    # The model of sonnets comes last: it joins the one that a worker has after all other parts.
    for part in sorted(parts, key=lambda part: part.seat == Class.SONNET):
        called = part.seat or Role.WORKER
        if called in done:
            raise BadInput(f"{called} is cast twice", "cast each once")
        done.add(called)
        named = [seat for seat in seats.values() if called in (seat.name, seat.role)]
        if called == Class.SONNET:
            named = [seat for seat in seats.values() if (seat.role, seat.policy) == _MODEL_WORKER]
            if not named:
                raise BadInput(
                    f"{format_value(str(part))} is for no one: no worker is a model",
                    f"cast {Role.WORKER}={LLM}:MODEL too",
                )
        if not named:
            names = ", ".join([*(seat.name for seat in cast[:12]), Role.WORKER, Class.SONNET])
            raise BadInput(
                f"{format_value(str(part))} names no agent or role",
                f"write NAME=POLICY; there are {names}",
            )
        if (called, part.name) == (Role.WORKER, PLANTED):
            for place, seat in enumerate(named):
                policy = SCRIPTED if place < len(named) // 2 else RANDOM
                seats[seat.agent] = replace(seat, policy=policy, options={})
            continue
        policy, options = player_of(POLICY_SET, part, Typed(models))
        played = [replace(seat, policy=policy, options=options) for seat in named]
        for seat, new in zip(named, with_personas(played, seed), strict=True):
            _check_role(new)
            is_sonnet = called == Class.SONNET
            seats[seat.agent] = _as_sonnet(seat, new, part) if is_sonnet else new
    check_models(seats.values(), PROMPT)
    return list(recorded_once(list(seats.values()), cast))


_MODEL_WORKER: Final = (Role.WORKER, LLM)


def _as_sonnet(seat: Seat, other: Seat, part: RosterPart) -> Seat:
    """The seat of a worker that is the `other` model as a sonnet. Raises BadInput."""
    if other.policy != LLM:
        raise BadInput(f"{part} is no model", f"write {Class.SONNET}={LLM}:MODEL")
    haiku, sonnet = Model.of(options_by_prefix(seat.options)[""]), Model.of(other.options)
    if sonnet != haiku and sonnet.name == haiku.name:
        raise BadInput(
            f"the models of the two classes are both {haiku.name}, with other options",
            "give each a table of its own in a file of models (--models)",
        )
    for name in FRAMING:
        if name != "wording_text" and getattr(sonnet, name) != getattr(haiku, name):
            raise BadInput(
                f"the models of the two classes have another {name}",
                "a worker has one in both: give both the same",
            )
    return replace(seat, options=prefixed_options({"": haiku, Class.SONNET: sonnet}))


def _check_role(seat: Seat) -> None:
    """Raises BadInput for a policy of workers in an office."""
    if seat.role != Role.WORKER and seat.policy in (RANDOM, SILENT):
        raise BadInput(
            f"{seat.policy} is a policy of workers, and {seat.name} is not a worker",
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
