"""The families of policies: what a name in a roster stands for, who can play it here, and how.

One table for all worlds. Rosters as text name

- `llm:model-a`: a language model, named as in `--models` or by the server
- `human`: a person, asked in the terminal
- `recorded:run.journal`: the submissions of the same agent in another journal
- `external[name=Hawk]`: an object of the recording Python program (see agents/external.py)
- `package.module:Class`, or `FILE.py:Class` in the working folder: a user-defined policy
- any other name: a policy of the world, or of an installed distribution

The submissions of a player that cannot be asked again are believed, so each such player is
reported. A user-defined policy without trust and a recording that is not given are not asked. A
policy, an option or a version of the prompt that this version does not have is unknown. A value
that this version has, but no run can write, was forged: ImpossiblePlayer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs
import msgspec
from msgspec.structs import replace

from goldrush.agents.catalogue import CatalogueEntry, configurable
from goldrush.agents.llm.options import PERSONAS
from goldrush.agents.llm.versions import (
    LABELLED,
    PromptVersion,
    decided,
    subject_of,
)
from goldrush.agents.plugins import POLICIES as GROUP
from goldrush.agents.plugins import Plugin, plugin, plugins
from goldrush.agents.roster import (
    DISTRIBUTION,
    Entry,
    Roster,
    RosterPart,
    format_policy,
    parts_of,
)
from goldrush.agents.targets import build_policy, trusted_class
from goldrush.agents.trust import (
    EXTERNAL,
    HUMAN,
    LLM,
    OWN_FORM,
    RECORDED,
    check_folder,
    import_names,
    is_import_name,
)
from goldrush.kernel.errors import BadInput, format_value, unknown
from goldrush.kernel.records import Record
from goldrush.kernel.settings import check_setting
from goldrush.kernel.text import format_count

if TYPE_CHECKING:
    # Imported where a model plays: with them, commands of other runs would start later.
    from goldrush.agents.llm.model import Model
    from goldrush.agents.llm.models import Models
    from goldrush.agents.people import AskTogether
    from goldrush.agents.recorded import Recording

MODELS_MAX: Final = 1_000  # agents of a roster that are models

Options = Mapping[str, Any]
E = TypeVar("E", bound=Entry)


class UnknownPlayer(Exception):
    """A player that this version does not know. The message has the player and the reason."""


class ImpossiblePlayer(BadInput):
    """A player that no run has: its record was forged.

    Attributes:
        player: its label.
        expected: what the record must hold.
        actual: what it holds.
    """

    def __init__(self, player: str, expected: str, actual: str) -> None:
        super().__init__(f"of {player}, {actual}", f"it must be {expected}")
        self.player = player
        self.expected = expected
        self.actual = actual


class Typed(Record, frozen=True):
    """What the parts of a roster's text are read with: `recordings` grows by those it names."""

    models: Models | None = None
    trust: Collection[str] = ()
    recordings: dict[str, Recording] = msgspec.field(default_factory=dict)


class Family(msgspec.Struct, frozen=True, eq=False):
    """A kind of player.

    Attributes:
        policy: in a journal; empty: the name of each policy, of the user, the world, or another
            distribution.
        form: how the text of a roster names one.
        text: for the catalogue; it may name the {methods} of a policy. Empty: not listed.
        parse: the options of an agent. Raises BadInput.
        can_ask: whether the agent of a journal can be asked again, with what a roster has; False:
            it is known, but not available here. Raises UnknownPlayer, ImpossiblePlayer.
        make: a function that makes the agent's policy. Raises BadInput. None: it is not asked here,
            its submissions come from outside.
    """

    policy: str
    form: str
    text: str
    parse: Callable[[PolicySet, RosterPart, Typed], Options]
    can_ask: Callable[[PolicySet, Entry, Roster], bool]
    make: Callable[[PolicySet, Entry, Roster], Callable[[], object]] | None = None


# Language models and people.


