"""The only module that writes files. A file appears complete or not at all.

A new file is written under an unpredictable temporary name in the target folder and gets its own
name when it is complete: by a hard link if nothing may be replaced, by a rename otherwise. So a
full disk, a crash or a signal leaves the previous file. What a killed writer left is removed by the
first writer in the folder a day later.

Every system call that changes a disk goes through `system`, a record of functions: tests replace it
by a simulated disk that fails or crashes at any call. kernel/README.md has a table of what survives
a crash of the process and a loss of power.
"""

from __future__ import annotations

import atexit
import errno
import fcntl
import os
import re
import stat
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, Final, Self

import msgspec

from goldrush.kernel.errors import BadInput, JournalInUse, WriteFailed

FRONT: Final = 4096  # bytes of a file by which an earlier output is recognised
JOURNAL: Final = b"\x95\xa8goldrush"  # how a journal begins
MARK: Final = "<!-- written by goldrush -->"  # in files of a format that has such comments
MARK_WITHIN: Final = (
    128  # bytes from the beginning of a file that hold its mark; others may quote it
)

_PREFIX: Final = ".goldrush-"
_TEMPORARY: Final = re.escape(_PREFIX) + "[0-9a-f]{16}"
_NEW: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_NO_LINKS: Final = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS)

IsOwn = Callable[[bytes], bool]


def _remove_tree(path: str) -> None:
    """Remove a folder with what is in it, as far as the system allows. Links are not followed."""
    import shutil  # importing it takes as long as importing the whole kernel

    with suppress(RecursionError):  # folders in each other, more than Python has frames
        shutil.rmtree(path, ignore_errors=True)


class System(msgspec.Struct, frozen=True):
    """The system calls that change a disk. `write(fd, data, offset)` returns the bytes written."""

    open: Callable[[str, int, int], int] = os.open
    write: Callable[[int, Any, int], int] = os.pwrite
    truncate: Callable[[int, int], None] = os.ftruncate
    sync: Callable[[int], None] = os.fsync
    close: Callable[[int], None] = os.close
    link: Callable[[str, str], None] = os.link
    rename: Callable[[str, str], None] = os.replace
    unlink: Callable[[str], None] = os.unlink
    make_folder: Callable[[str, int], None] = os.mkdir
    remove_folder: Callable[[str], None] = os.rmdir
    remove_tree: Callable[[str], None] = _remove_tree
    touch: Callable[[int], None] = os.utime


system = System()


# Checks before writing.
#
# `force` replaces only files that goldrush wrote: a journal by a journal, a page or report by any
# other. They are recognised by their first bytes, tables by their columns
# (replay/data/encoded.py).


def never(front: bytes) -> bool:
    """An `is_own` test that recognises no file."""
    return False


def always(front: bytes) -> bool:
    """An `is_own` test that recognises every file, journals included."""
    return True


def is_journal(front: bytes) -> bool:
    """Whether a file with these first bytes is a journal, be it torn, even inside its magic, or
    damaged behind it.
    """
    return front != b"" and JOURNAL.startswith(front[: len(JOURNAL)])


def is_marked(front: bytes) -> bool:
    """Whether a file with these first bytes is a page, report or figure of goldrush."""
    return MARK.encode() in front[:MARK_WITHIN]


def check_target(
    path: str, *, force: bool = False, is_own: IsOwn = never, by_force: IsOwn = is_marked
) -> bool:
    """Check that a file can be written at a path.

    An existing ordinary file may be replaced if it is empty or `is_own` recognises it, and with
    `force` if `by_force` does. Any other must be moved by its owner.

    Args:
        force: whether files may be replaced that only `by_force` recognises.
        is_own: recognises an earlier output of the same kind by its first FRONT bytes.
        by_force: recognises by them what `force` may replace.

    Returns:
        Whether there is a file that will be replaced.

    Raises BadInput if a file, link, device or folder there may not be replaced, or if the path's
    folder is missing.
    """
    if not path:
        raise BadInput("cannot write: the path is empty", "give a path")
    with making(path):
        try:
            mode = os.lstat(path).st_mode
        except FileNotFoundError:
            if not os.path.isdir(os.path.dirname(path) or os.curdir):
                raise BadInput(
                    f"cannot write {path}: no such folder", "create the folder first"
                ) from None
            return False
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "not an ordinary file"
        raise BadInput(f"{path} is {kind}", "give the path of a file")
    front = _front(path)
    if not front or is_own(front):
        return True
    if not by_force(front):
        raise _not_ours(path, front)
    if not force:
        raise existing(path)
    return True


def existing(path: str) -> BadInput:
    """The error for an earlier output that is replaced only with force."""
    return BadInput(
        f"{path} already exists", "give another path, or overwrite it with force (--force)"
    )


