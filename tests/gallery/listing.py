"""The subjects of a package, found by looking: a program for the Python of its environment.

A `Package` comes on stdin as JSON; its subjects, and what cannot be imported, go to stdout.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

Found = Mapping[str, Any]  # name, target, settings
_VERSIONED = re.compile(r"(.+)_v(\d+)")
_LIBRARIES = ("mesa", "mesa_geo", "agentpy", "gymnasium", "pettingzoo")  # have base classes
_NO_SUBJECTS = re.compile(
    r"(^|\.)(\w*app|apps|viz|visualization|server|run|tests?|test_\w+|conftest|scripts?|__main__|main"
    r"|setup|demos?|train\w*|docs?|wrappers?|utils?)(\.|$)"
)


class Look:
    """Looks through packages. `failed`: modules that cannot be imported, and why."""

    def __init__(self, order: Mapping[str, Any]) -> None:
        self.failed: list[str] = []
        self._order = order

    def subjects(self) -> Iterator[Found]:
        """What the order asks for, or all that its distribution has."""
        order = self._order
        if order["models"] or order["ids"] or order["pettingzoo"]:
            yield from self._models(self._walk(order["models"]))
            yield from self._registered(order["ids"])
            yield from self._pettingzoo(order["pettingzoo"])
            return
        tops = _tops(order["distribution"])
        by_name = [*self._registered(tops), *self._pettingzoo(tops)]
        yield from by_name
        modules = list(self._walk(tops))
        yield from self._models(modules)
        if not by_name:
            yield from self._environments(modules)

    def _imported(self, name: str) -> ModuleType | None:
        try:
            return importlib.import_module(name)
        except BaseException as error:
            text = f"{name}: {type(error).__name__}: {error}".splitlines()[0]
            self.failed.append(text)
            return None

    def _walk(self, packages: Iterable[str]) -> Iterator[ModuleType]:
        """The modules of packages in which subjects can be."""
        for package in packages:
            for name in self._names(package):
                if not _NO_SUBJECTS.search(name) and (module := self._imported(name)):
                    yield module

    def _names(self, package: str) -> Iterator[str]:
        """The names of a package and of its modules, those in folders without `__init__.py` too."""
        module = self._imported(package)
        if module is None:
            return
        yield package
        for folder in map(Path, getattr(module, "__path__", ())):
            for path in sorted(folder.rglob("*.py")):
                parts = path.relative_to(folder).with_suffix("").parts
                parts = parts[:-1] if parts[-1] == "__init__" else parts
                if parts and all(map(str.isidentifier, parts)):
                    yield ".".join([package, *parts])

    def _models(self, modules: Iterable[ModuleType]) -> Iterator[Found]:
        """Classes that derive from a library's `Model`, and from which no other of them does."""
        classes = _leaves(modules, {"Model": ("mesa", "mesa_geo", "agentpy")})
        for one in classes:
            yield {"name": one.__name__, "target": f"{one.__module__}:{one.__qualname__}"}

    def _environments(self, modules: Iterable[ModuleType]) -> Iterator[Found]:
        """Classes of environments that are made without arguments."""
        libraries = ("gymnasium", "pettingzoo")
        for one in _leaves(modules, dict.fromkeys(("Env", "AECEnv", "ParallelEnv"), libraries)):
            if not _needs_arguments(one):
                yield {"name": one.__name__, "target": f"{one.__module__}:{one.__qualname__}"}

    def _registered(self, modules: Sequence[str]) -> Iterator[Found]:
        """The newest versions of environments whose class is defined in these packages."""
        for module in modules:
            self._imported(module)
        if (gymnasium := sys.modules.get("gymnasium")) is None:
            return
        newest: dict[tuple[str | None, str], Any] = {}
        for spec in gymnasium.registry.values():
            key = spec.namespace, spec.name
            if key not in newest or (spec.version or 0) > (newest[key].version or 0):
                newest[key] = spec
        own = [(where, spec) for where, spec in _places(newest.values()) if _within(where, modules)]
        own = [one for one in own if re.search(self._order["only"], one[1].id)]
        seen = set()
        for where, spec in own:
            if len(own) > self._order["ids_max"] and where in seen:
                continue
            seen.add(where)
            module = _within(where, modules)
            full = spec.id if module == "gymnasium" else f"{module}:{spec.id}"
            yield {"name": spec.id, "target": "gymnasium:make", "settings": {"id": full}}

    def _pettingzoo(self, packages: Sequence[str]) -> Iterator[Found]:
        """The newest versions; those with a parallel interface by it, the others in turns."""
        newest: dict[str, tuple[int, str]] = {}
        for package in packages:
            for module in self._names(package):
                if match := _VERSIONED.fullmatch(module):
                    newest[match[1]] = max(newest.get(match[1], (-1, "")), (int(match[2]), module))
        for _, module in newest.values():
            maker = "env"
            with suppress(BaseException):  # the doctor will say why it cannot be imported
                if hasattr(importlib.import_module(module), "parallel_env"):
                    maker = "parallel_env"
            yield {"name": module.rpartition(".")[2], "target": f"{module}:{maker}"}


