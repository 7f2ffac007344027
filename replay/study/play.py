"""One run of a study: whether its journal can be kept, and how it is played.

A run is written beside its place and moved there when it is done: a journal in its place is a whole
one. The study's folders are looked at before each run, for nothing is written through a link.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import gettempdir  # noqa: TID251  # which makes nothing
from typing import Any, Final

import attrs

from goldrush.agents import players
from goldrush.agents.llm.models import LLM, Models
from goldrush.kernel import files
from goldrush.kernel.errors import (
    BadInput,
    DamagedJournal,
    GoldrushError,
    MalformedEvents,
    NotAJournal,
    TornTail,
    UnsupportedJournal,
    WriteFailed,
)
from goldrush.kernel.journal import FORK, Header, JournalReader, open_regular, sha256_in
from goldrush.replay.studies import studied
from goldrush.replay.study.manifest import UNFINISHED
from goldrush.replay.study.place import RunFailed
from goldrush.replay.study.plan import Planned
from goldrush.replay.verify import FOLD, verify

Done = tuple[str, int]  # SHA-256 and size of a journal
DECIDED: Final = ("answer", "limit")  # options of a model that are found out when a run begins


def kept(run: Planned, path: str, sha256: str | None = None) -> Done | None:
    """The journal at `path`, if it can be kept as that of `run`: the bytes that the manifest has
    (`sha256`, where it has any), whole and finished, with digests that follow from its events, and
    begun as planned. None if it is to be played anew.
    """
    try:
        verdict = verify(path, FOLD)
        if sha256 is not None and verdict.sha256 != sha256:
            return None
        if not (verdict.holds and verdict.finished) or verdict.forks:
            return None
        with JournalReader(path, hashed=True) as reader:
            world = studied(run.world).world
            if reader.header != Header(world.name, world.rules):
                return None
            setup = next(iter(reader)).setup or {}
            if reader.sha256() != verdict.sha256:  # another file by now
                return None
    except GoldrushError:
        return None
    return (verdict.sha256, verdict.bytes) if _begins_as(run, setup) else None


def _begins_as(run: Planned, setup: Mapping[str, Any]) -> bool:
    """Whether a journal's setup is the planned one, but for how models turned out to be asked."""
    return _undecided(run.world, setup) == _undecided(run.world, run.setup)


def _undecided(world: str, setup: Mapping[str, Any]) -> dict[str, Any]:
    """A setup as it is before a model was asked a short question."""
    key = studied(world).world.vocabulary.players
    entries = [
        {**entry, "options": {k: v for k, v in entry["options"].items() if k not in DECIDED}}
        if entry["policy"] == LLM
        else entry
        for entry in setup.get(key, ())
    ]
    return {**setup, key: entries}


def played(run: Planned, folder: str, models: Models | None = None) -> Done:
    """Play a run into its journal in the study's folder; with models, go on with what is there.

    Raises RunFailed.
    """
    path = os.path.join(folder, run.path)
    unfinished = path + UNFINISHED
    try:
        make_way(run, folder)
        if run.models:  # what is paid for must be found again
            for above in folders_of(run.path, folder):
                files.sync_folder(str(above / "any"))
        if not _went_on(run, path, models):
            of, begun = studied(run.world), attrs.evolve(run.prepared, setup=run.setup)
            world = of.toolkit.world(run.setup)
            players.record(world, of.players, unfinished, begun, models=models, force=True)
        with open_regular(unfinished) as file:
            made = sha256_in(file), file.tell()
        make_way(run, folder)
        files.system.rename(unfinished, path)
    except (GoldrushError, OSError) as error:
        raise _failed(run, error) from None
    return made


def _failed(run: Planned, error: GoldrushError | OSError) -> RunFailed:
    """Why a run has no journal, its path being said once."""
    if isinstance(error, OSError):
        return RunFailed(run, f"cannot be written: {files.format_reason(error)}", unwritten=True)
    says = error.message if isinstance(error, WriteFailed) else str(error)
    return RunFailed(run, says, unwritten=isinstance(error, WriteFailed))


def folders_of(path: str, folder: str) -> Sequence[Path]:
    """The folders that lead to a run's journal, from its own to the study's."""
    return Path(folder, path).parents[: path.count("/") + 1]


def make_way(run: Planned, folder: str) -> None:
    """Make the folders of a run, and remove links and the like from where it is written.

    Raises OSError where a folder of the study is a link, or something else.
    """
    path = os.path.join(folder, run.path)
    files.make_folders_within(folder, run.path)
    files.remove_other(path)
    files.remove_other(path + UNFINISHED)


def _went_on(run: Planned, path: str, models: Models | None) -> bool:
    """Whether a run that asks models was there in part, and is played to its end now.

    What it holds was paid for: it is never thrown away, and where nobody can go on with it, the
    error says why.
    """
    if not run.models:
        return False
    unfinished = path + UNFINISHED
    if not os.path.lexists(unfinished):
        with suppress(FileNotFoundError):
            files.system.rename(path, unfinished)  # it was found to be no whole journal of this run
    if not os.path.lexists(unfinished) or not os.stat(unfinished).st_size:
        return False
    try:
        ended = _ended(run, unfinished)
        if ended is False:
            of = studied(run.world)
            players.resume(
                of.toolkit.world(run.setup), of.players, unfinished, models=models,
                trust=run.prepared.trust, sources=run.prepared.sources,
            )  # fmt: skip
    except (NotAJournal, UnsupportedJournal, DamagedJournal, MalformedEvents) as error:
        raise BadInput(str(error), "take it away, or bring it back whole") from None
    if ended and kept(run, unfinished) is None:
        raise BadInput(f"{unfinished} is not what follows from its events", "take it away")
    return ended is not None


def _ended(run: Planned, path: str) -> bool | None:
    """Whether this journal of a run has come to its end; None where nobody was asked yet."""
    ended = forked = False
    try:
        with JournalReader(path) as reader:
            commits = iter(reader)
            setup = next(commits).setup or {}
            for commit in commits:
                forked |= commit.kind == FORK
            ended = reader.ended
    except TornTail as error:
        if not error.commits:
            return None
    if forked or not _begins_as(run, setup):
        raise BadInput(f"{path} is another run", "take it away")
    return ended


def played_away(run: Planned) -> bytes:
    """Play a run where the study's folder is not, and return its journal. Raises RunFailed."""
    name = os.path.join(gettempdir(), f"goldrush-{os.urandom(8).hex()}")
    with files.NewFolder(name) as folder:  # it is never published
        played(run, folder.temporary)
        with open(os.path.join(folder.temporary, run.path), "rb") as file:
            return file.read()


def put(run: Planned, folder: str, journal: bytes) -> Done:
    """Put a journal that came from elsewhere in its place. Raises RunFailed."""
    try:
        make_way(run, folder)
        with files.Unfinished(os.path.join(folder, run.path), is_own=files.always) as file:
            file.write(journal)
            file.publish()
    except (GoldrushError, OSError) as error:
        raise _failed(run, error) from None
    return hashlib.sha256(journal).hexdigest(), len(journal)
