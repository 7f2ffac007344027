"""One run of a study: check its journal, or play it.

A run is written to a file of another name and renamed when it has ended, so a file with the name of
a journal is a whole one. Before each run the study's folders are checked: nothing is written
through a link.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import Any

import attrs

from goldrush.agents import players
from goldrush.agents.given import give_same
from goldrush.agents.llm.model import Model, options_by_prefix, prefixed_options
from goldrush.agents.llm.models import Models, ServerDown
from goldrush.agents.llm.options import OPEN, OPTION
from goldrush.agents.trust import LLM
from goldrush.kernel import files
from goldrush.kernel.errors import (
    BadInput,
    DamagedJournal,
    GoldrushError,
    MalformedEvents,
    NotAJournal,
    RunStopped,
    TornTail,
    UnsupportedJournal,
    WriteFailed,
)
from goldrush.kernel.journal import FORK, Header, JournalReader, sha256_in
from goldrush.replay.folders import make_folders_within, remove_other
from goldrush.replay.journal.elsewhere import checking_elsewhere
from goldrush.replay.journal.verify import FOLD, verify
from goldrush.replay.study.backend import RunFailed
from goldrush.replay.study.manifest import UNFINISHED, Done
from goldrush.replay.study.plan import Planned, studied


def check_journal(run: Planned, path: str) -> Done | None:
    """The SHA-256 and size of a run's journal; None if it must be played again: unless it begins as
    planned and has the SHA-256 of the run or, if that has none, is whole, finished and verifies at
    level 2 (states).

    Raises BadInput for a journal that must neither be played again nor continued, for it does not
    begin as planned: the one with the SHA-256 of the run, of a run that has one and asks models,
    and any that other code of the game recorded.
    """
    try:
        with JournalReader(path, hashed=True) as reader:
            setup = next(iter(reader)).setup or {}
            sha256 = reader.sha256()
    except (GoldrushError, StopIteration):
        return None
    if setup.get("source") != run.setup.get("source"):
        raise BadInput(
            f"{path} was recorded with other code of {run.world}, and a study has one code",
            "give another folder (--out), or the code that recorded it: "
            f"`goldrush source {path} > old.py`",
        )
    is_same, difference = sha256 == run.sha256, _difference(run, setup)
    if difference is not None and run.sha256 is not None and (is_same or run.models):
        raise _another(path, f"it has another {difference}")
    world = studied(run.world).world({})
    if difference is not None or reader.header != Header(world.name, world.rules):
        return None
    if run.sha256 is None:
        try:
            verdict = verify(path, FOLD)
        except GoldrushError:
            return None
        is_whole = verdict.holds and verdict.finished and not verdict.forks
        is_same = bool(is_whole) and verdict.sha256 == sha256  # it may have been replaced meanwhile
    return (sha256, reader.size) if is_same else None


def _difference(run: Planned, setup: Mapping[str, Any]) -> str | None:
    """The first part of a journal's setup that is not the run's, as text; None: it begins as the
    run, but for what was resolved with servers of the options of models.
    """
    key = studied(run.world).vocabulary.players
    planned, recorded = run.setup.get(key, ()), setup.get(key, ())
    for name in {**run.setup, **setup}:
        if name != key and run.setup.get(name) != setup.get(name):
            return name
    if len(planned) != len(recorded):
        return "agents"
    for number, (now, then) in enumerate(zip(planned, recorded, strict=True)):
        begun, options = now["options"], then["options"]
        if now["policy"] == LLM:
            begun = _begun(begun, options)
        if {**now, "options": {}} != {**then, "options": {}}:
            return f"policy of agent {number}"
        for name in {**begun, **options}:
            if begun.get(name) != options.get(name):
                return f"{name} of agent {number}"
    return None


def _begun(planned: Mapping[str, Any], recorded: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options of an agent that is a model, with what was resolved as the run began."""
    models = {}
    for prefix, options in options_by_prefix(planned).items():
        then = options_by_prefix(recorded).get(prefix, {})
        server = {"seed_from": then.get("seed_from", OPTION)}
        if then.get("reasoning") == OPEN:
            server["reasoning"] = OPEN
        form: dict[str, Any] = {name: then.get(name) for name in ("answer", "limit")}
        models[prefix] = attrs.evolve(Model.of(options).resolved(**server), **form)
    return prefixed_options(models)


