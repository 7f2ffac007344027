"""A program that is run behind the proxy: its environment, its output, its end."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import signal
import stat
import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from goldrush.agents.game.source import TEXT_MAX, Source, source_of
from goldrush.agents.interrupts import SIGNALS
from goldrush.agents.worlds.program.proxy import HOOK, HOST, Proxy
from goldrush.agents.worlds.program.requests import Secrets
from goldrush.kernel.errors import BadInput
from goldrush.kernel.files import writing
from goldrush.kernel.worlds.program.world import Exit
from goldrush.replay.worlds.program.session import ProgramSession

STDOUT: Final = "stdout"
ASIDE: Final = ".goldrush-aside"  # ends the name of a file that is put back
GRACE: Final = 120.0  # seconds that answers have to arrive after the program has ended
STUCK: Final = 60.0  # seconds without a request after which a program that waits is ended
_CLIENTS: Final = ("ANTHROPIC", "AZURE_OPENAI", "CO", "DEEPSEEK", "GEMINI", "GOOGLE", "GROQ",
                   "MISTRAL", "OPENAI", "OPENROUTER", "TOGETHER")  # fmt: skip
_PIECE: Final = 1 << 16
LATE: Final = 5.0  # seconds after the last answer within which a killed program may have written

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


class Code:
    """The files that a command names, as they are now."""

    def __init__(self, words: Sequence[str]) -> None:
        """Read them. Of what is no text, or long, the SHA-256 stands for it. An executable that the
        command begins with is none of them.
        """
        self.words = words
        self.files: dict[str, str] = {}
        self._stamps = _stamps(words)
        for name in self._stamps:
            with suppress(OSError, ValueError):
                text = _text(name)
                if text is not None or name != words[0]:
                    self.files[name] = f"SHA-256 {_file(name)[1]}\n" if text is None else text

    def written(self) -> set[str]:
        """The files that were written since."""
        now = _stamps(self.words)
        return {name for name in now if now[name] != self._stamps.get(name)}

    def older_than(self, journal: str | Path) -> set[str]:
        """The files but the first that were not written after a journal was: if they are not as
        recorded, its program did that.
        """
        last = (os.path.getmtime(journal) + LATE) * 1e9
        return {name for name in [*self.files][1:] if self._stamps[name][1] <= last}

    def source(self, names: Container[str] | None = None) -> Source:
        """These files as one source: a single text as it is; None: all. No text is kept that may
        have a key in it.
        """
        texts = {n: t for n, t in self.files.items() if names is None or n in names}
        parts = [f"==> {name} <==\n{text}" for name, text in texts.items()]
        source = source_of("".join(texts.values() if len(texts) == 1 else parts).encode())
        code, secrets = (source.text or "").encode(), Secrets(os.environ)
        secrets.add((), code)
        return Source(source.sha256, None) if secrets.hidden(code) != code else source

    def source_beside(self, recorded: Source, written: Set[str]) -> Source:
        """The recorded source, if the recorded files are as they were but for those that the
        program has written; else that of all files.
        """
        rest = self.files.keys() - written
        names = "|".join(map(re.escape, self.words))
        whole, *parts = re.split(f"==> ({names}) <==\n", recorded.text or "")
        if recorded.text is None:  # nor is it known which files there were
            kept = [self.files.keys(), rest, *({*self.files} - {name} for name in written)]
            is_same = any(self.source(names).sha256 == recorded.sha256 for names in kept)
        elif parts:
            before = zip(parts[::2], parts[1::2], strict=True)
            is_same = all(name in written or self.files.get(name) == text for name, text in before)
        else:
            is_same = not rest or whole in self.files.values()
        return recorded if is_same else self.source()


def _stamps(names: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Of the regular files among these names: the inode, and when it changed, in nanoseconds. That
    is no time that a copy takes along.
    """
    found = {}
    for name in names:
        with suppress(OSError, ValueError):
            status = os.stat(name)
            if stat.S_ISREG(status.st_mode):
                found[name] = status.st_ino, status.st_ctime_ns
    return found


def _text(path: str) -> str | None:
    """The text of a file; None for a long one, and for what is no text."""
    if os.path.getsize(path) > TEXT_MAX:
        return None
    code = Path(path).read_bytes()
    text = code.decode("utf-8", "replace")
    return None if b"\0" in code or text.encode() != code else text


@contextmanager
def set_aside(names: Sequence[str]) -> Iterator[None]:
    """Run a program again within it: it begins without the files of --output, which are put back
    afterwards. They are renamed in their folder, so no copy can fail; one that a killed process
    left aside is put back before.

    Raises BadInput where both were written since, WriteFailed for a file that cannot be moved.
    """
    for name in names:
        if os.path.lexists(name) and os.path.lexists(name + ASIDE):
            raise BadInput(
                f"{name}{ASIDE} is there: {name} as it was before a run that was killed",
                "keep one of the two under the name of the other",
            )
    _put_back(names)
    absent: list[str] = []
    try:
        for name in names:
            if os.path.isfile(name):
                with writing(name):
                    os.rename(name, name + ASIDE)  # noqa: TID251  # a file of the user's
            if not os.path.lexists(name):
                absent.append(name)
        yield
    finally:
        for name in absent:
            with suppress(OSError):
                os.remove(name)  # noqa: TID251  # which this run has written
        _put_back(names)


