"""Texts of the net: commands as they are typed, each with what it does.

    $ goldrush diff mixed.journal forked.journal
      what it prints
    ! what it says on stderr
    exit 1
    wrote page.html: what it wrote

A line `exit` stands where the exit code is not 0. What is long is shown from its beginning, with a
digest of the rest; of JSON a line for each field. What differs with the time or the machine has a
name in its place.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from gzip import decompress
from pathlib import Path
from shlex import split
from typing import Any

import attrs
import pyarrow.parquet
from xxhash import xxh3_64_hexdigest

from tests.cli import helpers

TEXTS = Path(__file__).with_name("texts")
COMMAND, COMMENT = "$ goldrush ", "# "
LINES_MAX, WIDTH_MAX = 24, 400
DATA_MAX = 140  # characters of a line of JSON, and of a list of names
PLAIN = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "TZ": "UTC"}
# What differs with the machine. Journals of environments hold versions, and so differ in size.
_VERSION = re.compile(r'(\b(?:python|scipy|numpy|gymnasium|goldrush)(?: |": "))\d+\.\w[\w.]*', re.I)
_UNDER = re.compile(r"((?:under|versions +)) python [^;\n]*")
_LIBRARY = re.compile(r"\S+/site-packages/\S+:\d+")
_ENVIRONMENTS = ("--env", "walk.run", "herd.run", "spared.run", "herds")
_SIZE = re.compile(
    r'\b[\d,]+( bytes)|(\bbytes"?:? +|finished +|at byte |run_started.*… )[\d,]+|(, | )[0-9a-f]{8}$'
    r'|(events\.csv: \d+ rows, |"parent": ")[0-9a-f]+|[0-9a-f]{16,64}',
    re.M,
)
GROUPED = 9  # files of a kind in a folder, of which a text names no more one by one
_PACKED = re.compile(rb"[A-Za-z0-9+/=]{200,}")  # in a page


@attrs.frozen
class Place:
    """Where the commands of a text run.

    Attributes:
        corpus: the folder that each finds a copy of.
        installed: packages that are found as if installed.
        address: of a server of models, for which a text has ADDRESS.
    """

    corpus: Path
    installed: Path
    address: str

    @contextmanager
    def typing(self) -> Iterator[Callable[[str], str]]:
        """What gives, as text, what a command does to a copy of the corpus. The next command gets
        the same copy, unless there was a change.
        """
        with tempfile.TemporaryDirectory() as folder:
            here = Path(folder, "here")

            def typed(command: str) -> str:
                if not here.exists():
                    shutil.copytree(self.corpus, here)
                text, is_changed = self.type_in(here, command)
                if is_changed:
                    shutil.rmtree(here)
                return text

            yield typed

    @contextmanager
    def typing_in(self, here: Path) -> Iterator[Callable[[str], str]]:
        """What gives, as text, what a command does to a folder that the next command finds so."""
        yield lambda command: self.type_in(here, command)[0]

    def type_in(self, here: Path, command: str) -> tuple[str, bool]:
        """What a command does to a folder, as text, and whether it changed anything."""
        before = _stamps(here)
        with tempfile.TemporaryDirectory() as home:
            words = split(command.replace("ADDRESS", self.address))
            ran = helpers.goldrush(
                *words, cwd=here, installed=self.installed, HOME=home, XDG_CACHE_HOME=home, **PLAIN
            )
        after = _stamps(here)
        lines = [f"  {line}".rstrip() for line in _shown(self._masked(ran.out, here), command)]
        lines += [f"! {line}" for line in self._masked(ran.err, here).splitlines()]
        lines += [f"exit {ran.code}"] if ran.code else []
        changed = sorted(path for path, _ in before.items() ^ after.items() if path[-1] != "/")
        lines += self._files(here, [path for path in dict.fromkeys(changed) if path in after])
        lines += [f"removed {path}" for path in changed if path not in after]
        text = "".join(f"{line}\n" for line in lines)
        is_unsized = any(each in command for each in _ENVIRONMENTS)
        return _SIZE.sub(_unsized, text) if is_unsized else text, before != after

    def _masked(self, text: str, here: Path) -> str:
        text = text.replace(str(here), "HERE").replace(self.address, "ADDRESS")
        text = _LIBRARY.sub("LIBRARY", text)
        return _VERSION.sub(r"\1VERSION", _UNDER.sub(r"\1 VERSIONS", text))

    def _files(self, here: Path, written: Sequence[str]) -> Iterator[str]:
        """What files hold, in a line each; where they are many, in a line for a kind."""
        kinds: dict[str, list[str]] = {}
        for path in written:
            kinds.setdefault(f"{os.path.dirname(path)}/*{Path(path).suffix}", []).append(path)
        for kind, paths in kinds.items():
            told = [f"{path}: {self._written(here, path)}" for path in paths]
            if len(paths) <= GROUPED:
                yield from (f"wrote {line}" for line in told)
            else:
                names = ", ".join(Path(path).stem for path in paths)
                yield _cut(
                    f"wrote {kind}: {len(paths)} files, {_digest(repr(told).encode())}: {names}"
                )

    def _written(self, here: Path, path: str) -> str:
        """What a file holds, in a line."""
        data = (here / path).read_bytes()
        if path.endswith((".pdf", ".png")):
            return "drawn"
        if path.endswith(".parquet"):
            table = pyarrow.parquet.read_table(here / path)
            return _cut(f"{table.num_rows} rows: {','.join(table.column_names)}")
        if path.endswith(".html"):
            data = _PACKED.sub(_unpacked, data)
        try:
            text = self._masked(data.decode(), here)
        except UnicodeDecodeError:
            return f"{len(data):,} bytes, {_digest(data)}"
        lines = text.count("\n")
        if path.endswith(".csv"):
            columns = text.partition("\n")[0]
            return _cut(f"{lines - 1} rows, {_digest(text.encode())}: {columns}")
        return f"{lines} lines, {_digest(text.encode())}"


def said(text: str) -> Iterator[str]:
    """The lines of a text that people write: comments and commands."""
    yield from (line for line in text.splitlines() if line.startswith((COMMAND, COMMENT)))


def told(lines: Iterable[str], place: Place, *, at: Path | None = None) -> str:
    """The whole text of such lines, with what the commands do now. `at`: the folder in which they
    run, one after the other; None: each in a copy of the corpus.
    """
    found: list[str] = []
    with place.typing() if at is None else place.typing_in(at) as typed:
        for line in lines:
            if line.startswith(COMMENT):
                found.append(f"{line}\n")
                continue
            command = line.removeprefix(COMMAND)
            found.append(f"{line}\n{typed(command)}\n")
    return "".join(found).rstrip("\n") + "\n"


def _stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of change of each file; zeros of a folder, whose path ends in a slash."""
    found = {}
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in folders:
            found[os.path.relpath(os.path.join(root, name), folder) + "/"] = 0, 0
        for name in names:
            status = os.stat(os.path.join(root, name))
            where = os.path.relpath(os.path.join(root, name), folder)
            found[where] = status.st_size, status.st_mtime_ns
    return found