def play(
    run: Planned, folder: str, models: Models | None = None, *, again: str | None = None
) -> Done:
    """Play a run into its journal, and return the journal's SHA-256 and size. A run that asks
    language models continues its unfinished journal. The run whose path is `again` is derived once
    more in another process, as at the end of a recording. Raises RunFailed; MalformedEvents for
    what comes out otherwise there.
    """
    path = os.path.join(folder, run.path)
    unfinished = path + UNFINISHED
    try:
        clear_path(run, folder)
        if run.models:  # answers cost money: the journal must survive a power failure
            for above in folders_of(run.path, folder):
                files.sync_folder(str(above / "any"))
        if not _continued(run, path, models):
            of = studied(run.world)
            world = of.world(run.setup)
            with suppress(FileNotFoundError):  # zeros, say: only a journal is replaced by force
                files.system.unlink(unfinished)
            resources = run.resources(models)
            checking: AbstractContextManager[None] = nullcontext()
            if run.path == again:
                roster = run.prepared.roster
                checking = checking_elsewhere(world.name, unfinished, roster, resources)
            with checking:
                players.record(world, of.players, unfinished, run.prepared, resources=resources)
        with files.open_regular(unfinished) as file:
            made = sha256_in(file), file.tell()
        clear_path(run, folder)
        files.system.rename(unfinished, path)
    except (GoldrushError, OSError) as error:
        if isinstance(error, MalformedEvents) and error.path == unfinished:
            raise  # to play it again would not help
        raise _failed(run, error) from None
    return made


def _failed(run: Planned, error: GoldrushError | OSError) -> RunFailed:
    """The error with the run's path once, not also in its reason."""
    if isinstance(error, OSError):
        return RunFailed(run.path, f"cannot be written: {files.format_reason(error)}")
    message = error.message if isinstance(error, WriteFailed) else str(error)
    return RunFailed(run.path, message, stopped=isinstance(error, (RunStopped, ServerDown)))


def folders_of(path: str, folder: str) -> Sequence[Path]:
    """The folders above a run's journal, from its own up to the study's."""
    return Path(folder, path).parents[: path.count("/") + 1]


def clear_path(run: Planned, folder: str) -> None:
    """Create the folders of a run, and remove anything but regular files from its paths. Raises
    OSError if a folder of the study is a link or a file.
    """
    path = os.path.join(folder, run.path)
    make_folders_within(folder, run.path)
    remove_other(path)
    remove_other(path + UNFINISHED)


def _continued(run: Planned, path: str, models: Models | None) -> bool:
    """Continue the unfinished journal of a run that asks models; False if there is none.

    Its answers cost money, so it is never deleted: if it cannot be continued, BadInput says why.
    """
    if not run.models:
        return False
    unfinished = path + UNFINISHED
    # Without an unfinished journal that of the run, if there is one, has failed `check_journal`.
    there = unfinished if os.path.lexists(unfinished) else path
    if not os.path.lexists(there) or not os.stat(there).st_size:
        return False
    try:
        ended = _ended(run, there)
        if ended and check_journal(run, there) is None:
            raise BadInput(f"{there} does not follow from its events", "move it elsewhere")
        if there == path:  # only now: a journal that is another run keeps its name
            files.system.rename(path, unfinished)
        if ended is False:
            of = studied(run.world)
            world, resources = of.world(run.setup), run.resources(models)
            players.resume(world, of.players, unfinished, resources=resources)
    except (NotAJournal, UnsupportedJournal, DamagedJournal, MalformedEvents) as error:
        raise BadInput(str(error), "move it elsewhere, or restore it whole") from None
    return ended is not None


def _ended(run: Planned, path: str) -> bool | None:
    """Whether this journal of a run has ended; None if it holds no answers yet."""
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
    if forked or (difference := _difference(run, setup)) is not None:
        raise _another(path, "it is a fork" if forked else f"it has another {difference}")
    return ended


def _another(path: str, how: str) -> BadInput:
    return BadInput(
        f"{path} is another run: {how}", "move it elsewhere, or plan the study as it was"
    )


def play_remotely(run: Planned, game: str = "") -> bytes:
    """Play a run in a temporary folder, and return its journal. `game`: the location of the game
    that it is a run of. Raises RunFailed.
    """
    if game:
        try:
            give_same(game, run.setup["source"]["sha256"])
        except BadInput as error:
            raise _failed(run, error) from None
    with files.TemporaryFolder() as folder:
        play(run, folder.path)
        with open(os.path.join(folder.path, run.path), "rb") as file:
            return file.read()


def store_journal(run: Planned, folder: str, journal: bytes) -> Done:
    """Write the journal of a run that was played remotely. Raises RunFailed."""
    try:
        clear_path(run, folder)
        with files.Unfinished(os.path.join(folder, run.path), is_own=files.always) as file:
            file.write(journal)
            file.publish(sync=False)  # before the manifest lists it, all are synced
    except (GoldrushError, OSError) as error:
        raise _failed(run, error) from None
    return hashlib.sha256(journal).hexdigest(), len(journal)
