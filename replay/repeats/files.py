"""Which files a run opens: what one run leaves can change the next one.

They are heard of by an audit hook. Python's own files, code and those of the system do not count;
nor does what compiled code opens by itself.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from contextlib import suppress
from typing import Any, Final

_INSTALLED: Final = tuple(
    os.path.join(path, "")
    for path in (
        sys.prefix, sys.base_prefix, *sysconfig.get_paths().values(),
        os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),  # goldrush
        "/bin", "/dev", "/etc", "/lib", "/Library", "/proc", "/sys", "/System", "/usr",
    )
)  # fmt: skip
_CODE: Final = (".py", ".pyc", ".so", ".pth")
_PARTS: Final = ("site-packages", ".egg-info", "__pycache__", os.path.join(".cache", "matplotlib"))


class OpenedFiles:
    """Files that this process opens from now on."""

    def __init__(self) -> None:
        self._read = set[str]()
        self._written, self._new = set[str](), set[str]()
        sys.addaudithook(self._hear)

    def read(self) -> list[str]:
        """Paths of those of which this process read what was there before."""
        return sorted(self._read)

    def written(self) -> list[str]:
        """Paths of those that it wrote, and that are still there."""
        return sorted(filter(os.path.exists, self._written))

    def _hear(self, event: str, given: tuple[Any, ...]) -> None:
        with suppress(Exception):  # an error would be the subject's
            if event == "open":
                self._note(given[0], given[2])
            elif event == "os.rename":
                self._note(given[1], os.O_WRONLY)
            elif event == "sqlite3.connect":
                self._note(given[0], os.O_RDWR)

    def _note(self, file: Any, flags: int) -> None:
        if not isinstance(file, (str, bytes, os.PathLike)):
            return  # the number of an open file
        path = os.path.abspath(os.fsdecode(file))
        if path.startswith(_INSTALLED) or path.endswith(_CODE) or any(map(path.count, _PARTS)):
            return
        if flags & os.O_TRUNC or not os.path.isfile(path):
            self._new.add(path)
        elif not flags & os.O_WRONLY and path not in self._new:
            self._read.add(path)
        if flags & (os.O_WRONLY | os.O_RDWR):
            self._written.add(path)
