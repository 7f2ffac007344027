"""All errors that correct use of goldrush can raise.

One root, few children. Each error has its facts as fields, so that a program can act on them, and a
message for people: where, what was expected, what was found, what to type instead. Any other
exception that leaves the library is a bug in goldrush or in the code that calls it.
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Final


def format_value(value: object, most: int = 60) -> str:
    """The repr of a value for a message, cut at `most` characters. Never raises."""
    try:
        text = repr(value)
    except Exception:  # an integer of thousands of digits, an object whose repr raises
        text = f"a {type(value).__name__} without a repr"
    return text if len(text) <= most else text[:most] + "..."


def format_error(error: BaseException) -> str:
    """An error of a user's code for a message: function, file, line, error type, text and notes."""
    if isinstance(error, GoldrushError):
        return str(error)
    error = _unwrapped(error)
    try:
        text = f"{type(error).__name__}: {error}".removesuffix(": ")
    except Exception:  # its __str__ may raise, too
        text = type(error).__name__
    text = "; ".join([text, *_offered(error), *getattr(error, "__notes__", ())])
    frames = [(frame.tb_frame.f_code, frame.tb_lineno) for frame in _frames_of_user(error)]
    if not frames:
        return text
    # The deepest line in the user's own files; frames of other libraries below it explain little.
    folder = os.path.dirname(frames[0][0].co_filename)
    code, line = [f for f in frames if os.path.dirname(f[0].co_filename).startswith(folder)][-1]
    name = "" if code.co_qualname == "<module>" else f"{code.co_qualname}, "
    return f"{name}{os.path.basename(code.co_filename)}:{line}: {text}"


def _offered(error: BaseException) -> list[str]:
    """For a name that an object of goldrush does not have: those of its methods."""
    # Not in a `__getattr__`, which slows down every access to an attribute of the class.
    kind = type(getattr(error, "obj", None))
    if not isinstance(error, AttributeError) or not str(kind.__module__).startswith("goldrush."):
        return []
    names = [name for each in kind.__mro__ for name in vars(each) if not name.startswith("_")]
    known = [name for name in names if callable(getattr(kind, name))]
    return [f"{nearest(error.name, known)}take one of {', '.join(known)}"] if known else []


def format_traceback(error: BaseException | None) -> str:
    """The traceback of an error from the first frame of a user's code on; empty without one."""
    error = error and _unwrapped(error)
    frames = [] if error is None else _frames_of_user(error)
    if error is None or not frames:
        return ""
    import traceback  # here, because it slows down `goldrush --help`

    return "".join(traceback.format_exception(type(error), error, frames[0]))


def _unwrapped(error: BaseException) -> BaseException:
    """The StopIteration of code that a generator called, or else the error itself."""
    return error.__cause__ if isinstance(error.__cause__, StopIteration) else error


def _frames_of_user(error: BaseException) -> list[TracebackType]:
    """The frames of a traceback from the first one in a user's code on."""
    frames = []
    last = error.__traceback__
    while last is not None:
        frames.append(last)
        last = last.tb_next
    return list(itertools.dropwhile(_is_ours, frames))


# Top-level modules whose frames lie between the handler of an error and a user's code.
_BETWEEN: Final = ("goldrush", "click", "contextlib", "importlib", "_frozen_importlib")


def _is_ours(frame: TracebackType) -> bool:
    module = frame.tb_frame.f_globals.get("__name__", "").partition(".")[0]
    return module in _BETWEEN