def _parse_player(policy_set: PolicySet, part: RosterPart, typed: Typed) -> Options:
    """The model, or the person, that a part of a roster's text names, with the options that it
    gives; its `persona` is a function, where a table is named, until `with_personas`. Raises
    BadInput.
    """
    from goldrush.agents.llm.model import Framing
    from goldrush.agents.llm.models import Models

    models = typed.models or Models()
    player = Framing() if part.name == HUMAN else models.named(part.argument)
    settings, where = dict(part.settings), repr(str(part))
    if PERSONAS in settings:
        from goldrush.agents.llm.personas import personas_in

        persona: Any = personas_in(settings.pop(PERSONAS), where)
        player = attrs.evolve(player, persona=persona)
    typed_player = player.typed(settings, where)
    return decided(typed_player, _prompt_of(policy_set)).as_options()


def _can_read(policy_set: PolicySet, entry: Entry, roster: Roster) -> bool:
    """Whether the recorded answers of a model, or of a person, can be read again. Raises
    UnknownPlayer for an option, a message of its wording, or a version of the prompt, that this
    version does not have; ImpossiblePlayer for a forged one.
    """
    from goldrush.agents.llm.model import Framing, Model
    from goldrush.agents.llm.options import FRAMING
    from goldrush.agents.llm.wording_rosters import wording_at
    from goldrush.agents.llm.wordings import InvalidWording, UnknownWording

    is_model = entry.policy == LLM
    of, who = (Model, "a model") if is_model else (Framing, "a person")
    version = _prompt_of(policy_set)
    if not version.is_of(entry.options):
        raise UnknownPlayer(f"{entry.label} is {who} that was {version.other(entry.options)}")
    known = {*of.always, *of.later} - {*FRAMING} | {*version.framing}
    for name in (*entry.options, *of.always):
        if (name in known) is not (name in entry.options):
            how, has = ("without", "has") if name in known else ("with", "lacks")
            raise UnknownPlayer(
                f"{entry.label} is {who} {how} the option {format_value(name)}, which version "
                f"{version.number} of the prompt {has} here"
            )
    try:
        player = of.of(entry.options)
        wording_at(entry, roster, version.wordable())
    except UnknownWording as error:
        text = f"{entry.label} is {who} with another version's wording: {error.what}"
        raise UnknownPlayer(text) from None
    except InvalidWording as error:
        expected = f"a wording of version {version.number} of the prompt"
        raise ImpossiblePlayer(entry.label, expected, error.what) from None
    except BadInput as error:
        raise _impossible(entry, error) from None
    for name, value in player.unresolved.items() if isinstance(player, Model) else ():
        actual = f"{name} is {format_value(value)}"
        raise ImpossiblePlayer(entry.label, f"a value of {name} that was decided", actual)
    return True


def _prompt_of(policy_set: PolicySet) -> PromptVersion:
    assert policy_set.prompt is not None  # else no model and no person is of its families
    return policy_set.prompt


# Recordings of other journals.


def _parse_recorded(policy_set: PolicySet, part: RosterPart, typed: Typed) -> Options:
    if policy_set.recording is None or part.name == RECORDED:
        raise policy_set.unknown(part.name)
    if part.settings:
        raise BadInput(f"{str(part)!r} has settings", "leave them out: they are in the journal")
    typed.recordings[part.name] = policy_set.recording(part.argument)
    return {"journal": typed.recordings[part.name].sha256}


def _has_recording(policy_set: PolicySet, entry: Entry, roster: Roster) -> bool:
    if set(entry.options) != {"journal"} or type(entry.options["journal"]) is not str:
        raise UnknownPlayer(f"{entry.label} is recorded with {format_options(entry)}")
    return entry.options["journal"] in {recording.sha256 for recording in roster.recordings}


def _recording_of(policies: PolicySet, entry: Entry, roster: Roster) -> Callable[[], Recording]:
    digest = entry.options.get("journal")
    for recording in roster.recordings:
        if recording.sha256 == digest:
            return lambda: recording
    raise BadInput(
        f"{entry.label} plays a recording with SHA-256 {digest}", "give that journal (--source)"
    )


# Objects of the recording Python program.


def _parse_object(policy_set: PolicySet, part: RosterPart, typed: Typed) -> Options:
    if not _is_name(part.settings):
        raise BadInput(f"{str(part)!r} has other settings", "give a name or nothing")
    return dict(part.settings)


def _is_name(options: Options) -> bool:
    return set(options) <= {"name"} and all(type(value) is str for value in options.values())


