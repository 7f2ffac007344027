"""Modules of a user's code: a file, or a module that can be imported. Naming one is consent to it.

A file is the module of its stem, so that other files beside it import the same classes and pickles
find them. Unlike an imported one it is run anew where its path or its text is another than before:
in a notebook it is edited, and a program may compare two versions of it.
"""

from __future__ import annotations

import ast
import gc
import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Final

from goldrush.agents.trust import UserFolder, add_user_folder
from goldrush.kernel.errors import BadInput, format_error

FILE_MAX: Final = 1 << 24  # bytes of a file that is loaded
LOADED: Final = "__goldrush_source__"  # name in the module of a file: the bytes that were run
EXAMPLES: Final = "package.module:NAME or FILE.py:NAME"


def load_module(front: str) -> ModuleType:
    """The module of a file (`fishery.py`), run unless that was done, or of a name, imported. The
    folder of a file, or the current one, is searched after everything that is installed. What the
    code prints goes to stderr.

    Raises BadInput for what cannot be read, found or run, and for a file with the name of a module
    that is installed, or was imported from elsewhere.
    """
    with running(front):
        return _of_file(front) if front.endswith(".py") else _imported(front)


@contextmanager
def running(name: str) -> Iterator[None]:
    """Run code that a user named: its exceptions are `reported`, the working folder stays, and what
    it prints goes to stderr.
    """
    from goldrush.kernel.files import folder_kept  # loads attrs: `goldrush --help` does without

    with folder_kept(), printing_to_stderr(), reported(name, "cannot be run", "correct it"):
        yield


def printing_to_stderr() -> AbstractContextManager[object]:
    """Sends to stderr what user-defined code prints, so that it is no part of a command's output.

    Does nothing outside the main thread: all threads share `sys.stdout`, and two that replace it at
    the same time do not put back the original.
    """
    if threading.current_thread() is threading.main_thread():
        return redirect_stdout(sys.stderr)
    return nullcontext()


@contextmanager
def reported(name: str, failure: str, instead: str) -> Iterator[None]:
    """Raises BadInput for any exception of code that a user named, SystemExit included. `failure`:
    what it prevents, for the message; `instead`: what to do.
    """
    try:
        yield
    except (KeyboardInterrupt, MemoryError, BadInput):
        raise
    except BaseException as error:
        is_syntax = isinstance(error, SyntaxError) and error.filename == os.path.abspath(name)
        place = f"{name}:{error.lineno}" if is_syntax else name  # type: ignore[attr-defined]
        reason = str(error.msg) if is_syntax else format_error(error)  # type: ignore[attr-defined]
        raise BadInput(f"{place} {failure}: {reason}", instead) from error


def _imported(name: str) -> ModuleType:
    if name in sys.modules:
        return importlib.import_module(name)  # complete, should another thread still import it
    add_user_folder(os.getcwd())
    try:
        is_there = importlib.util.find_spec(name) is not None
    except ModuleNotFoundError as error:
        if not f"{name}.".startswith(f"{error.name}."):  # one that a package above it needs
            raise
        is_there = False
    if not is_there:
        raise BadInput(f"there is no module {name} that can be imported", f"give {EXAMPLES}")
    return importlib.import_module(name)


def _of_file(path: str) -> ModuleType:
    try:
        size = os.stat(path).st_size
        code = Path(path).read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}", "give a Python file") from None
    if size > FILE_MAX:
        raise BadInput(f"{path} has {size:,} bytes", f"give a file of at most {FILE_MAX:,}")
    full = os.path.abspath(path)
    stem = os.path.basename(full).removesuffix(".py")
    if "." in stem or not stem:
        raise BadInput(f"{path} cannot be imported by its name", "rename the file")
    known = sys.modules.get(stem)
    if known is not None and _is_of(known, full) and _is_current(known, code):
        return known
    _check_name(path, full, stem)
    add_user_folder(os.path.dirname(full))
    importlib.invalidate_caches()  # what is beside it may be younger than the last look there
    spec = importlib.util.spec_from_file_location(stem, full, loader=_Loader(stem, full, code))
    assert spec is not None  # it has a loader
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    setattr(module, LOADED, code)
    sys.modules[stem] = module
    try:
        spec.loader.exec_module(module)
        _check_imports(ast.parse(code), os.path.dirname(full))
    except BaseException as error:
        del sys.modules[stem]
        if known is not None:
            sys.modules[stem] = known
        if isinstance(error, BadInput):
            raise BadInput(f"{path}: {error.what}", error.instead) from error
        raise
    return module


