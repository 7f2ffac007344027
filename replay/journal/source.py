"""The source of the game that plays a run, as START and the forks record it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from goldrush.agents.game.source import TEXT_MAX, Source, source_of
from goldrush.agents.given import games
from goldrush.kernel.errors import BadInput, JournalError, OtherCode, TornTail
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import where_code_is
from goldrush.replay.find import tools_named
from goldrush.replay.journal.forged import reading


def source_in(path: str | Path) -> Source:
    """The source in a journal of any world: that of its last fork, or of its start. No code of the
    world is needed.

    Raises BadInput for a journal that records none; JournalError as reading a journal does.
    """
    recorded: object = None
    try:
        with reading(path) as reader:
            for commit in reader.outline():
                if commit.setup is not None and "source" in commit.setup:
                    recorded = commit.setup["source"]
    except TornTail as torn:
        if not torn.commits:
            raise
    if type(recorded) is not dict or list(recorded) != ["sha256", "text"]:
        raise BadInput(f"{path} records no source", "only runs of games in one file do")
    source = Source(**recorded)
    if source.text is not None and source_of(source.text.encode()).sha256 != source.sha256:
        raise BadInput(
            f"{path} records a source whose SHA-256 is not {source.sha256}", "`verify` says more"
        )
    return source


def records_source(path: str | Path) -> bool:
    """Whether a journal that can be read records the source of its world."""
    with suppress(JournalError, BadInput):
        return source_in(path).sha256 is not None
    return False


def other_code_in(path: str | Path) -> str | None:
    """`World.other_source` of a journal, for the game that was given for its world; None for one
    that cannot be read. Raises nothing.
    """
    with suppress(JournalError, BadInput, OSError, ValueError):  # a name with a null byte, too
        with JournalReader(path) as reader:
            tools = tools_named(reader.header.world)
        world = None if tools is None else tools.world({})
        if world is not None and world.source is not None:
            return world.other_source({"source": {"sha256": source_in(path).sha256}})
    return None


def other_code_among(paths: Sequence[str | Path], folder: str | Path = "") -> str:
    """Which of these journals other code of their games recorded, and how to get it back, as text
    for who is in a folder; empty: none.
    """
    found = {path: sha256 for path in paths if (sha256 := other_code_in(path)) is not None}
    if not found:
        return ""
    first, sha256 = next(iter(found.items()))
    path = os.path.relpath(first, folder) if folder else first
    others = f" ({len(found):,} of {len(paths):,} journals are of other code)" if paths[1:] else ""
    return (
        f"{path}: other code: it was recorded with the source of SHA-256 {sha256}{others}; what is "
        f"shown may be wrong; {where_code_is(str(path), sha256)}"
    )


def warn_of_other_code(paths: Sequence[str | Path]) -> None:
    """Warn (OtherCode) whoever makes numbers of these journals, if other code recorded them."""
    if games() and (text := other_code_among(paths)):
        warnings.warn(text, OtherCode, stacklevel=3)


def text_of(source: Source, path: str | Path) -> str:
    """The text of a source. Raises BadInput where only its SHA-256 is recorded."""
    if source.text is not None:
        return source.text
    if source.sha256 is None:
        raise BadInput(f"{path} was recorded with a game that was typed in", "nobody kept it")
    raise BadInput(
        f"{path} holds the SHA-256 of its source alone, {source.sha256}",
        f"a source of over {TEXT_MAX:,} bytes is not recorded: look for the file",
    )
