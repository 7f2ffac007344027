"""The only module that writes files. What it writes appears whole or not at all.

A new file is written under a temporary name beside its place, which nobody can guess, and gets its
own name when it is whole: by a hard link where nothing may be replaced, by a rename where something
may. So a full disk, a crash or a signal leaves what was there before. A temporary file is locked
while its writer lives; what a killed writer left is removed by the next one in the same folder.

Every system call that changes a disk goes through `system`, a record of functions: tests put a
simulated disk in its place, which fails or crashes at any call. kernel/README.md has a table of
what survives a crash of the process and what a loss of power.
"""

from __future__ import annotations

import atexit
import ctypes
import errno
import fcntl
import os
import re
import stat
import sys
import tomllib
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Self

import attrs

from goldrush.kernel.errors import BadInput, JournalInUse, WriteFailed

FRONT: Final = 4096  # bytes of a file by which it is recognised as an earlier output
JOURNAL: Final = b"\x95\xa8goldrush"  # how a journal begins

_PREFIX: Final = ".goldrush-"
_TEMPORARY: Final = re.compile(re.escape(_PREFIX) + "[0-9a-f]{16}")
_NEW: Final = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS: Final = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS)

IsOwn = Callable[[bytes], bool]


def _exchange(one: str, other: str) -> None:
    """Exchange what two paths name, at once. Raises OSError where system or disk cannot."""
    swap, at_cwd = 2, -100  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS; AT_FDCWD of Linux
    names = (os.fsencode(one), os.fsencode(other))
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            failed = library.renamex_np(*names, swap)
        else:
            failed = library.renameat2(at_cwd, names[0], at_cwd, names[1], swap)
    except AttributeError:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from None
    if failed:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@attrs.frozen
class System:
    """The system calls that change a disk. `write(fd, data, offset)` gives the bytes written."""

    open: Callable[[str, int, int], int] = os.open
    write: Callable[[int, Any, int], int] = os.pwrite
    truncate: Callable[[int, int], None] = os.ftruncate
    sync: Callable[[int], None] = os.fsync
    close: Callable[[int], None] = os.close
    link: Callable[[str, str], None] = os.link
    rename: Callable[[str, str], None] = os.replace
    exchange: Callable[[str, str], None] = _exchange
    unlink: Callable[[str], None] = os.unlink
    make_folder: Callable[[str, int], None] = os.mkdir
    remove_folder: Callable[[str], None] = os.rmdir
    touch: Callable[[int], None] = os.utime


system = System()


# What may stand where something is to be written.


def never(front: bytes) -> bool:
    """Whether a file is an earlier output of the same kind: no."""
    return False


def is_empty(front: bytes) -> bool:
    """Whether a file has nothing in it."""
    return not front


def always(front: bytes) -> bool:
    """Whether a file may be replaced: whatever it is, a journal too."""
    return True


def check_target(
    path: str, *, force: bool = False, is_own: IsOwn = never, is_journal: bool = False
) -> bool:
    """Whether there is a file at `path` that will be replaced.

    An ordinary file may be replaced if it is an earlier output of the same kind (`is_own` is given
    its first FRONT bytes), or with `force`; a journal only if what is written there is one itself
    (`is_journal`). Raises BadInput for everything else
    that is there, links, devices and folders among it, and where no file can be made.
    """
    if not path:
        raise BadInput("cannot write: the path is empty", "give a path")
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        if not os.path.isdir(os.path.dirname(path) or os.curdir):
            raise BadInput(
                f"cannot write {path}: no such folder", "create the folder first"
            ) from None
        return False
    except (OSError, ValueError) as error:
        raise BadInput(
            f"cannot write {path}: {format_reason(error)}", "give another path"
        ) from None
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "no ordinary file"
        raise BadInput(f"{path} is {kind}", "give the path of a file")
    front = _front(path)
    if is_own(front):
        return True
    if front.startswith(JOURNAL) and not is_journal:
        raise BadInput(f"{path} is a journal, which is not overwritten", "give another path")
    if not force:
        raise existing(path)
    return True


def existing(path: str) -> BadInput:
    """The error for a path at which something is that must stay."""
    return BadInput(
        f"{path} exists already", "give another path, or overwrite it with force (--force)"
    )


