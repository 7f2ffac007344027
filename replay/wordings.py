"""Wordings of a world: listed, shown as files, checked under every treatment, compared."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

import attrs

from goldrush.agents.llm.messages import fields_in
from goldrush.agents.llm.model import DEFAULT
from goldrush.agents.llm.parts import within
from goldrush.agents.llm.versions import PromptVersion, check_wordable, shown_name, version_of
from goldrush.agents.llm.wording_files import as_toml, description_of, wording_named
from goldrush.agents.llm.wording_rosters import wording_at
from goldrush.agents.llm.wordings import LETTERS, Names, Wordable, Wording
from goldrush.agents.players import AskedPrompt, Facts, Players, Resources
from goldrush.agents.roster import Roster, entries_in
from goldrush.agents.workers import map_in_order
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.treatments import BASELINE
from goldrush.replay.find import WORLD_DEFAULT, players_of, tools_at, tools_for
from goldrush.replay.journal.outline import outline_of
from goldrush.replay.journal.story import agent_of
from goldrush.replay.text import format_list
from goldrush.replay.tools import Tools

NAME: Final = "model"  # of the model that is asked in memory; no server is
DOUBTS_MAX: Final = 8  # lines
ASKED_MAX: Final = 200  # bytes of the agents that are asked
NAMES_SHOWN: Final = 20  # wordings of a journal, in a message


@attrs.frozen
class ListedWording:
    """A wording that goldrush ships.

    Attributes:
        sha256: of its canonical form; None: the default.
        variants: number of its variants.
    """

    wording: str
    description: str
    sha256: str | None
    variants: int


@attrs.frozen
class CheckedTreatment:
    """The prompts of a wording under a treatment, in the first units of a run of policies.

    Attributes:
        prompts: their number.
        largest: size of the largest, in bytes.
        fault: why a run with this wording is refused; None: it is not.
        lacking: the number of those that lack a key of the answer in quotes, by key.
        agents: of such a run as it is recorded by default, if the wording has a name for fewer.
    """

    treatment: str
    prompts: int
    largest: int
    fault: str | None = None
    lacking: Mapping[str, int] = attrs.field(factory=dict)
    agents: int | None = None


@attrs.frozen
class CheckedWording:
    """What a check of a wording found.

    Attributes:
        size: of its canonical form, in bytes.
        prompt: version of the prompt.
        longest: greatest size of a prompt of this version, in bytes.
        untold: what prompts do not tell an agent that it has to know, each with the variants, from
            0, that do not.
        doubts: see `doubts_about`.
    """

    wording: str
    sha256: str | None
    size: int
    variants: int
    prompt: int
    longest: int
    treatments: Sequence[CheckedTreatment]
    untold: Mapping[str, Sequence[int]] = attrs.field(factory=dict)
    doubts: Sequence[str] = ()

    @property
    def holds(self) -> bool:
        """Whether runs under each treatment take it, with no prompt that is too long."""
        return all(each.fault is None and each.largest <= self.longest for each in self.treatments)

    @property
    def warnings(self) -> list[str]:
        """What prompts lack that an agent needs to answer, treatments that it has too few names
        for, and other doubts, a line each.
        """
        counts: Counter[str] = Counter()
        for each in self.treatments:
            counts.update(each.lacking)
        total = sum(each.prompts for each in self.treatments)
        keys = [
            f'{count:,} of {total:,} prompts lack the key "{key}" of the answer, in quotes'
            for key, count in counts.items()
        ]
        facts = []
        for what, variants in self.untold.items():
            some = f"prompts of variant {', '.join(map(str, variants))}"
            whose = some if len(variants) < self.variants else "all prompts"
            facts.append(f"{whose} lack {what}")
        short: dict[int, list[str]] = {}
        for each in self.treatments:
            if each.agents is not None:
                short.setdefault(each.agents, []).append(each.treatment)
        named = "; ".join(f"{', '.join(of)} ({agents} agents)" for agents, of in short.items())
        few = f"names.agents has too few names for {named}: give more, or record with fewer agents"
        return [*keys, *facts, *([few] if short else []), *self.doubts]

    def as_dict(self) -> dict[str, object]:
        """The value for JSON."""
        return {**attrs.asdict(self), "holds": self.holds, "warnings": self.warnings}


@attrs.frozen
class WordingDiff:
    """Two wordings in one prompt.

    Attributes:
        treatment: None: that of a recorded run.
        unit: its public number.
        a, b: the texts of its messages, by role.
    """

    treatment: str | None
    unit: int
    agent: int
    question: str
    a: Mapping[str, str]
    b: Mapping[str, str]

    @property
    def lines(self) -> list[str]:
        """The difference in the unified format; empty: there is none."""
        return [
            line
            for role in self.a
            for line in difflib.unified_diff(
                self.a[role].split("\n"), self.b[role].split("\n"), role, role, lineterm=""
            )
        ]

    def as_dict(self) -> dict[str, object]:
        """The value for JSON."""
        return {**attrs.asdict(self), "lines": self.lines}


def listed(world: str = WORLD_DEFAULT) -> list[ListedWording]:
    """The wordings that goldrush ships for a world. Raises BadInput for one without wordings."""
    _, wordable = _version(world)
    names = ["default", *wordable.shipped]
    each = ((name, wording_named(name, wordable)) for name in names)
    return [
        ListedWording(name, description_of(name, wordable), wording.sha256, len(wording.variants))
        for name, wording in each
    ]


def text_of(name: str, world: str = WORLD_DEFAULT) -> str:
    """A wording, by name or file, as TOML, whole. Raises BadInput."""
    _, wordable = _version(world)
    wording = wording_named(name, wordable)
    description = "" if wording.name == DEFAULT else description_of(name, wordable)
    return as_toml(wording, wordable, description)


def text_in(path: str | Path, name: str) -> str:
    """A wording in a journal, by name, as TOML, whole; of several rosters that of the last.

    Raises BadInput for one that the journal does not have, and for one that no run records;
    JournalError.
    """
    found = outline_of(path)
    if found.trouble is not None and not found.declared.players:
        raise found.trouble
    names: dict[str, None] = {}
    for _, players in reversed(found.declared.rosters):
        roster = Roster(entries_in([{**each, "agent": n} for n, each in enumerate(players)]))
        names |= dict.fromkeys(roster.wordings)
        if name in roster.wordings:
            holder, prompts = roster.wordings[name], found.declared.prompts
            version = version_of(prompts, holder.options)
            check_wordable(version, prompts)
            assert version.wordable is not None
            wordable = version.wordable()
            return as_toml(wording_at(holder, roster, wordable), wordable)
    raise BadInput(
        f"{path} has no wording {format_value(name)}",
        f"take one of {', '.join(map(shown_name, [*names][:NAMES_SHOWN]))}"
        if names
        else "leave --journal out: it has the default",
    )


def check(name: str, world: str = WORLD_DEFAULT) -> CheckedWording:
    """A wording, by name or file, rendered under every treatment of a world, by several processes.
    Raises BadInput for one that breaks a rule; WorkerDied.
    """
    version, wordable = _version(world)
    wording = wording_named(name, wordable)
    of = tools_for(world)
    answers = players_of(of, world).answers
    assert answers is not None  # its prompts have versions
    tasks = [(world, name, each) for each in of.treatments or (BASELINE,)]
    return CheckedWording(
        wording.name, wording.sha256, len(wording.text.encode()), len(wording.variants),
        version.number, answers.longest[version.number],
        list(map_in_order(_checked, tasks)), untold_by(wording, wordable), doubts_about(wording),
    )  # fmt: skip


def diff(
    a: str, b: str, world: str = WORLD_DEFAULT, treatment: str = BASELINE, at: int | None = None,
    agent: int | None = None,
) -> WordingDiff:  # fmt: skip
    """Two wordings, by name or file, in the prompt of an agent under a treatment.

    Both runs are played by the same policies, up to unit `at`, and by as many as each wording has
    names for. `at`: its public number; None: the first; `agent`: None: the first that is asked.

    Raises BadInput for a wording that breaks a rule, and for a unit or an agent that is not asked.
    """
    _, wordable = _version(world)
    of = tools_for(world)
    unit = of.vocabulary.first if at is None else at
    names = [wording_named(name, wordable).names for name in (a, b)]
    both = [_prompt(of, world, name, treatment, unit, agent, names) for name in (a, b)]
    first, second = ({m["role"]: m["content"] for m in asked.messages} for asked in both)
    return WordingDiff(treatment, unit, both[0].agent, both[0].name, first, second)


def diff_in(
    path: str | Path, a: str, b: str, at: int | None = None, agent: str = "0"
) -> WordingDiff:
    """Two wordings, by name or file, in the first prompt of an agent, by number or name, in a unit
    of a run. `at`: its public number; None: the first.

    Raises BadInput for a wording that breaks a rule, for a version of the prompt and a world
    without wordings, and for a unit or an agent that is not asked; JournalError.
    """
    of = tools_at(path)
    unit = of.vocabulary.first if at is None else at
    number = agent_of(path, agent, unit)
    first, second = (
        {message["role"]: message["content"] for message in messages}
        for messages in of.reworded(path, number, unit, (a, b))
    )
    return WordingDiff(None, unit, number, "", first, second)


def _version(world: str) -> tuple[PromptVersion, Wordable]:
    """The newest version of a world's prompt, and what wordings can change in it."""
    versions = players_of(tools_for(world), world).prompts
    if not versions or versions[-1].wordable is None:
        raise BadInput(
            f"the prompts of the {world} world cannot be worded", "give another world (--world)"
        )
    return versions[-1], versions[-1].wordable()


