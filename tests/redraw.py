"""The program of replay/README.md that computes any draw again, without goldrush."""

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[1] / "replay" / "README.md"
[PROGRAM] = re.findall(r"```python\n(# redraw\.py\n.*?)```", PAGE.read_text(), re.DOTALL)


def redraw(key: str) -> Any:
    """Its `Redraw` of a packed key in hex."""
    found: dict[str, Any] = {}
    exec(PROGRAM, found)
    return found["Redraw"](bytes.fromhex(key))
