"""Plots in user input: numbers, or row and column."""

from __future__ import annotations

import re
from pathlib import Path

from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import MiningConfig
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.rebuild import rebuild


@reader_of
def plot_of(path: str | Path, text: str) -> int:
    """The id of a plot in user input.

    Args:
        path: a mining journal.
        text: the plot's id, or its row and column (`3,4`), all from 0.

    Raises:
        BadInput: if there is no such plot.
        JournalError: if the journal cannot be read.

    """
    config: MiningConfig = rebuild(path, 0, world=MINING).state.config
    match = re.fullmatch(r"\s*(\d{1,9})\s*(?:,\s*(\d{1,9})\s*)?", text, re.ASCII)
    if match is not None and match[2] is None and int(match[1]) < config.plots:
        return int(match[1])
    if match is not None and match[2] is not None:
        row, col = int(match[1]), int(match[2])
        if row < config.rows and col < config.cols:
            return row * config.cols + col
    raise BadInput(
        f"there is no plot {text!r}",
        f"give an id from 0 to {config.plots - 1}, or row,column up to "
        f"{config.rows - 1},{config.cols - 1}",
    )
