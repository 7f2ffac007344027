"""The files of the code that a user gave to a study: a study has one code."""

from __future__ import annotations

import ast
import hashlib
import inspect
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from typing import Final, cast

from goldrush.agents.given import given, maker_of
from goldrush.agents.modules import LOADED, edited_function, imported_in
from goldrush.agents.targets import RegisteredEnvironment
from goldrush.agents.trust import import_names
from goldrush.kernel.errors import BadInput
from goldrush.replay.find import OF_MAKERS
from goldrush.replay.study.plan import Planned, StudyPlan, studied

_INSTALLED: Final = frozenset(["site-packages", "dist-packages"])  # folders of distributions


def checked_code(
    root: Path, plan: StudyPlan, recorded: Mapping[str, str], kept: Sequence[Planned]
) -> Mapping[str, str]:
    """The code of a plan, for the manifest of a study in which runs are played now. `recorded`: the
    code of that manifest, and `kept`: the runs that are not played again.

    It is empty where the code of kept runs is not recorded. Raises BadInput if a file of the code
    of kept runs is new, another or gone, or a file was edited after it was imported.
    """
    code = _code_of(plan, plan.rosters)
    played = _code_of(plan, {run.cell.roster for run in kept}) if kept else {}
    if not recorded:
        return {} if played else code
    gone = recorded.keys() - code.keys() if kept else ()
    for file in sorted({*played, *gone}):
        then, now = recorded.get(file, "none"), played.get(file, "none")
        if then != now:
            raise BadInput(
                f"{root} has runs that were played with other code (SHA-256 of {file} then: "
                f"{then[:12]}, now: {now[:12]}), and a study has one code",
                f"give another folder (--out), or put {file} back as it was",
            )
    return code


def _code_of(plan: StudyPlan, rosters: Collection[str]) -> Mapping[str, str]:
    """`_files_of` the code that was given to play these rosters of a plan."""
    texts = [text for name in rosters if (text := plan.rosters[name]) is not None]
    names = import_names(
        name for text in texts for name in studied(plan.world).players.policy_set.names_in(text)
    )
    maker: object = maker_of("") if plan.world == OF_MAKERS else None
    if isinstance(maker, RegisteredEnvironment):
        maker = maker.entry_point
    code = [each for each in (given(plan.world).value, maker) if each is not None]
    return _files_of(code, [name.partition(":")[0].removesuffix(".py") for name in names])


def _files_of(code: Iterable[object], modules: Iterable[str]) -> dict[str, str]:
    """SHA-256 of the files of classes and functions and of modules by name, and of all files that
    an `import` in these names, wherever it stands, by path below the folder of the import.

    Installed distributions, Python and goldrush are left out. Of the main program, which may change
    in what it asks, only the given classes and functions count.
    """
    queue, digests = list(modules), dict[str, str]()
    for each in code:
        while isinstance(each, partial):
            each = each.func
        module = str(getattr(each, "__module__", ""))
        if module != "__main__":
            queue.append(module)
            continue
        with suppress(OSError, TypeError):  # typed in
            text = inspect.getsource(cast("type", each)).encode()
            digests[f"{module}:{getattr(each, '__qualname__', '')}"] = _digest(text)
    seen = set[str]()
    while queue:
        name = queue.pop()
        if name in seen:
            continue
        seen.add(name)
        with suppress(OSError, SyntaxError, ValueError):  # no source
            file = _file_of_user(name)
            if file is None:
                continue
            text = getattr(sys.modules.get(name), LOADED, None) or file.read_bytes()
            is_package = file.stem == "__init__"
            below = file.parts[-name.count(".") - 1 - is_package :]
            digests["/".join(below)] = _digest(text)
            _check_imported(name, text)
            package = name if is_package else name.rpartition(".")[0]
            queue += imported_in(ast.parse(text), package)
    return dict(sorted(digests.items()))


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()


def _check_imported(name: str, text: bytes) -> None:
    """Raises BadInput if a module that was imported has other functions than the text that its file
    has now. What another loader than Python's made is not compared.
    """
    module = sys.modules.get(name)
    loader = getattr(getattr(module, "__spec__", None), "loader", None)
    if module is None or type(loader) is not SourceFileLoader:
        return
    if (function := edited_function(module, text)) is not None:
        raise BadInput(
            f"{module.__file__} is not the code that would play: {function.__qualname__} differs "
            "from the module that was imported",
            "start Python anew, which imports it as it is now",
        )


def _file_of_user(name: str) -> Path | None:
    """The file of a module, imported or not; None if there is none, and for installed ones."""
    if name.partition(".")[0] in sys.stdlib_module_names | {"goldrush"}:
        return None
    spec = _spec_of(name) if name not in sys.modules else None
    file = getattr(sys.modules.get(name), "__file__", None)
    file = file or (spec and spec.has_location and spec.origin)
    return None if not file or _INSTALLED & {*Path(file).parts} else Path(file)


def _spec_of(name: str) -> ModuleSpec | None:
    """Where a module would be imported from. Nothing is imported."""
    parent = name.rpartition(".")[0]
    if name in sys.modules or not parent:
        return getattr(sys.modules.get(name), "__spec__", None) or PathFinder.find_spec(name)
    above = _spec_of(parent)
    folders = None if above is None else above.submodule_search_locations
    return None if folders is None else PathFinder.find_spec(name, folders)
