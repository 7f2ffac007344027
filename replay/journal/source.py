"""The source of the game that plays a run, as START and the forks record it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from goldrush.agents.game.source import TEXT_MAX, Source, source_of
from goldrush.kernel.errors import BadInput, JournalError, TornTail
from goldrush.kernel.journal import JournalReader
from goldrush.replay.find import tools_at
from goldrush.replay.journal.forged import reader_of


@reader_of
def source_in(path: str | Path) -> Source:
    """The source in a journal of any world: that of its last fork, or of its start. No code of the
    world is needed.

    Raises BadInput for a journal that records none; JournalError as reading a journal does.
    """
    recorded: object = None
    try:
        with JournalReader(path) as reader:
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


def other_code_in(path: str | Path) -> str | None:
    """The SHA-256 of the source that plays a run, if the game that was given for its world has
    another one; None for a journal that records none or cannot be read. Raises nothing.
    """
    with suppress(JournalError, BadInput):
        here, recorded = tools_at(path).world({}).source, source_in(path).sha256
        if here is not None and recorded != here:
            return recorded
    return None


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
