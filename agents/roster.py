"""Rosters: the policy of each agent, from the text that a user types to policy objects.

- `greedy*8,share*2`: eight agents, then two
- `greedy,share`: without counts, repeated up to the number of agents
- `share[part=0.5;patience=3]*2`: a policy with settings
- `llm:model-a*4`: language models, named as in `--models` or by the server
- `human`: a person, asked in the terminal
- `recorded:run.journal`: replays the submissions of the same agent in another journal
- `external[name=Hawk]`: an object of the recording Python program (see agents/external.py)
- `package.module:Class`: a user-defined policy
- any other name: a policy of an installed distribution
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
from goldrush.agents.plugins import RESERVED, Plugin, plugin, policies_for
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
from goldrush.kernel.settings import check_setting, parsed_value, separated
from goldrush.kernel.text import check_name

DISTRIBUTION: Final = "distribution"  # the option with the name of a policy's distribution

_COMMA = re.compile(r",(?![^\[\]]*\])")  # none of those between brackets
_ENTRY = re.compile(
    r"(?P<name>(?:recorded|llm):[^*,]+?|[^*,\[\]]+?)\s*"
    r"(?:\[(?P<settings>[^\[\]]*)\]\s*)?(?:\*\s*(?P<count>[0-9]{1,6}))?"
)
_HOW: Final = "write policy, policy*count or policy[setting=value], as in greedy-mine*8,raid*2"


@attrs.frozen
class Entry:
    """One agent of a roster.

    Attributes:
        agent: its id.
        policy: the name of its policy.
        options: the settings of the policy, the request options of a model, or the SHA-256 of a
            replayed journal.

    """

    agent: int
    policy: str
    options: Mapping[str, Any] = attrs.field(factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The entry as a journal stores it."""
        return {"agent": self.agent, "policy": self.policy, "options": dict(self.options)}

    @property
    def settings(self) -> dict[str, Any]:
        """The options without DISTRIBUTION: the settings of a policy."""
        return {name: value for name, value in self.options.items() if name != DISTRIBUTION}


@attrs.frozen
class Roster:
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
    policies: Mapping[int, Any] = attrs.field(factory=dict)

    def as_setup(self) -> list[dict[str, Any]]:
        """The roster as a journal stores it."""
        return [entry.as_dict() for entry in self.entries]


@attrs.frozen
class RosterPart:
    """One part of a roster's text, between commas.

    Attributes:
        name: of the policy.
        settings: as typed, by name.
        count: number of agents; None: not given.

    """

    name: str
    settings: Mapping[str, Any] = attrs.field(factory=dict, hash=False)
    count: int | None = None

    def __str__(self) -> str:
        return format_policy(self.name, self.settings)


