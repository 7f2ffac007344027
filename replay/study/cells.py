"""Which treatment and roster the journals of a study's folder have, for tables of any journals.

It reads no more of a manifest than that, and imports nothing of studies: most journals are in none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from goldrush.kernel.errors import BadInput
from goldrush.kernel.files import open_regular

MANIFEST: Final = "manifest.json"
MANIFEST_MAX: Final = 1 << 27  # bytes


def cells_in(folder: Path) -> Mapping[Path, tuple[str, str]]:
    """The treatment and the roster's name by journal, from a manifest; empty if it is invalid.

    Lenient, because it serves tables of journals, which need no manifest.
    """
    try:
        with open_regular(str(folder / MANIFEST), "a manifest") as file:
            runs = json.loads(file.read(MANIFEST_MAX))["runs"]
        found = {folder / run["path"]: (run["treatment"], run["roster"]) for run in runs}
    except (OSError, BadInput, ValueError, TypeError, LookupError, RecursionError):
        return {}
    return {path: cell for path, cell in found.items() if all(type(name) is str for name in cell)}
