"""`goldrush.tape`: what a process asks, recorded within it, for notebooks and tests."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from threading import Event, Thread
from typing import Final

from goldrush.agents.worlds.program.proxy import Proxy
from goldrush.inside import NotRecorded
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

    Raises NotRecorded at the end if something else was asked than is recorded, BadInput for another
    journal, WriteFailed.
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
    if is_recorded:
        _check(session, str(path))


def _recorded(path: str | Path, options: Options) -> Launch:
    with JournalReader(path) as reader:
        recorded = tape_of(reader)
    check_command(recorded, WORDS, str(path))
    return given_again(recorded, WORDS, options), ProgramSession(recorded)


def _check(session: ProgramSession, path: str) -> None:
    unasked = [*session.reel.left.values()]
    if session.missed:
        raise NotRecorded(f"{path} does not have {session.missed[0]}")
    if unasked:
        first = unasked[0]
        raise NotRecorded(
            f"{path}: exchange {first.number} was not asked for: {first.asked.method} "
            f"{first.asked.path}"
        )


@contextmanager
def _served(command: Program, session: ProgramSession) -> Iterator[None]:
    """A proxy in a thread, and the environment that names it; at the end, that is recorded."""
    proxy = Proxy(session, command.urls)
    loop, is_ready = asyncio.new_event_loop(), Event()
    is_done = asyncio.Event()

    async def serve() -> None:
        async with proxy.running():
            is_ready.set()
            await is_done.wait()
            await proxy.drained(GRACE, lambda: False)

    thread = Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    with ExitStack() as stack:
        stack.callback(loop.close)
        thread.start()
        stack.callback(thread.join)
        stack.callback(loop.call_soon_threadsafe, is_done.set)
        is_ready.wait()
        before = dict(os.environ)
        stack.callback(os.environ.update, before)
        stack.callback(os.environ.clear)
        own = command.environment(proxy.url)
        os.environ.update({k: v for k, v in own.items() if not k.startswith("PYTHON")})
        yield
    session.finish(Exit(0))