def _put_back(names: Sequence[str]) -> None:
    for name in names:
        if os.path.lexists(name + ASIDE):
            with writing(name):
                os.replace(name + ASIDE, name)  # noqa: TID251  # a file of the user's


async def run(
    command: Program, session: ProgramSession, write: Write = lambda piece: None, *,
    watched: Mapping[str, str] | None = None,
) -> Exit | None:  # fmt: skip
    """Run a program behind a proxy until it ends; its errors go where this process's go. Without a
    recorder, Python's sockets reach nothing but this machine, and where the recording broke off,
    it is ended when it has asked for all that is recorded.

    Args:
        write: takes its output.
        watched: more variables of one that is run for a diagnosis; its errors go nowhere.

    Returns its end; None if it was ended here. Raises BadInput for a command that cannot be run,
    and for one that is run again and takes too long; KeyboardInterrupt where the user interrupts
    it; answers that arrive then are recorded.
    """
    proxy = Proxy(session, command.urls)
    keys = map("{}_API_KEY".format, _CLIENTS)  # without which clients do not begin
    placeholders = {name: "none" for name in keys if name not in os.environ}
    more = {} if session.recorder else {"GOLDRUSH_OFFLINE": "1", **placeholders}
    errors = None if session.recorder else asyncio.subprocess.PIPE

    def hear(piece: bytes) -> None:
        session.errors = (session.errors + piece)[-_PIECE:]
        if watched is None:
            print(piece.decode("utf-8", "replace"), end="", file=sys.stderr, flush=True)

    stale = _stamps(command.outputs)
    async with proxy.running():
        try:
            child = await asyncio.create_subprocess_exec(
                *command.words, stdout=asyncio.subprocess.PIPE, stderr=errors, limit=_PIECE,
                process_group=_group(),
                env={**os.environ, **command.environment(proxy.url), **more, **(watched or {})},
            )  # fmt: skip
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise BadInput(f"{command.words[0]} cannot be run: {why}", "give a command") from None
        signals = _on_signal(child)
        both = (child.stdout, write), (child.stderr, hear)
        streams = [(stream, take) for stream, take in both if stream is not None]
        output = asyncio.gather(*(_output(child, *each) for each in streams))
        tasks: list[asyncio.Task[object]] = [asyncio.create_task(_end_of(child))]
        if session.is_open_ended:
            tasks.append(asyncio.create_task(_until_stuck(session, proxy)))
        done, _ = await asyncio.wait(
            tasks, timeout=command.seconds, return_when=asyncio.FIRST_COMPLETED
        )
        is_ended = tasks[0] in done
        if not is_ended:
            _send(child, signal.SIGKILL)
        code = await _end_of(child)
        (digest, size), *_ = await output
        await proxy.drained(GRACE, lambda: signals() > 1)
        if signals():
            _send(child, signal.SIGKILL)  # what it started may be there still
    if signals():
        raise KeyboardInterrupt
    if not done and session.recorder is None:
        what = f"a run takes longer than {command.seconds:g} seconds"
        raise BadInput(what, "allow more time (--seconds)")
    if not is_ended:
        return None
    outputs = (_file(name, stale.get(name)) for name in command.outputs)
    return Exit(code, ((STDOUT, digest, size), *outputs))


async def _output(
    child: asyncio.subprocess.Process, stream: asyncio.StreamReader, write: Write
) -> tuple[str, int]:
    """Pass the output on; its SHA-256 and its size. What children of the program that live on may
    write is not waited for.
    """
    hashed, size = hashlib.sha256(), 0
    ended = asyncio.create_task(_end_of(child))
    while True:
        piece = asyncio.create_task(stream.read(_PIECE))
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
            _send(child, signal.SIGKILL)
            raise


async def _end_of(child: asyncio.subprocess.Process) -> int:
    """The exit code of a program. asyncio's `wait` waits for children of it that may write, too."""
    while child.returncode is None:
        await asyncio.sleep(0.01)
    return child.returncode


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
    """Have Ctrl-C and what else ends a command, which are passed on, wait for the program's end and
    for answers under way; the second signal ends both. Returns how many there were.
    """
    count, is_told = 0, _group() is None  # by the terminal

    def pass_on(number: int) -> None:
        nonlocal count
        count += 1
        if count > 1 or number != signal.SIGINT or not is_told:
            _send(child, signal.SIGKILL if count > 1 else number)

    with suppress(NotImplementedError, RuntimeError, ValueError):  # not in the main thread
        for number in SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                asyncio.get_running_loop().add_signal_handler(number, pass_on, number)
    return lambda: count


def _group() -> int | None:
    """The process group of a program: one of its own. At a terminal that of this process: no other
    may read there, and Ctrl-C is sent to it by the terminal.
    """
    return None if os.isatty(0) else 0


def _send(child: asyncio.subprocess.Process, number: int) -> None:
    """Send a signal to a program and, if it has a group of its own, to all that it has started."""
    with suppress(OSError):
        try:
            os.killpg(child.pid, number)
        except ProcessLookupError:
            child.send_signal(number)


def _file(name: str, stale: tuple[int, int] | None = None) -> tuple[str, str, int]:
    """A file at the end: name, SHA-256, bytes; no SHA-256 for one that cannot be read, for what may
    have no end, and for one whose stamp is still that of before the run.
    """
    with suppress(OSError, ValueError):
        if _stamps([name]).get(name, stale) != stale:
            with open(name, "rb") as file:
                return name, hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
    return name, "", 0
