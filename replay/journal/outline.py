"""A journal without its events: its settings and players, and its progress.

The whole file is read and its checksums are checked, but only the last unit is decoded and nothing
is folded: some 3,000 journals of 200 rounds a second. Only `verify` checks that the events follow
from one another.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
import msgspec
from msgspec.structs import replace

from goldrush.agents.plugins import PluginFailed
from goldrush.kernel import fold
from goldrush.kernel.errors import (
    BadInput,
    DamagedJournal,
    JournalError,
    MalformedEvents,
    NotAJournal,
    TornTail,
    UnsupportedJournal,
)
from goldrush.kernel.journal import FORK, FORMAT, START, UNIT, Header, JournalReader
from goldrush.kernel.text import format_count
from goldrush.kernel.world import RecordedEvent, Vocabulary, World
from goldrush.replay.find import distribution_of, open_world, tools_at, tools_named, tools_of
from goldrush.replay.journal.declared import Declared, declared_by, unusual
from goldrush.replay.study.listing import StudyFolders
from goldrush.replay.tools import Description, Tools


class Outline(msgspec.Struct, frozen=True):
    """The outline of a journal.

    Attributes:
        path: as it was given.
        bytes: the size of the file.
        header: its world and rules; None if it cannot be read.
        distribution: the distribution that provides the world, with its version; None for a
            built-in world and for an unknown one.
        declared: the settings in force and the players.
        about: what the run is about (`Tools.about`).
        treatment: the treatment in the study whose folder holds the journal.
        units: the number of closed units that count; see `Vocabulary.uncounted`.
        closed: the number of all closed units.
        of: the number of the last unit of the whole run; None if unknown.
        vocabulary: the nouns of the world.
        finished: the run has ended.
        forks: the events of the forks that led to it.
        sha256: the hash of the file, if asked for.
        trouble: the error that ends the reading; None for a readable journal.
    """

    path: str
    bytes: int = 0
    header: Header | None = None
    distribution: str | None = None
    declared: Declared = Declared()
    about: Description = Description()
    treatment: str | None = None
    units: int = 0
    closed: int = 0
    of: int | None = None
    vocabulary: Vocabulary = Vocabulary()
    finished: bool = False
    forks: tuple[RecordedEvent, ...] = ()
    sha256: str | None = None
    trouble: JournalError | BadInput | None = None

    @property
    def state(self) -> str:
        """Finished, unfinished, or what is wrong with the journal, in a few words."""
        if self.trouble is None:
            return "finished" if self.finished else "unfinished"
        if isinstance(self.trouble, DamagedJournal):
            return f"DAMAGED at byte {self.trouble.offset}"
        for kind, says in (
            (TornTail, "torn tail"),
            (MalformedEvents, "MALFORMED"),
            (NotAJournal, "not a journal"),
        ):
            if isinstance(self.trouble, kind):
                return says
        return "not known here" if self.header is not None else "cannot be read"

    @property
    def planned(self) -> int | None:
        """`of`, unless the run has come so far."""
        return None if self.of == self.units else self.of

    @property
    def subject(self) -> str | None:
        """The environment or the model that the run is of; None: its world says it all."""
        return dict(self.about.facts).get("subject")

    @property
    def defaults(self) -> Mapping[str, object]:
        """The world's defaults of the settings that have another value."""
        is_usable = self.header is not None and not isinstance(self.trouble, PluginFailed)
        tools = tools_named(self.header.world) if self.header and is_usable else None
        if tools is None:
            return {}
        own = self.about.config or tools.config
        config = tools.config if issubclass(tools.config, own) else own
        fields = attrs.fields_dict(config)
        return {name: fields[name].default for name in unusual(self.declared.settings, config)}

    def as_dict(self) -> dict[str, Any]:
        """The outline for JSON, without players, and of the settings those that were changed."""
        return {
            "journal": self.path,
            "world": self.header and self.header.world,
            "rules": self.header and self.header.rules,
            "subject": self.subject,
            "treatment": self.treatment,
            "roster": self.declared.roster,
            "seed": self.declared.seed,
            "changed": {name: self.declared.settings[name] for name in self.defaults},
            "unit": self.vocabulary.unit,
            "units": self.units,
            "of": self.of,
            "state": self.state,
            "finished": self.finished,
            "forks": len(self.forks),
            "bytes": self.bytes,
            "trouble": self.trouble and str(self.trouble),
        }

    def whole_as_dict(self) -> dict[str, Any]:
        return {
            **self.as_dict(),
            "format": FORMAT,
            "distribution": self.distribution,
            "sha256": self.sha256,
            **({"about": dict(self.about.facts)} if self.about.facts else {}),
            "settings": dict(self.declared.settings),
            "players": list(self.declared.players),
            "variants": [
                {"from": first, "by_agent": dict(variants)}
                for first, _, variants in self.declared.drawn
                if variants
            ],
            "forks": [fork.as_dict() for fork in self.forks],
        }


