"""Every error that somebody who uses goldrush rightly can meet.

One root, few children, each with the facts as fields, so that a program can act on them and a
person can read the message: the place, what was expected, what was found, what to type instead.
Anything else that leaves the library is a bug in goldrush, or in the code that calls it.
"""

from __future__ import annotations

import difflib
import itertools
import os
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Final


def format_value(value: object, most: int = 60) -> str:
    """A value for a message: its repr, cut, whatever it is."""
    try:
        text = repr(value)
    except Exception:  # an integer of thousands of digits, an object whose repr raises
        text = f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= most else text[:most] + "..."


def format_error(error: BaseException) -> str:
    """An error of a user's code for a message: function, file and line of that code, the type of
    the error and what it says.
    """
    if isinstance(error, GoldrushError):
        return str(error)
    try:
        text = f"{type(error).__name__}: {error}"
    except Exception:  # whose __str__ raises in its turn
        text = type(error).__name__
    frames = [(frame.tb_frame.f_code, frame.tb_lineno) for frame in _frames_of_user(error)]
    if not frames:
        return text
    # The deepest line of the user's own files: what those call in other libraries says little.
    folder = os.path.dirname(frames[0][0].co_filename)
    code, line = [f for f in frames if os.path.dirname(f[0].co_filename).startswith(folder)][-1]
    name = "" if code.co_qualname == "<module>" else f"{code.co_qualname}, "
    return f"{name}{os.path.basename(code.co_filename)}:{line}: {text}"


def format_traceback(error: BaseException | None) -> str:
    """The traceback of an error of a user's code, from the first frame of that code on; empty if
    none of its frames is there.
    """
    frames = [] if error is None else _frames_of_user(error)
    if error is None or not frames:
        return ""
    import traceback  # whoever only asks for help need not wait for it

    return "".join(traceback.format_exception(type(error), error, frames[0]))


def _frames_of_user(error: BaseException) -> list[TracebackType]:
    """The frames of a traceback from the first one in code of a user's on."""
    frames = []
    last = error.__traceback__
    while last is not None:
        frames.append(last)
        last = last.tb_next
    return list(itertools.dropwhile(_is_ours, frames))


# What stands between whoever catches an error and code of a user's: by top-level module.
_BETWEEN: Final = ("goldrush", "click", "importlib", "_frozen_importlib")


def _is_ours(frame: TracebackType) -> bool:
    module = frame.tb_frame.f_globals.get("__name__", "").partition(".")[0]
    return module in _BETWEEN


class GoldrushError(Exception):
    """The root: catch this to catch them all. Survives being sent between processes."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)


def _restored(
    kind: type[GoldrushError], args: tuple[Any, ...], fields: dict[str, Any]
) -> GoldrushError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


class BadInput(GoldrushError):
    """A value that a person gave and that cannot be taken.

    `what` says what is wrong and where, `instead` what to give in its place.
    """

    def __init__(self, what: str, instead: str) -> None:
        super().__init__(f"{what}; {instead}")
        self.what = what
        self.instead = instead


def unknown(what: str, name: object, known: Iterable[str], more: str = "") -> BadInput:
    """The error for a name of which there is no `what`: the nearest known one, and all of them.

    `more`: what else could stand there, in words.
    """
    known = list(known)
    listed = f"take one of {', '.join(known)}{more}" if known else "there is none to take"
    return BadInput(f"there is no {what} {format_value(name)}", nearest(name, known) + listed)


def nearest(name: object, known: Iterable[str]) -> str:
    """`did you mean NAME? ` with the known name that is nearest to this one; empty if none is."""
    close = difflib.get_close_matches(str(name), list(known), n=1)
    return f"did you mean {close[0]}? " if close else ""


class BadPlan(GoldrushError):
    """What a policy returned is no plan. The message says which item and why."""


class JournalError(GoldrushError):
    """A journal that cannot be read or written as asked. `path` is the file, `message` the rest."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


