"""The file of a new game."""

from __future__ import annotations

import keyword
import re
import sys
from importlib.resources import files
from pathlib import Path

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.game.game import snake


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
