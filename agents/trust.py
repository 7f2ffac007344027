"""User-defined policies: the only module that imports code by a name in a roster or journal.

A policy named `package.module:Class` is imported and called, so its name decides which code runs.
Journals, plans and manifests have such names too, and may come from anybody. So a name is imported
only if it is trusted: typed at the command line (in a roster, a cast or `--trust`) or given by a
caller of the library. Installed policies are looked up in tables and need no trust.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

from goldrush.kernel.errors import BadInput, format_error, format_value

LLM: Final = "llm"  # is a language model
HUMAN: Final = "human"  # is a person
RECORDED: Final = "recorded"  # replays the submissions of another journal
EXTERNAL: Final = "external"  # is played by an object of the recording Python program

_OWN = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


class UserFolder(str):
    """An entry of sys.path for user-defined policies only: distributions whose metadata is there
    are not plugins. A `str` subclass, so that worker processes get the same type.
    """

    __slots__ = ()


def add_user_folder(folder: str) -> None:
    """Import user-defined policies from a folder too, after everything that is installed."""
    if folder not in sys.path:
        sys.path.append(UserFolder(folder))


def is_import_name(name: str) -> bool:
    """Whether a policy's name has the form `package.module:Class`."""
    return name.partition(":")[0] not in (RECORDED, LLM) and _OWN.fullmatch(name) is not None


def import_names(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names that have the form `package.module:Class`, each once."""
    return tuple(dict.fromkeys(filter(is_import_name, names)))


def check_trust(name: str, trust: Collection[str], player: str = "") -> None:
    """Check that a user-defined policy may be imported; installed policies are not checked here.

    Raises BadInput, which names the player, if the name is malformed or not in `trust`.
    """
    if not is_import_name(name):
        raise BadInput(f"there is no policy {format_value(name)}", "write package.module:Class")
    if name not in trust:
        subject = (
            f"{player} plays {format_value(name)}, " if player else f"{format_value(name)} is "
        )
        raise BadInput(f"{subject}a user-defined policy", f"allow it with trust (--trust {name})")


def trusted_class(name: str, trust: Collection[str]) -> Callable[..., object]:
    """The class or function that makes a user-defined policy, imported only if trusted.

    Raises BadInput as `check_trust`, and if the import fails.
    """
    check_trust(name, trust)
    module, _, attribute = name.partition(":")
    with _reported(name):
        make: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
        return make


def import_early(names: Iterable[str], trust: Collection[str]) -> None:
    """Import user-defined policies that are trusted, so that processes forked from this one need
    not. Whoever needs one that cannot be imported is told there.
    """
    for name in import_names(names):
        with suppress(BadInput):
            trusted_class(name, trust)


def import_policy(name: str, trust: Collection[str], methods: Iterable[str] = ()) -> object:
    """A new user-defined policy (`module:Class`) with these methods.

    Raises BadInput if it is not trusted, its import or its class fails, or a method is missing.
    """
    return build_policy(trusted_class(name, trust), name, methods)


def build_policy(
    make: Callable[..., Any],
    name: str,
    methods: Iterable[str],
    settings: Mapping[str, Any] | None = None,
) -> Any:
    """A new policy of a user-defined or installed class, or of a function that returns one.

    Raises BadInput, which has the name, if `make` fails or a method is missing.
    """
    with _reported(name):
        policy = make(**settings or {})
        missing = [method for method in methods if not callable(getattr(policy, method, None))]
    if missing:
        raise BadInput(f"policy {name} has no method {missing[0]}", "give it one")
    return policy


@contextmanager
def _reported(name: str) -> Iterator[None]:
    """Report any exception of user code, including SystemExit, as BadInput."""
    try:
        yield
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:
        raise BadInput(
            f"policy {name} cannot be made: {format_error(error)}",
            "give a class that can be imported from here and made without arguments",
        ) from error
