"""Wordings of a world: listed, shown as files, and checked under every treatment."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.agents.llm.messages import fields_in
from goldrush.agents.llm.options import DEFAULT
from goldrush.agents.llm.question import Question
from goldrush.agents.llm.versions import PromptVersion
from goldrush.agents.llm.wording_files import wording_named
from goldrush.agents.llm.wordings import LETTERS, Names, Wordable, Wording, changes_in
from goldrush.agents.players import Facts, Players, Resources
from goldrush.kernel.errors import BadInput
from goldrush.kernel.shape import Schema
from goldrush.kernel.text import is_visible
from goldrush.kernel.treatments import BASELINE
from goldrush.replay.find import WORLD_DEFAULT, players_of, tools_for
from goldrush.replay.workers import map_in_order

_WIDTH: Final = 100  # columns of a written file, where spaces allow it
NAME: Final = "model"  # of the model that is asked in memory; no server is


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
    """

    treatment: str
    prompts: int
    largest: int
    fault: str | None = None
    lacking: Mapping[str, int] = attrs.field(factory=dict)


@attrs.frozen
class CheckedWording:
    """What a check of a wording found.

    Attributes:
        size: of its canonical form, in bytes.
        prompt: version of the prompt.
        longest: greatest size of a prompt of this version, in bytes.
        untold: what prompts do not tell an agent that it has to know, each with the variants, from
            0, that do not.
    """

    wording: str
    sha256: str | None
    size: int
    variants: int
    prompt: int
    longest: int
    treatments: Sequence[CheckedTreatment]
    untold: Mapping[str, Sequence[int]] = attrs.field(factory=dict)

    @property
    def holds(self) -> bool:
        """Whether runs under each treatment take it, with no prompt that is too long."""
        return all(each.fault is None and each.largest <= self.longest for each in self.treatments)

    @property
    def warnings(self) -> list[str]:
        """What prompts lack that an agent needs to answer, a line each."""
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
        return [*keys, *facts]

    def as_dict(self) -> dict[str, object]:
        """The value for JSON."""
        return {**attrs.asdict(self), "holds": self.holds, "warnings": self.warnings}


def listed(world: str = WORLD_DEFAULT) -> list[ListedWording]:
    """The wordings that goldrush ships for a world. Raises BadInput for one without wordings."""
    _, wordable = _version(world)
    names = ["default", *wordable.shipped]
    each = ((name, wording_named(name, wordable)) for name in names)
    return [
        ListedWording(name, wording.description, wording.sha256, len(wording.variants))
        for name, wording in each
    ]


def text_of(name: str, world: str = WORLD_DEFAULT) -> str:
    """A wording, by name or file, as TOML, whole. Raises BadInput."""
    _, wordable = _version(world)
    return as_toml(wording_named(name, wordable), wordable)


def check(name: str, world: str = WORLD_DEFAULT) -> CheckedWording:
    """A wording, by name or file, rendered under every treatment of a world, by several processes.
    Raises BadInput for one that breaks a rule; WorkerDied.
    """
    version, wordable = _version(world)
    wording = wording_named(name, wordable)
    of = tools_for(world)
    tasks = [(world, name, each) for each in of.treatments or (BASELINE,)]
    return CheckedWording(
        wording.name, wording.sha256, len(wording.text.encode()), len(wording.variants),
        version.number, version.longest,
        list(map_in_order(_checked, tasks)), untold_by(wording, wordable),
    )  # fmt: skip


def _version(world: str) -> tuple[PromptVersion, Wordable]:
    """The version of a world's prompt, and what wordings can change in it."""
    version = players_of(tools_for(world)).prompt
    if version is None:
        raise BadInput(
            f"the prompts of the {world} world cannot be worded", "give another world (--world)"
        )
    return version, version.wordable()