class GoldrushError(Exception):
    """The root of all errors of goldrush. Can be pickled, with its fields."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)


def _restored(
    kind: type[GoldrushError], args: tuple[Any, ...], fields: dict[str, Any]
) -> GoldrushError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


class BadInput(GoldrushError):
    """A value given by a user is invalid. Nothing was written.

    Attributes:
        what: what is wrong, and where.
        instead: what to give in its place.
    """

    def __init__(self, what: str, instead: str) -> None:
        super().__init__(f"{what}; {instead}")
        self.what = what
        self.instead = instead


def unknown(what: str, name: object, known: Iterable[str], more: str = "") -> BadInput:
    """The error for an unknown name, with the nearest known name and a list of all. `what`: the
    kind of thing, such as "policy"; `more`: text behind the list, for other valid forms.
    """
    known = list(known)
    listed = f"take one of {', '.join(known)}{more}" if known else "none is known"
    return BadInput(f"there is no {what} {format_value(name)}", nearest(name, known) + listed)


def nearest(name: object, known: Iterable[str]) -> str:
    """`did you mean NAME? ` with the most similar known name; empty if none is similar."""
    import difflib

    close = difflib.get_close_matches(str(name), list(known), n=1)
    return f"did you mean {close[0]}? " if close else ""


class UnsupportedSetup(BadInput):
    """The setup of a run in a form that this version does not read."""


class BadPlan(GoldrushError):
    """A policy returned an invalid plan. The message names the item and the reason."""


class RulesFailed(BadInput, ValueError):
    """The rules of a game failed: an exception of its code, as one line with its place."""


class JournalError(GoldrushError):
    """A journal cannot be read or written as requested.

    Attributes:
        path: the file.
        message: the text without the path.
    """

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


class NotAJournal(JournalError):
    """The file does not begin as a goldrush journal does."""


class UnsupportedJournal(JournalError):
    """An intact journal with a format, world, rules or players unknown to this version."""


class DamagedJournal(JournalError):
    """The bytes of the file differ from those written.

    Attributes:
        commit: the index of the first damaged commit, from 0; -1 for the header.
        offset: the byte at which that commit starts.
        where: both as text.
        expected: what a sound file has there.
        found: what the file has.
    """

    def __init__(self, path: str, commit: int, offset: int, expected: str, found: str) -> None:
        self.where = f"{'header' if commit < 0 else f'commit {commit}'} at byte {offset}"
        super().__init__(path, f"{self.where}: expected {expected}, found {found}")
        self.commit = commit
        self.offset = offset
        self.expected = expected
        self.found = found


class TornTail(JournalError):
    """The file ends inside a commit, as after a crash. All commits before it are intact.

    Attributes:
        commits: the number of complete commits.
        offset: the byte at which they end.
        extra: the bytes of the unfinished commit.
        in_fork: whether the unfinished commit is known to be a FORK.
        zeros: whether the file ends in zeros, as a power loss leaves it.
        description: the last three as text.
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
    """Checksums hold, but the content is not what a recorder of this world writes.

    Attributes:
        where: the commit, as text.
        fault: what is wrong with it.
    """

    def __init__(self, path: str, where: str, fault: str) -> None:
        super().__init__(path, f"{where}: {fault}")
        self.where = where
        self.fault = fault


class OtherCode(UserWarning):
    """Numbers are made of a journal by other code of its game than the code that recorded it."""


class JournalInUse(JournalError):
    """Another process is writing this file."""


class WriteFailed(JournalError):
    """The system refused to write (a full disk, for example), or the content exceeds a limit or is
    not what readers accept.

    Earlier content is intact: the previous file at the path, the commits already in the journal.
    """


class CommitTooLarge(WriteFailed):
    """The events of one unit do not fit into a commit. Played again, they would not either."""


class JournalLost(WriteFailed):
    """The file at the path of an open journal is another one, is missing, or was changed by others.

    Attributes:
        how: "removed", "replaced by another file" or "changed by another process".
    """

    def __init__(self, path: str, how: str) -> None:
        super().__init__(path, f"was {how} while it was written")
        self.how = how


class PolicyFailed(GoldrushError):
    """A policy raised an error or returned an invalid plan. Raised from the policy's error.

    The journal ends before that unit.

    Attributes:
        policy: its name.
        agent: its agent.
        round: the number of the unit, which the message calls by the world's name for it.
        reason: the error as text.
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
        """The policy's traceback from its own first frame on; empty if it raised nothing."""
        return self._trace or format_traceback(self.__cause__)

    def __reduce__(self) -> tuple[Any, ...]:
        self._trace = self.trace  # a cause stays in its process
        return super().__reduce__()


class RunStopped(GoldrushError):
    """A run stopped at a limit that was set for it. `resume` continues it.

    Attributes:
        unit: the unit whose questions it did not ask, as text.
        limit: the limit that was reached.
        option: the setting that changes the limit.
    """

    def __init__(self, unit: str, limit: str, option: str) -> None:
        super().__init__(f"stopped at {unit}: {limit} ({option})")
        self.unit = unit
        self.limit = limit
        self.option = option


def error_fields(error: Exception) -> dict[str, Any]:
    """An error as a map, of which `error_of` makes it again."""
    kind = f"{type(error).__module__}.{type(error).__qualname__}"
    return {"type": kind, "args": error.args, "message": str(error)}


def error_of(fields: Mapping[str, Any]) -> Exception | None:
    """The error of these fields; None where its type and arguments do not give its message. Nothing
    is imported for its type: a journal may be a stranger's.
    """
    module, _, name = fields["type"].rpartition(".")
    kind = getattr(sys.modules.get(module), name, None)
    if isinstance(kind, type) and issubclass(kind, Exception):
        with suppress(Exception):
            made = kind(*fields["args"])
            return made if str(made) == fields["message"] else None
    return None
