"""Plugins as if a distribution of them were installed: a generated *.dist-info on the path."""

from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import Any, TypeVar

import pytest

from goldrush.agents.players import Players
from goldrush.replay.tools import Tools

T = TypeVar("T", Tools, Players[Any])


def dist_info(
    folder: Path, points: Mapping[str, Mapping[str, str]], name: str = "added", version: str = "1.2"
) -> None:
    """Write the metadata of a distribution with these entry points, by group and name."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [
        line
        for group, named in points.items()
        for line in (f"[{group}]", *(f"{key} = {value}" for key, value in named.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


def install_world(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """Let a world be found, in this process and in those that it starts."""
    dist_info(folder / "installed", {"goldrush.worlds": {name: value}})
    monkeypatch.syspath_prepend(folder / "installed")


def with_parts(tools: T, **parts: object) -> T:
    """The same tools, or players, with other parts."""
    other = copy(tools)
    vars(other).update(parts)
    return other