def _front(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(FRONT)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {format_reason(error)}", "give another path") from None


def format_reason(error: Exception) -> str:
    """What the system says, without numbers and names; a path with a NUL gives a ValueError."""
    return (getattr(error, "strerror", None) or str(error)).lower()


def read_input(path: str, limit: int, instead: str, *, stdin: bool = False) -> bytes:
    """Read a file that a person wrote for a command: a plan, models, submissions.

    It may be a pipe (`<(...)` in a shell), but one that nobody writes to is not waited for.

    `limit` is the bytes that it may have, `instead` what to give, for the error; with `stdin` the
    path "-" is standard input.

    Raises BadInput for what cannot be read, is over the limit, or is a pipe without a writer.
    """
    try:
        typed = stdin and path == "-"
        fd = os.dup(0) if typed else os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        with os.fdopen(fd, "rb") as file:
            is_pipe = not typed and stat.S_ISFIFO(os.fstat(fd).st_mode)
            if is_pipe:
                os.set_blocking(fd, True)
            data = file.read(limit + 1)
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read {path}: {format_reason(error)}", instead) from None
    if is_pipe and not data:
        raise BadInput(f"cannot read {path}: nothing is in this pipe", instead)
    if len(data) > limit:
        raise BadInput(f"{path} has more than {limit:,} bytes", instead)
    return data


def read_toml(path: str, most: int, wanted: str, example: str) -> dict[str, Any]:
    """The table of a TOML file of at most so many bytes that a person gave.

    `wanted`: what to give in its place, where it cannot be read; `example`: what to write, where it
    is no TOML. Raises BadInput.
    """
    data = read_input(path, most, wanted)
    try:
        return tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path} is no TOML: {error}", f"write {example}") from None


# Files.


class Unfinished:
    """A file on its way: made beside its place under a temporary name, and locked.

    It gets its own name by `publish`; `discard` removes it. Used as a context manager it is
    discarded unless it was published. `fd` is its descriptor, `size` the bytes written so far.
    """

    def __init__(
        self,
        path: str,
        *,
        force: bool = False,
        is_own: IsOwn = never,
        is_journal: bool = False,
        shown: str | None = None,
    ) -> None:
        """Make the file. `shown`: its path in messages, where it is to be moved with its folder.

        Raises BadInput for a place that `check_target` refuses and where the system lets nothing be
        made, JournalInUse where a file to be replaced is being written.
        """
        self._target = path
        self.path = shown or path
        self.size = 0
        self._old = -1
        sweep(os.path.dirname(path))  # before the old file is locked: it may be what was left
        is_there = check_target(path, force=force, is_own=is_own, is_journal=is_journal)
        # In a folder that has no name yet nothing else comes to be at a path.
        self._renames = is_there or shown is not None
        if is_there:
            self._old = locked(path, os.O_RDWR | os.O_NOFOLLOW)
        try:
            self.temporary, self.fd = _made(os.path.dirname(path), _new_file)
        except OSError as error:
            self._let_go()
            raise BadInput(
                f"cannot write {path}: {format_reason(error)}", "give another path"
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.discard()

    def write(self, data: bytes) -> int:
        """Append bytes, all of them, and give their number. Raises WriteFailed."""
        try:
            write_all(self.fd, data, self.size)
        except OSError as error:
            raise WriteFailed(self.path, f"cannot be written: {format_reason(error)}") from None
        self.size += len(data)
        return len(data)

    def sync(self) -> None:
        """Wait until the disk has what was written. Raises WriteFailed."""
        try:
            system.sync(self.fd)
        except OSError as error:
            raise WriteFailed(self.path, f"cannot be written: {format_reason(error)}") from None

    def publish(self, *, sync: bool = True) -> None:
        """Give the file its name. The folder is not synced (see `sync_folder`).

        Without `sync` the disk may not have what is in it yet, and a loss of power may leave the
        name without. A file that is replaced is never lost that way: then it is always synced.

        Raises BadInput where something has come to be at the path that must stay, WriteFailed.
        """
        is_there = self._old >= 0
        if sync or is_there:
            self.sync()
        try:
            if is_there:
                self._check_old()
            if self._renames:
                system.rename(self.temporary, self._target)
            else:
                _name_new(self.temporary, self._target)
        except OSError as error:
            raise WriteFailed(self.path, f"cannot be written: {format_reason(error)}") from None
        self._forget()
        self._let_go()

    def release(self) -> int:
        """Hand over the descriptor of a published file, with its lock, to whoever goes on."""
        fd, self.fd = self.fd, -1
        return fd

    def discard(self) -> None:
        """Close the file, and remove it unless it was published. May be called twice."""
        if self.temporary:
            with suppress(OSError):  # the next writer in the folder removes it
                system.unlink(self.temporary)
            self._forget()
        self._let_go()
        if self.fd >= 0:
            _close(self.fd)
            self.fd = -1

    def _forget(self) -> None:
        _own.discard(self.temporary)
        self.temporary = ""

    def _check_old(self) -> None:
        """Raises WriteFailed where the path has come to name another file than was looked at."""
        with suppress(FileNotFoundError):
            if not os.path.samestat(os.fstat(self._old), os.lstat(self._target)):
                raise WriteFailed(self.path, "was replaced by another file meanwhile")

    def _let_go(self) -> None:
        """Release what was there before."""
        if self._old >= 0:
            _close(self._old)
            self._old = -1


def write_whole(path: str, data: bytes, *, force: bool = False, is_own: IsOwn = never) -> None:
    """Write a file whole or not at all, and wait until the disk has it and its name.

    Raises BadInput for a place that `check_target` refuses, JournalInUse for one that is being
    written, WriteFailed where the system refuses.
    """
    with Unfinished(path, force=force, is_own=is_own) as file:
        file.write(data)
        file.publish()
        sync_folder(path)


def write_all(fd: int, data: bytes, offset: int) -> None:
    """Write all of `data` at an offset of a file, however often that takes. Raises OSError."""
    written = system.write(fd, data, offset)
    while written < len(data):
        if not written:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        data, offset = data[written:], offset + written
        written = system.write(fd, data, offset)


def sync_file(path: str) -> None:
    """Wait until the disk has what was written into a file. Raises WriteFailed."""
    try:
        fd = system.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC, 0)
        try:
            system.sync(fd)
        finally:
            system.close(fd)
    except OSError as error:
        raise WriteFailed(path, f"cannot be written: {format_reason(error)}") from None