def _checked(task: tuple[str, str, str]) -> CheckedTreatment:
    world, name, treatment = task
    of = tools_for(world)
    who, names = players_of(of, world), wording_named(name, _version(world)[1]).names
    chosen = of.treatments[treatment].settings if treatment in of.treatments else {}
    settings = {each: value for each, value in who.early.items() if each not in chosen}
    prompts = largest = 0
    lacking: Counter[str] = Counter()
    try:
        for questions in _asked(who, name, treatment, settings, [names]):
            for asked in questions:
                prompts += 1
                largest = max(largest, sum(len(m["content"].encode()) for m in asked.messages))
                text = "\n".join(message["content"] for message in asked.messages)
                lacking.update(key for key in asked.keys if f'"{key}"' not in text)
        few = _agents_without_names(who, treatment, names)
    except BadInput as error:
        return CheckedTreatment(treatment, prompts, largest, str(error))
    return CheckedTreatment(treatment, prompts, largest, lacking=lacking, agents=few)


def _agents_without_names(who: Players[object], treatment: str, names: Names) -> int | None:
    """The agents of a run as it is recorded by default, if there are more than names."""
    if names.agents in (None, LETTERS):
        return None
    run = who.prepare({}, who.asks(f"llm:{NAME}"), treatment, Resources())
    agents = len(run.roster.entries)
    return agents if agents > len(names.agents) else None


