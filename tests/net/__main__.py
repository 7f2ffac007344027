"""The net: what every command does, compared with what it did: `python -m tests.net`.

The corpus is made anew, each command is run in a folder of its own with links to it, and a digest
of its exit code, of what it prints and of what it writes is compared with `snapshots.tsv`.
`--make` writes that file; a change of it is explained in its commit. `--keep DIR` writes what was
printed and written, so that the outputs of two checkouts can be compared in full.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import click
from xxhash import xxh3_64_hexdigest

from tests.cli import helpers
from tests.indexes import cache_apart
from tests.net.commands import Words, commands, is_core
from tests.net.corpus import Corpus, models_serving
from tests.net.faces import faces

SNAPSHOTS = Path(__file__).with_name("snapshots.tsv")
PLAIN = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "TZ": "UTC"}
_TIME = re.compile(rb' time="[0-9.]+"')  # of JUnit's XML
_VERSIONS = re.compile(rb"Python 3[.0-9]+, scipy [.0-9]+")  # in the methods of a report


@click.command(help=__doc__)
@click.option(
    "--make", is_flag=True, help="Write the snapshots anew (with --core or --only: those)."
)
@click.option("--core", is_flag=True, help="Only the core, which takes a minute.")
@click.option("--only", metavar="TEXT", help="Only lines with this text.")
@click.option("--keep", type=click.Path(path_type=Path), help="Write the outputs there.")
@click.option("--show", default=40, help="Number of changed lines to print.")
def main(make: bool, core: bool, only: str | None, keep: Path | None, show: int) -> None:
    """Make or compare the snapshots."""
    with tempfile.TemporaryDirectory() as temporary, models_serving() as address:
        folder = Path(temporary) / "corpus"
        folder.mkdir()
        corpus = Corpus(folder, address)
        corpus.make()
        with cache_apart():
            found = dict(_lines(corpus, core, only, keep))
    before = dict(_kept())
    now = {**before, **found} if core or only else found  # the others are as they were
    if make:
        SNAPSHOTS.write_text("".join(f"{now[what]}\t{what}\n" for what in sorted(now)))
    changed = sorted(what for what in {*before, *now} if before.get(what) != now.get(what))
    for what in changed[:show]:
        click.echo(f"{before.get(what, 'new')} -> {now.get(what, 'gone')}  {what}")
    click.echo(f"{len(found)} compared, {len(changed)} changed")
    sys.exit(bool(changed) and not make)


def _kept() -> Iterator[tuple[str, str]]:
    with suppress(FileNotFoundError):
        for line in SNAPSHOTS.read_text().splitlines():
            digests, _, what = line.partition("\t")
            yield what, digests


def _lines(
    corpus: Corpus, core: bool, only: str | None, keep: Path | None
) -> Iterator[tuple[str, str]]:
    """(what, digests) of every command and face."""
    wanted = [words for words in commands(corpus.folder) if not core or is_core(words)]
    wanted = [words for words in dict.fromkeys(wanted) if only is None or only in " ".join(words)]
    # Each process starts one of its own from which commands are forked.
    with ProcessPoolExecutor(initializer=helpers._server.cache_clear) as pool:
        ran = partial(_ran, corpus.folder, corpus.installed, corpus.address, keep)
        yield from zip(map(" ".join, wanted), pool.map(ran, wanted, chunksize=4), strict=True)
    for what, text in faces(corpus):
        if only is None or only in what:
            _keep(keep, what, text.encode())
            yield what, xxh3_64_hexdigest(text.encode())[:8]


def _ran(folder: Path, installed: Path, address: str, keep: Path | None, words: Words) -> str:
    """The exit code of a command, and digests of what it printed and wrote."""
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(temporary, "home")
        here = Path(temporary, "here")
        home.mkdir()
        shutil.copytree(folder, here, copy_function=shutil.copy if _writes(words) else os.link,
                        ignore=shutil.ignore_patterns("installed", *_others(words)))  # fmt: skip
        there = {path: path.stat().st_mtime_ns for path in here.rglob("*") if path.is_file()}
        typed = [word.replace("{address}", address) for word in words]
        ran = helpers.goldrush(*typed, cwd=here, installed=installed, **PLAIN, HOME=str(home),
                               XDG_CACHE_HOME=str(home))  # fmt: skip
        written = {
            str(path.relative_to(here)): path.read_bytes() for path in sorted(here.rglob("*"))
            if path.is_file() and path.stat().st_mtime_ns != there.get(path)
        }  # fmt: skip
        texts = [_plain(text, temporary, address).encode() for text in (ran.out, ran.err)]
        files = b"".join(
            name.encode() + b"\0" + _plain(data, temporary, address) + b"\0"
            for name, data in written.items()
        )
        _keep(keep, " ".join(words), *texts, files)
        return " ".join(
            [str(ran.code), *(xxh3_64_hexdigest(t)[:8] if t else "-" for t in (*texts, files))]
        )


def _writes(words: Words) -> bool:
    """Whether a command may write to a file of the corpus, which must be a copy then."""
    return words[0] in ("resume", "study") or "--force" in words


def _others(words: Words) -> Sequence[str]:
    """The largest folders, where a command does not name them."""
    text = " ".join(words)
    return [name for name in ("forged", "mined", "argued-over", "talked-*", "argued-0*")
            if name.rstrip("*0") not in text and words[0] != "ls"]  # fmt: skip


def _plain(text: Any, temporary: str, address: str) -> Any:
    """Without what differs from run to run: the folder, the server's address, seconds."""
    if isinstance(text, bytes):
        text = _VERSIONS.sub(b"", _TIME.sub(b"", text))
        return text.replace(temporary.encode(), b"/TMP").replace(address.encode(), b"ADDRESS")
    return text.replace(temporary, "/TMP").replace(address, "ADDRESS")


def _keep(keep: Path | None, what: str, *texts: bytes) -> None:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        (keep / what.replace("/", "_")[:200]).write_bytes(b"\n====\n".join(texts))


if __name__ == "__main__":
    main()
