"""A disk that nobody waits for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import attrs
import pytest

from goldrush.kernel import files


@contextmanager
def syncing(sync: Callable[[int], None] = lambda fd: None) -> Iterator[None]:
    """What waits for the disk does this instead. That a run waits is a test of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "system", attrs.evolve(files.system, sync=sync))
        yield
