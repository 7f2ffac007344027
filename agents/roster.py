"""Rosters: who plays. From the text a person types to one entry an agent to the policies.

- `greedy*8,share*2`: a mix, agents by id in that order
- `greedy,share`: without counts, cycled to the number of agents
- `share[part=0.5;patience=3]*2`: a policy with settings of its own
- `llm:model-a*4`: language models, by the names that `--models` or a server knows
- `human`: a person, asked in the terminal
- `recorded:run.journal`: what the same agent did in another journal
- `external[name=Hawk]`: an object of the Python program that records (see agents/external.py)
- `package.module:Class`: a policy of one's own
- any other name: a policy that an installed distribution brings
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.askable import Askable, ImpossiblePlayer, Player, UnknownPlayer, is_external
from goldrush.agents.catalogue import CatalogueEntry, configurable
from goldrush.agents.llm.models import LLM, Model, Models, model_from
from goldrush.agents.people import HUMAN
from goldrush.agents.plugins import POLICIES as GROUP
from goldrush.agents.plugins import Plugin, plugin, policies_for
from goldrush.agents.recorded import Recording
from goldrush.agents.trust import (
    EXTERNAL,
    RECORDED,
    build_policy,
    import_names,
    is_import_name,
    trusted_class,
)
from goldrush.kernel.errors import BadInput, format_value, unknown
from goldrush.kernel.settings import check_setting, parsed_value
from goldrush.kernel.text import check_name

DISTRIBUTION: Final = "distribution"  # the option that says which one brought a policy
_RESERVED: Final = (LLM, RECORDED, HUMAN, EXTERNAL)

_COMMA = re.compile(r",(?![^\[\]]*\])")  # none of those between brackets
_ENTRY = re.compile(
    r"(?P<name>(?:recorded|llm):[^*,]+?|[^*,\[\]]+?)\s*"
    r"(?:\[(?P<settings>[^\[\]]*)\]\s*)?(?:\*\s*(?P<count>[0-9]{1,6}))?"
)
_HOW: Final = "write policy, policy*count or policy[setting=value], as in greedy-mine*8,raid*2"


@attrs.frozen
class Entry:
    """One agent of a roster: its policy's name, and the options that belong to it: the settings of
    the policy, how a model is asked, which journal a recording is.
    """

    agent: int
    policy: str
    options: Mapping[str, Any] = attrs.field(factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The form in which the journal holds it."""
        return {"agent": self.agent, "policy": self.policy, "options": dict(self.options)}

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of a policy of whatever kind, a model's and a recording's apart."""
        return {name: value for name, value in self.options.items() if name != DISTRIBUTION}


@attrs.frozen
class Roster:
    """The entries, one an agent in order, and the recordings that some of them play.

    `trust`: the policies of somebody's own that may be imported for it (see agents/trust.py). It
    goes where the roster goes, into other processes too, and never into a journal. `policies`: the
    objects that `external` agents play, by agent.
    """

    entries: Sequence[Entry]
    recordings: Sequence[Recording] = ()
    trust: Sequence[str] = ()
    policies: Mapping[int, Any] = attrs.field(factory=dict)

    def as_setup(self) -> list[dict[str, Any]]:
        """The roster as the journal holds it."""
        return [entry.as_dict() for entry in self.entries]


@attrs.frozen
class RosterPart:
    """A part of a roster's text: a policy's name, its settings as they were typed, how many agents
    (None: not said).
    """

    name: str
    settings: Mapping[str, Any] = attrs.field(factory=dict, hash=False)
    count: int | None = None

    def __str__(self) -> str:
        return format_policy(self.name, self.settings)


@attrs.frozen
class PolicySet:
    """Whom the rosters of a world can name.

    - `world`: its name, under which other distributions bring policies (WORLD/NAME).
    - `policies`: those that it brings itself, by name: classes, made with their settings, which
      are the fields of an attrs class made with kernel.settings.
    - `default`: the roster that is played where none is given; `mixes`: texts with a name.
    - `agents`: how many play where a text counts nobody; `agents_max`: how many can.
    - `method`: the one that every policy has.
    - `prompt`: the version of the prompt that language models are asked with; None: none can play.
    - `recording(path)`: the recording in another journal; None: none can be played. Raises what
      reading a journal raises.
    """

    world: str
    policies: Mapping[str, Callable[..., Any]]
    default: str
    agents: int
    agents_max: int
    method: str
    mixes: Mapping[str, str] = attrs.field(factory=dict)
    prompt: int | None = None
    recording: Callable[[str | Path], Recording] | None = None

    def parse(
        self, text: str | None, agents: int | None = None, models: Models | None = None
    ) -> Roster:
        """The roster that a text stands for; None is the default one.

        `agents`, where given, is the number of agents that the roster must have. Without it a mix
        has as many as it counts, and a list without counts as many as the world takes by default.
        `models`: what is known of language models. The policies of somebody's own that the text
        names are trusted: whoever has it from a file asks `names_in` first.

        Raises BadInput for an unknown policy, a malformed entry, a setting that a policy does not
        have, or a mix that is not `agents` long (the default mix is cycled instead).
        """
        names = self._by_agent(text, agents)
        trust = import_names(named.name for named in names)
        recordings: dict[str, Recording] = {}
        players: dict[str, tuple[str, dict[str, Any]]] = {}  # policy and options
        for named in names:
            if str(named) not in players:
                players[str(named)] = self._player(named, recordings, models, trust)
        return Roster(
            tuple(Entry(agent, *players[str(named)]) for agent, named in enumerate(names)),
            tuple(recordings.values()),
            trust,
        )

    def names_by_agent(self, text: str | None, agents: int | None = None) -> list[str]:
        """Whom a roster's text names for each agent. Arguments and errors as `parsed` has them, but
        that nobody is looked for under these names.
        """
        return [str(named) for named in self._by_agent(text, agents)]

    def names_in(self, text: str) -> list[str]:
        """The policies that a roster's text names, each once. Raises BadInput for a malformed
        entry.
        """
        return list(dict.fromkeys(named.name for named in self._parts(text)))

    def factory_of(self, entry: Entry, roster: Roster | None = None) -> Callable[[], Any]:
        """What makes the policy of an entry, looked up and tried once; for a recorded agent its
        recording, for an external one its object. `roster` holds both, and the
        names that are trusted (None: none of it).

        Raises BadInput if there is no such policy, in the version that the entry names, with its
        settings; no recording with the digest that it names; no object for an external agent; or it
        is one of somebody's own that is not trusted.
        """
        roster = roster or Roster([entry])
        if entry.policy == RECORDED:
            return partial(_recording_of, entry, roster.recordings)
        if entry.policy == EXTERNAL:
            return partial(_object_of, entry, roster.policies)
        trust = roster.trust
        make, name, settings = self._class_of(entry, trust), entry.policy, entry.settings
        _check_settings(name, make, settings)
        if name in self.policies:
            return partial(make, **settings)
        maker = partial(build_policy, make, name, [self.method], settings)
        maker()
        return maker

    def installed(self) -> dict[str, Plugin]:
        """The policies that other distributions bring, by name; none is imported."""
        return policies_for(self.world, [*self.policies, *_RESERVED])

    @property
    def catalogue(self) -> dict[str, CatalogueEntry]:
        """What a roster can name, those of other distributions apart."""
        found = {name: CatalogueEntry.of(policy) for name, policy in self.policies.items()}
        if self.prompt is not None:
            found["llm:MODEL"] = CatalogueEntry(
                "A language model, asked over the OpenAI protocol; see record --help."
            )
            found[HUMAN] = CatalogueEntry(
                "You: asked in this terminal, shown what a model would be."
            )
        if self.recording is not None:
            found["recorded:JOURNAL"] = CatalogueEntry(
                "Submits what the agent of the same id submitted in another journal."
            )
        found[EXTERNAL] = CatalogueEntry("A Python object; see `goldrush.record` in Python.")
        found["package.module:Class"] = CatalogueEntry(
            f"A policy of your own: a class with the method {self.method}."
        )
        return found

    def plugin(self, name: str) -> Plugin | None:
        """The policy of this name that another distribution brings, if one does.

        Raises PluginFailed where two of them do.
        """
        if name in self.policies or name in _RESERVED or is_import_name(name):
            return None
        return plugin(GROUP, f"{self.world}/{name}")

    def askable(
        self,
        entries: Iterable[Entry],
        trust: Collection[str],
        digests: Collection[str],
        external: Collection[str] = (),
    ) -> Askable:
        """Which of a journal's entries this version can ask again; `digests`: of the recordings
        that are there; `external`: the players (`Player.who`) whose objects are there.
        """
        names = {entry.policy for entry in entries}
        # Where all are built in, the distributions are not looked through: that takes longer than
        # to verify a short run.
        here = {name for name in names if name in self.policies or self.plugin(name) is not None}
        recordings = None if self.recording is None else digests

        def has_options(player: Player) -> bool:
            return self._has_options(player, trust)

        return Askable(here, self.prompt, trust, recordings, external, has_options)

    def _has_options(self, player: Player, trust: Collection[str]) -> bool:
        """Whether a policy that is here is the one that played, with the options that a journal
        says. Raises UnknownPlayer, ImpossiblePlayer.
        """
        entry = Entry(0, player.policy, player.options)
        try:
            make = configurable(self._class_of(entry, trust))
        except BadInput as error:
            raise UnknownPlayer(f"{player.label}: {error.what}") from None
        for name, value in entry.settings.items():
            if make is None or name not in attrs.fields_dict(make):
                policy, setting = format_value(player.policy), format_value(name)
                raise UnknownPlayer(f"{player.label} plays {policy} with the setting {setting}")
            try:
                check_setting(make, name, value)
            except BadInput as error:
                expected = error.instead.removeprefix("it must be ")
                raise ImpossiblePlayer(player.label, expected, error.what) from None
        return True

    def _player(
        self,
        named: RosterPart,
        recordings: dict[str, Recording],
        models: Models | None,
        trust: Collection[str],
    ) -> tuple[str, dict[str, Any]]:
        """The policy and the options that a part of a text comes to."""
        name = named.name
        family, _, rest = name.partition(":")
        is_recorded = name.startswith(f"{RECORDED}:") and self.recording is not None
        is_model = family == LLM and self.prompt is not None
        if named.settings and name == HUMAN:
            raise BadInput(f"{str(named)!r} has settings", "leave them out: a person has none")
        if named.settings and (is_recorded or is_model):
            where = "in the file of models (--models)" if is_model else "in the journal"
            raise BadInput(f"{str(named)!r} has settings", f"leave them out: they stand {where}")
        if is_recorded and self.recording is not None:
            recordings[name] = self.recording(rest)
            return RECORDED, {"journal": recordings[name].sha256}
        if name == HUMAN and self.prompt is not None:
            return HUMAN, {"prompt": self.prompt}
        if name == EXTERNAL:
            if not is_external(named.settings):
                raise BadInput(f"{str(named)!r} has other settings", "give a name or nothing")
            return EXTERNAL, dict(named.settings)
        if is_model and self.prompt is not None:
            model = attrs.evolve((models or Models()).named(rest), prompt=self.prompt)
            return LLM, model.as_options()
        found = self.plugin(name)
        if name not in self.policies and found is None and not is_import_name(name):
            raise self._unknown(name)
        options = {} if found is None else {DISTRIBUTION: _distribution(found)}
        options.update(named.settings)
        if named.settings:  # without any, it is not looked at: to load it may take long
            _check_settings(name, self._class_of(Entry(0, name, options), trust), named.settings)
        return name, options

    def _class_of(self, entry: Entry, trust: Collection[str]) -> Callable[..., Any]:
        """What makes the policy of an entry. Raises BadInput where there is none, in the version
        that the entry names, or it is not trusted.
        """
        name, recorded = entry.policy, entry.options.get(DISTRIBUTION)
        found = self.plugin(name)
        installed = None if found is None else _distribution(found)
        if recorded != installed and (
            found is not None or name in self.policies or is_import_name(name)
        ):
            raise BadInput(
                f"policy {name} was that of {recorded or 'no distribution'}, here it is that of "
                f"{installed or 'none'}",
                "install what was played with, or fork the run with another roster",
            )
        if name in self.policies:
            return self.policies[name]
        if is_import_name(name):
            return trusted_class(name, trust)
        if found is None:
            raise self._unknown(name)
        make: Callable[..., Any] = found.load(callable)
        return make

    def _by_agent(self, text: str | None, agents: int | None) -> list[RosterPart]:
        parts = self._parts(text)
        if all(part.count is None for part in parts):
            wanted = agents or self.agents
            return [parts[agent % len(parts)] for agent in range(wanted)]
        names = [part for part in parts for _ in range(1 if part.count is None else part.count)]
        wanted = agents or len(names)
        if wanted != len(names) and text is not None:
            raise BadInput(
                f"the roster has {len(names)} agents, but {wanted} are asked for",
                f"leave the number out, or give counts that add up to {wanted}",
            )
        return [names[agent % len(names)] for agent in range(wanted)]

    def _parts(self, text: str | None) -> list[RosterPart]:
        text = self.default if text is None else self.mixes.get(text, text)
        parts = [_part(part.strip()) for part in _COMMA.split(text)]
        if sum(part.count or 1 for part in parts) > self.agents_max:
            raise BadInput("the roster is too long", f"at most {self.agents_max} agents can play")
        return parts

    def _unknown(self, name: str) -> BadInput:
        forms = [f", llm:MODEL, {HUMAN}"] * (self.prompt is not None)
        forms += [", recorded:JOURNAL"] * (self.recording is not None)
        more = f"{''.join(forms)} or package.module:Class"
        return unknown("policy", name, [*self.policies, *self.installed()], more)


def models_in(entries: Sequence[Entry]) -> dict[int, Model]:
    """The models of a roster by agent. Raises BadInput for one that this version cannot ask."""
    return {entry.agent: model_from(entry.options) for entry in entries if entry.policy == LLM}


def entries_in(roster: Sequence[Mapping[str, Any]]) -> tuple[Entry, ...]:
    """The entries of a roster that a journal holds."""
    return tuple(Entry(item["agent"], item["policy"], item["options"]) for item in roster)


def policy_label(entry: Mapping[str, Any]) -> str:
    """How people call the policy of a journal's entry: a model by its name, another one with its
    settings.
    """
    policy, options = str(entry["policy"]), entry["options"]
    if policy == LLM:
        name = options.get("name")
        return f"{policy}:{name}" if type(name) is str else policy
    if policy == RECORDED:
        return policy
    return format_policy(policy, {k: v for k, v in options.items() if k != DISTRIBUTION})


def matches_label(name: str, called: str) -> bool:
    """Whether a name of a roster's text can have become a policy that is called so in a journal.
    Which recording was played, and which model `llm` alone stood for, the text does not say.
    """
    family, _, rest = name.partition(":")
    if family == RECORDED:
        return called == RECORDED
    if family == LLM and not rest:
        return called.startswith(f"{LLM}:")
    return called == name


def format_policy(name: str, settings: Mapping[str, Any]) -> str:
    """A policy with its settings as a roster's text has them."""
    if not settings:
        return name
    return f"{name}[{';'.join(f'{key}={_value(value)}' for key, value in settings.items())}]"