def _has_object(policy_set: PolicySet, entry: Entry, roster: Roster) -> bool:
    if not _is_name(entry.options):
        raise UnknownPlayer(f"{entry.label} is external with {format_options(entry)}")
    return entry.agent in roster.policies


def _object_of(policies: PolicySet, entry: Entry, roster: Roster) -> Callable[[], Any]:
    """The object that an external agent plays; of a class an instance."""
    method = policies.method
    if entry.agent not in roster.policies:
        name = entry.options.get("name", "")
        raise BadInput(
            f"{entry.label} is played by an object of a Python program"
            f"{f' ({format_value(name)})' if name else ''}",
            "use Python: put the object in the list that is the roster, or for a run that is "
            f"recorded already give policies={{{entry.agent}: ...}}",
        )
    given = roster.policies[entry.agent]
    if not callable(getattr(given, method, None)):
        says = f"the policy given for {entry.label} is {format_value(str(given))}"
        raise BadInput(says, f"give an object with a method `{method}`")
    policy = build_policy(given, given.__name__, [method]) if isinstance(given, type) else given
    return lambda: policy


# What families share.


def _impossible(entry: Entry, error: BadInput) -> ImpossiblePlayer:
    return ImpossiblePlayer(entry.label, error.instead.removeprefix("it must be "), error.what)


def format_options(entry: Entry) -> str:
    """The options of an agent, for messages."""
    return f"options {format_value(dict(entry.options))}"


MODEL: Final = Family(
    LLM, f"{LLM}:MODEL", "A language model, asked over the OpenAI protocol; see record --help.",
    _parse_player, _can_read,
)  # fmt: skip
PERSON: Final = Family(
    HUMAN, HUMAN, "A person: asked as a model is, in this terminal or a page (--serve).",
    _parse_player, _can_read,
)  # fmt: skip
REPLAY: Final = Family(
    RECORDED, f"{RECORDED}:JOURNAL",
    "Replays the submissions of the same agent in another journal.",
    _parse_recorded, _has_recording, _recording_of,
)  # fmt: skip
OBJECT: Final = Family(EXTERNAL, EXTERNAL, "", _parse_object, _has_object, _object_of)
OWN: Final = Family(
    "", OWN_FORM, "A user-defined policy: a class with {methods}.",
    parse=lambda policy_set, part, typed: policy_set.policy_options(part, typed.trust),
    can_ask=lambda policy_set, entry, roster: policy_set.can_make(entry, roster.trust),
    make=lambda policies, entry, roster: policies.maker(entry, roster.trust),
)  # fmt: skip
# By the policy that a journal names. Plugins cannot take these names.
FAMILIES: Final = {family.policy: family for family in (MODEL, REPLAY, PERSON, OBJECT)}
_OUTSIDE: Final = tuple(name for name, family in FAMILIES.items() if family.make is None)


def family_of(policy: str) -> Family:
    """The family of a policy, as a journal names it."""
    return FAMILIES.get(policy, OWN)


def family_in(name: str) -> Family:
    """The family of a policy, as the text of a roster names it: with a model, or a path."""
    front, colon, _ = name.partition(":")
    family = FAMILIES.get(front)
    return family if family is not None and colon and ":" in family.form else family_of(name)


def is_outside(policy: object) -> bool:
    """Whether the submissions of a policy in a journal come from outside: from models, people."""
    return policy in _OUTSIDE


def check_people(entries: Iterable[Entry], ask: AskTogether | None) -> None:
    """Raises BadInput if an agent is played by a person and nobody can be asked (`ask` is None)."""
    for entry in entries:
        if ask is None and family_of(entry.policy) is PERSON:
            raise BadInput(
                f"{entry.label} is played by a person, but nobody can be asked here",
                "play in a terminal or with --serve, or give the agent another policy",
            )


def player_of(policy_set: PolicySet, part: RosterPart, typed: Typed) -> tuple[str, Options]:
    """The policy and the options of an agent, from a part of a roster's text. Raises BadInput."""
    family = family_in(part.name)
    if family not in policy_set.families:
        raise policy_set.unknown(part.name)
    return family.policy or part.name, family.parse(policy_set, part, typed)


