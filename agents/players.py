"""Who plays a world, and how its runs are recorded, gone on with, forked and asked again.

A world brings a record of functions, `Players`; what is done with it is written here once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any, Generic, TypeVar

import attrs

from goldrush.agents import people
from goldrush.agents.external import Given
from goldrush.agents.listed import Listed
from goldrush.agents.llm.budget import Estimate
from goldrush.agents.llm.failures import Earlier
from goldrush.agents.llm.models import Models
from goldrush.agents.llm.usage import Answers, earlier_in
from goldrush.kernel import run
from goldrush.kernel.errors import BadInput
from goldrush.kernel.files import check_place, is_empty
from goldrush.kernel.journal import Header, JournalReader, JournalWriter
from goldrush.kernel.run import Ask, OnUnit
from goldrush.kernel.world import Block, Row, World

S = TypeVar("S")

Facts = Mapping[str, Any]  # what a FORK records


@attrs.frozen
class Prepared:
    """A run that can begin: `setup` is what START records, `trust` names the policies of somebody's
    own that may be imported for it, `sources` are the journals that `recorded` agents play.
    """

    setup: Mapping[str, Any]
    trust: Sequence[str] = ()
    sources: Sequence[str] = ()


@attrs.frozen
class Means:
    """What playing takes that no journal says.

    `jobs`: how many runs of a test are made at once, in worlds whose agents test what they say;
    `program`: the path of the program that tests, where somebody's own does; `people`: how a person
    who plays is asked (None: nobody can be); `policies`: the objects that `external` agents play,
    by agent.
    """

    jobs: int = 1
    program: str | None = None
    people: people.Ask | None = None
    policies: Mapping[int, Any] = attrs.field(factory=dict)


@attrs.frozen
class Change:
    """What a fork is to change, as people give it: `settings` by name, a `treatment`, a `roster` in
    its text form, inputs put in by hand (`replace`) in the form of their events. `trust`: policies
    of somebody's own that may be imported; `program`: the program that tests from there on.
    """

    settings: Mapping[str, Any] = attrs.field(factory=dict)
    treatment: str | None = None
    roster: str | None = None
    replace: Sequence[Mapping[str, Any]] = ()
    trust: Sequence[str] = ()
    program: str | None = None


@attrs.frozen
class Changed:
    """What comes of it: the `facts` that FORK records, but for `parent`; `trust` and `sources` of
    whoever is new.
    """

    facts: Facts
    trust: Sequence[str] = ()
    sources: Sequence[str] = ()


@attrs.frozen
class Seating(Generic[S]):
    """Everything that the agents of a run need to play on from `state`.

    `forks`: the facts of those that led to it, oldest first; `waiting`: inputs of the next step
    that the journal has already; `models` says how language models are reached, and `earlier` are
    the answers that the run has of them; `trust`, `sources` as in Prepared. `probe`: each model is
    asked a short question first, so that a wrong server is reported and not recorded as a model
    that does not answer. `means`: see there.
    """

    state: S
    forks: Sequence[Facts] = ()
    waiting: Block = attrs.field(factory=lambda: Block(()))
    models: Models | None = None
    earlier: Sequence[Earlier] = ()
    trust: Sequence[str] = ()
    sources: Sequence[str] = ()
    probe: bool = False
    means: Means = attrs.field(factory=Means)


# Like Ask, with None in place of the rows of who cannot be asked. Is given what was recorded, too.
Again = Callable[[Any, Block], Sequence[tuple[int, Sequence[Row | None]]]]


@attrs.frozen
class Asker:
    """Who is asked again to verify a run, and in words who cannot be: because it is not here
    (`not_asked`), because this version does not know it (`unknown`). `waiting`: as `ask`, but of a
    step that is not whole only those inputs that are recorded. `close()`: nobody is asked any more.
    """

    ask: Again | None
    not_asked: Sequence[str] = ()
    unknown: Sequence[str] = ()
    waiting: Again | None = None
    close: Callable[[], None] = lambda: None


def _no_change(state: Any, change: Change, models: Models | None) -> Changed:
    raise BadInput("runs of this world cannot be forked", "record a new run")


@attrs.frozen
class Players(Generic[S]):
    """How the agents of a world play.

    - `prepare(settings, roster, treatment, models)`: a run that can begin; None stands for what the
      world takes by default. Raises BadInput; nothing is written, and no model is asked.
    - `given(players)`: the text of a roster that is given as Python values; None where rosters are
      text alone. Raises BadInput.
    - `policies`: what a roster can name, and what each does; not those that other
      distributions bring, which are found by their entry points.
    - `names(roster)`: the policies that a roster's text names, each once. Raises BadInput for a
      malformed one.
    - `decided(setup, models)`: the setup with how each model is asked found out where that is left
      open. Raises BadInput where a model does not answer a short question.
    - `seated(seating)`: a context manager of what the run loop asks (`kernel.run.Ask`). Raises
      BadInput where somebody cannot play.
    - `again(trust, sources, means)`: who is asked again to verify a run, with policies made afresh,
      as a function of a state and the facts of the forks that led to it, which raises
      agents.again.Impossible for a player that no run has. Raises what reading `sources` raises.
    - `change(state, change, models)`: what a fork changes. Raises BadInput.
    - `answers`: where the journal keeps the answers of language models; None where none can play.
    - `estimate(prepared, models, means)`: what each model would take in a whole run, before anybody
      is asked; None where it cannot be told. Raises BadInput as a run would.
    - `has_recorded`: whether agents can play what another journal recorded.
    - `has_plugins`: whether rosters can name the policies of other distributions.
    - `horizon`: the setting that says of how many units a run is.
    """

    prepare: Callable[[Mapping[str, Any], str | None, str | None, Models | None], Prepared]
    names: Callable[[str], Sequence[str]]
    seated: Callable[[Seating[S]], AbstractContextManager[Ask[S]]]
    again: Callable[[Sequence[str], Sequence[str], Means], Callable[[S, Sequence[Facts]], Asker]]
    decided: Callable[[Mapping[str, Any], Models | None], Mapping[str, Any]] = (
        lambda setup, models: setup
    )
    change: Callable[[S, Change, Models | None], Changed] = _no_change
    answers: Answers | None = None
    given: Callable[[Sequence[object]], Given] | None = None
    estimate: Callable[[Prepared, Models, Means], Sequence[Estimate]] | None = None
    has_recorded: bool = False
    has_plugins: bool = False
    policies: Mapping[str, Listed] = attrs.field(factory=dict)
    horizon: str = "rounds"


def record(
    world: World[S],
    players: Players[S],
    path: str | Path,
    prepared: Prepared,
    *,
    models: Models | None = None,
    means: Means | None = None,
    force: bool = False,
    fsync: bool = False,
    on_unit: OnUnit[S] | None = None,
) -> S:
    """Play a whole run into a new journal at `path` and return the last state.

    Args:
        prepared: what `players.prepare` gave.
        models: how language models are reached.
        means: what playing takes beside that.
        force: replace a journal that is there, once the run begins.
        fsync: wait for the disk at every commit, as is always done where models play.
        on_unit: called with the journal's number of each closed unit and the state.

    Raises:
        BadInput: before anything is written.
        PolicyFailed, RunStopped, WriteFailed: in the middle; the journal is whole up to the last
            unit closed and the answers behind it.

    """
    _keep_sources(path, prepared.sources)
    header = Header(world.name, world.rules)
    with JournalWriter(path, header, force=force, fsync=fsync) as journal:
        setup = players.decided(prepared.setup, models)
        seating = Seating(
            world.initial(setup), models=models, trust=prepared.trust, sources=prepared.sources,
            means=means or Means(),
        )  # fmt: skip
        with players.seated(seating) as ask:
            return run.record(world, setup, ask, journal, on_unit)


def resume(
    world: World[S],
    players: Players[S],
    path: str | Path,
    *,
    models: Models | None = None,
    trust: Sequence[str] = (),
    sources: Sequence[str] = (),
    means: Means | None = None,
    fsync: bool = False,
    on_unit: OnUnit[S] | None = None,
) -> S:
    """Go on with a run that broke off and return the last state.

    For deterministic policies the finished journal is what it would have been, byte for byte; of
    models only those are asked whose answers are not in the journal. A journal does not make code
    run by naming it: policies of the form package.module:Class play on only where `trust` lists
    them, `recorded` agents where `sources` has their journal.

    Raises:
        BadInput: for who cannot play on, and for a run that has ended.
        Otherwise as `record`, and what reading a journal raises.

    """
    _check_sources(players, path, sources)
    with JournalWriter.reopen(path, fsync=fsync) as journal, ExitStack() as stack:

        def ask_of(state: S, forks: Sequence[Facts], waiting: Block) -> Ask[S]:
            earlier: Sequence[Earlier] = ()
            if players.answers is not None:
                with journal.reader() as reader:
                    earlier = earlier_in(reader, world, players.answers, len(forks))
            seating = Seating(
                state, forks, waiting, models, earlier, trust, sources, probe=True,
                means=means or Means(),
            )  # fmt: skip
            return stack.enter_context(players.seated(seating))

        return run.resume(world, journal, ask_of, on_unit)


def fork(
    world: World[S],
    players: Players[S],
    parent: str | Path,
    at: int,
    out: str | Path,
    change: Change | None = None,
    *,
    models: Models | None = None,
    trust: Sequence[str] = (),
    sources: Sequence[str] = (),
    means: Means | None = None,
    force: bool = False,
    fsync: bool = False,
    on_unit: OnUnit[S] | None = None,
) -> S:
    """Play a run anew from the close of unit `at` on, and return the last state.

    `at` is the number by which people know the unit. The new journal has its parent's bytes up to
    there, then a `forked` event that says what changes, then the rest played anew. What is put in
    by hand stands in that event too, so that a fork that was interrupted can be resumed from its
    journal alone. Without a change deterministic policies do again what they did; language models
    are asked anew. `trust` and `sources` are for players of the parent; whom `change` names by a
    new roster is trusted.

    Raises:
        BadInput: before anything is written, for a unit that the parent does not have and for what
            cannot change in the middle of a run.
        Otherwise as `record`, and what reading a journal raises.

    """
    _check_sources(players, parent, sources)
    # Before a model is asked anything.
    check_place(str(out), force=force, is_own=is_empty, is_journal=True)
    means = means or Means()
    change = attrs.evolve(change or Change(), trust=trust, program=means.program)
    trusted, played = list(trust), list(sources)

    def facts_of(state: S) -> Facts:
        _keep_sources(out, sources)
        found = players.change(state, change, models)
        trusted.extend(found.trust)
        played.extend(found.sources)
        _keep_sources(out, played)
        return {"parent": reader.sha256(), **found.facts}

    with JournalReader(parent, hashed=True) as reader, ExitStack() as stack:

        def ask_of(state: S, forks: Sequence[Facts], waiting: Block) -> Ask[S]:
            seating = Seating(
                state, forks, models=models, trust=trusted, sources=played,
                probe=change.roster is None,  # those of a new roster have been
                means=means,
            )  # fmt: skip
            return stack.enter_context(players.seated(seating))

        unit = world.vocabulary.unit_of(at)
        return run.fork(
            world, reader, unit, facts_of, ask_of, out, on_unit, force=force, fsync=fsync
        )


def _keep_sources(path: str | Path, sources: Iterable[str]) -> None:
    """Raises BadInput where a run would overwrite what `recorded` agents play in it."""
    for source in sources:
        if Path(path).exists() and Path(source).exists() and Path(path).samefile(source):
            raise BadInput(f"{path} is what `recorded` plays", "give another path")


def _check_sources(players: Players[Any], path: str | Path, sources: Sequence[str]) -> None:
    if sources and not players.has_recorded:
        raise BadInput(f"{path} is of a world that has no recorded players", "leave --source out")
