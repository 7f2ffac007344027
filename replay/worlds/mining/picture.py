"""The map of a mining run as an array of pixels."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from goldrush.kernel.worlds.mining.state import MiningState

CELL: Final = 16  # pixels of a plot's side; smaller on grids that would exceed PICTURE_MAX
PICTURE_MAX: Final = 640  # pixels of the longer side; a plot has at least one
NOBODYS: Final = (245, 246, 248)


def picture(state: MiningState) -> NDArray[np.uint8]:
    """The pixels, height × width × 3 (red, green, blue; 0 to 255).

    Each plot is a square in its owner's colour, light grey without an owner, with white lines
    between the plots where a plot is larger than 2 pixels.
    """
    rows, cols = state.config.rows, state.config.cols
    fills, cell = _fills(), max(1, min(CELL, PICTURE_MAX // max(rows, cols)))
    colours = [NOBODYS if owner is None else fills[owner % len(fills)] for owner in state.owner]
    grid = np.array(colours, np.uint8).reshape(rows, cols, 3)
    pixels = grid.repeat(cell, 0).repeat(cell, 1)
    if cell > 2:
        pixels[::cell] = pixels[:, ::cell] = 255
    return pixels


@cache
def _fills() -> list[tuple[int, ...]]:
    """The colours of agents by id, read from the run page's script, which defines them."""
    script = (Path(__file__).parent / "view" / "style.js").read_text()
    return [tuple(bytes.fromhex(found)) for found in re.findall(r'"#([0-9a-f]{6})"', script)]
