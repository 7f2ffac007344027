"""Recording programs: from the start, on after a kill, and from a fork on; and running them again
on the recorded answers, for nothing and without a connection.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import attrs
import msgspec

from goldrush.agents.game.source import Source
from goldrush.agents.llm.models import Models
from goldrush.agents.worlds.program.requests import Masks, Secrets
from goldrush.kernel.errors import BadInput, JournalError
from goldrush.kernel.journal import Header, JournalReader, JournalWriter, sha256_of
from goldrush.kernel.run import fork_steps, resume_steps, steps
from goldrush.kernel.text import format_count, quoted, quoted_path
from goldrush.kernel.world import World
from goldrush.kernel.worlds.program.state import ProgramState
from goldrush.kernel.worlds.program.world import (
    NAME,
    RULES,
    Behaviour,
    Exit,
    program_world,
)
from goldrush.replay.tools import RERUN, Basis
from goldrush.replay.worlds.program.running import Code, Program, Write, run, set_aside
from goldrush.replay.worlds.program.session import (
    EXCHANGE_MAX,
    NO_CEILINGS,
    ProgramSession,
    Recorder,
)
from goldrush.replay.worlds.program.tape import Exchange, Tape
from goldrush.replay.worlds.program.texts import with_text
from goldrush.replay.worlds.program.upstreams import KNOWN, upstreams_of

_VARIABLES: Final = {name: known for known, each in KNOWN.items() for name in each.variables}


class Options(msgspec.Struct, frozen=True):
    """How a program is recorded.

    Attributes:
        upstreams, variables: servers and variables besides the known ones; see `upstreams_of`.
        masks: patterns of what is not compared.
        outputs: files that are compared at the end, besides the output.
        max_requests, models: how much is asked for; see ProgramSession.
        seconds: the time that the program has; None: as long as it takes.
    """

    upstreams: Sequence[str] = ()
    variables: Sequence[str] = ()
    masks: Sequence[str] = ()
    outputs: Sequence[str] = ()
    max_requests: int | None = None
    models: Models = NO_CEILINGS
    seconds: float | None = None

    def session(self, tape: Tape, recorder: Recorder) -> ProgramSession:
        """A recorded run of a program, within its ceilings. Raises as `ProgramSession`."""
        return ProgramSession(tape, recorder, self.max_requests, self.models)


DEFAULT: Final = Options()
Launch = tuple[Program, ProgramSession]  # a program, and the session that it is run in


class ProgramOutcome(msgspec.Struct, frozen=True):
    """How a recording ended.

    Attributes:
        end: of the program; None: it was ended, or interrupted.
        stopped: why it can be resumed, as text; empty: it is finished.
        served: the number of exchanges that were taken from the journal.
        warnings: what failed, and what is not compared, as text.
    """

    end: Exit | None
    stopped: str
    served: int
    warnings: Sequence[str] = ()


def record(
    words: Sequence[str], out: str | Path, options: Options, write: Write, *, force: bool = False
) -> ProgramOutcome:
    """Record a program in a new journal, or go on with one that it left unfinished. `write`: takes
    what it prints.

    Raises BadInput for another journal at the path, JournalInUse, WriteFailed.
    """
    _check_apart(out, [*words, *options.outputs])
    is_new = force or not is_unfinished(words, out)
    begun = recording(words, out, options, force=force) if is_new else resuming(words, out, options)
    with begun as launch:
        return _played(launch, out, write)


def resume(
    words: Sequence[str], path: str | Path, options: Options, write: Write
) -> ProgramOutcome:
    """Run a program again that a journal has not the end of: what it asked for, and was given, is
    served, and the rest is recorded. What is compared is as recorded.

    Raises BadInput for another command, other files of it, and a finished run; JournalError,
    WriteFailed.
    """
    with resuming(words, path, options) as launch:
        return _played(launch, path, write)


@contextmanager
def recording(
    words: Sequence[str], out: str | Path, options: Options, *, force: bool = False
) -> Iterator[Launch]:
    """A new journal, open for a program; removed if nothing came of it. Raises as `record`."""
    urls, names = upstreams_of(os.environ, options.upstreams, options.variables)
    hashseed = os.environ.get("PYTHONHASHSEED", "0")
    command = Program(words, urls, names, options.outputs, hashseed, options.seconds)
    source = Code(words).source()
    setup = {
        "command": Secrets(os.environ).in_command(words),
        "upstreams": {
            n: _recorded_url(u) for n, u in urls.items() if n not in KNOWN or u != KNOWN[n].url
        },
        "variables": {v: n for v, n in names.items() if _VARIABLES.get(v) != n},
        "masks": tuple(options.masks),
        "outputs": tuple(options.outputs),
        "hashseed": hashseed,
        "source": source.as_dict(),
    }
    Masks(options.masks)  # refused before there is a journal
    behaviour = Behaviour(source.sha256)
    with JournalWriter(out, Header(NAME, RULES), force=force, fsync=True) as journal:
        recorder = Recorder(steps(program_world(behaviour), setup, journal), behaviour, is_new=True)
        try:
            with closing(recorder):
                yield command, options.session(Tape(), recorder)
        finally:
            if not journal.is_begun:
                journal.discard()


def is_unfinished(words: Sequence[str], path: str | Path) -> bool:
    """Whether a path names an unfinished journal of this command."""
    with suppress(BadInput, JournalError), JournalReader(path) as reader:
        command = Tape.of(reader).command
        return command == Secrets(os.environ).in_command(words) and not reader.ended
    return False


@contextmanager
def resuming(words: Sequence[str], path: str | Path, options: Options) -> Iterator[Launch]:
    """An unfinished journal, open for its program. Raises as `resume`."""
    with JournalWriter.reopen(path, fsync=True) as journal:
        with journal.reader() as reader:
            tape = Tape.of(reader)
        check_command(tape, words, str(path))
        source = _code_now(tape, words, path)
        if source.sha256 != tape.source.sha256:
            assert tape.state is not None
            line = _fork_line(path, max(tape.exchanges, default=0) + 1, tape.state, words)
            raise BadInput(f"{path} was recorded with other code", f"to go on with this: `{line}`")
        command = given_again(tape, words, options, path)
        behaviour = tape.behaviour(source.sha256)
        loop = resume_steps(program_world(behaviour), journal)
        with closing(Recorder(loop, behaviour)) as recorder:
            yield command, options.session(tape, recorder)


def fork(
    words: Sequence[str], parent: str | Path, at: int, out: str | Path, options: Options,
    write: Write, *, model: str = "", answer: str | None = None, force: bool = False,
) -> ProgramOutcome:  # fmt: skip
    """Run a program again from an exchange on, into a new journal.

    Args:
        at: the number of the exchange: what was answered before it is served, it and what follows
            is asked, but for unchanged requests that were certainly under way when it was answered:
            without another model, they get their recorded answers. One more than the last: all is
            kept, and other code goes on.
        model: asked in place of the program's from there on; empty: its own.
        answer: the text of the answer to that exchange; None: it is asked for again.

    Raises BadInput, JournalError, WriteFailed.
    """
    if answer is not None and len(answer.encode()) > EXCHANGE_MAX:
        raise BadInput(f"the answer is over {EXCHANGE_MAX:,} bytes", "give a shorter one")
    with JournalReader(parent) as reader, JournalReader(parent) as other:
        whole = Tape.of(other, at)  # what is damaged behind it is not read
        assert whole.state is not None
        if not 0 < at <= whole.state.unit + 1 or (answer is not None and at not in whole.exchanges):
            raise BadInput(
                f"{parent} has no exchange {at}",
                f"`goldrush log {quoted(str(parent))}` lists those that it has",
            )
        with JournalReader(parent) as third:
            tape = Tape.of(third, at - 1)
        changed = [each for number, each in whole.exchanges.items() if number == at]
        given = [] if answer is None else [(e.asked, with_text(e.answer, answer)) for e in changed]
        later = [*_answered_after(parent, at)]
        known = [*changed, *later]
        bodies = (each.asked.body for each in known)
        if model and known and not any(isinstance(b, dict) and "model" in b for b in bodies):
            what = f"no request from exchange {at} on has a model in its body"
            raise BadInput(what, "leave out --model, and change it in the program")
        under_way = [each for each in later if each.arrival < whole.state.arrived and not model]
        given += [(each.asked, each.answer) for each in under_way]
        command = given_again(whole, words, options, parent)
        _check_apart(out, [*words, *command.outputs])
        source = _code_now(whole, words, parent)
        behaviour = tape.behaviour(source.sha256)
        facts = {
            "parent": sha256_of(parent), "changes": {"model": model} if model else {},
            "answer": True if answer is not None else None, "source": source.as_dict(),
        }  # fmt: skip
        loop = fork_steps(
            program_world(behaviour), reader, at - 1, lambda state: facts, out, force=force,
            fsync=True,
        )  # fmt: skip
        with closing(Recorder(loop, behaviour)) as recorder:
            session = options.session(tape, recorder)
            session.given = [*given]
            outcome = _played((command, session), out, write)
        says = [*outcome.warnings]
        if answer is not None and given[0] in session.given:
            says.append(f"the given answer was not used: the program did not ask for exchange {at}")
        if taken := sum(pair not in session.given for pair in given[answer is not None :]):
            what = f"{taken} unchanged requests were under way at exchange {at}"
            says.append(f"{what} and kept their answers")
        return msgspec.structs.replace(outcome, warnings=says)


def _answered_after(path: str | Path, at: int) -> Iterator[Exchange]:
    """The successes behind an exchange of a journal, if it is sound."""
    with suppress(JournalError), JournalReader(path) as reader:
        for number, exchange in Tape.of(reader).exchanges.items():
            if number > at and exchange.answer.is_success:
                yield exchange


def check_command(tape: Tape, words: Sequence[str], path: str) -> None:
    """Raises BadInput unless a journal is of a command of these words."""
    if tape.command != Secrets(os.environ).in_command(words):
        raise BadInput(f"{path} is of another command", f"give -- {shown_command(tape.command)}")


def _fork_line(path: str | Path, at: int, state: ProgramState, words: Sequence[str]) -> str:
    """The command that forks a journal there, with the servers that have to be named again."""
    own = [f"{n}={u}" for n, u in state.setup["upstreams"].items() if n not in KNOWN]
    servers = "".join(f" --upstream {quoted(each)}" for each in own)
    return f"goldrush fork {quoted_path(str(path))} --at {at}{servers} -- {shown_command(words)}"


def _check_apart(out: str | Path, files: Sequence[str]) -> None:
    """Raises BadInput where a journal would be in place of a file of its program."""
    if os.path.realpath(out) in map(os.path.realpath, files):
        raise BadInput(f"{out} is a file of the program", "give another --out")


def shown_command(words: Sequence[str]) -> str:
    """A command as it is typed, without the keys in it."""
    return " ".join(map(quoted, Secrets(os.environ).in_command(words)))


def _code_now(tape: Tape, words: Sequence[str], path: str | Path) -> Source:
    """The recorded source of a journal, if the command's files are still those but for what the
    program may have written before the recording broke off; else theirs.
    """
    code = Code(words)
    return code.source_beside(tape.source, code.older_than(path))


def given_again(
    tape: Tape, words: Sequence[str], options: Options, asking: str | Path | None = None
) -> Program:
    """A program as it is run once more: as recorded, but for the servers, which may be elsewhere
    now.

    Args:
        asking: the path of the journal, if servers are asked. A journal's writer may have been
            another, who would be sent the user's keys: the user must name its servers, too.

    Raises BadInput, also for masks and outputs that are given and are not those of the journal.
    """
    assert tape.state is not None
    setup: Mapping[str, Any] = tape.state.setup
    for name in ("masks", "outputs"):
        values, recorded = tuple(getattr(options, name)), tuple(setup[name])
        if values not in ((), recorded):
            what = f"the journal has other {name}: {', '.join(recorded) or 'none'}"
            raise BadInput(what, "give those, or record in another journal")
    # Where nothing is asked, known variables have the names that they had.
    environment = {k: v for k, v in os.environ.items() if asking or k not in _VARIABLES}
    own, _ = upstreams_of(environment, options.upstreams, options.variables if asking else ())
    given = {text.partition("=")[0] for text in options.upstreams}
    for name, url in setup["upstreams"].items():
        if asking and name not in given and _recorded_url(own.get(name, "")) != url:
            raise BadInput(f"{asking} names a server of its own", f"give --upstream {name}={url}")
    upstreams = [f"{n}={u}" for n, u in setup["upstreams"].items() if n not in own]
    variables = [f"{name}={variable}" for variable, name in setup["variables"].items()]
    urls, names = upstreams_of(
        environment, [*upstreams, *options.upstreams], [*variables, *options.variables]
    )
    return Program(words, urls, names, setup["outputs"], setup["hashseed"], options.seconds)


def _recorded_url(url: str) -> str:
    """A URL as it is recorded: without its query, which may be secret, and without keys."""
    return Secrets({}).in_command([url.partition("?")[0]])[0]


def _played(launch: Launch, path: str | Path, write: Write) -> ProgramOutcome:
    """Run a program to its end, and record that in the journal at a path."""
    (command, session), end, stopped = launch, None, ""
    try:
        end = asyncio.run(run(command, session, write))
    except KeyboardInterrupt:
        stopped = "interrupted"
    session.finish(end)
    if session.stopped is not None:
        stopped = f"stopped by {session.stopped}"
    elif end is None:
        stopped = stopped or "out of time"
    elif end.code:
        stopped = f"the program ended with exit code {end.code}"
    warnings = [*_missing(launch, end, path), *warnings_of(session)]
    return ProgramOutcome(end, stopped, len(session.served), warnings)


def _missing(launch: Launch, end: Exit | None, path: str | Path) -> Iterator[str]:
    """What a recorded run has not got, as text: answers, and files that it was to write."""
    command, session = launch
    assert session.recorder is not None
    failed = sorted(number for numbers in session.failures.values() for number in numbers)
    if failed:
        state = session.recorder.state
        of = format_count(state.exchanges, "exchange")
        again = _fork_line(path, state.unit, state, command.words)
        way_out = f"; `{again}` asks for these again, and serves the others"
        yield f"{len(failed)} of {of} failed{'' if end is None or end.code else way_out}"
    absent = [name for name, digest, _ in (end.outputs if end else ()) if not digest]
    yield from (f"{name} was not written, so it is not compared" for name in absent)


def warnings_of(session: ProgramSession) -> Iterator[str]:
    """What a run does not compare, as text."""
    if session.unknown:
        yield f"headers that are not compared: {', '.join(session.unknown)}"
    if raced := session.reel.raced:
        what = f"{raced} equal requests raced and no caller was named"
        yield f"{what}; who got which answer may differ"


@attrs.define
class Given:
    """The command that was given for a journal: the consent to run it.

    Attributes:
        words: the command.
        options: what it is run with, besides what is recorded.
        session: of its run, once it was run.
        end: of that run; None: it was ended.
        source: SHA-256 of its files; the recorded one, if they differ in what that run has written.
    """

    words: Sequence[str]
    options: Options = DEFAULT
    session: ProgramSession | None = None
    end: Exit | None = None
    source: str | None = None

    def world(self, reader: JournalReader) -> World[ProgramState]:
        """The world of an open journal, by what the program does on its answers; it is run once.

        Raises BadInput for another command.
        """
        if self.session is None:
            try:
                with reader.again() as whole:
                    tape = Tape.of(whole)
            except JournalError:  # which whoever judges it says with its place
                return program_world(missing="the journal cannot be read")
            check_command(tape, self.words, str(reader.path))
            command = given_again(tape, self.words, self.options)
            session, code = ProgramSession(tape), Code(self.words)
            with set_aside(command.outputs):
                self.end = asyncio.run(run(command, session))
            session.finish(None)
            self.session = session
            self.source = code.source_beside(tape.source, code.written()).sha256
        behaviour, typed = self.session.behaviour(self.end, self.source), shown_command(self.words)
        path = quoted_path(str(reader.path))
        behaviour.way_out = "its errors are above"
        if not self.session.failure(self.end):
            behaviour.way_out = f"`goldrush repeats --journal {path} -- {typed}` names the line"
        return program_world(behaviour)

    def basis(self, path: str) -> Basis:
        """On what a verdict rests; see `Tools.basis`."""
        session = self.session
        if session is None:
            return Basis()
        tape = session.tape
        left_out = [*warnings_of(session)]
        superseded = len(tape.exchanges) - len(tape.valid)
        if superseded:
            left_out.append(f"{format_count(superseded, 'exchange')} of earlier processes")
        if tape.is_open_ended:
            left_out.append("the end of the program, before which the recording broke off")
        if tape.state is not None and (masks := tape.state.setup["masks"]):
            left_out.append(f"what is masked: {', '.join(masks)}")
        command = shown_command(self.words)
        return Basis(f"a run of {command} on the recorded answers", "; ".join(left_out))


@contextmanager
def running(words: Sequence[str], options: Options = DEFAULT) -> Iterator[Given]:
    """Within it, the program of a journal whose events are derived again is run by this command."""
    given = Given(words, options)
    token = RERUN.set(given)
    try:
        yield given
    finally:
        RERUN.reset(token)
