"""A terminal screen that shows one unit after the other."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from goldrush.cli.text import painter
from goldrush.kernel.text import escaped

if TYPE_CHECKING:
    from goldrush.replay.journal.declared import Declared
    from goldrush.replay.journal.rebuild import Rebuilt
    from goldrush.replay.journal.story import Narrator
    from goldrush.replay.text import Paint
    from goldrush.replay.tools import Tools


@contextmanager
def screen() -> Iterator[Callable[[str], None]]:
    """The function that shows a text in place of the one before, cut to the terminal's height. The
    last text stays on the screen.
    """
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console()
    last = Text()
    try:
        with Live(console=console, screen=True, auto_refresh=False) as live:

            def show(text: str) -> None:
                nonlocal last
                lines = text.split("\n")
                if len(lines) > console.height:  # the end says what it came to
                    end = console.height // 3
                    cut = slice(console.height - end - 1, -end)
                    lines[cut] = [f"... {len(lines[cut])} lines more ..."]
                last = Text.from_ansi("\n".join(lines), no_wrap=True, overflow="crop")
                live.update(last, refresh=True)

            yield show
    finally:
        console.print(last)


def is_terminal() -> bool:
    """Whether standard output is a terminal that can move its cursor."""
    return sys.stdout.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


def frame_of(rebuilt: Rebuilt, tools: Tools, narrator: Narrator) -> str:
    """The text of a unit for the screen: its state, and its main events."""
    head, brief = rebuilt.format(paint_of(rebuilt, tools)), tools.brief
    events = [event for event in rebuilt.events if not brief or event.name in brief]
    return "\n".join((head, "", *map(escaped, narrator(events))))


def paint_of(rebuilt: Rebuilt, tools: Tools) -> Paint:
    """The colours of the agents who play in a unit."""
    from goldrush.replay.colours import hues_of
    from goldrush.replay.text import plain

    if not sys.stdout.isatty():
        return plain
    rosters = _declared(rebuilt.path).labels
    playing = [labels for first, labels in rosters if first <= rebuilt.round]
    shown = [label for _, labels in rosters for label in labels]
    hues = hues_of(shown, tools.hue_order, tools.null)
    return painter(playing[-1] if playing else rosters[0][1] if rosters else (), hues)


@cache
def _declared(path: str) -> Declared:
    """Nobody changes the players of a run while it is recorded."""
    from goldrush.kernel.journal import JournalReader
    from goldrush.replay.find import open_world, prompts_of
    from goldrush.replay.journal.declared import declared_in

    with JournalReader(path) as reader:
        return declared_in(open_world(reader), reader, prompts_of(reader.header.world))
