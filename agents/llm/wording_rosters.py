"""The wordings in a roster: where their texts stand, and how its agents are asked with them.

A wording that is not the default stands in full with the lowest agent that has it, the others have
its name and digest; a name has one text. So a journal holds what its prompts are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import chain
from typing import Final, TypeVar

import msgspec

from goldrush.agents.llm.model import Model, check
from goldrush.agents.llm.options import ABSENT
from goldrush.agents.llm.versions import PromptVersion
from goldrush.agents.llm.wording_files import shipped_sha256
from goldrush.agents.llm.wordings import (
    Framed,
    InvalidWording,
    Names,
    Wordable,
    Wording,
    variants_in,
    wording_from,
)
from goldrush.agents.roster import Entry, Roster, entries_in
from goldrush.agents.trust import HUMAN, LLM
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, format_value

E = TypeVar("E", bound=Entry)

WORDED: Final = ("wording", "wording_sha256", "wording_text")
_SHAPES: Final = ("reasoning", "notes", "persona", "order")  # of Framed, besides the wording


def recorded_once(entries: Sequence[E], known: Iterable[Entry] = ()) -> Sequence[E]:
    """New agents, each with the text of its wording, as a roster records them: a text stands with
    the lowest agent. `known`: agents of an older roster, of which some are among these.

    Raises BadInput for a name with two texts, or without one.
    """
    lowest = Roster(entries).wordings
    everybody: Iterable[Entry] = chain(known, entries)
    texts = {
        entry.options.get("wording_sha256"): entry.options["wording_text"]
        for entry in everybody
        if entry.policy in (LLM, HUMAN) and "wording_text" in entry.options
    }

    def recorded(entry: E) -> E:
        if entry.policy not in (LLM, HUMAN) or "wording" not in entry.options:
            return entry
        name = entry.options["wording"]
        holder = lowest[name]
        if entry.options["wording_sha256"] != holder.options["wording_sha256"]:
            raise BadInput(
                f"wording {name} has one text for {holder.label} and another for {entry.label}",
                "give one of the files another name",
            )
        if entry.options["wording_sha256"] not in texts:
            raise BadInput(f"wording {name} has no text", "give its agents another wording")
        options: dict[str, object] = {}
        for option, value in entry.options.items():
            if option != "wording_text":
                options[option] = value
            if option == "wording_sha256" and entry.agent == holder.agent:
                options["wording_text"] = texts[value]
        return msgspec.structs.replace(entry, options=options)

    return tuple(map(recorded, entries))


def wording_at(entry: Entry, roster: Roster, wordable: Wordable) -> Wording:
    """The wording of an agent in a journal, with the text in its roster.

    Raises BadInput for one that no run records; InvalidWording, if the version of the prompt lacks
    it.
    """
    options = entry.options
    if "wording" not in options:
        return wordable.default
    for option in WORDED:
        check(Model, option, options.get(option), f"{entry.label}: {option}")
    name, sha256 = options["wording"], options.get("wording_sha256")
    holder = roster.wordings[name]
    text = holder.options.get("wording_text")
    if sha256 is None or sha256 != holder.options.get("wording_sha256"):
        raise BadInput(
            f"wording {name} has the SHA-256 {format_value(sha256)} for {entry.label}",
            f"it must be that of {holder.label}",
        )
    if type(text) is not str or (entry.agent != holder.agent and "wording_text" in options):
        where = "without a text" if type(text) is not str else f"with a text for {entry.label}"
        raise BadInput(
            f"wording {name} is recorded {where}", f"it must have one, with {holder.label}"
        )
    shipped = shipped_sha256(name, wordable)
    if shipped not in (None, sha256):
        raise BadInput(
            f"wording {name} has another text than this goldrush ships, with the SHA-256 {sha256}",
            f"it must be {shipped}",
        )
    return wording_from(name, text, sha256, wordable)


def framed_in(
    roster: Sequence[Mapping[str, object]], seed: int, wordable: Wordable
) -> Callable[[int], Framed]:
    """How each agent of a roster is asked, by its id.

    Args:
        roster: as a state holds it, an entry for each agent, by id.
        seed: of the run, in force.
        wordable: what wordings can change in the prompt.

    The function raises BadInput for options that no run records. An agent that is no model and no
    person is asked as a model would be that has no options.
    """
    whole = Roster(entries_in(roster))

    def framed(agent: int) -> Framed:
        entry = whole.entries[agent]
        if entry.policy not in (LLM, HUMAN):
            return Framed(wordable.default)
        found = framed_of(entry, seed, wordable, whole)
        found.wording.names.check_agents(len(roster))
        return found

    return framed


def framed_of(entry: Entry, seed: int, wordable: Wordable, roster: Roster) -> Framed:
    """How a model or a person is asked. `roster`: its roster, in which texts stand.

    Raises BadInput for options that no run records.
    """
    options = entry.options
    for option in _SHAPES:
        if option in options:
            check(Model, option, options[option], f"{entry.label}: {option}")
    shape = {option: options.get(option, ABSENT[option]) for option in _SHAPES}
    wording = wording_at(entry, roster, wordable)
    return Framed(wording, _drawn(seed, entry.agent, len(wording.variants)), **shape)


def _drawn(seed: int, agent: int, variants: int) -> int:
    return Draws(seed, 0, agent, "wording").below(variants) if variants > 1 else 0


def variants_of(roster: Sequence[Mapping[str, object]], seed: int) -> dict[int, int]:
    """The variant, from 0, of each agent of a roster whose wording has several. `roster`, `seed`:
    as for `framed_in`.

    A wording without a valid text in the roster counts as one without variants.
    """
    entries = entries_in([{**each, "agent": agent} for agent, each in enumerate(roster)])
    holders = Roster(entries).wordings
    variants: dict[int, int] = {}
    for entry in entries:
        holder = holders.get(entry.options.get("wording", ""))
        if holder is not None and entry.policy in (LLM, HUMAN):
            with suppress(InvalidWording):
                count = variants_in(str(holder.options.get("wording_text")))
                if count > 1:
                    variants[entry.agent] = _drawn(seed, entry.agent, count)
    return variants


def check_names(roster: Roster, prompt: PromptVersion, *, is_open: bool) -> None:
    """Check the names that the wordings of a roster give to things.

    `is_open`: agents read texts of others, which are never translated, so all models and people
    must have the same names; those of another version of the prompt have unknown ones. Raises
    BadInput, also if there are fewer names than agents.
    """
    first: tuple[Entry, Names] | None = None
    for entry in roster.entries:
        if entry.policy not in (LLM, HUMAN) or not prompt.is_of(entry.options):
            continue
        names = wording_at(entry, roster, prompt.wordable()).names
        names.check_agents(len(roster.entries))
        first = first or (entry, names)
        if is_open and names != first[1]:
            raise BadInput(
                f"{first[0].label} and {entry.label} have other names for the same things, and "
                "read each other's messages",
                "give both wordings the same [names], or record without communication",
            )