def can_ask(policy_set: PolicySet, entry: Entry, roster: Roster) -> bool:
    """Whether an agent of a journal can be asked again with what a roster has; False: it is known,
    but not available here.

    Raises UnknownPlayer if this version does not have its policy, options or prompt;
    ImpossiblePlayer if no run can have written its record.
    """
    family = family_of(entry.policy)
    if family not in policy_set.families:
        raise unknown_policy(entry)
    return family.can_ask(policy_set, entry, roster)


def unknown_policy(entry: Entry, more: str = "") -> UnknownPlayer:
    """The error for an agent of a journal whose policy this version does not have."""
    return UnknownPlayer(f"{entry.label} plays {format_value(entry.policy)}{more}")


def classified(
    policy_set: PolicySet, roster: Roster, suffix: str = "", entries: Sequence[Entry] | None = None
) -> tuple[list[bool], list[str], list[str]]:
    """Sort the agents of a journal: for each, whether it can be asked again; descriptions of those
    that are not available, by policy; and the reasons why this version does not know the others.

    `suffix` is appended to each description; `entries`: those of the roster that can be asked, if
    it has others that have left. Raises ImpossiblePlayer for a forged record.
    """
    if entries is None:
        try:
            check_models(roster.entries, policy_set.prompt)
        except BadInput as error:
            at_most = f"of at most {MODELS_MAX:,} models"
            raise ImpossiblePlayer("the roster", at_most, error.what) from None
    can: list[bool] = []
    missing: Counter[str] = Counter()
    unknown: list[str] = []
    for entry in roster.entries if entries is None else entries:
        try:
            can.append(can_ask(policy_set, entry, roster))
        except UnknownPlayer as error:
            can.append(False)
            unknown.append(str(error))
        else:
            missing[entry.policy] += not can[-1]
    not_asked = [
        f"{policy} ({count} agent{'s' if count > 1 else ''}){suffix}"
        for policy, count in missing.items()
        if count
    ]
    return can, not_asked, unknown


def catalogue_of(families: Iterable[Family], methods: str) -> dict[str, CatalogueEntry]:
    """The catalogue entries of families, by form. `methods`: see Family.text."""
    return {
        family.form: CatalogueEntry(family.text.format(methods=methods))
        for family in families
        if family.text
    }


