"""Pictures of a run: the environment is made again, does what was recorded, and renders.

A journal has no pictures. What is drawn here is what the environment shows that was given
(agents/given.py); where it gives other rewards than the recorded ones, the note says so.
"""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from goldrush.agents.given import maker_of
from goldrush.kernel.codec import pack
from goldrush.kernel.errors import GoldrushError, format_error
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.worlds.episode.config import About
from goldrush.kernel.worlds.episode.events import CLOSED, GAVE
from goldrush.kernel.worlds.episode.subject import MODEL, VECTOR, played
from goldrush.kernel.worlds.episode.world import episode_world
from goldrush.replay.data.sampling import Sampling
from goldrush.replay.worlds.episode.environments import Environment
from goldrush.replay.worlds.episode.episodes import closed_units
from goldrush.replay.worlds.episode.recording import EnvironmentMaker

PICTURES_MAX: Final = 120  # pictures in a page
BYTES_MAX: Final = 3 << 20  # bytes of all of them
SIDE_MAX: Final = 480  # pixels of a side; of a larger picture every second, third ... is taken
MODE: Final = "rgb_array"


def pictures(path: str | Path, about: About, first: int, last: int) -> Mapping[str, object] | None:
    """The pictures of the steps `first` to `last`, as many as the limits hold, at equal distances,
    with a note on them; None where nothing was given that makes the environment.

    Raises JournalError as reading a journal does.
    """
    make = maker_of(about.name)
    if make is None or about.kind in (MODEL, VECTOR):
        return None

    def rendering(**parameters: Any) -> object:
        try:
            return make(**{**parameters, "render_mode": MODE})
        except TypeError:  # it takes no such parameter
            return make(**parameters)

    kept: Sampling[str] = Sampling(BYTES_MAX, first)
    subject: Environment | None = None
    problem = ""
    with JournalReader(path) as reader:
        start = next(iter(reader)).setup or {}
    try:
        subject = EnvironmentMaker(rendering)(episode_world().initial(start))
        if getattr(subject.env, "render_mode", None) != MODE:
            problem = f"The environment has no render_mode {MODE!r}, so it is not drawn."
        else:
            problem = _draw(path, subject, kept, last)
    except (GoldrushError, KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # an environment may raise anything
        problem = f"The environment cannot be drawn: {format_error(error)}."
    finally:
        if subject is not None:
            subject.close()
    items = list(kept.items())
    part = f" The page has that of one step in {kept.every}." if kept.every > 1 else ""
    note = f"Drawn by the environment that ran again when this page was made.{part}"
    return {
        "units": [number for number, _ in items],
        "images": [image for _, image in items],
        "note": f"{note if items else ''} {problem}".strip(),
    }


def _draw(path: str | Path, subject: Environment, kept: Sampling[str], last: int) -> str:
    """Play a run again up to a step and keep its pictures. Returns a sentence on where it differs
    from the recorded one; empty if it does not.
    """
    differs = ""
    with JournalReader(path) as reader:
        for commit, _ in closed_units(episode_world(), reader):
            step = commit.unit - 1
            inputs, derived = commit.blocks
            if step > last or inputs.rows(CLOSED):
                break
            outcome = played(subject, inputs)
            recorded = [list(row) for row in derived.rows(GAVE)]
            if not differs and pack([list(row) for row in outcome.results]) != pack(recorded):
                differs = f"From step {step} on it gives other rewards than the recorded ones."
            if kept.wants(step):
                image = b64encode(_png(subject.env.render())).decode()
                kept.add(step, image, max(len(image), BYTES_MAX // PICTURES_MAX))
    return differs


def _png(frame: Any) -> bytes:
    """A picture of rows of red, green, blue bytes (an array of numpy) as PNG.

    Raises ValueError for anything else.
    """
    if getattr(frame, "ndim", 0) != 3 or frame.shape[2] != 3 or frame.dtype != "uint8":
        raise ValueError("render() gives no array of red, green and blue")
    every = -(-max(frame.shape[:2]) // SIDE_MAX) or 1
    small = frame[::every, ::every]
    height, width, _ = small.shape
    rows = b"".join(b"\0" + row.tobytes() for row in small)  # each unfiltered

    def chunk(kind: bytes, data: bytes) -> bytes:
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows, 9)), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)
