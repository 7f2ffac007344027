"""A run that was just recorded, derived once more in another process.

Order of a set of texts, an address, the clock, a generator without a seed: nothing in a process
tells that they differ in the next one. So the end of a recording derives the run again, as `verify`
does, where PYTHONHASHSEED is another: all of a short run, the first units of a long one.

The other process is started while the run is played. It imports what every check needs, forks for
each, and ends with this one.
"""

from __future__ import annotations

import atexit
import os
import pickle
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from threading import RLock
from typing import IO, Final

from goldrush.agents.game.source import source_of_code
from goldrush.agents.given import give_same, given
from goldrush.agents.players import Resources
from goldrush.agents.roster import Roster
from goldrush.agents.trust import UserFolder, add_user_folder
from goldrush.kernel.errors import BadInput, GoldrushError, MalformedEvents, format_error
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import quoted
from goldrush.replay.find import tools_of
from goldrush.replay.journal.verify import DERIVE, FOLD, Break, first_break

BYTES_MIN: Final = 1 << 15  # of a journal that are derived again from the start: 0.03 seconds
SHARE: Final = 32  # of a longer one, one part in so many
WAIT: Final = 60.0  # seconds that a check may take, besides as long as the recording

_PROGRAM: Final = (
    "import sys; sys.path[:] = {!r}; from goldrush.replay.journal.elsewhere import serve; serve()"
)
_DIED: Final = "another ended before it answered"
_REFUSED: Final = 0  # the level of a run that is refused, with what to do about it

Answer = Break | str | None  # the first fault, or why another process cannot tell; None: it holds


