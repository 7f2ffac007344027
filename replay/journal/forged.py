"""One named error for forged events, in every function that reads a journal.

Checksums are no signature, and rows are applied without judgement, so a forged journal can lead a
reader into a state that the rules never reach, where any error may be raised. Only then the journal
is verified: if it does not hold, the error names the first event that does not follow. If it holds,
the failure is a bug, and its own error is raised.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from goldrush.kernel.errors import MalformedEvents
from goldrush.kernel.fold import REFUSED, raise_bug
from goldrush.kernel.journal import JournalReader

F = TypeVar("F", bound=Callable[..., Any])


@contextmanager
def reporting_forged(*paths: str | Path) -> Iterator[None]:
    """Raises MalformedEvents for errors caused by forged events of one of these journals, and the
    exception of a world for MalformedEvents that it caused in a journal whose events follow.
    """
    try:
        yield
    except REFUSED as error:
        for path in paths:
            found = _forged(path)
            if found is not None:
                raise found from error
        raise
    except MalformedEvents as error:
        path = error.path
        raise_bug(error, lambda: _forged(path) is not None)
        raise


@contextmanager
def reading(path: str | Path) -> Iterator[JournalReader]:
    """A journal open for reading; what is done within reports forged events."""
    with reporting_forged(path), JournalReader(path) as reader:
        yield reader


def reader_of(function: F) -> F:
    """Decorates a function whose first argument is `path`, that of a journal, and which does more
    than read it: all of it reports forged events. No generator.
    """

    @wraps(function)
    def once(path: str | Path, *given: Any, **named: Any) -> Any:
        with reporting_forged(path):
            return function(path, *given, **named)

    return once  # type: ignore[return-value]


def _forged(path: str | Path) -> MalformedEvents | None:
    """The error for the first event that does not follow; None if the journal holds."""
    # Imported only for a forged journal: importing takes longer than reading a short run.
    from goldrush.replay.journal.verify import DERIVE, INTEGRITY, verify

    try:
        broken = verify(path, DERIVE).broken
    except KeyboardInterrupt:
        raise
    except BaseException:  # it must not hide the first error
        return None
    if broken is None or broken.level == INTEGRITY:
        return None
    return MalformedEvents(
        str(path), broken.where, f"expected {broken.expected}, found {broken.found}"
    )
