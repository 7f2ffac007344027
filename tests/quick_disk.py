"""A disk that nobody waits for: not for what it has, and not for what was left on it to be old."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace

from goldrush.kernel import files


@contextmanager
def syncing(sync: Callable[[int], None] = lambda fd: None) -> Iterator[None]:
    """What waits for the disk does this instead. That a run waits is a test of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "system", replace(files.system, sync=sync))
        yield


def make_old(folder: Path) -> None:
    """What killed writers left in a folder is as old as what the next writer removes."""
    for path in folder.rglob("*"):
        if files.is_temporary(path.name):
            written = path.lstat().st_mtime - files.LEFT_AFTER - 1
            os.utime(path, (written, written), follow_symlinks=False)