def _tops(distribution: str) -> list[str]:
    """The names that a distribution can be imported by."""
    paths = [path for path in importlib.metadata.files(distribution) or () if path.suffix == ".py"]
    names = {path.parts[0].removesuffix(".py") for path in paths}
    return sorted(name for name in names if name.isidentifier() and not _NO_SUBJECTS.search(name))


def _places(specs: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    for spec in specs:
        entry = spec.entry_point
        if entry is not None:
            yield (entry if isinstance(entry, str) else f"{entry.__module__}:{entry}"), spec


def _within(where: str, modules: Sequence[str]) -> str:
    """The module in whose package a place is; empty if it is in none."""
    package = where.partition(":")[0].partition(".")[0]
    return next((one for one in modules if one.partition(".")[0] == package), "")


def _leaves(modules: Iterable[ModuleType], bases: Mapping[str, Sequence[str]]) -> list[type]:
    """Classes that are defined in modules, derive from such a base, and have none derived."""
    classes: dict[type, None] = {}
    for module in modules:
        for value in vars(module).values():
            is_own = inspect.isclass(value) and value.__module__ == module.__name__
            if is_own and not inspect.isabstract(value) and _derives(value, bases):
                classes[value] = None
    leaves = [
        one for one in classes if not any(b is not one and issubclass(b, one) for b in classes)
    ]
    return sorted(leaves, key=lambda one: (one.__module__, one.__qualname__))


def _derives(value: type, bases: Mapping[str, Sequence[str]]) -> bool:
    above = value.__mro__[1:]
    if any(one.__name__ in ("Wrapper", "BaseWrapper", "VectorEnv") for one in above):
        return False
    return (
        any(one.__module__.partition(".")[0] in bases.get(one.__name__, ()) for one in above)
        and value.__module__.partition(".")[0] not in _LIBRARIES[3:]
    )


def _needs_arguments(value: type) -> bool:
    with suppress(TypeError, ValueError):
        return any(
            parameter.default is parameter.empty
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
            for parameter in inspect.signature(value).parameters.values()
        )
    return True


def _told_apart(subjects: Sequence[Found]) -> Sequence[Found]:
    """With the module before a name that several have."""
    count = Counter(one["name"] for one in subjects)
    return [one if count[one["name"]] == 1 else {**one, "name": one["target"]} for one in subjects]


def main() -> None:
    """List what the order on stdin asks for."""
    order = json.load(sys.stdin)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what packages print
    look = Look(order)
    json.dump({"subjects": _told_apart([*look.subjects()]), "failed": look.failed}, out)
    out.flush()
    os._exit(0)  # threads of a package's may still run


if __name__ == "__main__":
    main()
