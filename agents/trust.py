"""Names of user-defined policies, and which of them may be imported (see agents/targets.py).

A policy named `package.module:Class`, or `FILE.py:Class` in the working folder, is imported and
called, so its name decides which code runs.
Journals, plans and manifests have such names too, and may come from anybody. So a name is imported
only if it is trusted: typed at the command line (in a roster, a cast or `--trust`) or given by a
caller of the library. Installed policies are looked up in tables and need no trust.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterable
from typing import Final

from goldrush.kernel.errors import BadInput, format_value

LLM: Final = "llm"  # is a language model
HUMAN: Final = "human"  # is a person
RECORDED: Final = "recorded"  # replays the submissions of another journal
EXTERNAL: Final = "external"  # is played by an object of the recording Python program

OWN_FORM: Final = "FILE.py:Class or module:Class"  # of the names of user-defined policies
_OWN = r"[A-Za-z_][\w.]*:[A-Za-z_]\w*"


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
    """Whether a policy's name has the form `package.module:Class` or `FILE.py:Class`."""
    return name.partition(":")[0] not in (RECORDED, LLM) and re.fullmatch(_OWN, name) is not None


def import_names(names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names that `is_import_name` holds of, each once."""
    return tuple(dict.fromkeys(filter(is_import_name, names)))


def check_folder(name: str) -> None:
    """Check that a policy's name has no folder, as `FOLDER/FILE.py:Class` does: journals record the
    names of policies, and no paths. Raises BadInput.
    """
    path, _, attribute = name.partition(":")
    file = os.path.basename(path)
    if file != path and file.endswith(".py"):
        raise BadInput(
            f"the policy {format_value(name)} is named with a folder",
            f"go to that folder and write {file}:{attribute}; journals record no paths",
        )


def check_trust(name: str, trust: Collection[str], player: str = "") -> None:
    """Check that a user-defined policy may be imported; installed policies are not checked here.

    Raises BadInput, which names the player, if the name is malformed or not in `trust`.
    """
    check_folder(name)
    if not is_import_name(name):
        raise BadInput(f"there is no policy {format_value(name)}", f"write {OWN_FORM}")
    if name not in trust:
        subject = (
            f"{player} plays {format_value(name)}, " if player else f"{format_value(name)} is "
        )
        raise BadInput(f"{subject}a user-defined policy", f"allow it with trust (--trust {name})")
