"""The frame of a page: one script of modules, one style sheet, a policy that allows both by their
hashes, data.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from gzip import compress
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Final

from goldrush.kernel import files
from goldrush.kernel.text import escaped
from goldrush.replay.colours import css_variables
from goldrush.version import __version__

_MODULE: Final = re.compile(r"^import [^;]*;\n|^export |^ *//.*\n|^ +", re.MULTILINE)
PACKING: Final = 7  # of gzip: 9 takes six times as long, for 3% less
_MARK: Final = re.compile(r"\{\{(\w+)\}\}")


def joined(modules: Iterable[Path], start: str) -> str:
    """Modules as one script without comments and indents, each before those that import from it;
    `start`: the last statement.
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
    data: str,
) -> str:
    """A page. `body`: the template of what is in its body, filled with `parts`; `generator`: the
    element by which goldrush knows a page of this sort; `sheets`: of its style, besides the
    palette; `data`: elements with what the script reads (`packed_json`, `packed_element`).
    """
    style = css_variables() + "".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    frame = {
        "mark": files.MARK,
        "policy": policy(style, script),
        "generator": generator,
        "title": escape(title),
        "style": style,
        "body": filled(body, {"version": f"goldrush {__version__}", **parts}),
        "data": data,
        "script": script,
    }
    return filled(Path(__file__).with_name("frame.html"), frame)


def policy(style: str, *scripts: str) -> str:
    """A Content-Security-Policy that allows one style sheet, these scripts, and no request."""
    hashes = " ".join(f"'{_hash(script)}'" for script in scripts)
    allowed = f"script-src {hashes}; " if scripts else ""
    return (
        f"default-src 'none'; {allowed}style-src '{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def packed_json(data: Mapping[str, object]) -> str:
    """The element `page` with data as JSON."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return packed_element("page", text.encode())


def packed_element(name: str, content: bytes) -> str:
    """An element of this name with bytes, gzipped and in base64."""
    text = b64encode(compress(content, PACKING, mtime=0)).decode()
    return f'<script type="text/plain" id="{name}">{text}</script>'


def filled(template: Path, parts: Mapping[str, str]) -> str:
    """A template with its marks, such as {{title}}, replaced."""
    return _MARK.sub(lambda mark: parts[mark[1]], template.read_text(encoding="utf-8"))
