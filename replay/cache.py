"""Derived files of this user (indexes, measures): `goldrush/indexes` in the user's cache folder.

A file here is trusted further than one beside a journal, so it is read only if this user's own
account wrote it: file and folders belong to the user, nobody else has any permission on the
folders, and no link is followed. Otherwise nothing is read or kept. The folder may be removed at
any time.

The cache folder is `$XDG_CACHE_HOME` if that is an absolute path, else `~/.cache`, on macOS
`~/Library/Caches`. The files together take CACHE_MAX bytes at most; those not used for longest are
removed first. A file's mtime is the time of its last use.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from typing import BinaryIO, Final

from goldrush.kernel import files
from goldrush.kernel.errors import WriteFailed

CACHE_MAX: Final = 1 << 30  # bytes of all files together

INDEX, MEASURES = SUFFIXES = (".index", ".measures")  # of files, by their kind

_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # nor wait for a pipe


def folder() -> str | None:
    """The path of the cache folder, which may not exist; None if the environment names none."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        home = os.environ.get("HOME", "")
        if not os.path.isabs(home):
            return None
        base = os.path.join(home, "Library/Caches" if sys.platform == "darwin" else ".cache")
    return os.path.join(base, "goldrush", "indexes")


def opened(name: str, suffix: str = INDEX) -> BinaryIO | None:
    """A file of the cache for reading, marked as used now; None if it cannot be read."""
    where = folder()
    if where is None or not _is_private(where):
        return None
    try:
        fd = os.open(os.path.join(where, name + suffix), _READ)  # noqa: TID251  # to read
    except OSError:
        return None
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
        os.close(fd)
        return None
    with suppress(OSError):  # a disk that cannot be written
        files.system.touch(fd)
    return os.fdopen(fd, "rb")


def unfinished(name: str, suffix: str = INDEX) -> files.Unfinished | None:
    """A new file of the cache, which replaces an older one; None where none can be kept.

    Raises BadInput and JournalInUse as `Unfinished` does.
    """
    where = folder()
    if where is None:
        return None
    own = os.path.dirname(where)
    for path in (os.path.dirname(own), own, where):
        with suppress(OSError):  # it is there, or what is tried next fails too
            files.system.make_folder(path, 0o700)
    if not _is_private(where):
        return None
    return files.Unfinished(os.path.join(where, name + suffix), is_own=files.always)


def append(file: files.Unfinished, data: bytes) -> None:
    """Append to a new file. Raises WriteFailed, also for a file larger than CACHE_MAX."""
    if file.size + len(data) > CACHE_MAX:
        raise WriteFailed(file.path, f"over {CACHE_MAX} bytes")
    file.write(data)


def trim() -> None:
    """Remove the least recently used files until CACHE_MAX is kept."""
    where = folder()
    if where is None or not _is_private(where):
        return
    kept = []
    with suppress(OSError):
        for entry in os.scandir(where):
            with suppress(FileNotFoundError):  # another process has just removed it
                if entry.name.endswith(SUFFIXES) and entry.is_file(follow_symlinks=False):
                    found = entry.stat(follow_symlinks=False)
                    kept.append((found.st_mtime_ns, entry.path, found.st_size))
    total = sum(size for *_, size in kept)
    for _, path, size in sorted(kept):
        if total <= CACHE_MAX:
            break
        with suppress(OSError):
            files.system.unlink(path)
        total -= size


def _is_private(where: str) -> bool:
    """Whether the folder and its parent belong to this user and nobody else can enter them.

    The folders above may be anybody's: whoever can exchange their content cannot make a file that
    belongs to this user.
    """
    for path in (os.path.dirname(where), where):
        try:
            found = os.lstat(path)
        except (OSError, ValueError):
            return False
        is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
        if not is_own or stat.S_IMODE(found.st_mode) & 0o077:
            return False
    return True
