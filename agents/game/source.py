"""The source of a game. Recorded are its SHA-256 and, up to TEXT_MAX bytes, its text."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from types import FunctionType
from typing import Final

import msgspec

from goldrush.agents.modules import LOADED, is_in
from goldrush.kernel.errors import BadInput

TEXT_MAX: Final = 1 << 16  # bytes of a source whose text is recorded


class Source(msgspec.Struct, frozen=True):
    """The source of a game.

    Attributes:
        sha256: of its file, in hex; None: it is not known.
        text: None if it has more than TEXT_MAX bytes, or is not known.
    """

    sha256: str | None
    text: str | None

    def as_dict(self) -> dict[str, object]:
        """For START and FORK."""
        return msgspec.structs.asdict(self)


def source_of(code: bytes) -> Source:
    """The source in the bytes of a file. Raises BadInput unless they are UTF-8."""
    from hashlib import sha256

    try:
        text = code.decode()
    except UnicodeDecodeError:
        raise BadInput("the source is not UTF-8", "save it as UTF-8") from None
    return Source(sha256(code).hexdigest(), text if len(code) <= TEXT_MAX else None)


def source_of_code(code: type | FunctionType) -> Source:
    """The source of a class or a function that runs here: the file of its module as it was loaded,
    or the cell of a notebook. Of a function, not known where the file was edited since.
    """
    # A journal of any world is looked at for a source, and its code may be no game.
    from goldrush.kernel.game.game import Game, source_when_made

    try:
        module = sys.modules[code.__module__]
        path = getattr(module, "__file__", None)
        text: bytes | None = None  # of a class or a function, its module may be another by now
        if isinstance(code, FunctionType):
            text = code.__globals__.get(LOADED)
        elif issubclass(code, Game):
            text = source_when_made(code)
        if text is None and path:
            text = Path(path).read_bytes()
            if isinstance(code, FunctionType):
                now = compile(text, path, "exec", dont_inherit=True)
                if not is_in(code, now):
                    return Source(None, None)
        if text is None:
            text = inspect.getsource(code).encode()
    except (OSError, TypeError, KeyError, SyntaxError, ValueError):  # nobody keeps it
        return Source(None, None)
    return source_of(text)
