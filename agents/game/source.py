"""Games loaded from files: `fishery.py`, `fishery.py:Fishery`, or `package.module:Fishery`.

Naming a file is the consent to run it; a journal names none. The source is rewritten in one
respect: where it goes through a set, whose order differs between processes, it raises BadInput with
the line. What is recorded is the SHA-256 of the source and, up to TEXT_MAX bytes, its text.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import inspect
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, TypeVar

import attrs

from goldrush.agents.trust import FILE_MODULE, add_user_folder
from goldrush.kernel.errors import BadInput, format_error, format_value, unknown
from goldrush.kernel.game.game import Game, snake, source_when_made
from goldrush.kernel.game.watch import check_ordered, varies

TEXT_MAX: Final = 1 << 16  # bytes of a source whose text is recorded
FILE_MAX: Final = 1 << 24  # bytes of a file that is loaded
T = TypeVar("T")

LOADED: Final = "__goldrush_source__"  # name in a loaded module: the bytes of its file

# The names of `ordered` and `untied` in such a module.
_ORDERED: Final = "__goldrush_ordered__"
_UNTIED: Final = "__goldrush_untied__"

# Built-in functions whose result depends on the order of what they go through, and others.
_GOING_THROUGH: Final = frozenset(
    ["list", "tuple", "enumerate", "zip", "map", "filter", "iter", "sum", "reversed", "dict"]
)
_BY_KEY: Final = frozenset(["sorted", "min", "max"])  # where their `key` has ties
_IN_ANY_ORDER: Final = frozenset(["sorted", "min", "max", "any", "all", "set", "frozenset"])


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
    module.__dict__.update({_ORDERED: ordered, _UNTIED: untied, LOADED: code})
    sys.modules[name] = module
    try:
        tree = _Ordering(os.path.basename(full)).visit(ast.parse(code, full))
        with redirect_stdout(sys.stderr):  # what a file prints is no command's output
            exec(compile(ast.fix_missing_locations(tree), full, "exec"), module.__dict__)  # noqa: S102  # the file that the user names
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


class _Ordering(ast.NodeTransformer):
    """Puts `ordered` around what a source goes through where the order matters."""

    def __init__(self, file: str) -> None:
        self._file = file

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        self._visit_in_any_order(node)
        return node

    def _visit_in_any_order(self, node: ast.SetComp | ast.GeneratorExp) -> None:
        """Let it go through sets, unless it draws: draws are recorded in order."""
        if _draws(node):
            self.generic_visit(node)
            return
        for comprehension in node.generators:
            self.generic_visit(comprehension)
        node.elt = self.visit(node.elt)

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.iter = self._checked(node.iter)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        node.iter = self._checked(node.iter)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        if any(isinstance(target, (ast.Tuple, ast.List)) for target in node.targets):
            node.value = self._checked(node.value)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Add):  # of a list
            node.value = self._checked(node.value)
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ctx, ast.Load):
            node.value = self._checked(node.value)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        function = node.func
        name = function.id if isinstance(function, ast.Name) else ""
        match node.args:
            case [ast.GeneratorExp() as items] if name in _IN_ANY_ORDER or (
                name == "sum" and isinstance(items.elt, (ast.Constant, ast.Compare))
            ):
                self._visit_in_any_order(items)
                node.keywords = [self.visit(keyword) for keyword in node.keywords]
                return node
        self.generic_visit(node)
        is_keyed = name in _BY_KEY and any(keyword.arg == "key" for keyword in node.keywords)
        if name in _GOING_THROUGH or (is_keyed and _draws(node)):
            node.args = [a if isinstance(a, ast.Starred) else self._checked(a) for a in node.args]
        elif is_keyed:
            given = [function, self._place(node), *node.args]
            call = ast.Call(ast.Name(_UNTIED, ast.Load()), given, node.keywords)
            return ast.copy_location(call, node)
        elif isinstance(function, ast.Attribute) and function.attr in ("join", "extend", "pop"):
            if function.attr == "pop" and not node.args:
                function.value = self._checked(function.value)
            elif function.attr != "pop":
                node.args = [
                    a if isinstance(a, ast.Starred) else self._checked(a) for a in node.args
                ]
        return node

    def _checked(self, node: ast.expr) -> ast.expr:
        """The expression, checked when it is evaluated, unless it is clearly no set."""
        if isinstance(
            node, (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.JoinedStr)
        ):
            return node
        call = ast.Call(ast.Name(_ORDERED, ast.Load()), [node, self._place(node)], [])
        return ast.copy_location(call, node)

    def _place(self, node: ast.expr) -> ast.expr:
        return ast.Constant(f"{self._file}:{node.lineno}")


def _draws(node: ast.AST) -> bool:
    return any(isinstance(part, ast.Name) and part.id == "draw" for part in ast.walk(node))


_SETS: Final = (set, frozenset)


def ordered(value: T, place: str) -> T:
    """The value. Raises BadInput for a set whose order differs between processes."""
    if isinstance(value, _SETS):  # before the text is made: every `+=` comes here
        check_ordered(value, f"{place} goes through")
    return value


def untied(function: Callable[..., T], place: str, *given: object, **named: object) -> T:
    """What `sorted`, `min` or `max` gives. Raises BadInput for a set whose order decides it: where
    two elements have one key.
    """
    if (
        len(given) == 1
        and function in (sorted, min, max)
        and isinstance(given[0], (set, frozenset))
        and varies(given[0])
    ):
        key: Any = named["key"]
        keys = sorted(map(key, given[0])) if key is not None else []
        if function is not sorted:
            keys = [key for key in keys if key == keys[0 if function is min else -1]]
        if any(a == b for a, b in pairwise(keys)):
            check_ordered(given[0], f"{place}: `{function.__name__}` finds a tie of keys in")
    return function(*given, **named)
