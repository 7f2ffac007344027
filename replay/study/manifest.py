"""The manifest of a study's folder: what was to be run, and which bytes came of it.

It is written when the study starts, with `null` where a run is not finished yet, and again when all
are. Nothing in it tells when, where or by how many processes, so equal studies are equal folders.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import attrs

from kernel.errors import BadInput, shown
from kernel.journal import FORMAT
from kernel.mining import MINING
from kernel.mining.config import MiningConfig, config_of
from replay.study.plan import Cell, Plan, Planned, cells_of

MANIFEST: Final = "manifest.json"
MANIFEST_MAX: Final = 1 << 28  # bytes


@attrs.frozen
class Listed:
    """A run as the manifest lists it; `sha256` and `bytes` of its journal are None until it is
    done.
    """

    cell: Cell
    seed: int
    path: str
    config: MiningConfig
    sha256: str | None
    bytes: int | None


@attrs.frozen
class Manifest:
    """The plan and its runs, cell by cell."""

    plan: Mapping[str, Any]
    runs: Sequence[Listed]

    @property
    def finished(self) -> bool:
        """Whether every run is done."""
        return all(run.sha256 is not None for run in self.runs)


def listed(plan: Plan, runs: Sequence[Planned], done: Mapping[str, tuple[str, int]]) -> Manifest:
    """The manifest of a plan; `done`: by path, a journal's SHA-256 and size."""
    return Manifest(
        plan.as_dict(),
        [
            Listed(run.cell, run.seed, run.path, run.config, *done.get(run.path, (None, None)))
            for run in runs
        ],
    )


def write_manifest(folder: Path, plan: Plan, runs: Sequence[Planned], manifest: Manifest) -> None:
    """Write the manifest, whole or not at all."""
    done = {run.path: run for run in manifest.runs}
    cells = [_cell_as_dict(cell, members, done) for cell, members in cells_of(runs)]
    head = {
        "goldrush": version("goldrush"),
        "format": FORMAT,
        "world": MINING.name,
        "rules": MINING.rules,
        "plan": plan.as_dict(),
    }
    unfinished = folder / f"{MANIFEST}.unfinished"
    unfinished.write_text(_laid_out(head, cells), encoding="utf-8")
    os.replace(unfinished, folder / MANIFEST)


def _cell_as_dict(
    cell: Cell, runs: Sequence[Planned], done: Mapping[str, Listed]
) -> dict[str, Any]:
    """A cell with what all its runs have in common, and its runs with what is theirs."""
    configs = [run.config.as_dict() for run in runs]
    common = {
        name: value
        for name, value in configs[0].items()
        if name != "seed" and all(config[name] == value for config in configs)
    }
    return {
        **attrs.asdict(cell),
        "pressure": runs[0].config.pressure,
        "policies": [entry.policy for entry in runs[0].roster.entries],
        "config": common,
        "runs": [
            {
                "path": run.path,
                "sha256": done[run.path].sha256,
                "bytes": done[run.path].bytes,
                "config": {k: v for k, v in config.items() if k not in common},
            }
            for run, config in zip(runs, configs, strict=True)
        ],
    }


def _laid_out(head: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> str:
    """JSON with one run a line, so that a reader sees them and `diff` shows which one changed."""
    lines = ["{"]
    lines += [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    lines.append(' "cells": [')
    for place, cell in enumerate(cells):
        rest = {key: value for key, value in cell.items() if key != "runs"}
        lines.append("  {" + json.dumps(rest)[1:-1] + ', "runs": [')
        lines.append(",\n".join("   " + json.dumps(run) for run in cell["runs"]))
        lines.append("  ]}" + ("," if place + 1 < len(cells) else ""))
    return "\n".join([*lines, " ]", "}"]) + "\n"


def read_manifest(folder: str | Path) -> Manifest:
    """The manifest of a study's folder. Raises BadInput where there is none that can be read."""
    path = Path(folder) / MANIFEST
    try:
        with open(path, "rb") as file:
            data = file.read(MANIFEST_MAX + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput(
            f"{folder} holds no study (no {MANIFEST})", "give the folder of `goldrush study --out`"
        ) from None
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}", "give another folder") from None
    try:
        if len(data) > MANIFEST_MAX:
            raise ValueError(f"more than {MANIFEST_MAX:,} bytes")
        table = json.loads(data)
        runs = [_run_of(cell, run) for cell in table["cells"] for run in cell["runs"]]
        if table["world"] != MINING.name or type(table["plan"]) is not dict:
            raise ValueError("not of the mining world")
        return Manifest(table["plan"], runs)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise BadInput(
            f"{path} is no manifest of a study: {shown(str(error))}", "restore it, or study anew"
        ) from None


def _run_of(cell: Mapping[str, Any], run: Mapping[str, Any]) -> Listed:
    try:
        config = config_of({**cell["config"], **run["config"]})
    except BadInput as error:
        raise ValueError(str(error)) from None
    path, sha256, size = run["path"], run["sha256"], run["bytes"]
    parts = path.split("/")
    if not path or path.startswith("/") or any(part in ("", ".", "..") for part in parts):
        raise ValueError(f"path {path!r} leads out of the folder")
    if not (sha256 is None or type(sha256) is str):
        raise ValueError(f"sha256 {sha256!r}")
    where = Cell(str(cell["treatment"]), str(cell["roster"]), config.rounds)
    return Listed(where, config.seed, path, config, sha256, size)