@contextmanager
def checking_elsewhere(
    world: str, path: str, roster: Roster, resources: Resources, *, whole: bool = False
) -> Iterator[None]:
    """Derive the run that is recorded within once more in a process with another hash seed: all of
    it (`whole`), or the first part of a long one. The other process starts while the run is played.
    It is done in this one where the code of the world has no place from which another could load
    it, or, with a warning, where the other does not answer; it may take as long as the recording,
    and WAIT. What the roster and `resources` trust is asked again; objects are not.

    Raises MalformedEvents for what comes out otherwise: the journal is whole, but does not hold.
    """
    _HELPER.start()
    began = time.monotonic()
    yield
    seconds = time.monotonic() - began
    size = None if whole else max(BYTES_MIN, os.stat(path).st_size // SHARE)
    target = given(world)
    location = target.elsewhere
    folders = [(str(folder), isinstance(folder, UserFolder)) for folder in sys.path]
    working = os.sep  # where the working folder was removed no path begins in it
    with suppress(FileNotFoundError):
        working = os.getcwd()
    asked = Resources(
        trust=[*resources.trust, *roster.trust], sources=[*resources.sources, *roster.sources]
    )
    sha256 = None if target.value is None else source_of_code(target.value).sha256
    order = (working, folders, location, sha256, path, size, asked)
    is_elsewhere = bool(location) or target.value is None
    fault = _HELPER.asked(order, WAIT + seconds) if is_elsewhere else ""
    if isinstance(fault, str):
        if is_elsewhere:
            from goldrush.agents.llm.models import Models

            (resources.models or Models()).warn(
                f"{path} was derived again in this process only, with the same order of sets: "
                f"{fault}"
            )
        is_elsewhere, fault = False, _derived(path, size, asked)
    if fault is not None:
        cure = "leave out what differs: clocks, addresses, the order of sets"
        if not whole:
            cure += "; `record --check` looks for them in all of the run"
        if location and fault.level == DERIVE:  # `repeats` knows nothing of other policies
            names = f"`goldrush repeats {quoted(target.location)}` names the line"
            cure = names if whole else f"`record --check` or {names}"
        again = "derived again in another process" if is_elsewhere else "derived again"
        what = fault.found
        if fault.expected:
            what = f"expected {fault.expected}, found {what} in the journal{fault.hint}"
        text = f"{again}, {what}"
        is_refused = fault.level == _REFUSED
        raise MalformedEvents(path, fault.where, text if is_refused else f"{text}; {cure}")


def _derived(path: str, size: int | None, resources: Resources) -> Break | None:
    """The first fault in the first bytes; of a run that fails, without what was expected."""
    try:
        return first_break(path, size, resources)
    except GoldrushError as error:
        level = _REFUSED if isinstance(error, BadInput) else FOLD
        return Break(level, "the run", "", f"it fails: {error}")


class _Helper:
    """The other process of this one, which answers one thread at a time."""

    def __init__(self) -> None:
        self.unlock()
        self._process: subprocess.Popen[bytes] | None = None
        self._of = 0  # the process that started it: one that was forked has none

    def unlock(self) -> None:
        """Give a forked process a lock that no thread holds."""
        self._lock = RLock()

    def start(self) -> None:
        """Start it, unless it runs or cannot be started."""
        hash_seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
        folders = [str(folder) for folder in sys.path if not isinstance(folder, UserFolder)]
        with self._lock, suppress(OSError, ValueError):
            if self._process and self._of == os.getpid() and self._process.poll() is None:
                return
            self.stop()
            self._process = subprocess.Popen(  # noqa: S603  # this interpreter
                [sys.executable, "-P", "-c", _PROGRAM.format(folders)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONHASHSEED": hash_seed}, start_new_session=True,
            )  # fmt: skip
            self._of = os.getpid()

    def stop(self) -> None:
        """End it, and what it has forked."""
        process, self._process = self._process, None
        if process is not None and self._of == os.getpid():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            process.communicate()

    def asked(self, order: object, seconds: float) -> Answer:
        """Its answer to an order, or why there is none."""
        with self._lock:
            self.start()
            process = self._process
            if process is None or process.stdin is None or process.stdout is None:
                return "no other can be started"
            try:
                _write(process.stdin, order)
                if select.select([process.stdout], [], [], seconds)[0]:
                    answer: Answer = pickle.load(process.stdout)  # noqa: S301  # ours
                    return answer
            except BaseException as error:
                self.stop()
                if not isinstance(error, (OSError, EOFError)):
                    raise
                return _DIED
            self.stop()
            return f"another gave no answer in {seconds:.0f} seconds"


_HELPER: Final = _Helper()
atexit.register(_HELPER.stop)
os.register_at_fork(after_in_child=_HELPER.unlock)


def serve() -> None:
    """Answer the orders on stdin, each in a process of its own. What code prints goes nowhere."""
    from goldrush.replay.game import tools  # noqa: F401  # every check of a game needs it

    with os.fdopen(os.dup(0), "rb") as orders, os.fdopen(os.dup(1), "wb") as answers:
        nowhere = os.open(os.devnull, os.O_RDWR)  # noqa: TID251  # a device
        for number in (0, 1, 2):
            os.dup2(nowhere, number)
        with suppress(EOFError):
            while True:
                order = pickle.load(orders)  # noqa: S301  # of the process that started this one
                child = os.fork()
                if child == 0:
                    with suppress(BaseException):
                        _write(answers, _carried_out(*order))
                        os._exit(0)
                    os._exit(1)
                if os.waitpid(child, 0)[1]:
                    _write(answers, _DIED)


def _carried_out(
    folder: str,
    folders: Sequence[tuple[str, bool]],
    location: str,
    sha256: str | None,
    path: str,
    size: int | None,
    resources: Resources,
) -> Answer:
    """The answer to an order. A set that a game goes through is refused whatever its order is in
    these two processes: two elements have the same one half of the time.
    """
    from goldrush.agents.game.ordering import ordering  # what `serve` has loaded
    from goldrush.agents.game.play import GamePlayers

    try:
        os.chdir(folder)
        sys.path[:] = [name for name, is_users in folders if not is_users]
        for name, is_users in folders:
            if is_users:
                add_user_folder(name)
        if location:
            give_same(location, sha256)
        with JournalReader(path) as reader:
            players = tools_of(reader).players
    except (BadInput, OSError) as error:
        return format_error(error)
    with ordering(players.game) if isinstance(players, GamePlayers) else nullcontext():
        return _derived(path, size, resources)


def _write(file: IO[bytes], value: object) -> None:
    pickle.dump(value, file)
    file.flush()