class PolicySet(Record, frozen=True):
    """The policies that rosters of a world can name.

    Attributes:
        world: its name; other distributions register policies as WORLD/NAME.
        policies: classes of the world's own policies, by name. A class with settings is an attrs
            class whose fields are made with kernel.settings.
        default: the default roster, as text.
        agents: number of agents of a roster of one policy.
        method: name of the method that every policy has.
        mixes: rosters as text, by name.
        prompt: the version of the prompt of models; None: they cannot play.
        recording: reads another journal, and raises JournalError; None: none can be replayed.
    """

    world: str
    policies: Mapping[str, Callable[..., object]]
    default: str
    agents: int
    agents_max: int
    method: str
    mixes: Mapping[str, str] = {}
    prompt: PromptVersion | None = None
    recording: Callable[[str | Path], Recording] | None = None

    def parse(
        self, text: str | None, agents: int | None = None, models: Models | None = None
    ) -> Roster:
        """The roster of a text.

        User-defined policies that the text names are trusted, so check text that comes from a file
        with `names_in` first.

        Args:
            text: see this module and agents/roster.py; None: the default roster.
            agents: the number of agents that the roster must have, up to which the default roster
                and one without counts is repeated; None: the sum of the counts, or one for each of
                several names. One name, a mix and the default roster fill the world's default
                number.

        Raises BadInput for an unknown policy, a malformed part, a setting that a policy does not
        have, counts that do not add up to `agents`, or too many models.
        """
        parts = self._by_agent(text, agents)
        typed = Typed(models, import_names(part.name for part in parts))
        distinct = {str(part): part for part in parts}
        players = {text: player_of(self, part, typed) for text, part in distinct.items()}
        entries = tuple(Entry(agent, *players[str(part)]) for agent, part in enumerate(parts))
        check_models(entries, self.prompt)
        if any("wording" in entry.options for entry in entries if is_outside(entry.policy)):
            from goldrush.agents.llm.wording_rosters import recorded_once

            entries = tuple(recorded_once(entries))
        return Roster(entries, tuple(typed.recordings.values()), tuple(typed.trust))

    def names_by_agent(self, text: str | None, agents: int | None = None) -> list[str]:
        """The policy of each agent as text, without looking any of them up. See `parse`."""
        return [str(part) for part in self._by_agent(text, agents)]

    def names_in(self, text: str) -> list[str]:
        """The policies that a roster's text names, each once.

        Raises BadInput for a malformed part.
        """
        return list(dict.fromkeys(part.name for part in self._parts(text)))

    def factory_of(self, entry: Entry, roster: Roster | None = None) -> Callable[[], object]:
        """A function that makes the policy of an entry: of a recorded agent its recording, of an
        external one its object. It is made once here, to report a failure early.

        Raises BadInput for an unknown policy, another version of its distribution, wrong settings,
        a missing recording or object, or a user-defined policy that is not trusted.
        """
        make = family_of(entry.policy).make
        if make is None:
            raise self.unknown(entry.policy)
        return make(self, entry, roster or Roster([entry]))

    def installed(self) -> dict[str, Plugin]:
        """The policies of other distributions, by name; none is imported."""
        front = f"{self.world}/"
        installed = (each for each in plugins(GROUP) if each.name.startswith(front))
        named = {each.name.removeprefix(front): each for each in installed}
        return {n: each for n, each in named.items() if n not in (*self.policies, *FAMILIES)}

    @property
    def families(self) -> Sequence[Family]:
        """The families that can play."""
        asked = (MODEL, PERSON) if self.prompt else ()
        replayed = () if self.recording is None else (REPLAY,)
        return (*asked, *replayed, OBJECT, OWN)

    @property
    def catalogue(self) -> dict[str, CatalogueEntry]:
        """The policies that the text of a roster can name, without those of other distributions."""
        policies = {name: CatalogueEntry.of(policy) for name, policy in self.policies.items()}
        return {**policies, **catalogue_of(self.families, f"the method {self.method}")}

    def plugin(self, name: str) -> Plugin | None:
        """The policy of this name of another distribution, or None.

        Raises PluginFailed if two distributions have one.
        """
        # Distributions are searched only for names that nothing else has: that takes longer than to
        # verify a short run.
        if name in (*self.policies, *FAMILIES) or is_import_name(name):
            return None
        return plugin(GROUP, f"{self.world}/{name}")

    def unknown(self, name: str) -> BadInput:
        """The error for a name that stands for no policy. Raises BadInput as `check_folder`."""
        check_folder(name)
        more = "".join(f", {family.form}" for family in self.families if family.text)
        return unknown("policy", name, [*self.policies, *self.installed()], more)

    def policy_options(self, part: RosterPart, trust: Collection[str]) -> Options:
        """The options of an agent with a policy of the world's or the user's. Raises BadInput."""
        installed = self._installed(part.name)
        options = {} if installed is None else {DISTRIBUTION: _distribution(installed)}
        options.update(part.settings)
        if part.settings:  # otherwise the policy is not loaded, which may take long
            make = self._class_of(Entry(0, part.name, options), trust)
            _check_settings(part.name, make, part.settings)
        return options

    def can_make(self, entry: Entry, trust: Collection[str]) -> bool:
        """Whether a policy of the world's or the user's is here, with the settings in a journal.

        Raises UnknownPlayer, ImpossiblePlayer.
        """
        is_here = entry.policy in self.policies or self.plugin(entry.policy) is not None
        if not is_here and not is_import_name(entry.policy):
            raise unknown_policy(entry)
        if not is_here and entry.policy not in trust:
            return False
        try:
            make = configurable(self._class_of(entry, trust))
        except BadInput as error:
            raise UnknownPlayer(f"{entry.label}: {error.what}") from None
        for name, value in entry.settings.items():
            if make is None or name not in attrs.fields_dict(make):
                raise unknown_policy(entry, f" with the setting {format_value(name)}")
            try:
                check_setting(make, name, value)
            except BadInput as error:
                raise _impossible(entry, error) from None
        return True

    def maker(self, entry: Entry, trust: Collection[str]) -> Callable[[], object]:
        """A function that makes a policy of the world's or the user's. Raises as `factory_of`."""
        make, name, settings = self._class_of(entry, trust), entry.policy, entry.settings
        _check_settings(name, make, settings)
        if name in self.policies:
            return partial(make, **settings)
        maker = partial(build_policy, make, name, [self.method], settings)
        maker()
        return maker

    def _class_of(self, entry: Entry, trust: Collection[str]) -> Callable[..., Any]:
        """The class of an entry's policy. Raises BadInput as `factory_of`."""
        name, recorded = entry.policy, entry.options.get(DISTRIBUTION)
        plugin = self._installed(name)
        installed = None if plugin is None else _distribution(plugin)
        if recorded != installed:
            raise BadInput(
                f"policy {name} was of {recorded or 'no distribution'}, here it is of "
                f"{installed or 'none'}",
                "install that version, or fork the run with another roster",
            )
        if plugin is None:
            return self.policies.get(name) or trusted_class(name, trust)
        make: Callable[..., Any] = plugin.load(callable)
        return make

    def _installed(self, name: str) -> Plugin | None:
        """As `plugin`. Raises BadInput for a name that stands for no policy."""
        installed = self.plugin(name)
        if installed is None and name not in self.policies and not is_import_name(name):
            raise self.unknown(name)
        return installed

    def _by_agent(self, text: str | None, agents: int | None) -> list[RosterPart]:
        parts = self._parts(text)
        is_counted = any(part.count is not None for part in parts)
        each = [part for part in parts for _ in range(part.count or 1)]
        is_list = is_counted or (text is not None and text not in self.mixes and len(parts) > 1)
        wanted = agents or (len(each) if is_list else max(self.agents, len(each)))
        has_others = wanted != len(each) if is_counted else is_list and wanted < len(each)
        if has_others and text is not None:
            noun, give = ("agent", "counts that add up to") if is_counted else ("name", "at most")
            raise BadInput(
                f"the roster has {format_count(len(each), noun)}, not {wanted}",
                f"leave the number out, or give {give} {wanted}",
            )
        return [each[agent % len(each)] for agent in range(wanted)]

    def _parts(self, text: str | None) -> list[RosterPart]:
        if text is None and not self.default:
            raise BadInput(
                f"{self.world} has no policies",
                "give it one (@policy), or a roster: llm:NAME*4, human*2 or my_module:MyPolicy*4",
            )
        parts = parts_of(self.default if text is None else self.mixes.get(text, text))
        if sum(part.count or 1 for part in parts) > self.agents_max:
            raise BadInput("the roster is too long", f"at most {self.agents_max} agents can play")
        return parts


