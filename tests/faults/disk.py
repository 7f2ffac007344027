"""A disk in place of `files.system`: it is full, it fails, the machine loses its power.

The files themselves are real, so readers need nothing special. The disk remembers what was synced
and what was not: for a file its content and the writes since, for a folder its names and the
changes since. From that `leave` makes what a file system may hold after a crash. It is weaker than
any file system in use: no name is safe until its folder was synced, no byte until its file was.
"""

from __future__ import annotations

import errno
import os
import random
import stat
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import attrs

from goldrush.kernel import files

NO_LIMIT: Final = 1 << 40
ALL, LEAST = 0, 1  # seeds: all was written out, as where only the process died; what was synced

_REAL: Final = files.System()


class PowerLost(BaseException):
    """What a call of a dead process comes to; only tests catch it."""


@attrs.frozen
class Fault:
    """The call that fails (the first is 0), and whether all that follow do so too."""

    at: int
    error: int = errno.EIO
    forever: bool = False

    def hits(self, call: int) -> bool:
        """Whether this call fails."""
        return call == self.at or (self.forever and call > self.at)


@attrs.define(eq=False)
class _File:
    """`synced`: the content at the last sync; `since`: writes, and sizes that it was cut to."""

    synced: bytes = b""
    since: list[tuple[int, bytes | None]] = attrs.Factory(list)

    def sync(self) -> None:
        """All is on the disk."""
        self.synced, self.since = self.content(NO_LIMIT), []

    def content(self, steps: int, *, zeros: bool = False) -> bytes:
        """After so many of the bytes written since; what follows has come as `zeros`, or not."""
        data = bytearray(self.synced)
        for offset, piece in self.since:
            kept = (piece or b"")[: max(steps, 0)]
            if piece is None:
                if steps > 0 or zeros:
                    data[offset:] = bytes(max(offset - len(data), 0))
                steps -= 1
                continue
            steps -= len(piece)
            if zeros:
                kept = kept.ljust(len(piece), b"\0")
            if kept:
                data += bytes(max(offset - len(data), 0))
                data[offset : offset + len(kept)] = kept
        return bytes(data)

    def left(self, seed: int, chance: random.Random) -> bytes:
        """What a crash leaves of the file."""
        steps = sum(1 if piece is None else len(piece) for _, piece in self.since)
        if seed in (ALL, LEAST):
            return self.content(steps if seed == ALL else 0)
        some = chance.choice((0, steps, chance.randint(0, steps)))
        return self.content(some, zeros=chance.random() < 0.5)


@attrs.define(eq=False)
class _Folder:
    """`mode`: its permissions; `now`: its names; `synced`: those at the last sync; `since`: what
    has changed, None for no name.
    """

    mode: int = 0o777
    now: dict[str, _Node] = attrs.Factory(dict)
    synced: dict[str, _Node] = attrs.Factory(dict)
    since: list[dict[str, _Node | None]] = attrs.Factory(list)

    def sync(self) -> None:
        """All names are on the disk."""
        self.synced, self.since = dict(self.now), []

    def change(self, names: dict[str, _Node | None]) -> None:
        """Change names, all at once."""
        self.now = _changed(self.now, names)
        self.since.append(names)

    def left(self, seed: int, chance: random.Random) -> dict[str, _Node]:
        """What a crash leaves of its names: changes reach the disk in their order."""
        count = {ALL: len(self.since), LEAST: 0}.get(seed, chance.randint(0, len(self.since)))
        names = self.synced
        for change in self.since[:count]:
            names = _changed(names, change)
        return names


_Node = _File | _Folder


def _changed(names: dict[str, _Node], change: dict[str, _Node | None]) -> dict[str, _Node]:
    return {name: node for name, node in {**names, **change}.items() if node is not None}


