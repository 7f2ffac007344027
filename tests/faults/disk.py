"""A disk that does what disks do: it is full, it takes a write in pieces, the power goes.

It stands in for `os` in kernel.journal alone, so that everything else finds the real one.
"""

from __future__ import annotations

import errno
import os
import signal
from typing import Any


class Disk:
    """`os`, with a disk that has `room` for so many bytes and takes `piece` of them in one write.

    `stuck`: nothing can be taken back from it. `dies_at`: the process is killed at this call that
    would change a file (the first is 0). `refused` counts what there was no room for.
    """

    def __init__(
        self,
        room: int = 1 << 40,
        *,
        piece: int = 1 << 40,
        stuck: bool = False,
        dies_at: int | None = None,
    ) -> None:
        self.room = room
        self.piece = piece
        self.stuck = stuck
        self.dies_at = dies_at
        self.calls = 0
        self.refused = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(os, name)

    def write(self, fd: int, data: Any) -> int:
        self._called()
        return os.write(fd, self._taken(data, os.lseek(fd, 0, os.SEEK_CUR)))

    def ftruncate(self, fd: int, size: int) -> None:
        self._called()
        if self.stuck and size < os.fstat(fd).st_size:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        os.ftruncate(fd, size)

    def _taken(self, data: Any, offset: int) -> bytes:
        """As much as there is room for behind this place. The hole in front takes none."""
        left = min(self.room - offset, self.piece)
        if left <= 0:
            self.refused += 1
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return bytes(data[:left])

    def _called(self) -> None:
        if self.calls == self.dies_at:
            os.kill(os.getpid(), signal.SIGKILL)
        self.calls += 1