def check_models(entries: Iterable[Entry], prompt: PromptVersion | None) -> None:
    """Raises BadInput if more than MODELS_MAX agents of a roster are language models, of this
    version of the prompt.
    """
    if prompt is None:
        return
    models = sum(entry.policy == LLM and prompt.is_of(entry.options) for entry in entries)
    if models > MODELS_MAX:
        raise BadInput(
            f"{models:,} agents of the roster are language models",
            f"at most {MODELS_MAX:,} can be; the others can have policies",
        )


def models_in(entries: Iterable[Entry]) -> dict[int, Model]:
    """The models of a roster by agent. Raises BadInput for one that this version cannot ask."""
    players = [entry for entry in entries if entry.policy == LLM]
    if not players:
        return {}
    from goldrush.agents.llm.model import Model

    return {entry.agent: Model.asked(entry.options) for entry in players}


def distinct_models(entries: Iterable[Entry]) -> list[Model]:
    """The models of a roster, each once, with those that an entry has beside its own. Raises
    BadInput for one that this version cannot ask.
    """
    from goldrush.agents.llm.model import Model, options_by_prefix

    players = [entry for entry in entries if entry.policy == LLM]
    each = (of for entry in players for of in options_by_prefix(entry.options).values())
    return list(dict.fromkeys(Model.asked(options) for options in each))


