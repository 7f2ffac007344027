"""A program that is run behind the proxy: its environment, its output, its end."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from goldrush.agents.game.source import TEXT_MAX, Source, source_of
from goldrush.agents.interrupts import SIGNALS
from goldrush.agents.worlds.program.proxy import HOOK, HOST, Proxy
from goldrush.agents.worlds.program.requests import Secrets
from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.program.world import Exit
from goldrush.replay.worlds.program.session import ProgramSession

STDOUT: Final = "stdout"
GRACE: Final = 120.0  # seconds that answers have to arrive after the program has ended
STUCK: Final = 60.0  # seconds without a request after which a program that waits is ended
_CLIENTS: Final = ("ANTHROPIC", "AZURE_OPENAI", "CO", "DEEPSEEK", "GEMINI", "GOOGLE", "GROQ",
                   "MISTRAL", "OPENAI", "OPENROUTER", "TOGETHER")  # fmt: skip
_PIECE: Final = 1 << 16

Write = Callable[[bytes], object]  # takes what a program prints


class Program(msgspec.Struct, frozen=True):
    """A program as it is run.

    Attributes:
        words: the command.
        urls: the URLs of servers by name.
        names: the names of servers by variable.
        outputs: the files that are compared at the end.
        hashseed: the seed of Python's hashes.
        seconds: the time that it has; None: as long as it takes.
    """

    words: Sequence[str]
    urls: Mapping[str, str]
    names: Mapping[str, str]
    outputs: Sequence[str] = ()
    hashseed: str = "0"
    seconds: float | None = None

    def environment(self, url: str) -> dict[str, str]:
        """The variables that a program has besides those of this process; `url`: of the proxy."""
        direct = os.environ.get("NO_PROXY", os.environ.get("no_proxy"))
        local = ",".join(filter(None, [HOST, "localhost", direct]))
        path = os.pathsep.join(filter(None, [HOOK, os.environ.get("PYTHONPATH")]))
        return {
            **{variable: f"{url}/{name}" for variable, name in self.names.items()},
            "PYTHONPATH": path,
            "PYTHONHASHSEED": self.hashseed,
            "NO_PROXY": local,
            "no_proxy": local,
            "GOLDRUSH_PROXY": url,
            "GOLDRUSH_NOTES": f"{url}/notes",
            "GOLDRUSH_CALLER": "",
        }


def source_of_command(words: Sequence[str]) -> Source:
    """The files that a command names, as one source: a single text as it is. Of what is no text, or
    long, the SHA-256 stands for it; no text is kept that may have a key in it. An executable that
    the command begins with is none of them.
    """
    texts: list[tuple[str, str]] = []
    for index, word in enumerate(words):
        with suppress(OSError, ValueError):
            if os.path.isfile(word):
                text = _text(word)
                if text is None and index == 0:
                    continue
                if text is None:
                    text = f"SHA-256 {_file(word)[1]}\n"
                texts.append((word, text))
    whole = "".join(f"==> {name} <==\n{text}" for name, text in texts)
    source = source_of((texts[0][1] if len(texts) == 1 else whole).encode())
    code, secrets = (source.text or "").encode(), Secrets(os.environ)
    secrets.add((), code)
    return Source(source.sha256, None) if secrets.hidden(code) != code else source


def _text(path: str) -> str | None:
    """The text of a file; None for a long one, and for what is no text."""
    if os.path.getsize(path) > TEXT_MAX:
        return None
    code = Path(path).read_bytes()
    text = code.decode("utf-8", "replace")
    return None if b"\0" in code or text.encode() != code else text


async def run(
    command: Program, session: ProgramSession, write: Write = lambda piece: None, *,
    is_open_ended: bool = False, watched: Mapping[str, str] | None = None,
) -> Exit | None:  # fmt: skip
    """Run a program behind a proxy until it ends; its errors go where this process's go. Without a
    recorder, it connects to nothing but this machine.

    Args:
        write: takes its output.
        is_open_ended: it is ended when it has asked for all that is recorded.
        watched: more variables of one that is run for a diagnosis; its errors go nowhere.

    Returns its end; None if it was ended here. Raises BadInput for a command that cannot be run,
    KeyboardInterrupt where the user interrupts it; answers that arrive then are recorded.
    """
    proxy = Proxy(session, command.urls, is_open_ended=is_open_ended)
    more = {} if session.recorder else {"GOLDRUSH_OFFLINE": "1", **_placeholders()}
    errors = None if watched is None else asyncio.subprocess.DEVNULL
    async with proxy.running():
        try:
            child = await asyncio.create_subprocess_exec(
                *command.words, stdout=asyncio.subprocess.PIPE, stderr=errors, limit=_PIECE,
                env={**os.environ, **command.environment(proxy.url), **more, **(watched or {})},
            )  # fmt: skip
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise BadInput(f"{command.words[0]} cannot be run: {why}", "give a command") from None
        signals = _on_signal(child)
        output = asyncio.create_task(_output(child, write))
        tasks: list[asyncio.Task[object]] = [asyncio.create_task(child.wait())]
        if is_open_ended:
            tasks.append(asyncio.create_task(_until_stuck(session, proxy)))
        done, _ = await asyncio.wait(
            tasks, timeout=command.seconds, return_when=asyncio.FIRST_COMPLETED
        )
        is_ended = tasks[0] in done
        if not is_ended:
            with suppress(ProcessLookupError):
                child.kill()
        code = await child.wait()
        digest, size = await output
        await proxy.drained(GRACE, lambda: signals() > 1)
    if signals():
        raise KeyboardInterrupt
    if not is_ended:
        return None
    return Exit(code, ((STDOUT, digest, size), *map(_file, command.outputs)))


def _placeholders() -> Mapping[str, str]:
    """Keys without which clients do not begin, for a run that sends them to nobody."""
    return {name: "none" for name in map("{}_API_KEY".format, _CLIENTS) if name not in os.environ}


async def _output(child: asyncio.subprocess.Process, write: Write) -> tuple[str, int]:
    """Pass the output on; its SHA-256 and its size. What children of the program that live on may
    write is not waited for.
    """
    assert child.stdout is not None
    hashed, size = hashlib.sha256(), 0
    ended = asyncio.create_task(child.wait())
    while True:
        piece = asyncio.create_task(child.stdout.read(_PIECE))
        await asyncio.wait({piece, ended}, return_when=asyncio.FIRST_COMPLETED)
        if not piece.done():
            await asyncio.wait({piece}, timeout=1)
        if not piece.done() or not piece.result():
            piece.cancel()
            return hashed.hexdigest(), size
        hashed.update(piece.result())
        size += len(piece.result())
        try:
            write(piece.result())
        except BrokenPipeError:
            write = len  # nobody reads what follows
        except OSError:
            child.kill()
            raise


async def _until_stuck(session: ProgramSession, proxy: Proxy) -> None:
    """Wait until a program has asked for all that is recorded, or waits for what is not."""
    served, still = -1, 0.0
    while True:
        await asyncio.sleep(0.05)
        is_waiting = proxy.parked > 0 and len(session.served) == served
        still = still + 0.05 if is_waiting else 0.0
        served = len(session.served)
        if still >= (0.2 if not session.reel.left else STUCK):
            return


def _on_signal(child: asyncio.subprocess.Process) -> Callable[[], int]:
    """Have Ctrl-C, which the program gets too, and what else ends a command, which is passed on,
    wait for the program's end and for answers under way; the second signal ends both. Returns how
    many there were.
    """
    count = 0

    def pass_on(number: int) -> None:
        nonlocal count
        count += 1
        with suppress(ProcessLookupError):
            if count > 1:
                child.kill()
            elif number != signal.SIGINT:
                child.send_signal(number)

    with suppress(NotImplementedError, RuntimeError, ValueError):  # not in the main thread
        for number in SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                asyncio.get_running_loop().add_signal_handler(number, pass_on, number)
    return lambda: count


def _file(name: str) -> tuple[str, str, int]:
    """A file at the end: name, SHA-256, bytes; no SHA-256 for one that cannot be read, and for what
    may have no end.
    """
    with suppress(OSError, ValueError):
        if os.path.isfile(name):
            with open(name, "rb") as file:
                return name, hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
    return name, "", 0
