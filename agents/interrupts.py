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

# SIGINT first, so that it is restored last: users send it again and again. SIGUSR1 has a handler in
# worker processes alone (see pool.py).
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1)


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

    def note(number: int, frame: object) -> None:
        received.append(number)
        wake()

    try:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if callable(handler := signal.getsignal(number)):
                    handlers[number] = handler
                    signal.signal(number, note)
        yield lambda: len(received)
    finally:
        for number, handler in reversed(handlers.items()):
            signal.signal(number, handler)
        if received:
            signal.raise_signal(received[0])