def _shown(text: str, command: str) -> list[str]:
    """The lines of an output, no more and no longer than a reader likes; a help is whole."""
    try:
        lines, is_data = list(_fields(json.loads(text))), True
    except ValueError:
        lines, is_data = text.splitlines(), False
    if len(lines) > LINES_MAX and not command.endswith("--help"):
        rest = lines[LINES_MAX - 4 :]
        digest = _digest("\n".join(rest).encode())
        lines = [*lines[: LINES_MAX - 4], f"… {len(rest)} more lines, {digest}"]
    width = DATA_MAX if is_data or (lines[:1] and lines[0].startswith("{")) else WIDTH_MAX
    return [_cut(line, width) for line in lines]


def _cut(line: str, width: int = DATA_MAX) -> str:
    if len(line) <= width:
        return line
    rest = line[width - 20 :]
    return f"{line[: width - 20]}… {len(rest)} more, {_digest(rest.encode())}"


def _fields(value: Any) -> Iterator[str]:
    """JSON in lines: one for each field of an object, or for each object of a list of several."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        yield from (f"{'- ' if not n else '  '}{line}" for n, line in enumerate(_fields(value[0])))
    elif isinstance(value, list):
        yield from (f"- {_compact(each)}" for each in value) if value else ["[]"]
    elif isinstance(value, dict):
        yield from (f"{name}: {_compact(each)}" for name, each in value.items())
    else:
        yield _compact(value)


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _unpacked(packed: re.Match[bytes]) -> bytes:
    """What a page has packed: the packing differs with the version of the library."""
    try:
        return decompress(b64decode(packed[0]))
    except (OSError, ValueError, EOFError):
        return packed[0]


def _unsized(found: re.Match[str]) -> str:
    return f"{found[2] or found[4] or ''}…{found[1] or ''}"


def _digest(data: bytes) -> str:
    return xxh3_64_hexdigest(data)[:8]


def names() -> Sequence[str]:
    """The texts of commands that read the corpus, by name."""
    return sorted(path.stem for path in TEXTS.glob("*.txt") if path.stem not in ("api", "corpus"))
