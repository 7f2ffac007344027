"""One limit on the rate of requests for all processes of a user on this machine.

The time of the last request to an address stands in a file in the user's runtime folder, which is
locked while it is read and written. Nothing is reserved ahead, and the system unlocks the file of
a process that dies, so that one never holds up the others. A general limiter would keep a table
of requests in a database: here one number is enough, because requests are spaced evenly.
"""

from __future__ import annotations

import fcntl
import os
import stat
import struct
from collections.abc import Callable
from hashlib import sha256
from typing import Final

from goldrush.kernel import files
from goldrush.kernel.files import format_reason

BUSY: Final = 0.005  # seconds until a file is tried again that another process has just locked

_TIME: Final = struct.Struct("<d")
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class Rate:
    """The rate of requests to one address. Call `close` at the end."""

    def __init__(self, address: str, per_minute: float, warn: Callable[[str], None]) -> None:
        """Open the file of an address. If it cannot be shared, `warn` is called with a line, and
        the rate holds for this object alone.
        """
        self._pause = 60 / per_minute
        self._last = float("-inf")  # the last request of this object
        self._fd = -1
        self._address, self._warn = address, warn
        try:
            name = f"{sha256(address.encode()).hexdigest()[:32]}.rate"
            self._fd = files.system.open(os.path.join(runtime_folder(), name), _FLAGS, 0o600)
        except OSError as error:
            self._alone(error)

    def close(self) -> None:
        """Close the file. May be called twice."""
        if self._fd >= 0:
            files.system.close(self._fd)
            self._fd = -1

    def wait(self, now: float) -> float:
        """Take the next request at `now` (seconds since 1970), or the seconds until it may be
        tried; 0: it is taken.
        """
        if self._fd >= 0:
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return BUSY
            except OSError as error:
                self._alone(error)
        try:
            return self._taken(now)
        finally:
            if self._fd >= 0:
                fcntl.flock(self._fd, fcntl.LOCK_UN)

    def _taken(self, now: float) -> float:
        last = self._last
        try:
            if self._fd >= 0:
                kept = os.pread(self._fd, _TIME.size, 0)
                last = _TIME.unpack(kept)[0] if len(kept) == _TIME.size else last
            since = now - last
            if 0 <= since < self._pause:  # else the clock was set back, or the file is not ours
                return self._pause - since
            if self._fd >= 0:
                files.system.write(self._fd, _TIME.pack(now), 0)
        except OSError as error:
            self._alone(error)
        self._last = now
        return 0.0

    def _alone(self, error: OSError) -> None:
        self.close()
        self._warn(
            f"the rate of requests to {self._address} holds for this process alone: its file "
            f"cannot be shared ({format_reason(error)})"
        )


def runtime_folder() -> str:
    """A folder of this user alone: in XDG_RUNTIME_DIR, or else among temporary files. Made if it is
    missing.

    Raises OSError if there is none, or others can write to it.
    """
    parent = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(parent) and os.path.isdir(parent):
        folder = os.path.join(parent, "goldrush")
    else:
        temporary = os.environ.get("TMPDIR") or f"{os.sep}tmp"
        folder = os.path.join(temporary, f"goldrush-{os.geteuid()}")
    try:
        files.system.make_folder(folder, 0o700)
    except FileExistsError:
        status = os.lstat(folder)
        is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
        if not is_own or status.st_mode & 0o077:
            raise PermissionError(None, f"{folder} is not a folder of this user alone") from None
    return folder