def _not_ours(path: str, front: bytes) -> BadInput:
    if is_journal(front):
        return BadInput(f"{path} is a journal, which is not overwritten", "give another path")
    return BadInput(
        f"{path} already exists and is not recognised as an output of goldrush",
        "move it away, or give another path",
    )


def _appeared(path: str) -> BadInput:
    return BadInput(
        f"{path} was created by another process meanwhile",
        "wait until it ends, or give another path",
    )


def _front(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(FRONT)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {format_reason(error)}", "give another path") from None


def format_reason(error: Exception) -> str:
    """The system's description of an error, without number and file name, in lower case."""
    return (getattr(error, "strerror", None) or str(error)).lower()


@contextmanager
def making(path: str) -> Iterator[None]:
    """Raises BadInput for a path at which the system makes or opens nothing."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise BadInput(
            f"cannot write {path}: {format_reason(error)}", "give another path"
        ) from None


@contextmanager
def writing(path: str) -> Iterator[None]:
    """Raises WriteFailed for a write that the system refuses."""
    try:
        yield
    except OSError as error:
        raise WriteFailed(path, f"cannot be written: {format_reason(error)}") from None


def read_input(path: str, limit: int, instead: str, *, stdin: bool = False) -> str:
    """Read a text from a file or a pipe that a user gave to a command: a plan, models, submissions.

    Args:
        path: the file; "-" is standard input if `stdin` is True.
        limit: the most bytes that it may have.
        instead: what to give instead, for the error.
        stdin: whether "-" is accepted.

    Raises BadInput if it cannot be read, is too large, or is not UTF-8.
    """
    try:
        with open(os.dup(0) if stdin and path == "-" else path, "rb") as file:
            data = file.read(limit + 1)
        if len(data) > limit:
            raise BadInput(f"{path} has more than {limit:,} bytes", instead)
        return data.decode()
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read {path}: {format_reason(error)}", instead) from None


def open_regular(path: str, what: str = "a journal") -> BinaryIO:
    """Open an ordinary file for reading. `what`: the kind of file that is expected, for the error.

    Raises BadInput if it is not an ordinary file or cannot be read.
    """
    return os.fdopen(opened(path, what), "rb")


def opened(path: str, what: str = "a journal") -> int:
    """The descriptor of an ordinary file that is opened for reading; as `open_regular`."""
    try:
        # A pipe would block, a device never end. Looked at before, because opening a device can do
        # something to it, and again when it is open, because it may be another by then.
        if stat.S_ISREG(os.stat(path).st_mode):
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # to read
            return regular(fd, path, what)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"cannot read {path}: {format_reason(error)}", f"give the path of {what}"
        ) from None
    raise _irregular(path, what)


def regular(fd: int, path: str, what: str = "a journal") -> int:
    """An open descriptor. Raises BadInput, and closes it, if it is not of an ordinary file."""
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise _irregular(path, what)
    return fd


def _irregular(path: str, what: str) -> BadInput:
    return BadInput(f"{path} is not an ordinary file", f"give the path of {what}")


def read_toml(path: str, most: int, wanted: str, example: str) -> dict[str, Any]:
    """The table of a TOML file that a user gave.

    Args:
        most: the most bytes that it may have.
        wanted: what to give instead, for a file that cannot be read.
        example: what to write, for a file that is not TOML.

    Raises BadInput in both cases.
    """
    return toml_in(path, read_input(path, most, wanted), example)


def toml_in(path: str, text: str, example: str) -> dict[str, object]:
    """The table of a TOML file's content. Raises BadInput, with `example` as what to write."""
    import tomllib

    try:
        if text.startswith("\ufeff"):
            raise BadInput(
                f"{path} begins with a byte order mark",
                "save it as UTF-8 without one (without BOM)",
            )
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        fault = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise BadInput(f"{path} is not valid TOML: {fault}", f"write {example}") from None


# Files.


class Unfinished:
    """A file under construction: locked, under a temporary name in the target folder.

    `publish` gives it its name, `discard` removes it. As a context manager it is discarded unless
    it was published.

    Attributes:
        path: its path in messages.
        fd: its descriptor.
        size: the bytes written so far.
        temporary: its temporary path. A child that inherits the file by a fork does not remove it.
    """

    def __init__(
        self,
        path: str,
        *,
        force: bool = False,
        is_own: IsOwn = never,
        by_force: IsOwn = is_marked,
        shown: str | None = None,
    ) -> None:
        """Create the file. `force`, `is_own`, `by_force`: as for `check_target`; `shown`: the path
        for messages, if the file is moved later with its folder; None: `path`.

        Raises BadInput if `check_target` refuses the path or the system refuses a file;
        JournalInUse if a file to be replaced is being written.
        """
        self.path = shown or path
        self.size = 0
        self._old = self.fd = -1
        self.temporary = ""
        is_there = check_target(path, force=force, is_own=is_own, by_force=by_force)
        # In a folder under construction nothing else appears at the path.
        self._renames = is_there or shown is not None
        if is_there:
            self._old = locked(path, os.O_RDWR | os.O_NOFOLLOW)
        try:
            with making(path):
                self._target = os.path.abspath(path)  # whatever the working folder becomes
                self.temporary = new_path(os.path.dirname(self._target))
                self.fd = system.open(self.temporary, _NEW, 0o666)
                fcntl.flock(self.fd, fcntl.LOCK_EX | fcntl.LOCK_NB)  # kept by `release`
                sweep(self.temporary)
        except BaseException:
            self.discard()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.discard()

    @property
    def replaces(self) -> bool:
        """Whether it will replace a file that is not empty. That one is locked until then."""
        return self._old >= 0 and os.fstat(self._old).st_size > 0

    def write(self, data: bytes) -> int:
        """Append all of these bytes and return their number. Raises WriteFailed."""
        with writing(self.path):
            write_all(self.fd, data, self.size)
        self.size += len(data)
        return len(data)

    def sync(self) -> None:
        """Wait until the disk has the content. Raises WriteFailed."""
        with writing(self.path):
            system.sync(self.fd)

    def publish(self, *, sync: bool = True) -> None:
        """Give the file its name. The folder is not synced (see `sync_folder`). `sync`: whether to
        wait for the disk first. Without it a loss of power may leave the name with incomplete
        content. A replacement of an existing file is always synced.

        Raises BadInput if a file that must stay has appeared at the path; WriteFailed if the system
        refuses.
        """
        is_there = self._old >= 0
        if sync or is_there:
            self.sync()
        with writing(self.path):
            if is_there:
                self._check_old()
            if self._renames:
                system.rename(self.temporary, self._target)
            else:
                _name_new(self.temporary, self._target)
        _own.discard(self.temporary)
        self._old = _close(self._old)

    def release(self) -> int:
        """Hand over the descriptor of a published file, with its lock, to the caller."""
        fd, self.fd = self.fd, -1
        return fd

    def discard(self) -> None:
        """Close the file, and remove it unless it was published. May be called twice."""
        remove_own(self.temporary)
        self._old = _close(self._old)
        self.fd = _close(self.fd)

    def _check_old(self) -> None:
        """Raise WriteFailed if the path now names another file than the one to be replaced."""
        with suppress(FileNotFoundError):
            if not os.path.samestat(os.fstat(self._old), os.lstat(self._target)):
                raise WriteFailed(self.path, "was replaced by another file meanwhile")


def check_process(path: str, process: int) -> None:
    """Raises WriteFailed in a process that was forked from the one that writes a file."""
    if process != os.getpid():
        fault = f"process {process}, from which this one was forked, writes it; record"
        raise WriteFailed(path, f"{fault} to a journal of its own here")


def write_whole(path: str, data: bytes, *, force: bool = False, is_own: IsOwn = never) -> None:
    """Write a file completely or not at all, and wait until the disk has it and its name. `force`,
    `is_own`: as for `check_target`.

    Raises BadInput if `check_target` refuses the path; JournalInUse if the file is being written;
    WriteFailed if the system refuses.
    """
    with Unfinished(path, force=force, is_own=is_own) as file:
        file.write(data)
        file.publish()
        sync_folder(path)


def write_all(fd: int, data: bytes, offset: int) -> None:
    """Write all of `data` at an offset of a file, in as many calls as needed. Raises OSError."""
    written = system.write(fd, data, offset)
    while written < len(data):
        if not written:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        data, offset = data[written:], offset + written
        written = system.write(fd, data, offset)


def sync_file(path: str) -> None:
    """Wait until the disk has the content of a file. Raises WriteFailed."""
    with writing(path):
        _sync(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)


def sync_folder(path: str) -> None:
    """Wait until the disk has the name of the file at `path`. Raises WriteFailed."""
    with writing(path):
        try:
            _sync(os.path.dirname(path) or os.curdir, _FOLDER)
        except OSError as error:
            if error.errno != errno.EINVAL:  # a file system whose folders cannot be synced
                raise


def _sync(path: str, flags: int) -> None:
    fd = system.open(path, flags, 0)
    try:
        system.sync(fd)
    finally:
        _close(fd)


def locked(path: str, flags: int) -> int:
    """Open and lock an existing ordinary file, and return its descriptor.

    Raises BadInput if it cannot be opened; JournalInUse if another process is writing it.
    """
    with making(path):
        fd = system.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, 0)
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise BadInput(f"{path} is not an ordinary file", "give the path of one")
        _lock(fd, path)
        if not os.path.lexists(path) or not os.path.samestat(os.fstat(fd), os.stat(path)):
            raise JournalInUse(path, "another process has just removed or replaced this file")
    except BaseException:
        _close(fd)
        raise
    return fd


