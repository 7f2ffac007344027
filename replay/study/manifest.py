"""Manifest of a study's folder: the plan, and each run's configuration, SHA-256 and size.

It is written when the study starts, with `null` for unfinished runs, and again when all have ended.
It does not record time, machine or number of processes, so equal studies are equal folders.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.files import always, open_regular, write_whole
from goldrush.kernel.journal import FORMAT
from goldrush.replay.find import distribution_of
from goldrush.replay.levelled import SEED
from goldrush.replay.study.cells import MANIFEST, MANIFEST_MAX
from goldrush.replay.study.plan import Planned, StudyPlan, cells_of, studied
from goldrush.replay.study.records import Cell, Manifest, StudyRun
from goldrush.replay.tools import Tools
from goldrush.version import __version__

Done = tuple[str, int]  # SHA-256 and size of the journal of a finished run
UNDONE: Final = (None, None)  # of another
UNFINISHED: Final = ".unfinished"  # suffix of the journal of a run that has not ended yet

_SHA256 = re.compile("[0-9a-f]{64}")


def write_manifest(
    folder: Path,
    plan: StudyPlan,
    runs: Sequence[Planned],
    done: Mapping[str, Done],
    code: Mapping[str, str],
) -> Manifest:
    """Write the manifest atomically, and return it. `code`: as in `Manifest`. Raises WriteFailed,
    and BadInput if the path is not a regular file.
    """
    # Any manifest there was read (`read_manifest`), which refuses every other file.
    write_whole(str(folder / MANIFEST), _text(plan, runs, done, code).encode(), is_own=always)
    listed = [
        StudyRun(run.cell, run.seed, run.path, run.config, *done.get(run.path, UNDONE))
        for run in runs
    ]
    rules = studied(plan.world).world({}).rules
    return Manifest(plan.world, plan.as_dict(), listed, rules, code)


def check_size(plan: StudyPlan, runs: Sequence[Planned]) -> None:
    """Raises BadInput if the manifest of these runs would be larger than `MANIFEST_MAX`."""
    size = len(_text(plan, runs, {}, {})) + 100 * len(runs)
    if size > MANIFEST_MAX:
        raise BadInput(
            f"the study's manifest would have about {size:,} bytes",
            f"it may have {MANIFEST_MAX:,}: take fewer runs, or smaller maps",
        )


def _text(
    plan: StudyPlan,
    runs: Sequence[Planned],
    done: Mapping[str, Done],
    code: Mapping[str, str],
) -> str:
    of = studied(plan.world)
    cells = [_cell_as_dict(of, cell, members, done) for cell, members in cells_of(runs)]
    brought_by = distribution_of(of.name)
    head = {
        "goldrush": __version__,
        "format": FORMAT,
        "world": of.name,
        "rules": of.world({}).rules,
        **({} if brought_by is None else {"distribution": brought_by}),
        **({"code": code} if code else {}),
        "plan": plan.as_dict(),
    }
    return _laid_out(head, cells)


def _cell_as_dict(
    of: Tools, cell: Cell, runs: Sequence[Planned], done: Mapping[str, Done]
) -> dict[str, Any]:
    configs = [run.config.as_dict() for run in runs]
    common = {name: value for name, value in _common(configs).items() if name != SEED}
    covariate = of.studies.covariate
    return {
        **attrs.asdict(cell),
        **({covariate.name: covariate.of(runs[0].config)} if covariate else {}),
        "policies": [entry.policy for entry in runs[0].prepared.roster.entries],
        "config": common,
        "runs": [
            {
                "path": run.path,
                **dict(zip(("sha256", "bytes"), done.get(run.path, UNDONE), strict=True)),
                "config": _without(config, common),
            }
            for run, config in zip(runs, configs, strict=True)
        ],
    }


def _common(maps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The values that all maps have. Of maps inside them with the same keys it is a map with all
    keys, in which None stands for values that differ.
    """
    common: dict[str, Any] = {}
    for name, value in maps[0].items():
        values = [one[name] for one in maps]
        if all(one == value for one in values):
            common[name] = value
        elif all(isinstance(one, Mapping) and list(one) == list(value) for one in values):
            common[name] = {**dict.fromkeys(value), **_common(values)}
    return common


def _without(whole: Mapping[str, Any], common: Mapping[str, Any]) -> dict[str, Any]:
    """What a map has and `common` lacks or has otherwise."""
    return {
        name: _without(value, common[name]) if isinstance(common.get(name), Mapping) else value
        for name, value in whole.items()
        if name not in common or common[name] != value
    }


