"""The door through which readers tell forged events: one named error for whatever they raise.

Checksums are no signature, and rows are applied as they stand, so a forged journal can bring
a reader into a state that the rules never lead to, where anything may fail. It is looked into only
then: if the journal does not hold, the first event that does not follow is named. If it holds, the
failure is a bug, and stays what it was.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from goldrush.kernel.errors import MalformedEvents
from goldrush.kernel.fold import REFUSED
from goldrush.kernel.world import World

F = TypeVar("F", bound=Callable[..., Any])


@contextmanager
def reporting_forged(*paths: str | Path, world: World[Any] | None = None) -> Iterator[None]:
    """Raises MalformedEvents for what is raised because events of one of these journals are forged.

    `world`: theirs, if it is none that this version has.
    """
    try:
        yield
    except REFUSED as error:
        for path in paths:
            found = _forged(path, world)
            if found is not None:
                raise found from error
        raise


def reader_of(function: F) -> F:
    """A function, or generator, whose first argument is the path of a journal, behind the door.

    The journal's world is its argument `world`, if it has one.
    """
    signature = inspect.signature(function)
    path = next(iter(signature.parameters))

    def door(given: tuple[Any, ...], named: dict[str, Any]) -> AbstractContextManager[None]:
        arguments = signature.bind(*given, **named).arguments
        return reporting_forged(arguments[path], world=arguments.get("world"))

    if inspect.isgeneratorfunction(function):

        @wraps(function)
        def each(*given: Any, **named: Any) -> Iterator[Any]:
            with door(given, named):
                yield from function(*given, **named)

        return each  # type: ignore[return-value]

    @wraps(function)
    def once(*given: Any, **named: Any) -> Any:
        with door(given, named):
            return function(*given, **named)

    return once  # type: ignore[return-value]


def _forged(path: str | Path, world: World[Any] | None) -> MalformedEvents | None:
    """The first event that does not follow from what stands before it, if there is one."""
    # Imported for a forged journal alone: it takes longer than a short run is read in.
    from goldrush.replay.verify import DERIVE, INTEGRITY, verify

    try:
        broken = verify(path, DERIVE, world=world).broken
    except Exception:  # whatever it is: it must not hide what was raised first
        return None
    if broken is None or broken.level == INTEGRITY:
        return None
    return MalformedEvents(
        str(path), broken.where, f"expected {broken.expected}, found {broken.found}"
    )