def _value(value: Any) -> str:
    return value if type(value) is str and parsed_value(value) == value else json.dumps(value)


def _part(text: str) -> RosterPart:
    """A part of a roster's text. Raises BadInput for a malformed one."""
    match = _ENTRY.fullmatch(text)
    if match is None:
        raise BadInput(f"{text!r} is no entry of a roster", _HOW)
    count = None if match["count"] is None else int(match["count"])
    if count == 0:
        raise BadInput(f"{text!r} counts no agent", "leave the entry out")
    if not match["name"].startswith(RECORDED + ":"):  # a path may be any
        check_name("policy", match["name"])
    if match["settings"] is None:
        return RosterPart(match["name"], {}, count)
    settings = parsed_settings(match["settings"], text, _HOW)
    if DISTRIBUTION in settings:
        raise BadInput(f"{text!r} sets {DISTRIBUTION}", _HOW)
    return RosterPart(match["name"], settings, count)


def parsed_settings(between: str, text: str, how: str) -> dict[str, Any]:
    """The settings that stand between brackets, in the order of their names, so that the same
    settings are the same bytes. `text` is the whole, `how` how to write it. Raises BadInput.
    """
    settings: dict[str, Any] = {}
    for pair in between.split(";"):
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not (name and equals and value):
            raise BadInput(f"{text!r} has {pair!r} between its brackets", how)
        if name in settings:
            raise BadInput(f"{text!r} sets {name} twice", "set it once")
        settings[name] = parsed_value(value)
    return dict(sorted(settings.items()))


