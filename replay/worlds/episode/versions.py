"""On which versions a recording rests: of Python, and of the distributions that its code is of."""

from __future__ import annotations

import platform
from functools import cache
from importlib import metadata


def versions_of(*classes: type) -> dict[str, str]:
    """The versions of Python, of numpy if it is there, and of the distributions in which the
    classes and their bases are, by name. Code that no distribution has is left out.
    """
    tops = {base.__module__.partition(".")[0] for cls in classes for base in cls.__mro__}
    found = {"python": platform.python_version()}
    for top in sorted({*tops, "numpy"} - {"builtins", "typing", "abc", "goldrush"}):
        for name in _distributions(top):
            found[name] = metadata.version(name)
    return found


@cache
def _distributions(top: str) -> tuple[str, ...]:
    """The names of the distributions that have this module. To ask for one of the same name is a
    hundred times faster than to search all.
    """
    try:
        return (metadata.metadata(top)["Name"].lower(),)
    except metadata.PackageNotFoundError:
        return tuple(sorted({name.lower() for name in _by_module().get(top, ())}))


@cache
def _by_module() -> dict[str, list[str]]:
    return {module: list(names) for module, names in metadata.packages_distributions().items()}