def sync_folder(path: str) -> None:
    """Wait until the disk has the name of the file at `path`. Raises WriteFailed."""
    try:
        fd = system.open(os.path.dirname(path) or os.curdir, _FOLDER & ~os.O_NOFOLLOW, 0)
        try:
            system.sync(fd)
        finally:
            _close(fd)
    except OSError as error:
        if error.errno != errno.EINVAL:  # a file system whose folders cannot be synced
            raise WriteFailed(path, f"cannot be written: {format_reason(error)}") from None


def locked(path: str, flags: int) -> int:
    """Open and lock an ordinary file that is there.

    Raises BadInput where it cannot be opened, JournalInUse where another process writes it.
    """
    try:
        fd = system.open(path, flags | os.O_CLOEXEC | os.O_NONBLOCK, 0)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"cannot write {path}: {format_reason(error)}", "give another path"
        ) from None
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise BadInput(f"{path} is no ordinary file", "give the path of one")
        _lock(fd, path)
        if not os.path.lexists(path) or not os.path.samestat(os.fstat(fd), os.stat(path)):
            raise JournalInUse(path, "another process has just removed or replaced this file")
    except BaseException:
        _close(fd)
        raise
    return fd


def _close(fd: int) -> None:
    """Close what was synced, or is given up: there is nothing to lose."""
    with suppress(OSError):
        system.close(fd)


def _lock(fd: int, path: str) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise JournalInUse(path, "another process is writing this file") from None
    except OSError as error:
        raise BadInput(f"cannot lock {path}: {format_reason(error)}", "give another path") from None


def _name_new(temporary: str, path: str) -> None:
    """Name a file that is whole. Raises BadInput where something has that name."""
    try:
        system.link(temporary, path)
    except FileExistsError:
        raise existing(path) from None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(path):
            raise existing(path) from None
        system.rename(temporary, path)  # a file system without hard links
        return
    with suppress(OSError):  # the next writer in the folder removes it
        system.unlink(temporary)


# Folders.


def _unslashed(folder: str) -> str:
    """A folder's path that ends with its name, so that what is beside it can be told."""
    return folder.rstrip("/") or folder