class Disk:
    """A disk with all that is in `folder`, in place of the system's within a `with` block.

    It has `room` for so many more bytes and takes `piece` of them in one write. `stuck`: nothing
    can be taken back from it. `lacks`: a call that it does not know. At a call (the first is 0) it
    may fail or lose its power. `calls` has the names of those that were made.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        room: int = NO_LIMIT,
        piece: int = NO_LIMIT,
        stuck: bool = False,
        fault: Fault | None = None,
        crashes_at: int | None = None,
        lacks: str = "",
    ) -> None:
        self.folder = os.path.realpath(folder)
        self.room = room
        self.piece = piece
        self.stuck = stuck
        self.fault = fault
        self.crashes_at = crashes_at
        self.lacks = lacks
        self.calls: list[str] = []
        self.crashed = False
        self._root = _read(self.folder)
        self._opened: dict[int, _Node | None] = {}  # those of other folders have no node

    @property
    def system(self) -> files.System:
        """The record of its calls."""
        names = files.System.__struct_fields__
        return files.System(**{name: partial(self._call, name) for name in names})

    def __enter__(self) -> Self:
        self._before, files.system = files.system, self.system
        files._swept.clear()  # as in a new process
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        files.system = self._before
        files._swept.clear()
        files._own.clear()
        for fd in self._opened:  # a dead process has closed nothing, but its locks are gone
            os.close(fd)
        self._opened.clear()

    def tried(self, act: Callable[[], object]) -> BaseException | None:
        """Do something on this disk; what it raised, an end of power included."""
        with self:
            try:
                act()
            except (Exception, KeyboardInterrupt, PowerLost) as error:
                return error
        return None

    def leave(self, out: str | Path, seed: int = ALL) -> None:
        """Make a new folder, with what a crash by now may leave of this one."""
        chance = random.Random(seed)
        made: dict[_File, str] = {}

        def build(folder: _Folder, place: str) -> None:
            os.mkdir(place, folder.mode)
            for name, node in sorted(folder.left(seed, chance).items()):
                path = os.path.join(place, name)
                if isinstance(node, _Folder):
                    build(node, path)
                elif node in made:
                    os.link(made[node], path)
                else:
                    made[node] = path
                    Path(path).write_bytes(node.left(seed, chance))

        build(self._root, os.fspath(out))

    def _call(self, name: str, *given: Any) -> Any:
        if self.crashed:
            raise PowerLost
        call = len(self.calls)
        self.calls.append(name)
        if call == self.crashes_at:
            self.crashed = True
            raise PowerLost
        if name == self.lacks:
            raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
        if self.fault is not None and self.fault.hits(call):
            if name == "close":  # it is closed whatever the system says
                self._close(*given)
            raise OSError(self.fault.error, os.strerror(self.fault.error))
        return getattr(self, f"_{name}")(*given)

    # The calls. What is not in the folder is passed on.

    def _open(self, path: str, flags: int, mode: int) -> int:
        is_new = not os.path.lexists(path)
        fd = _REAL.open(path, flags, mode)
        if is_new:
            self._change({path: _File()})
        self._opened[fd] = self._node(path)
        return fd

    def _close(self, fd: int) -> None:
        del self._opened[fd]
        _REAL.close(fd)

    def _write(self, fd: int, data: Any, offset: int) -> int:
        size = os.fstat(fd).st_size
        fits = max(size - offset, 0) + self.room
        piece = bytes(data[: min(fits, self.piece)])
        if data and not piece:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = _REAL.write(fd, piece, offset)
        self.room -= max(os.fstat(fd).st_size - size, 0)
        if isinstance(node := self._opened[fd], _File):
            node.since.append((offset, piece[:written]))
        return written

    def _truncate(self, fd: int, size: int) -> None:
        before = os.fstat(fd).st_size
        if self.stuck and size < before:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        _REAL.truncate(fd, size)
        self.room += before - size
        if isinstance(node := self._opened[fd], _File):
            node.since.append((size, None))

    def _sync(self, fd: int) -> None:
        if (node := self._opened[fd]) is not None:
            node.sync()

    def _touch(self, fd: int) -> None:
        _REAL.touch(fd)  # what time it says is nothing to lose

    def _link(self, path: str, name: str) -> None:
        _REAL.link(path, name)
        self._change({name: self._node(path)})

    def _rename(self, path: str, name: str) -> None:
        _REAL.rename(path, name)
        self._change({path: None, name: self._node(path)})

    def _unlink(self, path: str) -> None:
        _REAL.unlink(path)
        self._change({path: None})

    def _make_folder(self, path: str, mode: int) -> None:
        _REAL.make_folder(path, mode)
        self._change({path: _Folder(mode)})

    def _remove_folder(self, path: str) -> None:
        _REAL.remove_folder(path)
        self._change({path: None})

    def _remove_tree(self, path: str) -> None:
        _REAL.remove_tree(path)
        self._change({path: None})

    def _change(self, paths: dict[str, _Node | None]) -> None:
        """Change what paths name; within one folder all at once."""
        by_folder: dict[_Folder, dict[str, _Node | None]] = {}
        for path, node in paths.items():
            above = self._node(os.path.dirname(path) or os.curdir)
            if isinstance(above, _Folder):
                by_folder.setdefault(above, {})[os.path.basename(path)] = node
        for folder, names in by_folder.items():
            folder.change(names)

    def _node(self, path: str) -> _Node | None:
        """What a path names, by this disk's own book; None for what is not in the folder."""
        above, name = os.path.split(os.path.abspath(path))
        whole = os.path.join(os.path.realpath(above), name)
        if os.path.commonpath((whole, self.folder)) != self.folder:
            return None
        node: _Node = self._root
        for part in Path(whole).relative_to(self.folder).parts:
            assert isinstance(node, _Folder)
            assert part in node.now, f"{path} was written, but not through files.system"
            node = node.now[part]
        return node


def _read(folder: str) -> _Folder:
    """A folder that has stood there for long."""
    names: dict[str, _Node] = {}
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            names[entry.name] = _read(entry.path)
        else:
            names[entry.name] = _File(Path(entry.path).read_bytes())
    return _Folder(stat.S_IMODE(os.stat(folder).st_mode), dict(names), names)
