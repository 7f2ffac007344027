"""The net: what every command prints and writes, as texts: `python -m tests.net [NAME...]`.

`texts/corpus.txt` records what the commands of the other texts read. Each runs in a copy of that;
what it does is compared with the text. `--make` writes it anew, so that `git diff` shows what
changed; the commit says why. A command is added as a line `$ goldrush ...`, followed by `--make`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from difflib import unified_diff
from itertools import repeat
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from tests.cli import helpers
from tests.faults.sampling import in_turn
from tests.indexes import cache_apart
from tests.net import api
from tests.net.corpus import install, models_serving, write_files, write_specimens
from tests.net.texts import TEXTS, Place, names, said, told

CORPUS, API = "corpus", "api"


@contextmanager
def placed() -> Iterator[tuple[Place, str]]:
    """A corpus, and the text of the commands that have made it."""
    with TemporaryDirectory() as temporary, models_serving() as address:
        folder, installed = Path(temporary, "corpus"), Path(temporary, "installed")
        write_files(folder)
        install(installed)
        place = Place(folder, installed, address)
        made = told(said(kept(CORPUS)), place, at=folder)
        write_specimens(folder)
        yield place, made


def kept(name: str) -> str:
    """A text as it stands."""
    return (TEXTS / f"{name}.txt").read_text()


def found(name: str, place: Place) -> str:
    """A text as it would be made now."""
    return told(said(kept(name)), place)


def changes(name: str, now: str) -> str:
    """The difference of a text to what it is now, as `diff` shows it; empty if there is none."""
    before = kept(name).splitlines(keepends=True)
    return "".join(unified_diff(before, now.splitlines(keepends=True), name, f"{name}, now"))


@click.command(help=__doc__)
@click.argument("chosen", nargs=-1, metavar="[NAME]...")
@click.option("--make", is_flag=True, help="Write the texts anew.")
@click.option("--turn", is_flag=True, help="A third of them, another with each commit.")
def main(chosen: Sequence[str], make: bool, turn: bool) -> None:
    """Make or compare the texts."""
    wanted = [name for name in names() if name in (chosen or names())]
    wanted = in_turn(wanted) if turn else wanted
    fresh = helpers._server.cache_clear  # each process starts its own, which forks the commands
    with (
        cache_apart(),
        placed() as (place, made),
        ProcessPoolExecutor(os.cpu_count(), initializer=fresh) as pool,
    ):
        texts = dict(zip(wanted, pool.map(found, wanted, repeat(place)), strict=False))
    texts |= {CORPUS: made, API: api.text()}
    changed = [name for name, now in texts.items() if changes(name, now)]
    for name in changed:
        click.echo(changes(name, texts[name]))
        if make:
            (TEXTS / f"{name}.txt").write_text(texts[name])
    click.echo(f"{len(texts)} texts, {len(changed)} {'made anew' if make else 'changed'}")
    sys.exit(bool(changed) and not make)


if __name__ == "__main__":
    main()
