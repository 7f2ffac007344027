"""Games loaded from files: `fishery.py`, `fishery.py:Fishery`, or `package.module:Fishery`.

Naming a file is the consent to run it; a journal names none. What is recorded is the SHA-256 of the
source and, up to TEXT_MAX bytes, its text.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import os
import re
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from importlib.resources import files
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Final

import attrs

from goldrush.agents.trust import FILE_MODULE, add_user_folder
from goldrush.kernel.errors import BadInput, format_error, format_value, unknown
from goldrush.kernel.game.game import Game, snake, source_when_made

TEXT_MAX: Final = 1 << 16  # bytes of a source whose text is recorded
FILE_MAX: Final = 1 << 24  # bytes of a file that is loaded

LOADED: Final = "__goldrush_source__"  # name in a loaded module: the bytes of its file


@attrs.frozen
class Source:
    """The source of a game.

    Attributes:
        sha256: of its file, in hex; None: it is not known.
        text: None if it has more than TEXT_MAX bytes, or is not known.
    """

    sha256: str | None
    text: str | None

    def as_dict(self) -> dict[str, object]:
        """For START and FORK."""
        return attrs.asdict(self)


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
        text: bytes | None = getattr(module, LOADED, None)
        if text is None and isinstance(code, type) and issubclass(code, Game):
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


def is_in(function: FunctionType, code: CodeType) -> bool:
    """Whether a function is one of the functions in the code of a module."""
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return function.__code__ in inner or any(is_in(function, each) for each in inner)


def imported_in(tree: ast.AST, package: str = "") -> Iterator[str]:
    """The modules that a source may import, with the packages that they are in; of `from a import
    b` both `a` and `a.b`.
    """
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            parts = package.split(".") if node.level else []
            base = [*parts[: len(parts) + 1 - node.level], *filter(None, [node.module])]
            names = [".".join([*base, alias.name]) for alias in node.names]
        for name in names:
            parts = name.split(".")
            yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))


def new_game(name: str) -> tuple[str, str]:
    """The name and the text of a file with a new game, a fishery to be changed. `name`: of its
    class, or words that make one: `my-market` is `MyMarket`. Raises BadInput for any other.
    """
    words = re.split(r"[-_ ]+", name)
    name = "".join(word[:1].upper() + word[1:] for word in words)
    if not (name.isidentifier() and name.isascii() and name[0].isupper()):
        raise BadInput(f"a game cannot be called {format_value(name)}", "give a name like Harbour")
    text = files("goldrush.games").joinpath("fishery.py").read_text(encoding="utf-8")
    return f"{snake(name)}.py", text.replace("class Fishery(", f"class {name}(")


def load_game(name: str) -> type[Game]:
    """The game of a file or of a module.

    Raises BadInput for what cannot be read or run, and for none or several games in a file without
    a class.
    """
    front, _, wanted = name.partition(":")
    module = load_module(name, "world")
    games = {
        value.__name__: value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Game)
        and value.__module__ == module.__name__
    }
    if wanted and wanted not in games:
        raise unknown(f"game in {front}", wanted, games)
    if not wanted and len(games) != 1:
        listed = ", ".join(games) or "no game"
        own = [
            name
            for name, value in vars(module).items()
            if getattr(value, "__module__", "") == module.__name__ and callable(value)
        ]
        other = f", or name what makes an environment or a model: {front}:{own[-1]}" if own else ""
        raise BadInput(
            f"{front} has {listed}",
            f"name one: {front}:{next(iter(games))}"
            if games
            else f"write class NAME(goldrush.Game){other}",
        )
    return games[wanted or next(iter(games))]


def load_module(location: str, what: str) -> ModuleType:
    """The module of `FILE.py:NAME` or `package.module:NAME`, run or imported. `what`: what NAME is,
    for messages. Raises BadInput for what cannot be read or run.
    """
    front = location.partition(":")[0]
    if front.endswith(".py"):
        return _run_file(front)
    try:
        return importlib.import_module(front)
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        raise BadInput(
            f"{what} {location} cannot be imported: {format_error(error)}",
            "give a module that can be imported from here, or a file: FILE.py",
        ) from error


def _run_file(path: str) -> ModuleType:
    """The module of a file, run unless that was done.

    It is named after its path and its content, so that records find it again by their module. From
    then on its folder is searched, after everything that is installed: it may import what is there.
    """
    try:
        size = os.stat(path).st_size
        code = Path(path).read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}", "give a Python file") from None
    if size > FILE_MAX:
        raise BadInput(f"{path} has {size:,} bytes", f"give a file of at most {FILE_MAX:,}")
    full = os.path.abspath(path)
    add_user_folder(os.path.dirname(full))
    digest = hashlib.sha256(full.encode() + b"\0" + code).hexdigest()
    name = f"{FILE_MODULE}{digest[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = full
    setattr(module, LOADED, code)
    sys.modules[name] = module
    try:
        tree = ast.parse(code, full)
        with redirect_stdout(sys.stderr):  # what a file prints is no command's output
            exec(compile(tree, full, "exec", dont_inherit=True), module.__dict__)  # noqa: S102  # the file that the user names
        _check_imports(tree, os.path.dirname(full))
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, (KeyboardInterrupt, MemoryError)):
            raise
        if isinstance(error, BadInput):
            raise BadInput(f"{path}: {error.what}", error.instead) from error
        place = f":{error.lineno}" if isinstance(error, SyntaxError) else ""
        reason = error.msg if isinstance(error, SyntaxError) else format_error(error)
        raise BadInput(f"{path}{place} cannot be run: {reason}", "correct it") from error
    return module


def _check_imports(tree: ast.AST, folder: str) -> None:
    """Check that what a file imports by the name of a file beside it is that file.

    Raises BadInput where a module of that name is installed, or was imported by the file of another
    game: a process has one module of a name.
    """
    for name in sorted({name.partition(".")[0] for name in imported_in(tree)} - {"goldrush"}):
        beside = [os.path.join(folder, f"{name}.py"), os.path.join(folder, name, "__init__.py")]
        file = getattr(sys.modules.get(name), "__file__", None)
        if file and file not in beside and any(map(os.path.exists, beside)):
            raise BadInput(
                f"it imports {name}, which is not the one beside it but {file}",
                "give it another name, or use one process for each of the games",
            )