def outline_of(
    path: str | Path, studies: StudyFolders | None = None, *, hashed: bool = False
) -> Outline:
    """The outline of a journal, or of any other file. Raises nothing for a faulty file: see
    `Outline.trouble`. `studies`: the studies among which its treatment is looked up; None: it is
    not; `hashed`: with the SHA-256 of the file.
    """
    cell = None if studies is None else studies.cell_of(path)
    found = Outline(str(path), treatment=cell and cell[0])
    try:
        with JournalReader(path, hashed=hashed) as reader:
            found = replace(found, bytes=reader.size, header=reader.header)
            found = _walked(found, reader)
            return replace(found, sha256=reader.sha256() if hashed else None)
    except (JournalError, BadInput) as error:
        with suppress(OSError, ValueError):
            found = replace(found, bytes=os.stat(path).st_size)
        return replace(found, trouble=error)


def _walked(info: Outline, reader: JournalReader) -> Outline:
    """The outline with what its commits declare, as far as its world is known."""
    tools: Tools | None = None
    trouble: JournalError | BadInput | None = None
    try:
        tools = tools_of(reader)
        info = replace(info, distribution=distribution_of(reader.header.world))
    except (UnsupportedJournal, BadInput) as error:
        trouble = error
    declared: Declared | None = None
    forks: list[RecordedEvent] = []
    counted = closed = 0
    world: World[Any] | None = None
    # Whether a unit counts is in its inputs, which are decoded then.
    are_all_counted = tools is None or not tools.vocabulary.uncounted
    try:
        for commit in reader.outline() if are_all_counted else reader:
            closed = commit.closed
            counted += world is not None and fold.counts(commit, world.vocabulary)
            if commit.kind == START and tools is not None:
                world = tools.world(commit.setup or {})
                info = replace(info, about=tools.about(commit.setup or {}))
            if commit.kind in (START, FORK) and tools and world and trouble is None:
                try:
                    event = fold.setup_event(world, reader, commit)
                    declared = declared_by(world, tools.players.prompt, declared, event)
                    forks += [event] if commit.kind == FORK else []
                except JournalError as error:
                    trouble = error
    except JournalError as error:
        trouble = trouble or error
    declared = declared or Declared()
    units = None if tools is None else declared.settings.get(tools.players.horizon)
    return replace(
        info,
        declared=declared,
        units=closed if are_all_counted else counted,
        closed=closed,
        of=units if type(units) is int and units else None,
        vocabulary=Vocabulary() if world is None else world.vocabulary,
        finished=reader.ended,
        forks=tuple(forks),
        trouble=trouble,
    )


def held(path: str) -> str:
    """The units that a journal holds, and the answers of models and people that follow them, as
    text. Raises what reading it raises.
    """
    closed = waiting = 0
    players = tools_at(path).players
    answers = () if players.answers is None else players.answers.codes
    with JournalReader(path) as reader:
        words = open_world(reader).vocabulary
        for commit in reader:
            if commit.digest is not None:
                closed, waiting = commit.unit, 0
            elif commit.kind == UNIT:
                inputs = (batch for block in commit.blocks[::2] for batch in block)
                waiting += sum(len(rows) for code, rows in inputs if code in answers)
    holds = f"the start, but no {words.unit} yet"
    if closed:
        holds = f"{words.units} {words.first} to {words.number(closed)}, whole"
    if waiting:
        holds += f", and {format_count(waiting, 'answer')} of {words.format_unit(closed + 1)}"
    return holds