def _checked(task: tuple[str, str, str]) -> CheckedTreatment:
    world, name, treatment = task
    of = tools_for(world)
    who, names = players_of(of), wording_named(name, _version(world)[1]).names
    chosen = of.treatments[treatment].settings if treatment in of.treatments else {}
    settings = {each: value for each, value in who.early.items() if each not in chosen}
    prompts = largest = 0
    lacking: Counter[str] = Counter()
    try:
        for questions in _asked(who, name, treatment, settings, names):
            for asked in questions:
                prompts += 1
                largest = max(largest, sum(len(m["content"].encode()) for m in asked.messages))
                text = "\n".join(message["content"] for message in asked.messages)
                lacking.update(key for key in sorted(_keys(asked.schema)) if f'"{key}"' not in text)
    except BadInput as error:
        return CheckedTreatment(treatment, prompts, largest, str(error))
    return CheckedTreatment(treatment, prompts, largest, lacking=lacking)


def _keys(schema: Schema) -> set[str]:
    """The keys of all objects that a schema allows."""
    inner = [*schema.get("anyOf", ()), *schema.get("properties", {}).values()]
    inner += [schema["items"]] if "items" in schema else []
    return set(schema.get("properties", ())).union(*map(_keys, inner))


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


def _asked(
    who: Players[object], name: str, treatment: str, settings: Facts, names: Names
) -> Iterator[Sequence[Question]]:
    """The prompts of the first units of a run of policies, as models with a wording get them, which
    has `names` for so many agents.
    """
    agents = None if names.agents in (None, LETTERS) else len(names.agents)
    roster = who.policy_set.worded(who.asks(f"llm:{NAME}", agents), name, None)
    chosen = settings if agents is None else {**settings, "agents": agents}
    run = who.prepare(chosen, roster, treatment, Resources())
    return who.questions(run, Resources())


def as_toml(wording: Wording, wordable: Wordable) -> str:
    """A wording as a file, with all its messages and names."""
    description = "" if wording.name == DEFAULT else wording.description
    changes: dict[str, Any] = {**changes_in(wording.text)} if wording.text else {}
    messages = {**wordable.messages.texts, **changes.get("messages", {})}
    lines = [f"description = {_value(description)}", ""] if description else []
    lines += ["[messages]", *(f"{id} = {_value(text)}" for id, text in messages.items())]
    names = dict(changes.get("names", {}))
    tables = {each: names.pop(each) for each in ("kinds", "keys") if each in names}
    if names:
        lines += ["", "[names]", *(f"{name} = {json.dumps(names[name])}" for name in names)]
    for each, table in tables.items():
        lines += ["", f"[names.{each}]"]
        lines += [f"{old} = {json.dumps(new)}" for old, new in table.items()]
    return "".join(f"{line}\n" for line in lines)


def _value(text: Any) -> str:
    """A message in TOML: in lines of _WIDTH columns, where it has spaces."""
    if not isinstance(text, str):
        return f"[\n{''.join(f'{_value(each)},{chr(10)}' for each in text)}]"
    quoted = "".join(map(_character, text))
    if len(quoted) <= _WIDTH - 24 and "\n" not in quoted:
        return f'"{quoted}"'
    written = "\n".join(map(_folded, quoted.split("\n")))
    return f'"""\n{written}"""'


def _character(character: str) -> str:
    """A character in TOML: what cannot be seen is written as its code, so that it can be read."""
    if character in '"\\':
        return f"\\{character}"
    if character == "\n" or is_visible(character):
        return character
    return f"\\U{ord(character):08x}"


def _folded(line: str) -> str:
    """A line with a backslash at the end of each part of it; spaces after one would be lost."""
    parts: list[str] = []
    while len(line) > _WIDTH:
        cut = line.rfind(" ", 0, _WIDTH - 1) + 1
        if not cut or line[cut : cut + 1] in (" ", ""):
            break
        parts.append(f"{line[:cut]}\\")
        line = line[cut:]
    return "\n".join([*parts, line])
