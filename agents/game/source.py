"""The source of a game. Recorded are its SHA-256 and, up to TEXT_MAX bytes, its text."""

from __future__ import annotations

import hashlib
import inspect
import keyword
import re
import sys
from importlib.resources import files
from pathlib import Path
from types import FunctionType
from typing import Final

import msgspec

from goldrush.agents.modules import LOADED, is_in
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.game.game import Game, snake, source_when_made

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
    try:
        text = code.decode()
    except UnicodeDecodeError:
        raise BadInput("the source is not UTF-8", "save it as UTF-8") from None
    return Source(hashlib.sha256(code).hexdigest(), text if len(code) <= TEXT_MAX else None)


def source_of_code(code: type | FunctionType) -> Source:
    """The source of a class or a function that runs here: the file of its module as it was loaded,
    or the cell of a notebook. Of a function, not known where the file was edited since.
    """
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


def new_game(name: str, path: str | None = None) -> tuple[str, str]:
    """The path and the text of a file with a new game, a fishery to be changed. `name`: of its
    class, or words that make one: `my-market` is `MyMarket`; `path`: another than the name in lower
    case. Raises BadInput for a name that is none, or of which the file could not be imported.
    """
    words = re.split(r"[-_ ]+", name)
    name = "".join(word[:1].upper() + word[1:] for word in words)
    if not (name.isidentifier() and name.isascii() and name[0].isupper()):
        raise BadInput(f"a game cannot be called {format_value(name)}", "give a name like Harbour")
    path = path or f"{snake(name)}.py"
    module = Path(path).stem
    for word in (name, module):
        if keyword.iskeyword(word):
            raise BadInput(f"{word} is a keyword of Python", "give a name like Harbour")
    if module in sys.stdlib_module_names | {"goldrush"}:
        owner = "goldrush" if module == "goldrush" else "Python's standard library"
        raise BadInput(f"{module} is the name of a module of {owner}", "give another name")
    text = files("goldrush.games").joinpath("fishery.py").read_text(encoding="utf-8")
    return path, text.replace("class Fishery(", f"class {name}(")
