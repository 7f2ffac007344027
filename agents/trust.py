"""The gate to code of somebody's own: the one place where a name becomes an import.

A policy called `package.module:Class` is imported and called, so whoever chooses that name chooses
what runs. Names stand in journals, plans and manifests, too, which anybody may have written. So a
name is never enough: it must be among those trusted, which the person at the keyboard typed (in a
roster, in a cast, behind `--trust`) or a caller of the library gave. Installed policies are looked
up in tables, never imported by their name, and need no trust.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from goldrush.agents.llm.models import LLM
from goldrush.kernel.errors import BadInput, described, shown

RECORDED: Final = "recorded"  # plays what another journal recorded
EXTERNAL: Final = "external"  # plays what an object of a Python program submits

_OWN = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


class OwnFolder(str):
    """An entry of sys.path from which policies of somebody's own are imported, and nothing else: no
    distribution whose metadata lies there is a plugin. It stays one in other processes.
    """

    __slots__ = ()


def search(folder: str) -> None:
    """Look for policies of somebody's own in a folder, too, behind everything that is installed."""
    if folder not in sys.path:
        sys.path.append(OwnFolder(folder))


def is_own(name: str) -> bool:
    """Whether a name is that of a policy of somebody's own: package.module:Class."""
    return name.partition(":")[0] not in (RECORDED, LLM) and _OWN.fullmatch(name) is not None


def own_among(names: Iterable[str]) -> tuple[str, ...]:
    """The names of policies of somebody's own among these, each once."""
    return tuple(dict.fromkeys(filter(is_own, names)))


def check_trust(name: str, trust: Collection[str], who: str = "") -> None:
    """Raises BadInput for the name of a policy that is not among those trusted.

    `who`, for the message, plays it. Names of installed policies are not for here.
    """
    if not is_own(name):
        raise BadInput(f"there is no policy {shown(name)}", "write package.module:Class")
    if name not in trust:
        says = f"{who} plays {shown(name)}, " if who else f"{shown(name)} is "
        raise BadInput(f"{says}code of somebody's own", f"allow it with trust (--trust {name})")


def own_class(name: str, trust: Collection[str]) -> Callable[..., Any]:
    """What makes a policy of somebody's own. Its module is imported only if `trust` has the name.

    Raises BadInput for a name that `check_trust` refuses, and for what cannot be imported.
    """
    check_trust(name, trust)
    module, _, attribute = name.partition(":")
    with _reported(name):
        found: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
        return found


def made(name: str, trust: Collection[str], methods: Iterable[str] = ()) -> Any:
    """A policy of somebody's own, made afresh. Raises BadInput as `own_class` and `made_by` do."""
    return made_by(own_class(name, trust), name, methods)


def made_by(
    make: Callable[..., Any],
    name: str,
    methods: Iterable[str],
    settings: Mapping[str, Any] | None = None,
) -> Any:
    """A policy of somebody else's making, made afresh with these settings.

    Raises BadInput for what cannot be made or lacks one of these methods.
    """
    with _reported(name):
        policy = make(**settings or {})
        missing = [method for method in methods if not callable(getattr(policy, method, None))]
    if missing:
        raise BadInput(f"policy {name} has no method {missing[0]}", "give it one")
    return policy


@contextmanager
def _reported(name: str) -> Iterator[None]:
    """Whatever somebody's module raises, SystemExit too, as BadInput."""
    try:
        yield
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        raise BadInput(
            f"policy {name} cannot be made: {described(error)}",
            "mend it: a class that can be imported from here and made without arguments",
        ) from error