@attrs.frozen
class PolicySet:
    """The policies that rosters of a world can name.

    Attributes:
        world: its name; other distributions register policies as WORLD/NAME.
        policies: classes of the world's own policies, by name. A class with settings is an attrs
            class whose fields are made with kernel.settings.
        default: the default roster, as text.
        agents: number of agents of a roster without counts.
        agents_max: greatest number of agents.
        method: name of the method that every policy has.
        mixes: rosters as text, by name.
        prompt: version of the prompt of language models; None: models cannot play.
        recording: reads the recording of another journal, and raises JournalError; None: agents
            cannot replay journals.

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
        """The roster of a text.

        User-defined policies that the text names are trusted, so check text that comes from a file
        with `names_in` first.

        Args:
            text: as in the module's docstring; None: the default roster.
            agents: the number of agents that the roster must have; None: the sum of the counts, or
                the default of the world. The default roster is repeated up to this number.
            models: the language models that can be named.

        Raises:
            BadInput: for an unknown policy, a malformed part, a setting that a policy does not
                have, or counts that do not add up to `agents`.

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
        """The policy of each agent as text, without looking any of them up. See `parse`."""
        return [str(named) for named in self._by_agent(text, agents)]

    def names_in(self, text: str) -> list[str]:
        """The policies that a roster's text names, each once.

        Raises BadInput for a malformed part.
        """
        return list(dict.fromkeys(named.name for named in self._parts(text)))

    def factory_of(self, entry: Entry, roster: Roster | None = None) -> Callable[[], Any]:
        """A function that makes the policy of an entry.

        The policy is made once here, to report a failure early. A recorded agent has its recording
        as its policy, an external agent its object.

        Args:
            entry: of the roster.
            roster: has the recordings, objects and trusted names; None: there are none.

        Raises:
            BadInput: for an unknown policy, another version of its distribution, wrong settings, a
                missing recording or object, or a user-defined policy that is not trusted.

        """
        roster = roster or Roster([entry])
        if entry.policy == RECORDED:
            return partial(_recording_of, entry, roster.recordings)
        if entry.policy == EXTERNAL:
            policy = _object_of(entry, roster.policies, self.method)
            return lambda: policy
        trust = roster.trust
        make, name, settings = self._class_of(entry, trust), entry.policy, entry.settings
        _check_settings(name, make, settings)
        if name in self.policies:
            return partial(make, **settings)
        maker = partial(build_policy, make, name, [self.method], settings)
        maker()
        return maker

    def installed(self) -> dict[str, Plugin]:
        """The policies of other distributions, by name; none is imported."""
        return policies_for(self.world, self.policies)

    @property
    def catalogue(self) -> dict[str, CatalogueEntry]:
        """The policies that a roster can name, without those of other distributions."""
        found = {name: CatalogueEntry.of(policy) for name, policy in self.policies.items()}
        if self.prompt is not None:
            found["llm:MODEL"] = CatalogueEntry(
                "A language model, asked over the OpenAI protocol; see record --help."
            )
            found[HUMAN] = CatalogueEntry("You: asked in this terminal with the prompt of a model.")
        if self.recording is not None:
            found["recorded:JOURNAL"] = CatalogueEntry(
                "Replays the submissions of the same agent in another journal."
            )
        found[EXTERNAL] = CatalogueEntry("A Python object; see `goldrush.record` in Python.")
        found["package.module:Class"] = CatalogueEntry(
            f"A user-defined policy: a class with the method {self.method}."
        )
        return found

    def plugin(self, name: str) -> Plugin | None:
        """The policy of this name of another distribution, or None.

        Raises PluginFailed if two distributions have one.
        """
        if name in self.policies or name in RESERVED or is_import_name(name):
            return None
        return plugin(GROUP, f"{self.world}/{name}")

    def askable(
        self,
        entries: Iterable[Entry],
        trust: Collection[str],
        digests: Collection[str],
        external: Collection[str] = (),
    ) -> Askable:
        """The players of a journal that can be asked again here.

        Args:
            entries: of the journal.
            trust: names of user-defined policies that may be imported.
            digests: SHA-256 of the available recordings.
            external: labels of the players whose objects are given.

        """
        names = {entry.policy for entry in entries}
        # Distributions are searched only for other names: that takes longer than to verify a short
        # run.
        here = {name for name in names if name in self.policies or self.plugin(name) is not None}
        recordings = None if self.recording is None else digests

        def has_options(player: Player) -> bool:
            return self._has_options(player, trust)

        return Askable(here, self.prompt, trust, recordings, external, has_options)

    def _has_options(self, player: Player, trust: Collection[str]) -> bool:
        """Whether an available policy has the settings in a journal.

        Raises UnknownPlayer, ImpossiblePlayer.
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
        """The policy and the options of a part of a roster's text. Raises BadInput."""
        name = named.name
        family, _, rest = name.partition(":")
        is_recorded = name.startswith(f"{RECORDED}:") and self.recording is not None
        is_model = family == LLM and self.prompt is not None
        if named.settings and name == HUMAN:
            raise BadInput(f"{str(named)!r} has settings", "leave them out: a person has none")
        if named.settings and (is_recorded or is_model):
            where = "in the file of models (--models)" if is_model else "in the journal"
            raise BadInput(f"{str(named)!r} has settings", f"leave them out: they are {where}")
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
        if named.settings:  # otherwise the policy is not loaded, which may take long
            _check_settings(name, self._class_of(Entry(0, name, options), trust), named.settings)
        return name, options

    def _class_of(self, entry: Entry, trust: Collection[str]) -> Callable[..., Any]:
        """The class of an entry's policy. Raises BadInput as `factory_of`."""
        name, recorded = entry.policy, entry.options.get(DISTRIBUTION)
        found = self.plugin(name)
        installed = None if found is None else _distribution(found)
        if recorded != installed and (
            found is not None or name in self.policies or is_import_name(name)
        ):
            raise BadInput(
                f"policy {name} was of {recorded or 'no distribution'}, here it is of "
                f"{installed or 'none'}",
                "install that version, or fork the run with another roster",
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
                f"the roster has {len(names)} agents, not {wanted}",
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
    """The entries of a roster as a journal stores it."""
    return tuple(Entry(item["agent"], item["policy"], item["options"]) for item in roster)


def policy_label(entry: Mapping[str, Any]) -> str:
    """The displayed name of a policy in a journal: `llm:NAME`, or the name with its settings."""
    policy, options = str(entry["policy"]), entry["options"]
    if policy == LLM:
        name = options.get("name")
        return f"{policy}:{name}" if type(name) is str else policy
    if policy == RECORDED:
        return policy
    return format_policy(policy, {k: v for k, v in options.items() if k != DISTRIBUTION})


def matches_label(name: str, called: str) -> bool:
    """Whether a policy in a roster's text can have this label in a journal.

    A label has no recording's path, and `llm` alone can be any model.
    """
    family, _, rest = name.partition(":")
    if family == RECORDED:
        return called == RECORDED
    if family == LLM and not rest:
        return called.startswith(f"{LLM}:")
    return called == name


def format_policy(name: str, settings: Mapping[str, Any]) -> str:
    """A policy with its settings, in the form of a roster's text."""
    if not settings:
        return name
    return f"{name}[{';'.join(f'{key}={_value(value)}' for key, value in settings.items())}]"


def _value(value: Any) -> str:
    is_plain = type(value) is str and parsed_value(value) == value and not separated(value, ";")
    return value if is_plain else json.dumps(value)


def _part(text: str) -> RosterPart:
    """A part of a roster's text. Raises BadInput for a malformed one."""
    match = _ENTRY.fullmatch(text)
    if match is None:
        raise BadInput(f"{text!r} is no entry of a roster", _HOW)
    count = None if match["count"] is None else int(match["count"])
    if count == 0:
        raise BadInput(f"{text!r} stands for 0 agents", "leave the entry out")
    if not match["name"].startswith(RECORDED + ":"):  # a path may be any
        check_name("policy", match["name"])
    if match["settings"] is None:
        return RosterPart(match["name"], {}, count)
    settings = parsed_settings(match["settings"], text, _HOW)
    if DISTRIBUTION in settings:
        raise BadInput(f"{text!r} sets {DISTRIBUTION}", _HOW)
    return RosterPart(match["name"], settings, count)


def parsed_settings(between: str, text: str, how: str) -> dict[str, Any]:
    """Settings `name=value;...`, sorted by name, so that equal settings have equal bytes.

    Args:
        between: the text between the brackets.
        text: the whole text, for error messages.
        how: the correct form, for error messages.

    Raises:
        BadInput: for a malformed or repeated setting.

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


def _recording_of(entry: Entry, recordings: Sequence[Recording]) -> Recording:
    digest = entry.options.get("journal")
    for recording in recordings:
        if recording.sha256 == digest:
            return recording
    raise BadInput(
        f"agent {entry.agent} plays a recording with SHA-256 {digest}",
        "give that journal (--source)",
    )


def _object_of(entry: Entry, policies: Mapping[int, Any], method: str) -> Any:
    """The object that an external agent plays; of a class an instance."""
    if entry.agent not in policies:
        name = entry.options.get("name", "")
        raise BadInput(
            f"agent {entry.agent} is played by an object of a Python program"
            f"{f' ({format_value(name)})' if name else ''}",
            "use Python: put the object in the list that is the roster, or for a run that is "
            f"recorded already give policies={{{entry.agent}: ...}}",
        )
    policy = policies[entry.agent]
    if not callable(getattr(policy, method, None)):
        says = f"the policy given for agent {entry.agent} is {format_value(str(policy))}"
        raise BadInput(says, f"give an object with a method `{method}`")
    return build_policy(policy, policy.__name__, [method]) if isinstance(policy, type) else policy


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