class NotAJournal(JournalError):
    """The file does not begin as a goldrush journal does."""


class UnsupportedJournal(JournalError):
    """A sound journal of a format, a world, rules or players that this version does not know."""


class DamagedJournal(JournalError):
    """Bytes that are not those that were written.

    `commit` is the index of the first commit that is broken (-1 for the header), `offset` the byte
    where it starts, `expected` and `found` what should stand there and what does.
    """

    def __init__(self, path: str, commit: int, offset: int, expected: str, found: str) -> None:
        self.where = f"{'header' if commit < 0 else f'commit {commit}'} at byte {offset}"
        super().__init__(path, f"{self.where}: expected {expected}, found {found}")
        self.commit = commit
        self.offset = offset
        self.expected = expected
        self.found = found


class TornTail(JournalError):
    """The file ends inside a commit, as after a crash; everything before is whole.

    `commits` whole commits end at byte `offset`; `extra` bytes of an unfinished one follow.
    `in_fork`: so much of it is there that it is known to be a FORK. `zeros`: from some byte of it
    on there is nothing but zeros, as a power loss leaves it. `description`: all this as text.
    """

    def __init__(
        self,
        path: str,
        commits: int,
        offset: int,
        extra: int,
        *,
        in_fork: bool = False,
        zeros: bool = False,
    ) -> None:
        self.description = (
            f"{extra} bytes of {'a fork' if in_fork else 'a commit'} that was never finished"
            f"{', zeros to the end of the file' if zeros else ''}"
        )
        super().__init__(
            path,
            f"torn tail: {commits} whole commits end at byte {offset}, then {self.description}",
        )
        self.in_fork = in_fork
        self.zeros = zeros
        self.commits = commits
        self.offset = offset
        self.extra = extra


class MalformedEvents(JournalError):
    """Sound bytes whose content no recorder of this world could have written.

    `where` names the commit, `fault` what is wrong with it.
    """

    def __init__(self, path: str, where: str, fault: str) -> None:
        super().__init__(path, f"{where}: {fault}")
        self.where = where
        self.fault = fault


class JournalInUse(JournalError):
    """Another process is writing this file, a journal mostly."""


class WriteFailed(JournalError):
    """The system refused to write a file (a full disk, say), or a commit has what no journal holds.
    What was there before is whole: an earlier file at the path, the commits of a journal.
    """


class JournalLost(WriteFailed):
    """The path of a journal that is being written names another file by now, or none, or somebody
    else has changed the file.

    `how`: "removed", "replaced by another file" or "changed by somebody else".
    """

    def __init__(self, path: str, how: str) -> None:
        super().__init__(path, f"was {how} while it was written")
        self.how = how


class PolicyFailed(GoldrushError):
    """A policy raised an error or returned something that is no plan. The journal ends before
    `round`, which is an assignment where `unit` says so. Raised from the policy's own error.
    """

    def __init__(
        self, policy: str, agent: int, round: int, reason: str, unit: str = "round"
    ) -> None:
        super().__init__(f"policy {policy} of agent {agent} failed in {unit} {round}: {reason}")
        self.policy = policy
        self.agent = agent
        self.round = round
        self.reason = reason
        self._trace = ""  # of what another process raised

    @property
    def trace(self) -> str:
        """The policy's traceback, from its own first frame on; empty where it has none."""
        return self._trace or format_traceback(self.__cause__)

    def __reduce__(self) -> tuple[Any, ...]:
        self._trace = self.trace  # a cause stays in its process
        return super().__reduce__()


class RunStopped(GoldrushError):
    """A run that stops itself at a limit that was set for it, before it asks anybody for `unit`.

    What was committed is whole, and `resume` goes on there. `limit` says which one was reached,
    `option` what to set otherwise.
    """

    def __init__(self, unit: str, limit: str, option: str) -> None:
        super().__init__(f"stopped before {unit}: {limit} ({option})")
        self.unit = unit
        self.limit = limit
        self.option = option
