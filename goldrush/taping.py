"""`goldrush.tape`: what a process asks, recorded within it, for notebooks and tests."""

from __future__ import annotations

import asyncio
import os
import warnings
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from threading import Thread
from typing import Any, Final

from goldrush.agents.worlds.program.proxy import Proxy
from goldrush.inside import NotRecorded
from goldrush.kernel.errors import format_value
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.worlds.program.world import Exit
from goldrush.replay.worlds.program.recording import (
    Launch,
    Options,
    check_command,
    given_again,
    is_unfinished,
    recording,
    resuming,
    tape_of,
    warnings_of,
)
from goldrush.replay.worlds.program.running import GRACE, Program
from goldrush.replay.worlds.program.session import ProgramSession

WORDS: Final = ("goldrush.tape",)  # the command of what is recorded so


@contextmanager
def tape(
    path: str | Path, *, upstreams: Sequence[str] = (), masks: Sequence[str] = ()
) -> Iterator[None]:
    """Within it, what this process asks the servers of models is recorded in a journal, if there is
    none at the path; if there is, it is served from there, and nothing is asked.

    Clients must be made within it: they take the servers' URLs from the environment. A journal that
    an error left unfinished is continued.

    Args:
        path: of the journal.
        upstreams: `NAME=URL` of servers besides the known ones.
        masks: patterns of what is not compared.

    Raises NotRecorded at the end if something else was asked or noted than is recorded, BadInput
    for another journal, WriteFailed. Warns at the end of what is not compared.
    """
    options = Options(upstreams=upstreams, masks=masks)
    is_recorded = os.path.exists(path) and not is_unfinished(WORDS, path)
    if is_recorded:
        begun = nullcontext(_recorded(path, options))
    else:
        begin: Callable[..., object] = resuming if os.path.exists(path) else recording
        begun = begin(WORDS, path, options)  # type: ignore[assignment]
    with begun as (command, session), _served(command, session):
        yield
    for text in warnings_of(session):
        warnings.warn(text, stacklevel=3)  # of the `with` statement
    if is_recorded:
        _check(session, str(path))


def _recorded(path: str | Path, options: Options) -> Launch:
    with JournalReader(path) as reader:
        recorded = tape_of(reader)
    check_command(recorded, WORDS, str(path))
    return given_again(recorded, WORDS, options), ProgramSession(recorded)


def _check(session: ProgramSession, path: str) -> None:
    unmade = {*session.tape.made} - {*session.made}
    if session.missed:
        raise NotRecorded(f"{path} does not have {session.missed[0]}")
    for number, exchange in session.reel.left.items():
        what = f"{exchange.asked.method} {exchange.asked.path}"
        raise NotRecorded(f"{path}: exchange {number} was not asked for: {what}")
    for name, value in session.new_notes:
        raise NotRecorded(f"{path} does not have the note {name}: {format_value(value)}")
    for number in unmade:
        note = session.tape.notes[number - 1]
        raise NotRecorded(f"{path}: not made was the note {note.name}: {format_value(note.value)}")


@contextmanager
def _served(command: Program, session: ProgramSession) -> Iterator[None]:
    """A proxy in a thread, and the environment that names it; at the end, that is recorded."""
    proxy, loop = Proxy(session, command.urls), asyncio.new_event_loop()
    running = proxy.running()
    thread = Thread(target=loop.run_forever, daemon=True)

    def wait_for(work: Callable[..., Coroutine[Any, Any, object]], *args: object) -> None:
        asyncio.run_coroutine_threadsafe(work(*args), loop).result()

    with ExitStack() as stack:
        stack.callback(loop.close)
        thread.start()
        stack.callback(thread.join)
        stack.callback(loop.call_soon_threadsafe, loop.stop)
        wait_for(running.__aenter__)
        stack.callback(wait_for, running.__aexit__, None, None, None)
        stack.callback(wait_for, proxy.drained, GRACE, lambda: False)
        for name, text in command.environment(proxy.url).items():
            if not name.startswith("PYTHON"):
                stack.callback(_set, name, os.environ.get(name))
                os.environ[name] = text
        yield
    session.finish(Exit(0))


def _set(name: str, text: str | None) -> None:
    os.environ.pop(name, None)
    if text is not None:
        os.environ[name] = text