def _with(common: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """The whole map again, from `common` and what `_without` gave."""
    inner = {
        name: _with(common[name], value)
        for name, value in own.items()
        if isinstance(value, Mapping) and isinstance(common.get(name), Mapping)
    }
    return {**common, **own, **inner}


def _laid_out(head: Mapping[str, Any], cells: Sequence[Mapping[str, Any]]) -> str:
    """JSON with one line per run, so that `diff` shows which run changed."""
    lines = ["{"]
    lines += [f" {json.dumps(key)}: {json.dumps(value)}," for key, value in head.items()]
    lines.append(' "cells": [')
    for index, cell in enumerate(cells):
        rest = {key: value for key, value in cell.items() if key != "runs"}
        lines.append("  {" + json.dumps(rest)[1:-1] + ', "runs": [')
        lines.append(",\n".join("   " + json.dumps(run) for run in cell["runs"]))
        lines.append("  ]}" + ("," if index + 1 < len(cells) else ""))
    return "\n".join([*lines, " ]", "}"]) + "\n"


def read_manifest(folder: str | Path) -> Manifest:
    """The manifest of a study's folder. Raises BadInput if it is missing or invalid."""
    path = Path(folder) / MANIFEST
    if not os.path.lexists(path):
        raise BadInput(
            f"{folder} holds no study (no {MANIFEST})", "give the folder of `goldrush study --out`"
        )
    try:
        with open_regular(str(path), "a manifest") as file:
            data = file.read(MANIFEST_MAX + 1)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}", "give another folder") from None
    try:
        if len(data) > MANIFEST_MAX:
            raise ValueError(f"more than {MANIFEST_MAX:,} bytes")
        return attrs.evolve(_manifest_of(json.loads(data)), digest=sha256(data).hexdigest())
    except BadInput as error:
        raise BadInput(
            f"the study of {path} cannot be read here: {error.what}",
            "install the package of its world, or give the file of its game (--world FILE.py)",
        ) from None
    except (TypeError, LookupError, AttributeError, RecursionError):
        reason = "a field is missing, or has another type"
    except ValueError as error:
        reason = format_value(str(error), 200)
    raise BadInput(
        f"{path} is not the manifest of a study: {reason}",
        "restore it, or run the study in a new folder",
    )


def _manifest_of(table: Any) -> Manifest:
    name, plan = table["world"], table["plan"]
    if type(name) is not str:
        raise ValueError(f"world {format_value(name)}")
    of = studied(name)
    form, rules = table["format"], table["rules"]
    readable = of.world({}).readable_rules
    if form != FORMAT or type(rules) is not int or rules not in readable:
        raise ValueError(
            f"format {format_value(form)}, rules {format_value(rules)} of the {name} world; this "
            f"version reads format {FORMAT}, rules {' and '.join(map(str, readable))}"
        )
    code = table.get("code", {})
    if not all(type(digest) is str and _SHA256.fullmatch(digest) for digest in code.values()):
        raise ValueError(f"code {format_value(code)}")
    runs = [_run_of(of, cell, run) for cell in table["cells"] for run in cell["runs"]]
    try:
        _check_listed(StudyPlan(name, **plan), runs)
    except BadInput as error:
        raise ValueError(f"its plan is invalid: {error.what}") from None
    return Manifest(name, plan, runs, rules, code)


def _check_listed(plan: StudyPlan, runs: Sequence[StudyRun]) -> None:
    """Raises ValueError unless the runs are those of the plan, with its names and settings."""
    size = math.prod(map(len, (plan.treatments, plan.rosters, plan.seeds, plan.rounds)))
    if size != len(runs):
        raise ValueError(f"its plan has {size:,} runs, its list {len(runs):,}")
    for run, outline in zip(runs, plan.outlines(), strict=True):
        if (run.cell, run.path) != (outline.cell, outline.path):
            raise ValueError(f"{run.path} is listed as {run.cell}, which differs from its plan")
        if run.config != outline.config:
            raise ValueError(f"the configuration of {run.path} differs from its plan")


def _run_of(of: Tools, cell: Mapping[str, Any], run: Mapping[str, Any]) -> StudyRun:
    try:
        config = of.studies.config(_with(cell["config"], run["config"]))
    except BadInput as error:
        raise ValueError(str(error)) from None
    path, sha256, size = run["path"], run["sha256"], run["bytes"]
    undone = sha256 is None and size is None
    if not undone and not (_SHA256.fullmatch(sha256) and type(size) is int and size >= 0):
        raise ValueError(f"sha256 {format_value(sha256)}, bytes {format_value(size)}")
    horizon = getattr(config, of.players.horizon)
    where = Cell(cell["treatment"], cell["roster"], horizon)
    return StudyRun(where, config.seed, path, config, sha256, size)