def with_models_resolved(
    entries: Sequence[E], models: Models | None, schema: Callable[[], Options]
) -> Sequence[E]:
    """The entries with the request options of each model resolved, by a short question.

    Raises BadInput if a model does not answer, and for invalid options of a model.
    """
    players = [entry for entry in entries if entry.policy == LLM]
    if not players:
        return entries
    # Imports the client, which takes longer than a whole run of scripted agents.
    from goldrush.agents.llm.asker import Asker
    from goldrush.agents.llm.model import Model, options_by_prefix, prefixed_options
    from goldrush.agents.llm.models import Models

    each = (own for entry in players for own in options_by_prefix(entry.options).values())
    asked = list(dict.fromkeys(map(Model.of, each)))
    with closing(Asker(asked, models or Models())) as asker:
        resolved = asker.resolve(asked, schema())

    def with_resolved(entry: E) -> E:
        by_prefix = options_by_prefix(entry.options).items()
        options = {prefix: resolved[Model.of(own)] for prefix, own in by_prefix}
        return replace(entry, options=prefixed_options(options))

    return tuple(with_resolved(entry) if entry.policy == LLM else entry for entry in entries)


def policy_label(entry: Mapping[str, Any], prompt: PromptVersion | None) -> str:
    """How a policy in a journal is shown: `llm:NAME`, or the name, with its settings; of a model or
    a person as `subject_of`. `prompt`: of the world.
    """
    played = Entry(0, str(entry["policy"]), entry["options"])
    if played.policy == RECORDED:
        return RECORDED
    if played.policy not in (LLM, HUMAN):
        return format_policy(played.policy, played.settings)
    name = played.options.get("name")
    is_named = played.policy == LLM and type(name) is str
    label = f"{LLM}:{name}" if is_named else played.policy
    return subject_of(label, played.options, prompt)


def matches_label(name: str, called: str) -> bool:
    """Whether a policy in a roster's text can have this label in a journal.

    A label has no recording's path, and `llm` alone can be any model. Of the options of models and
    people in a label those that the text gives must be as it gives them; the others may come from
    the file of models. `notes=false` is any, for a version of the prompt may have no notes. The
    text gives the name of a wording, and not its digits.
    """
    if family_in(name) is REPLAY:
        return called == RECORDED
    if family_in(name.partition("[")[0]) not in (MODEL, PERSON):
        return called == name
    [part] = parts_of(name)
    model, _, between = called.removesuffix("]").partition("[")
    is_any = part.name in (LLM, f"{LLM}:") and model.startswith(f"{LLM}:")
    if not (is_any or model == subject_of(part.name, {}, None)):
        return False
    labelled = {each.partition("=")[0]: each for each in between.split(";")}
    labelled["wording"] = labelled.get("wording", "").partition("@")[0]  # without digits
    return all(
        labelled.get(option, "") == subject_of("", {option: value}, None)[1:-1]
        for option, value in _typed_options(part).items()
        if option in LABELLED and (option != "notes" or value)
    )


def _typed_options(part: RosterPart) -> dict[str, object]:
    """The options that a part of a roster's text gives a model, or a person, as labels have them;
    None: they do not name it.
    """
    from goldrush.agents.llm.model import Framing, Model
    from goldrush.agents.llm.options import ABSENT, NEW

    player = Framing() if part.name == HUMAN else Model(name=LLM, model=LLM)
    settings = {name: value for name, value in part.settings.items() if name != PERSONAS}
    player = player.typed(settings, repr(str(part)))
    typed = {name: getattr(player, name) for name in settings}
    if "wording" in typed:
        typed["wording"] = Path(typed["wording"]).name.removesuffix(".toml")
    usual = {**ABSENT, **NEW}
    return {name: None if value == usual.get(name) else value for name, value in typed.items()}


def _check_settings(policy: str, make: Callable[..., Any], settings: Options) -> None:
    """Raises BadInput for settings that a policy does not have."""
    config = configurable(make)
    for name, value in settings.items():
        if config is None:
            raise BadInput(f"policy {policy} has no settings", "leave the brackets out")
        try:
            check_setting(config, name, value)
        except BadInput as error:
            raise BadInput(f"policy {policy}: {error.what}", error.instead) from None


def _distribution(plugin: Plugin) -> str:
    return f"{plugin.distribution} {plugin.version}"