def make_folder(path: str) -> None:
    """Make a folder, and those above it, where there is none, and wait until the disk has their
    names. Raises OSError and WriteFailed.
    """
    path = _unslashed(path)
    try:
        system.make_folder(path, 0o777)
    except FileNotFoundError:
        if os.path.dirname(path) in ("", path):
            raise
        make_folder(os.path.dirname(path))
        system.make_folder(path, 0o777)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
        return
    sync_folder(path)


def temporary_folder() -> str:
    """Make a folder of a new name where the system keeps temporary files, and return its path.

    Raises OSError.
    """
    from tempfile import mkdtemp  # takes as long to import as the whole kernel

    return mkdtemp(prefix="goldrush-")


def remove_temporary(folder: str) -> None:
    """Remove such a folder and all that is in it, as far as the system allows."""
    from shutil import rmtree

    rmtree(folder, ignore_errors=True)


def make_folders_within(folder: str, name: str) -> None:
    """Make the folders that lead from a folder to a file of it, `/` between the parts of its name.

    No link is followed there. Raises OSError, with the folder it is about as `filename`.
    """
    for part in name.split("/")[:-1]:
        folder = os.path.join(folder, part)
        with suppress(FileExistsError):
            system.make_folder(folder, 0o777)
        mode = os.lstat(folder).st_mode
        if not stat.S_ISDIR(mode):
            says = "it is a symbolic link" if stat.S_ISLNK(mode) else "it is no folder"
            raise OSError(errno.ENOTDIR, says, folder)


def remove_other(path: str) -> None:
    """Remove what is neither an ordinary file nor a folder: a link, a pipe. Raises OSError."""
    with suppress(FileNotFoundError):
        mode = os.lstat(path).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            system.unlink(path)


class NewFolder:
    """A folder on its way: filled under a temporary name beside its place, and locked.

    It gets its own name by `publish`; as a context manager it is removed unless it was published.
    """

    def __init__(self, path: str) -> None:
        """Make the folder. Raises BadInput where none can be made, or something else is."""
        self.path = path = _unslashed(path)
        if not path:
            raise BadInput("cannot write: the path is empty", "give a path")
        try:
            with suppress(FileNotFoundError):
                if not stat.S_ISDIR(os.lstat(path).st_mode):
                    raise BadInput(f"{path} is no folder", "give another path")
            self.temporary, self._fd = _made(os.path.dirname(path), _new_folder)
        except (OSError, ValueError) as error:
            raise BadInput(
                f"cannot write {path}: {format_reason(error)}", "give another path"
            ) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.discard()

    def file(self, name: str) -> Unfinished:
        """A new file of it, `/` between the parts of its name; folders are made on the way.

        Raises BadInput where it cannot be made.
        """
        shown = os.path.join(self.path, name)
        try:
            make_folders_within(self.temporary, name)
        except OSError as error:
            raise BadInput(
                f"cannot write {shown}: {format_reason(error)}", "give another path"
            ) from None
        return Unfinished(os.path.join(self.temporary, name), shown=shown)

    def add(self, name: str, data: bytes, *, sync: bool = True) -> None:
        """A whole file of it. Raises BadInput where it cannot be made, WriteFailed."""
        with self.file(name) as file:
            file.write(data)
            file.publish(sync=sync)

    def publish(self, *, replace: bool = False, sync: bool = True) -> None:
        """Give the folder its name; `replace`: in place of a folder of that name, which is removed.

        An empty folder is always replaced. Without `sync` the disk may not have what is in it yet.
        Raises WriteFailed; what was there then still is, unless it was only the new name that could
        not be synced.
        """
        try:
            for folder, _, _ in os.walk(self.temporary) if sync else ():
                sync_folder(os.path.join(folder, "any"))
            if replace and os.path.isdir(self.path) and os.listdir(self.path):
                _replace_folder(self.temporary, self.path)
            else:
                system.rename(self.temporary, self.path)
                self._forget()
        except OSError as error:
            raise WriteFailed(self.path, f"cannot be written: {format_reason(error)}") from None
        if sync:
            sync_folder(self.path)

    def discard(self) -> None:
        """Remove what has no name of its own. May be called twice."""
        if self.temporary:
            _remove(self.temporary)
            self._forget()
        if self._fd >= 0:
            _close(self._fd)
            self._fd = -1

    def _forget(self) -> None:
        _own.discard(self.temporary)
        self.temporary = ""