def _recording_of(entry: Entry, recordings: Sequence[Recording]) -> Recording:
    digest = entry.options.get("journal")
    for recording in recordings:
        if recording.sha256 == digest:
            return recording
    raise BadInput(
        f"agent {entry.agent} plays a recording with SHA-256 {digest}",
        "give that journal as a source (--source)",
    )


def _object_of(entry: Entry, policies: Mapping[int, Any]) -> Any:
    if entry.agent not in policies:
        name = entry.options.get("name", "")
        raise BadInput(
            f"agent {entry.agent} is played by an object of a Python program"
            f"{f' ({format_value(name)})' if name else ''}",
            f"give the object from Python: policies={{{entry.agent}: ...}}",
        )
    return policies[entry.agent]


def _check_settings(policy: str, make: Callable[..., Any], settings: Mapping[str, Any]) -> None:
    """Raises BadInput for settings that a policy does not have."""
    config = configurable(make)
    for name, value in settings.items():
        if config is None:
            raise BadInput(f"policy {policy} has no settings", "leave the brackets out")
        try:
            check_setting(config, name, value)
        except BadInput as error:
            raise BadInput(f"policy {policy}: {error.what}", error.instead) from None


def _distribution(found: Plugin) -> str:
    return f"{found.distribution} {found.version}"
