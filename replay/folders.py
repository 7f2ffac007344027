"""New folders, and groups of files, that appear complete or not at all.

As a file (see kernel/files.py, through which all is written), a folder is made under a temporary
name beside its target and gets its own name when it is complete.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from typing import Self

from goldrush.kernel import files
from goldrush.kernel.errors import BadInput


class NewFolder:
    """A folder under construction, under a temporary name in the target's parent.

    `publish` gives it its name. As a context manager it is removed unless it was published.
    """

    def __init__(self, path: str) -> None:
        """Create the folder. Raises BadInput if it cannot be made or the path is not a folder."""
        self.path = path = _unslashed(path)
        if not path:
            raise BadInput("cannot write: the path is empty", "give a path")
        with files.making(path):
            with suppress(FileNotFoundError):
                if not stat.S_ISDIR(os.lstat(path).st_mode):
                    raise BadInput(f"{path} is not a folder", "give another path")
            self.temporary = files.new_path(os.path.dirname(path))
            files.system.make_folder(self.temporary, 0o777)
            files.sweep(self.temporary)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        files.remove_own(self.temporary)

    def file(self, name: str) -> files.Unfinished:
        """A new file in the folder. Raises BadInput if it cannot be made.

        `name`: its path below the folder, with `/`; missing folders are made.
        """
        shown = os.path.join(self.path, name)
        with files.making(shown):
            make_folders_within(self.temporary, name)
        return files.Unfinished(os.path.join(self.temporary, name), shown=shown)

    def add(self, name: str, data: bytes) -> None:
        """Write a complete file into the folder.

        Raises BadInput if it cannot be made, or WriteFailed.
        """
        with self.file(name) as file:
            file.write(data)
            file.publish()

    def publish(self, *, replace: bool = False) -> None:
        """Give the folder its name. An empty folder there is always replaced. `replace`: whether to
        replace a folder with content; the old one is removed.

        Raises:
            WriteFailed: the old folder is intact then, unless only the sync of the new name failed.
        """
        with files.writing(self.path):
            for folder, _, _ in os.walk(self.temporary):
                files.sync_folder(os.path.join(folder, "any"))
            if replace and os.path.isdir(self.path) and os.listdir(self.path):
                _replace_folder(self.temporary, self.path)
            else:
                files.system.rename(self.temporary, self.path)
        files.sync_folder(self.path)


class FileGroup(ExitStack):
    """Files that appear together in a folder: all are complete before the first gets its name.

    A folder that does not exist yet appears with all of them. As a context manager the files are
    removed unless `publish` was called.
    """

    def __init__(self, folder: str) -> None:
        """Begin a group. Raises BadInput if the path is not a folder, or none can be made."""
        super().__init__()
        self.folder = folder = _unslashed(folder)
        self._files: list[files.Unfinished] = []
        self._new = None if os.path.lexists(folder) else self.enter_context(NewFolder(folder))
        if self._new is None and not os.path.isdir(folder):
            raise BadInput(f"{folder} is not a folder", "give a folder")

    def file(
        self, name: str, *, force: bool = False, by_force: files.IsOwn = files.is_marked
    ) -> files.Unfinished:
        """A new file of the group. Raises as `Unfinished`."""
        if self._new is not None:
            file = self._new.file(name)
        else:
            file = files.Unfinished(os.path.join(self.folder, name), force=force, by_force=by_force)
        self._files.append(self.enter_context(file))
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
            files.sync_folder(self._files[0].path)


def _replace_folder(new: str, old: str) -> None:
    """Exchange two folders. The old one has, for an instant, only another name: one that is never
    cleaned up.
    """
    aside = f"{new}-old"
    files.system.rename(old, aside)
    try:
        files.system.rename(new, old)
    except BaseException:
        files.system.rename(aside, old)
        raise
    with suppress(OSError):
        files.system.rename(aside, new)


def _unslashed(folder: str) -> str:
    """A folder's path without trailing slashes, so that `dirname` gives its parent."""
    return folder.rstrip("/") or folder


def make_folder(path: str) -> None:
    """Make a folder and its missing parents, and wait until the disk has their names.

    Raises OSError and WriteFailed.
    """
    path = _unslashed(path)
    try:
        files.system.make_folder(path, 0o777)
    except FileNotFoundError:
        if os.path.dirname(path) in ("", path):
            raise
        make_folder(os.path.dirname(path))
        files.system.make_folder(path, 0o777)
    except FileExistsError:
        if not os.path.isdir(path):
            raise
        return
    files.sync_folder(path)


def make_folders_within(folder: str, name: str) -> None:
    """Make the folders between a folder and one of its files. Symbolic links are not followed.
    `name`: the file's path below it, with `/`.

    Raises OSError with the folder in question as `filename`.
    """
    for part in name.split("/")[:-1]:
        folder = os.path.join(folder, part)
        with suppress(FileExistsError):
            files.system.make_folder(folder, 0o777)
        mode = os.lstat(folder).st_mode
        if not stat.S_ISDIR(mode):
            fault = "it is a symbolic link" if stat.S_ISLNK(mode) else "it is not a folder"
            raise OSError(errno.ENOTDIR, fault, folder)


def remove_other(path: str) -> None:
    """Remove a link, a pipe or another special file; leave ordinary files and folders.

    Raises OSError.
    """
    with suppress(FileNotFoundError):
        mode = os.lstat(path).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            files.system.unlink(path)


def total_size(paths: Iterable[str | os.PathLike[str]]) -> int:
    """The size of files in bytes; a file that cannot be read, which is reported later, has none."""
    size = 0
    for path in paths:
        with suppress(OSError):
            size += os.path.getsize(path)
    return size
