"""The frame of a page: one script of modules, one style sheet, a policy that allows both by their
hashes, data.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Final

from goldrush.kernel import files
from goldrush.kernel.text import escaped
from goldrush.replay.colours import css_variables
from goldrush.version import __version__

_MODULE: Final = re.compile(r"^import [^;]*;\n|^export |^ *//.*\n", re.MULTILINE)
_MARK: Final = re.compile(r"\{\{(\w+)\}\}")


def joined(modules: Iterable[Path], start: str) -> str:
    """Modules as one script without comments, each before those that import from it; `start`: the
    last statement.
    """
    texts = (module.read_text(encoding="utf-8") for module in modules)
    script = "\n".join(_MODULE.sub("", text) for text in texts)
    return f'(() => {{\n"use strict";\n{script}\n{start}\n}})();\n'


def escape_text(text: str) -> str:
    """Text of a recording in a page: markup and invisible characters are escaped."""
    return escape(escaped(text))


def framed(
    body: Path,
    parts: Mapping[str, str],
    *,
    title: str,
    generator: str,
    script: str,
    sheets: Iterable[Path],
    data: Mapping[str, object],
) -> str:
    """A page. `body`: the template of what is in its body, filled with `parts`; `generator`: the
    element by which goldrush knows a page of this sort; `sheets`: of its style, besides the
    palette; `data`: what the script reads.
    """
    style = css_variables() + "".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    frame = {
        "mark": files.MARK,
        "policy": policy(style, script),
        "generator": generator,
        "title": escape(title),
        "style": style,
        "body": _filled(body, {"version": f"goldrush {__version__}", **parts}),
        "data": _json(data),
        "script": script,
    }
    return _filled(Path(__file__).with_name("frame.html"), frame)


def policy(style: str, script: str = "") -> str:
    """A Content-Security-Policy that allows one style sheet, at most one script, and no request."""
    scripts = f"script-src '{_hash(script)}'; " if script else ""
    return (
        f"default-src 'none'; {scripts}style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _json(data: Mapping[str, object]) -> str:
    """JSON that cannot end the script element that holds it."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _filled(template: Path, parts: Mapping[str, str]) -> str:
    """A template with its marks, such as {{title}}, replaced."""
    return _MARK.sub(lambda mark: parts[mark[1]], template.read_text(encoding="utf-8"))
