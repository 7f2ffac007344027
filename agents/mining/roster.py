"""Rosters: who plays. From the text a person types to one entry an agent to the policies.

- `greedy-mine`: one policy for all
- `greedy-mine*8,raid*2`: a mix, agents by id in that order
- `greedy-mine,raid`: without counts, cycled to the number of agents
- `portrait`: the source's cast
- `llm:model-a*4`: language models, by the names that `--models` or a server knows
- `recorded:run.journal`: what the same agent did in another journal
- `package.module:Class`: a policy of one's own
- any other name: a policy that an installed distribution brings
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.agents.llm.models import LLM, Model, Models, model_of
from goldrush.agents.mining.baselines import DefendThenMine, GreedyMine, Random, TitForTatRaid
from goldrush.agents.mining.policy import Policy, Scripted
from goldrush.agents.mining.prompt import VERSION as PROMPT
from goldrush.agents.mining.recorded import Recorded, Recording
from goldrush.agents.mining.specialists import Claimer, Defender, Miner, Raider
from goldrush.agents.plugins import POLICIES as INSTALLED
from goldrush.agents.plugins import Plugin, plugin, policies_for
from goldrush.agents.trust import RECORDED, is_own, made, own_among
from goldrush.kernel.errors import BadInput
from goldrush.kernel.mining.config import AGENTS_MAX, MiningConfig
from goldrush.kernel.text import check_name

POLICIES: Final[Mapping[str, Callable[[], Scripted]]] = {
    "random": Random,
    "greedy-mine": GreedyMine,
    "defend-then-mine": DefendThenMine,
    "tit-for-tat-raid": TitForTatRaid,
    "claim": Claimer,
    "raid": Raider,
    "defend": Defender,
    "mine": Miner,
}
# What a roster can name, with a line of what it does.
LISTED: Final = {
    **{name: (policy.__doc__ or "").strip() for name, policy in POLICIES.items()},
    "llm:MODEL": "A language model, asked over the OpenAI protocol; see record --help.",
    "recorded:JOURNAL": "Submits what the agent of the same id submitted in another journal.",
    "package.module:Class": "A policy of your own: a class with plan(seen, draws).",
}
AGENTS_DEFAULT: Final = 10
ROSTER_DEFAULT: Final = "greedy-mine*3,defend-then-mine*3,tit-for-tat-raid*2,random*2"
CASTS: Final = {"portrait": "llm*4,claim*4,raid*4,defend*4,mine*3"}

_ENTRY = re.compile(r"(?P<name>[^*,]+?)\s*(?:\*\s*(?P<count>[0-9]{1,6}))?")


@attrs.frozen
class Entry:
    """One agent of a roster: its policy's name and the options that belong to it.

    `is_own`: the policy is somebody's own, or of another distribution: its answers have to be
    checked.
    """

    agent: int
    policy: str
    options: Mapping[str, Any] = attrs.field(factory=dict)
    is_own: bool = attrs.field(init=False)

    @is_own.default
    def _is_not_of_here(self) -> bool:
        return self.policy not in POLICIES and self.policy not in (RECORDED, LLM)

    def as_dict(self) -> dict[str, Any]:
        """The form in which the journal holds it."""
        return {"agent": self.agent, "policy": self.policy, "options": dict(self.options)}


@attrs.frozen
class Roster:
    """The entries, one an agent in order, and the recordings that some of them play.

    `trust`: the policies of somebody's own that may be imported for it (see agents/trust.py). It
    goes where the roster goes, into other processes too, and never into a journal.
    """

    entries: Sequence[Entry]
    recordings: Sequence[Recording] = ()
    trust: Sequence[str] = ()

    def as_setup(self) -> list[dict[str, Any]]:
        """The roster as the journal holds it."""
        return [entry.as_dict() for entry in self.entries]


def parse_roster(
    text: str | None, agents: int | None = None, models: Models | None = None
) -> Roster:
    """The roster that a text stands for; None is the default mix.

    `agents`, where given, is the number of agents that the roster must have. Without it a mix has
    as many as it counts, and a list without counts 10. `models`: what is known of language models.
    The policies of somebody's own that the text names are trusted: whoever has it from a file asks
    `names_in` first. Raises BadInput for an unknown policy, a malformed entry, or a mix that is not
    `agents` long (the default mix is cycled instead).
    """
    names = names_by_agent(text, agents)
    recordings: dict[str, Recording] = {}
    players: dict[str, tuple[str, dict[str, Any]]] = {}  # policy and options
    for name in dict.fromkeys(names):
        family, _, rest = name.partition(":")
        if name.startswith(RECORDED + ":"):
            recordings[name] = Recording(rest)
            players[name] = RECORDED, {"journal": recordings[name].sha256}
        elif family == LLM:
            model = attrs.evolve((models or Models()).named(rest), prompt=PROMPT)
            players[name] = LLM, model.as_options()
        elif name in POLICIES or is_own(name) or installed_policy(name):
            players[name] = name, {}
        else:
            raise _unknown(name)
    return Roster(
        tuple(Entry(agent, *players[name]) for agent, name in enumerate(names)),
        tuple(recordings.values()),
        own_among(names),
    )


def names_by_agent(text: str | None, agents: int | None = None) -> list[str]:
    """Whom a roster's text names for each agent. Arguments and errors as `parse_roster` has them,
    but that nobody is looked for under these names.
    """
    pairs = _pairs(CASTS.get(text, text) if text is not None else ROSTER_DEFAULT)
    if all(count is None for _, count in pairs):
        names = [name for name, _ in pairs]
        wanted = agents or AGENTS_DEFAULT
    else:
        names = [name for name, count in pairs for _ in range(1 if count is None else count)]
        wanted = agents or len(names)
        if wanted != len(names) and text is not None:
            raise BadInput(
                f"the roster has {len(names)} agents, but {wanted} are asked for",
                f"leave the number out, or give counts that add up to {wanted}",
            )
    return [names[agent % len(names)] for agent in range(wanted)]


def models_in(entries: Sequence[Entry]) -> dict[int, Model]:
    """The models of a roster by agent. Raises BadInput for one that this version cannot ask."""
    return {entry.agent: model_of(entry.options) for entry in entries if entry.policy == LLM}


def with_models_decided(roster: Roster, config: MiningConfig, models: Models | None) -> Roster:
    """The roster, with how each model is asked found out where that is left open.

    Each is asked a short question. Raises BadInput where one does not answer it.
    """
    if not models_in(roster.entries):
        return roster
    # Imports the client, which takes longer than a whole run of scripted agents.
    from goldrush.agents.mining.models import decided

    return attrs.evolve(roster, entries=decided(roster.entries, config, models or Models()))


def entries_in(roster: Sequence[Mapping[str, Any]]) -> tuple[Entry, ...]:
    """The entries of a roster that a journal holds."""
    return tuple(Entry(item["agent"], item["policy"], item["options"]) for item in roster)


def names_in(text: str) -> list[str]:
    """The policies that a roster's text names, each once. Raises BadInput for a malformed entry."""
    return list(dict.fromkeys(name for name, _ in _pairs(CASTS.get(text, text))))


