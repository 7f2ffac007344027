"""Submissions in files, for forks."""

from __future__ import annotations

import json
from typing import Any

from goldrush.kernel.errors import BadInput


def read_submissions(text: str, name: str) -> list[dict[str, Any]]:
    """Submissions from text: JSON objects, one a line (as `export` prints them), or one JSON value,
    an object or a list of objects. `name` is the source of the text, for messages. Raises BadInput.
    """
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        lines = enumerate(text.split("\n"), 1)
        whole = [_line(line, f"{name}, line {number}") for number, line in lines if line.strip()]
    items = whole if isinstance(whole, list) else [whole]
    if not items:
        raise BadInput(f"{name} holds no submission", "give one JSON object a line")
    return items


def _line(line: str, where: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{where} is not JSON: {error}", "give one JSON object a line") from None