def _close(fd: int) -> int:
    """Close a descriptor, unless it is -1, and return -1. Errors do not matter: its file was synced
    or is given up.
    """
    if fd >= 0:
        with suppress(OSError):
            system.close(fd)
    return -1


def _lock(fd: int, path: str) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise JournalInUse(
            path, "another process is writing this file; wait until it ends, or take another file"
        ) from None
    except OSError as error:
        raise BadInput(f"cannot lock {path}: {format_reason(error)}", "give another path") from None


def _name_new(temporary: str, path: str) -> None:
    """Give a complete file its name. Raises BadInput if the name is taken."""
    try:
        system.link(temporary, path)
    except FileExistsError:
        raise _appeared(path) from None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(path):
            raise _appeared(path) from None
        system.rename(temporary, path)  # a file system without hard links
        return
    with suppress(OSError):  # a later writer in the folder removes it
        system.unlink(temporary)


# Folders.


@contextmanager
def folder_kept() -> Iterator[None]:
    """Return to the working folder that a user's code has left: paths were given for that one."""
    folder = None
    with suppress(OSError):  # it was removed
        folder = os.getcwd()
    try:
        yield
    finally:
        if folder is not None:
            with suppress(OSError):  # removed meanwhile: the error within is the one to be told
                os.chdir(folder)