class _Loader(SourceFileLoader):
    """Runs bytes that were read already, and neither reads nor writes a compiled file: two versions
    of a file within a second may have one size.
    """

    def __init__(self, stem: str, path: str, code: bytes) -> None:
        super().__init__(stem, path)
        self._code = code

    def get_data(self, path: str) -> bytes:
        return self._code

    def path_stats(self, path: str) -> dict[str, object]:
        raise OSError  # by which importlib knows a source that is not to be cached


def _is_of(module: ModuleType, path: str) -> bool:
    """Whether a module is that of a file."""
    file = getattr(module, "__file__", None)
    return file is not None and os.path.realpath(file) == os.path.realpath(path)


def _is_current(module: ModuleType, code: bytes) -> bool:
    """Whether a module was made of this text. Of one that a user has imported and that holds no
    game, only its functions tell.
    """
    from goldrush.kernel.game.game import Game, source_when_made

    if LOADED in vars(module):
        return bool(vars(module)[LOADED] == code)
    for value in vars(module).values():
        is_game = isinstance(value, type) and issubclass(value, Game)
        if is_game and value.__module__ == module.__name__:
            return source_when_made(value) == code
    return edited_function(module, code) is None


def edited_function(module: ModuleType, text: bytes) -> FunctionType | None:
    """A function of a module that is not in the text which its file has now; None: all are."""
    path = getattr(module, "__file__", "")
    try:
        code = compile(text, path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        code = compile("", path, "exec")
    # The functions of a module, and those alone, refer to its namespace.
    for function in gc.get_referrers(vars(module)):
        if (
            isinstance(function, FunctionType)
            and function.__code__.co_filename == path
            and not is_in(function, code)
        ):
            return function
    return None


def is_in(function: FunctionType, code: CodeType) -> bool:
    """Whether a function is one of the functions in the code of a module."""
    inner = [each for each in code.co_consts if isinstance(each, CodeType)]
    return function.__code__ in inner or any(is_in(function, each) for each in inner)


def _check_name(path: str, full: str, stem: str) -> None:
    """Raises BadInput where another module has the name of a file: all would import the file in its
    place.
    """
    known = sys.modules.get(stem)
    if known is not None:
        origin = getattr(known, "__file__", None) or "Python itself"
        is_taken = LOADED not in vars(known) and not _is_of(known, full)
    else:
        spec = importlib.util.find_spec(stem)
        origin = (spec and spec.origin) or full
        folders = {os.path.abspath(each) for each in sys.path if isinstance(each, UserFolder)}
        is_taken = (
            os.path.realpath(origin) != os.path.realpath(full)
            and os.path.dirname(origin) not in folders
        )
    if is_taken:
        raise BadInput(
            f"{path} has the name of another module, {stem} ({origin})", "rename the file"
        )


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


def _check_imports(tree: ast.AST, folder: str) -> None:
    """Check that what a file imports by the name of a file beside it is that file.

    Raises BadInput where a module of that name is installed, or was imported by another file: a
    process has one module of a name.
    """
    for name in sorted({name.partition(".")[0] for name in imported_in(tree)} - {"goldrush"}):
        beside = [os.path.join(folder, f"{name}.py"), os.path.join(folder, name, "__init__.py")]
        file = getattr(sys.modules.get(name), "__file__", None)
        if file and file not in beside and any(map(os.path.exists, beside)):
            raise BadInput(
                f"it imports {name}, which is not the one beside it but {file}",
                "give it another name, or use one process for each of the games",
            )