def policy_of(
    entry: Entry, recordings: Sequence[Recording] = (), trust: Collection[str] = ()
) -> Policy | Scripted:
    """A policy made afresh for an entry.

    Raises BadInput if there is no such policy, no recording with the digest that it names, or it is
    one of somebody's own that is not in `trust`.
    """
    if entry.policy in POLICIES:
        return POLICIES[entry.policy]()
    if entry.policy == RECORDED:
        digest = entry.options.get("journal")
        for recording in recordings:
            if recording.sha256 == digest:
                return Recorded(recording)
        raise BadInput(
            f"agent {entry.agent} plays a recording with SHA-256 {digest}",
            "give that journal as a source (--source)",
        )
    found = installed_policy(entry.policy)
    if found is not None:
        made_of: Callable[[], Policy] = found.load(callable)
        return made_of()
    if is_own(entry.policy):
        policy: Policy = made(entry.policy, trust, ["plan"])
        return policy
    raise _unknown(entry.policy)


def installed_policy(name: str) -> Plugin | None:
    """The policy of this name that another distribution brings, if one does.

    Raises PluginFailed where two of them do.
    """
    return None if name in POLICIES or is_own(name) else plugin(INSTALLED, f"mining/{name}")


def _pairs(text: str) -> list[tuple[str, int | None]]:
    pairs: list[tuple[str, int | None]] = []
    for part in text.split(","):
        match = _ENTRY.fullmatch(part.strip())
        if match is None:
            raise BadInput(
                f"{part.strip()!r} is no entry of a roster",
                "write policy or policy*count, with commas between, as in greedy-mine*8,raid*2",
            )
        count = None if match["count"] is None else int(match["count"])
        if count == 0:
            raise BadInput(f"{part.strip()!r} counts no agent", "leave the entry out")
        if not match["name"].startswith(RECORDED + ":"):  # a path may be any
            check_name("policy", match["name"])
        pairs.append((match["name"], count))
    if sum(count or 1 for _, count in pairs) > AGENTS_MAX:
        raise BadInput("the roster is too long", f"at most {AGENTS_MAX} agents can play")
    return pairs


def _unknown(name: str) -> BadInput:
    known = [*POLICIES, *policies_for("mining", POLICIES)]
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]}? " if close else ""
    return BadInput(
        f"there is no policy {name!r}",
        f"{hint}take one of {', '.join(known)}, llm:MODEL, recorded:JOURNAL or "
        "package.module:Class",
    )