class TemporaryFolder:
    """A new folder in the system's folder for temporary files.

    It is removed with its contents at the end of a `with` block, when this object is collected or
    when the process that made it ends, but not by a forked child of that process. It may live for
    days: what a killed process leaves is left to the system.

    Attributes:
        path: the folder.
    """

    def __init__(self) -> None:
        """Make the folder. Raises BadInput if the system refuses it."""
        from tempfile import gettempdir  # importing it takes as long as importing the whole kernel

        self.path = os.path.join(gettempdir(), f"goldrush-{os.urandom(8).hex()}")
        _own.add(self.path)
        with making(self.path):
            system.make_folder(self.path, 0o700)
        self._removal = weakref.finalize(self, remove_own, self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._removal()

    def keep(self) -> None:
        """Let the folder stay."""
        _own.discard(self.path)


# Temporary names.

LEFT_AFTER: Final = 86_400.0  # seconds without a write after which a writer counts as killed

_swept: set[str] = set()  # folders that this process has cleaned
_own: set[str] = set()  # unfinished files and folders of this process
os.register_at_fork(after_in_child=_own.clear)


def is_temporary(name: str) -> bool:
    """Whether a file or folder of this name is under construction, or left by a killed writer."""
    return re.fullmatch(_TEMPORARY, name) is not None


def remove_temporaries() -> None:
    """Remove the unfinished files of this process, before it ends without unwinding."""
    for path in list(_own):
        remove_own(path)


atexit.register(remove_temporaries)


def new_path(folder: str) -> str:
    """A temporary path in a folder, of this process."""
    # Not from keyed draws: the name must be unpredictable. It is in no journal.
    path = os.path.join(folder, f"{_PREFIX}{os.urandom(8).hex()}")
    _own.add(path)
    return path


def sweep(new: str) -> None:
    """Remove what killed writers of this user left beside a temporary file or folder that was just
    made, which gives the disk's time; once a process.
    """
    folder = os.path.dirname(os.path.abspath(new))
    if folder in _swept:
        return
    _swept.add(folder)
    made, names = os.lstat(new), []
    with suppress(PermissionError):  # it can be written and not be listed
        names = os.listdir(folder)
    for name in filter(is_temporary, names):
        path = os.path.join(folder, name)
        with suppress(OSError):
            status = os.lstat(path)
            is_old = made.st_mtime - status.st_mtime > LEFT_AFTER
            if is_old and status.st_uid == made.st_uid:
                _remove(path)


def remove_own(path: str) -> None:
    """Remove a file or folder if it is an unfinished one of this process."""
    if path in _own:
        with suppress(OSError):  # a later writer in the folder removes it
            _remove(path)
        _own.discard(path)


def _remove(path: str) -> None:
    """Remove a file or link, or a folder as far as the system allows. Raises OSError."""
    if stat.S_ISDIR(os.lstat(path).st_mode):
        system.remove_tree(path)
    else:
        system.unlink(path)
