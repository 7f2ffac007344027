"""A place for a journal that nobody gave a path."""

from __future__ import annotations

import os
from tempfile import gettempdir  # noqa: TID251  # which makes nothing

from goldrush.kernel.files import remove_at_exit


def temporary_journal() -> str:
    """A path that nobody can guess, in the system's folder for temporary files. The file that comes
    to be there is removed when this process ends.
    """
    path = os.path.join(gettempdir(), f"goldrush-{os.urandom(8).hex()}.journal")
    remove_at_exit(path)
    return path
