"""What commands and other tools ask of a world: one class, `Tools`, which each world derives.

Each part has a default that suits any world (events as JSON in place of a story); where none can,
the default raises BadInput. The defaults import no tool, and a world's own parts are imported when
they are asked for (`lazy`): recording a run needs few of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import attrs
import msgspec

from goldrush.agents.given import given
from goldrush.agents.players import NOBODY, Players
from goldrush.agents.plugins import imported
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.records import Record
from goldrush.kernel.settings import NoSettings
from goldrush.kernel.text import quoted, quoted_path
from goldrush.kernel.treatments import Treatment
from goldrush.kernel.world import EventType, RecordedEvent, Step, Vocabulary, World
from goldrush.replay.sentences import EventSentences

if TYPE_CHECKING:
    from goldrush.agents.llm.afterwards import Changes
    from goldrush.agents.llm.question import Answer, Question
    from goldrush.agents.llm.usage import RecordedAnswer
    from goldrush.agents.players import Resources
    from goldrush.agents.session import Play
    from goldrush.kernel.rosters import Config
    from goldrush.replay.data.columns import Column, Table
    from goldrush.replay.data.measures import Measured, Measures
    from goldrush.replay.journal.tie_break import DrawAudits
    from goldrush.replay.journal.why import Explanation
    from goldrush.replay.report.chapter import Chapter
    from goldrush.replay.studies import Studies


NUMBER_MAX: Final = 10  # digits of a location


class HasDict(Protocol):
    """A result that can be printed as JSON."""

    def as_dict(self) -> dict[str, Any]:
        """The result as plain values."""
        ...


class ClosedUnit(msgspec.Struct, frozen=True):
    """A closed unit (a round, an assignment) with the state after it.

    Attributes:
        round: the public number of the unit.
        state: the state after it.
        events: its events, in order.
        digest: the digest of the state, 64 bits.
        vocabulary: the nouns of its world.
    """

    round: int
    state: Any
    events: Sequence[RecordedEvent]
    digest: int
    vocabulary: Vocabulary


class RebuiltPrompt(Record, frozen=True):
    """A question to a language model, as it was sent or would be sent.

    Attributes:
        question: None if it was asked with another version of the prompt, and cannot be made again.
        answer: of a model or a person, as recorded; None where there is none.
        step: the number of the step in its unit, from 0.
        play: its step, which reads answers; None: it cannot be asked again.
        versions: without a question, text that names the version it was asked with, and this one.
        who: who asked, and when; empty: as it was looked for.
        facts: what JSON has of it besides.
    """

    question: Question | None
    answer: Answer | None = None
    step: int = 0
    play: Play | None = None
    versions: str = ""
    who: str = ""
    facts: Mapping[str, object] = {}

    @property
    def is_model(self) -> bool:
        """Whether the agent is a language model, and not merely one that could be."""
        return self.question is not None and self.question.whole is not None

    @property
    def recorded(self) -> str | None:
        """The digest in the journal; None where it has none."""
        return None if self.answer is None else str(self.answer.prompt)

    def as_dict(self) -> dict[str, object]:
        """The prompt for JSON, with the whole request where a world has one question."""
        question = self.question
        if question is None:
            return {"digest": None, "recorded": self.recorded}
        digests = {"digest": question.digest, "recorded": self.recorded}
        if not question.name:
            return {**digests, "request": question.request()}
        return {
            "name": question.name,
            "messages": [dict(message) for message in question.messages],
            **digests,
            "answer": None if self.answer is None else self.answer.text,
            "is_model": self.is_model,
            **self.facts,
        }


class Description(msgspec.Struct, frozen=True):
    """What is said of a run besides its settings and players.

    Attributes:
        text: what it is about, for who has not seen the world: its docstring, say.
        facts: by name; lists of journals show its `subject`.
        config: the class of the settings of runs like this; None: that of the tools.
    """

    text: str = ""
    facts: Sequence[tuple[str, str]] = ()
    config: type[attrs.AttrsInstance] | None = None


class Basis(msgspec.Struct, frozen=True):
    """On what it rests, besides the rules, that the events of a run are derived again.

    Attributes:
        rests_on: versions of other code, as text; empty: on nothing.
        not_compared: what is derived again and not compared, as text; empty: nothing.
        is_compared: anything is compared.
    """

    rests_on: str = ""
    not_compared: str = ""
    is_compared: bool = True


class Rerun(Protocol):
    """What derives the events of a journal again in place of its world: a program that is run."""

    def world(self, reader: JournalReader) -> World[Any]:
        """The world of an open journal."""
        ...

    def basis(self, path: str) -> Basis:
        """See `Tools.basis`."""
        ...


RERUN: Final[ContextVar[Rerun | None]] = ContextVar("rerun", default=None)


class UnitFields:
    """What a page shows of the units of one run, made while its journal is read.

    Attributes:
        names: the names of the agents so far, by number, where neither sentences nor labels tell.
    """

    names: Mapping[int, str] = {}

    def add(self, step: Step, state: Any) -> None:
        """Note a step of a unit; `state`: after it, before the unit closes."""

    def behind(self, event: RecordedEvent) -> Mapping[str, object]:
        """What is behind the sentence of an event of the unit that was closed last, by name, as
        plain values for the script of the world. The page itself shows `answered`, the event whose
        answer of a language model led to it; `fault`, that the event is a failure; and `sentence`,
        in place of that of the world.
        """
        return {}

    def close(self, unit: ClosedUnit) -> Any:
        """The state after a unit by field, as plain values; None: nothing is shown. Raises
        BadInput.
        """
        raise NotImplementedError


class View(msgspec.Struct, frozen=True):
    """What the page of a run has beside that of any world; see replay/view/README.md.

    Attributes:
        script: a file of JavaScript with the part that the world draws; None: no such part.
        style: a file of CSS, copied into the page.
        fields: `fields(world)`, which gives the fields of a run's states; None: those of
            `Tools.fields`.
        drawn: the fields and titles that the script draws, and nothing else does.
        identifiers: the fields whose numbers identify something: they have no charts.
        ranks: the field by which agents are ranked; where states have none, the measure of agents
            of this name (`Measures.agents_at`) is one.
        groups: the names of events by the title under which their sentences stand; all others
            stand first, without a title.
        folded: the titles whose sentences are shown when they are opened.
        left_out: the names of events without a sentence in the page.
        step_ends: the event that ends a step of a unit, with its name as `step`; empty: a unit is
            one step.
        explains: by kind of explanation (`Tools.explain`), the name of the events that it explains.
        verify_option: what `goldrush verify` takes besides a journal where the code of the world is
            not known here.
    """

    script: Path | None = None
    style: Path | None = None
    fields: Callable[[World[Any]], UnitFields] | None = None
    drawn: Collection[str] = ()
    identifiers: Collection[str] = ()
    ranks: str = "score"
    groups: Mapping[str, Collection[str]] = {}
    folded: Collection[str] = ()
    left_out: Collection[str] = ()
    step_ends: str = ""
    explains: Mapping[str, str] = {}
    verify_option: str = ""


class Lazy(msgspec.Struct, frozen=True):
    """A part of tools that is imported when it is asked for. `location`: as `module:attribute`."""

    location: str

    def __get__(self, tools: object, kind: type) -> Any:
        return self if tools is None else imported(self.location)


def lazy(location: str) -> Any:
    """A `Lazy` part, of the type of what is at `location`: a function there is a method's body."""
    return Lazy(location)


