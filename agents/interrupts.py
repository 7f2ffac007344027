"""Ctrl-C waits until an answer from outside is committed.

Answers of models and people may have been paid for, and Python raises KeyboardInterrupt between any
two instructions: also after an answer has arrived and before it is on the disk. So between the two
a signal is only noted.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

# SIGINT first, so that it is restored last: users send it again and again.
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# The blocks under way: what notes a signal in each.
_under_way: Final[list[Callable[[int, object], None]]] = []
_raised: Final[list[Callable[[int], object]]] = [signal.raise_signal]  # at the end of a block


def is_deferring() -> bool:
    """Whether a block of `deferred` is under way in the main thread."""
    return bool(_under_way)


def note(number: int) -> None:
    """Defer a signal that a thread received in place of its handler, to the end of the blocks."""
    for each in [*_under_way]:
        each(number, None)


def ended_by(end: Callable[[int], object]) -> None:
    """Have a process that was just forked or started call `end` with a signal that was deferred."""
    _under_way.clear()
    _raised[:] = [end]


@contextmanager
def deferred(wake: Callable[[], None] = lambda: None) -> Iterator[Callable[[], int]]:
    """Defer the signals that a Python function handles to the end of the block, where the handler
    of the first is called. It may raise, or return.

    Outside the main thread, which alone handles signals, nothing changes. `wake`: called at each
    signal, between any two instructions of the block.

    Yields:
        A function that gives the number of signals so far.

    Raises KeyboardInterrupt at the end of the block, or what else the handler raises.
    """
    received: list[int] = []
    handlers = {}

    def noted(number: int, frame: object) -> None:
        received.append(number)
        wake()

    try:
        if threading.current_thread() is threading.main_thread():
            _under_way.append(noted)
            for number in SIGNALS:
                if callable(handler := signal.getsignal(number)):
                    handlers[number] = handler
                    signal.signal(number, noted)
        yield lambda: len(received)
    finally:
        for number, handler in reversed(handlers.items()):
            signal.signal(number, handler)
        if noted in _under_way:
            _under_way.remove(noted)
        if received:
            _raised[0](received[0])