class Group:
    """Files that appear together in a folder: all are whole before the first has its name.

    A folder that is not there yet appears whole, with all of them. As a context manager nothing
    stays unless `publish` was called.
    """

    def __init__(self, folder: str) -> None:
        """Begin. Raises BadInput for a path that is no folder, or where none can be made."""
        self.folder = folder = _unslashed(folder)
        self._files: list[Unfinished] = []
        self._new = None if os.path.lexists(folder) else NewFolder(folder)
        if self._new is None and not os.path.isdir(folder):
            raise BadInput(f"{folder} is no folder", "give a folder")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for file in self._files:
            file.discard()
        if self._new is not None:
            self._new.discard()

    def file(self, name: str, *, force: bool = False, is_own: IsOwn = never) -> Unfinished:
        """A new file of the group. Raises as `Unfinished` does."""
        if self._new is not None:
            file = self._new.file(name)
        else:
            file = Unfinished(os.path.join(self.folder, name), force=force, is_own=is_own)
        self._files.append(file)
        return file

    def publish(self) -> None:
        """Give all files their names, and wait until the disk has them. Raises WriteFailed."""
        for file in self._files:
            file.sync()
        for file in self._files:
            file.publish()
        if self._new is not None:
            self._new.publish()
        elif self._files:
            sync_folder(self._files[0].path)


def _replace_folder(new: str, old: str) -> None:
    """Exchange two folders. Where the system cannot do that at once the old one is, for an instant,
    there under another name only, which nobody removes.
    """
    try:
        system.exchange(new, old)
    except OSError:
        aside = f"{new}-old"
        system.rename(old, aside)
        try:
            system.rename(new, old)
        except BaseException:
            system.rename(aside, old)
            raise
        with suppress(OSError):
            system.rename(aside, new)


# Temporary names.

_swept: set[str] = set()  # folders that were looked through by this process
_own: set[str] = set()  # what this process has made, and not named or removed yet
os.register_at_fork(after_in_child=_own.clear)


def is_temporary(name: str) -> bool:
    """Whether a file or folder of this name is on its way, or was left by a writer that died."""
    return _TEMPORARY.fullmatch(name) is not None


def remove_temporaries() -> None:
    """Remove what is not whole yet, before this process ends without unwinding."""
    for path in list(_own):
        _remove(path)


atexit.register(remove_temporaries)


def _made(folder: str, make: Callable[[str], int]) -> tuple[str, int]:
    """A new file or folder in a folder: its path, and a descriptor that holds its lock."""
    sweep(folder)
    while True:
        # Not from a journal's draws, and in no journal: nobody may know the name beforehand.
        path = os.path.join(folder, f"{_PREFIX}{os.urandom(8).hex()}")
        _own.add(path)
        fd = make(path)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.lexists(path):
                return path, fd
        except BlockingIOError:  # another process takes it for left over, and removes it
            pass
        except BaseException:
            _remove(path)
            _close(fd)
            raise
        _close(fd)


def _new_file(path: str) -> int:
    return system.open(path, _NEW, 0o666)


def _new_folder(path: str) -> int:
    system.make_folder(path, 0o777)
    try:
        return system.open(path, _FOLDER, 0)
    except OSError:
        _remove(path)
        raise


def sweep(folder: str) -> None:
    """Remove what writers that were killed have left in a folder; once in a process.

    What another process has locked, or this one, is not left.
    """
    with suppress(OSError, ValueError):  # whoever writes there will be told
        whole = os.path.abspath(folder or os.curdir)
        if whole in _swept:
            return
        _swept.add(whole)
        for name in os.listdir(whole):
            if is_temporary(name):
                _remove_if_left(os.path.join(whole, name))


def _remove_if_left(path: str) -> None:
    """Remove a temporary file or folder of this user that no process has locked."""
    with suppress(OSError):
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if os.fstat(fd).st_uid == os.geteuid():
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _remove(path)
        finally:
            os.close(fd)


def _remove(path: str) -> None:
    """Remove a file, or a folder with all that is in it, as far as the system lets it be done."""
    with suppress(OSError):
        if not os.path.isdir(path) or os.path.islink(path):
            system.unlink(path)
            return
        for folder, folders, names in os.walk(path, topdown=False):
            for name in names:
                system.unlink(os.path.join(folder, name))
            for name in folders:
                system.remove_folder(os.path.join(folder, name))
        system.remove_folder(path)