class Tools:
    """A world, and what tools can do with its runs. Units are given by their public numbers.

    Methods given the path of a journal raise JournalError as reading one does, and BadInput for
    what the journal does not have, and for what the world does not have at all.

    Attributes:
        config: the class of its settings, made with kernel.settings.
        players: the players of the world, whom `verify` asks again; NOBODY: its own program records
            its runs.
        treatments: variations of the settings by name, kernel.treatments.BASELINE first.
        draws: its draws, which are computed again from their keys; None: it has none.
        measures: its measures.
        studies: how it is studied; NO_STUDIES: it is not.
        tables: its tables besides that of events. One with the name of the world's units replaces
            the table of its measures.
        setup: columns of the table of events for the fields of START and forks; empty: one of JSON.
        chapter: its chapter of a report.
        view: what its page has beside that of any world.
        headline_leads: its `headline` comes before the standings.
        by_number: two runs are compared by the numbers of their units.
        asks_policies: policies or people decide its inputs, who can be asked again.
        recorded_by: how runs are recorded where there are no players, as text.
    """

    config: type[attrs.AttrsInstance] = NoSettings
    players: Players[Any] = NOBODY
    treatments: Mapping[str, Treatment[Any]] = {}
    draws: DrawAudits[Any] | None = None
    measures: Measures = lazy("goldrush.replay.data.measures:NO_MEASURES")
    tables: Sequence[Table] = ()
    setup: Sequence[Column] = ()
    studies: Studies = lazy("goldrush.replay.studies:NO_STUDIES")
    chapter: Chapter[Any] = lazy("goldrush.replay.report.chapter:PLAIN")
    view: View = View()
    headline_leads: bool = False
    by_number: bool = True
    asks_policies: bool = True
    recorded_by: str = "record runs with its own program"

    # The world.

    def code_option(self, folder: str | Path = "") -> str:
        """What a command typed in a folder takes besides the journals of this world: the file of a
        game, ` --world FILE.py`; empty: nothing.
        """
        return format_option("--world", given(self.name).location, folder)

    def code_of(self, setup: Mapping[str, object]) -> str:
        """What stands behind a command that runs the code of a run, whose START records `setup`."""
        return self.code_option()

    def differing(self, a: str | Path, b: str | Path) -> Sequence[str]:
        """How two runs differ first, as lines, unless units compare `by_number`. Raises
        JournalError.
        """
        return ()

    def fork_at(self, last: int) -> int:
        """What `fork --at` takes so that this unit is the last that is kept."""
        return last

    def world(self, setup: Mapping[str, Any]) -> World[Any]:
        """The world of a run whose START records `setup`; an empty `setup` if START cannot be read.
        Raises nothing.
        """
        raise NotImplementedError

    @property
    def name(self) -> str:
        """The name of the world."""
        return self.world({}).name

    @property
    def vocabulary(self) -> Vocabulary:
        """The nouns of the world."""
        return self.world({}).vocabulary

    def answers(self, reader: JournalReader) -> Iterator[RecordedAnswer] | None:
        """The answers of models in an open journal that was not read yet, in the order of its
        commits; None: they are those that its players have recorded. Raises JournalError.
        """
        return None

    def checks(self, state: object) -> Sequence[str]:
        """Compute what a run is measured by, for one of its first states, so that a mistake in a
        measure is told before the run is played. Raises BadInput.

        Returns warnings about the rules, each on one line, for who records a run.
        """
        return ()

    def basis(self, path: str) -> Basis:
        """On what it rests that a run is derived again here. Raises JournalError."""
        return Basis()

    # Events and units as text.

    def sentences(self, path: str | Path, types: Iterable[EventType]) -> EventSentences:
        """The sentences of the events of a journal with these types. Default: by the templates of
        the types, JSON where a type has none.
        """
        return EventSentences(types, self.vocabulary, prompt=self.players.prompt)

    def labels(self, state: Any) -> Sequence[str]:
        """What each agent is called beside its number: the label of its policy, or its name; empty
        in a world without agents.
        """
        return ()

    def fields(self, unit: ClosedUnit) -> Mapping[str, object] | None:
        """The declared fields of the state after a unit, by name: numbers, text, lists (with one
        value for each agent, or rows of one length) and maps of them. None: none is shown.
        """
        return None

    # Whole runs.

    def about(self, setup: Mapping[str, object]) -> Description:
        """What a run whose START records `setup` is about. Raises nothing."""
        return Description()

    def headline(self, run: Measured[Config]) -> Sequence[str]:
        """What a headline says of a measured run beside its standings: at most two sentences."""
        return ()

    # What happened at a place, and why.

    def location_of(self, path: str | Path, text: str) -> int:
        """The number of a location from text."""
        noun = self.vocabulary.location
        if not noun:
            raise BadInput(f"events of {path} have no place", "leave --place out")
        if not (text.isascii() and text.isdigit() and len(text) < NUMBER_MAX):
            raise BadInput(f"there is no {noun} {text!r}", "give a whole number")
        return int(text)

    def explain(
        self, path: str | Path, first: int | None = None, last: int | None = None
    ) -> Iterator[Explanation]:
        """Explanations of the results of the units from `first` to `last`, by unit, with the
        changes that would have led to others; None: from the start, to the end.
        """
        raise lacks(self, path, "explanations")

    def exchanges(
        self, path: str | Path, unit: int | None, caller: str | None
    ) -> Sequence[RebuiltPrompt] | None:
        """What a program asked in a unit, or for a caller; None: agents are asked (`prompts`)."""
        return None

    def prompts(
        self,
        path: str | Path,
        unit: int,
        agent: int,
        resources: Resources,
        changes: Changes | None = None,
    ) -> Sequence[RebuiltPrompt]:
        """The prompts of an agent in a unit; `resources` are for asking other players again. With
        `changes` they are as its model would be asked with them.
        """
        raise lacks(self, path, "prompts")


def lacks(tools: Tools, path: str | Path, what: str, instead: str = "") -> BadInput:
    """The error that the world of a journal has no such part. `what`: the noun for the part;
    `instead`: what to do; empty: to list the events.
    """
    problem = f"{path} is a run of the {tools.name} world, which has no {what}"
    command = f"goldrush log {quoted_path(str(path))}{tools.code_option()}"
    return BadInput(problem, instead or f"`{command}` lists its events")


def format_option(option: str, location: str, folder: str | Path = "") -> str:
    """An option with the location of code, as it is typed in a folder (by default the current one)
    behind other words; empty without a location.
    """
    file, colon, name = location.partition(":")
    if folder and file.endswith(".py"):
        location = f"{os.path.relpath(file, folder)}{colon}{name}"
    return f" {option} {quoted(location)}" if location else ""