def untold_by(wording: Wording, wordable: Wordable) -> dict[str, list[int]]:
    """As in CheckedWording."""
    found: dict[str, list[int]] = {}
    for field, sets in wordable.tells.items():
        number = f"number of the {field}"
        what = "name or number of the agent that is asked" if field == "agent" else number
        for variant, messages in enumerate(wording.variants):
            has = {id for id, text in messages.texts.items() if field in fields_in(text)}
            if not any(has.issuperset(ids) for ids in sets):
                found.setdefault(f"the {what}", []).append(variant)
    return found


def doubts_about(wording: Wording) -> list[str]:
    """Variants that are equal, and names of agents that can be mistaken, a line each: the number
    of another, another in capitals, and the whole text of a message, such as `none`.
    """
    equal: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for index, messages in enumerate(wording.variants):
        equal.setdefault(tuple(messages.texts.items()), []).append(str(index))
    found = [f"variants {format_list(of)} are equal" for of in equal.values() if len(of) > 1]
    names = wording.names.agents
    if names is None or names == LETTERS:
        return found
    texts = [item for of in wording.variants for item in of.texts.items()]
    words = {text.strip().casefold(): id for id, text in reversed(texts)}
    seen: dict[str, str] = {}
    for agent, name in enumerate(names):
        folded = name.casefold()
        other = seen.setdefault(folded, name)
        if name.isdecimal() and name != str(agent):
            found.append(f"names.agents calls agent {agent} {name!r}, which is not its number")
        if other != name:
            found.append(f"names.agents has {other!r} and {name!r}, which differ in capitals alone")
        if folded in words:
            found.append(f"names.agents has {name!r}, the text of message {words[folded]}")
    more = len(found) - DOUBTS_MAX
    return [*found[:DOUBTS_MAX], *([f"and {more:,} more like these"] if more > 0 else [])]


def _prompt(
    of: Tools, world: str, name: str, treatment: str, at: int, agent: int | None,
    both: Sequence[Names],
) -> AskedPrompt:  # fmt: skip
    noun, who = of.vocabulary.unit, players_of(of, world)
    agents: set[int] = set()
    for number, prompts in enumerate(_asked(who, name, treatment, {}, both), of.vocabulary.first):
        for asked in prompts if number == at else ():
            if agent is None or asked.agent == agent:
                return asked
            agents.add(asked.agent)
    if agents:
        raise BadInput(
            f"no model is asked in {noun} {at} as agent {agent}",
            f"asked are agents {within(map(str, sorted(agents)), ASKED_MAX)}",
        )
    raise BadInput(
        f"no model is asked in {noun} {at}", f"give another {noun}, of the first ones (--at)"
    )


def _asked(
    who: Players[object], name: str, treatment: str, settings: Facts, names: Sequence[Names]
) -> Iterator[Sequence[AskedPrompt]]:
    """The prompts of the first units of a run of policies, as models with a wording get them.
    `names`: of all wordings that must have one for each agent.
    """
    listed = [len(each.agents) for each in names if each.agents not in (None, LETTERS)]
    agents = min(listed, default=None)
    roster = who.worded(who.asks(f"llm:{NAME}", agents), name, None)
    chosen = settings if agents is None else {**settings, "agents": agents}
    run = who.prepare(chosen, roster, treatment, Resources())
    return who.questions(run, Resources())
