"""Ctrl-C waits until an answer from outside is committed.

Answers of models and people may have been paid for, and Python raises KeyboardInterrupt between any
two instructions: also after an answer has arrived and before it is on the disk. So between the two
a signal is only noted. In a worker process a thread waits for signals, and has them noted.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

# SIGINT first, so that it is restored last: users send it again and again.
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

End = Callable[[int], object]

_notes: Final[list[Callable[[int, End], None]]] = []  # one for each block under way
_lock: Final = threading.Lock()


def is_deferred(number: int, end: End) -> bool:
    """Have a signal noted that a thread has waited for: `end` is called with its number at the end
    of the block that is under way, in place of a handler. False: none is.
    """
    with _lock:
        for note in _notes[-1:]:
            note(number, end)
        return bool(_notes)


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
    ends: list[End] = []
    handlers = {}

    def note(number: int, frame: object) -> None:
        received.append(number)
        wake()

    def note_from_thread(number: int, end: End) -> None:
        ends.append(end)
        note(number, None)

    try:
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if callable(handler := signal.getsignal(number)):
                    handlers[number] = handler
                    signal.signal(number, note)
            _notes.append(note_from_thread)
        yield lambda: len(received)
    finally:
        with _lock:
            if note_from_thread in _notes:
                _notes.remove(note_from_thread)
        for number, handler in reversed(handlers.items()):
            signal.signal(number, handler)
        if received:
            (*ends, signal.raise_signal)[0](received[0])
