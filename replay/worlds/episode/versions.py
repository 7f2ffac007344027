"""On which versions a recording rests: of Python, and of the distributions that its code is of.

Those are found by what the modules of the code have imported, and the modules that these have
imported, as far as they are loaded. What is imported within a function is not seen. Which other
modules the process has loaded makes no difference: the same code has the same versions.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Final, cast

from goldrush.replay.repeats.content import attributes

_OTHERS: Final = sys.stdlib_module_names | {"goldrush"}  # whose versions are no distribution's


def versions_of(*code: object) -> dict[str, str]:
    """The versions of Python, of numpy if it is there, and of the distributions that
    classes, their bases and functions reach, by name. Code that no distribution has is left out.
    """
    reached, queue = set[str](), sorted({module for each in code for module in _modules_of(each)})
    while queue:
        module = queue.pop()
        top = module.partition(".")[0]
        if module in reached or top in _OTHERS:
            continue
        reached.add(module)
        queue += (_imported_once if _distributions(top) else _imported)(module)
    tops = {module.partition(".")[0] for module in reached} | {"numpy"}
    named = {name: version for top in tops for name, version in _distributions(top)}
    return {"python": platform.python_version(), **dict(sorted(named.items()))}


def format_versions(recorded: Mapping[str, str]) -> str:
    """The versions here of what a run was recorded under, and where they differ its own."""
    return ", ".join(
        f"{name} {here}" + ("" if here == version else f" (recorded under {version})")
        for name, version in recorded.items()
        for here in [_version_here(name)]
    )


def _version_here(name: str) -> str:
    try:
        return platform.python_version() if name == "python" else metadata.version(name)
    except (metadata.PackageNotFoundError, ValueError):  # ValueError: a forged name
        return "absent"


def is_installed(kind: type) -> bool:
    """Whether a class is of a distribution, or of Python, and not of a file of one's own."""
    top = kind.__module__.partition(".")[0]
    return top in sys.stdlib_module_names or bool(_distributions(top))


def _modules_of(code: object) -> Iterator[str]:
    while isinstance(code, partial):
        code = code.func
    for each in getattr(code, "__mro__", None) or (code,):
        yield str(getattr(each, "__module__", ""))


def _imported(module: str) -> list[str]:
    """The modules that a module has imported, and those of classes and functions that it has. Its
    submodules have no say: it has those that anybody imports.
    """
    found = list[object]()
    for name, value in attributes(sys.modules.get(module)).items():
        if isinstance(value, ModuleType):
            own = attributes(value).get("__name__")
            found += [] if own == f"{module}.{name}" else [own]
        elif isinstance(value, type | FunctionType | BuiltinFunctionType):
            found.append(getattr(value, "__module__", None))
    return [name for name in found if type(name) is str]


_imported_once = cache(_imported)  # installed modules have hundreds of names


@cache
def _distributions(top: str) -> tuple[tuple[str, str], ...]:
    """Names and versions of the distributions that have a module. To ask for one of the same name
    takes a hundredth of the time that a search takes.
    """
    held = attributes(sys.modules.get(top))
    paths = held.get("__path__") or [path for path in [held.get("__file__")] if path]
    folders = {Path(path).parent for path in cast("Iterable[str]", paths)}
    with suppress(metadata.PackageNotFoundError, ValueError):
        named = metadata.distribution(top)
        if not folders or Path(str(named.locate_file(""))) in folders or _is_editable(named):
            return (_named(named),)  # and no module of one's own that is called the same
    records = [each for folder in folders for each in folder.glob("*.dist-info/RECORD")]
    found = [metadata.Distribution.at(each.parent) for each in records if _lists(each, top)]
    return tuple(map(_named, found))


def _named(distribution: metadata.Distribution) -> tuple[str, str]:
    return distribution.metadata["Name"].lower(), distribution.version


def _is_editable(distribution: metadata.Distribution) -> bool:
    """Whether its modules lie elsewhere than what is known of it."""
    try:
        origin = json.loads(distribution.read_text("direct_url.json") or "{}")
        return origin["dir_info"]["editable"] is True
    except (ValueError, LookupError, TypeError):  # it has none, or one of another form
        return False


def _lists(record: Path, top: str) -> bool:
    """Whether a module is among the files of a distribution."""
    files = "\n" + record.read_text("utf-8", "replace")
    return f"\n{top}/" in files or f"\n{top}." in files
