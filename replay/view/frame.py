"""The frame of a page: one script of modules, a policy that allows it by its hash, data."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Final

_MODULE: Final = re.compile(r"^import [^;]*;\n|^export |^ *//.*\n", re.MULTILINE)
_MARK: Final = re.compile(r"\{\{(\w+)\}\}")


def joined(modules: Iterable[Path], start: str) -> str:
    """Modules as one script without comments, each before those that import from it; `start`: the
    last statement.
    """
    texts = (module.read_text(encoding="utf-8") for module in modules)
    script = "\n".join(_MODULE.sub("", text) for text in texts)
    return f'(() => {{\n"use strict";\n{script}\n{start}\n}})();\n'


def policy_of(script: str, style: str) -> str:
    """A Content-Security-Policy that allows one script and one style sheet, and no request."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def json_of(data: Mapping[str, object]) -> str:
    """JSON that cannot end the script element that holds it."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def filled(template: Path, parts: Mapping[str, str]) -> str:
    """A template with its marks, such as {{title}}, replaced."""
    return _MARK.sub(lambda mark: parts[mark[1]], template.read_text(encoding="utf-8"))
