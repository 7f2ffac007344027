"""Manifest of a study's folder: the plan, and each run's SHA-256 and size.

It is written when the study starts, with `null` for unfinished runs, and again when all have ended.
It does not record time, machine or number of processes, so equal studies are equal folders.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import attrs
import msgspec

from goldrush.agents.targets import names_code
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.files import always, write_whole
from goldrush.kernel.journal import FORMAT
from goldrush.replay.find import distribution_of
from goldrush.replay.study.listing import (
    MANIFEST,
    Listed,
    ListedManifest,
    listed_in,
    no_manifest,
)
from goldrush.replay.study.plan import StudyPlan, studied
from goldrush.replay.study.records import Manifest, StudyRun
from goldrush.version import __version__

Done = tuple[str, int]  # SHA-256 and size of the journal of a finished run
UNFINISHED: Final = ".unfinished"  # suffix of the journal of a run that has not ended yet


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Write a manifest atomically, as JSON with a line for each run, so that `diff` shows which run
    changed. Raises WriteFailed, and BadInput if the path is not a regular file.
    """
    brought_by = distribution_of(manifest.world)
    head = {
        "goldrush": __version__,
        "format": FORMAT,
        "world": manifest.world,
        "rules": manifest.rules,
        **({} if brought_by is None else {"distribution": brought_by}),
        **({"code": manifest.code} if manifest.code else {}),
        "plan": manifest.plan,
    }
    lines = [f" {json.dumps(name)}: {json.dumps(value)},\n" for name, value in head.items()]
    rows = ",\n".join(f"  {json.dumps(msgspec.to_builtins(_listed(run)))}" for run in manifest.runs)
    text = f'{{\n{"".join(lines)} "runs": [\n{rows}\n ]\n}}\n'
    # Any manifest there was read (`read_manifest`), which refuses every other file.
    write_whole(str(folder / MANIFEST), text.encode(), is_own=always)


def _listed(run: StudyRun) -> Listed:
    return Listed(run.path, run.cell.treatment, run.cell.roster, run.sha256, run.bytes)


def read_manifest(folder: str | Path) -> Manifest:
    """The manifest of a study's folder. Raises BadInput if it is missing or invalid."""
    path, listed = Path(folder) / MANIFEST, listed_in(str(folder))
    if listed is None and os.path.lexists(path):
        raise no_manifest(path, "another program wrote it")
    if listed is None:
        raise BadInput(
            f"{folder} holds no study (no {MANIFEST})", "give the folder of `goldrush study --out`"
        )
    try:
        return _manifest_of(listed)
    except BadInput as error:
        raise BadInput(
            f"the study of {path} cannot be read here: {error.what}",
            "install the package of its world, or give the file of its game (--world FILE.py)",
        ) from None
    except (TypeError, LookupError, AttributeError, RecursionError):
        reason = "a field is missing, or has another type"
    except ValueError as error:
        reason = format_value(str(error), 200)
    raise no_manifest(path, reason)


def _manifest_of(listed: ListedManifest) -> Manifest:
    if listed.fault is not None:
        raise ValueError(listed.fault)
    name, form, rules = listed.world, listed.format, listed.rules
    if names_code(name):
        raise ValueError(f"world {format_value(name)}")
    of = studied(name)
    readable = of.world({}).readable_rules
    if form != FORMAT or rules not in readable:
        raise ValueError(
            f"format {form}, rules {rules} of the {name} world; this "
            f"version reads format {FORMAT}, rules {' and '.join(map(str, readable))}"
        )
    try:
        outlines = StudyPlan(name, **listed.plan).outlines()
    except BadInput as error:
        raise ValueError(f"its plan is invalid: {error.what}") from None
    runs = [_run_of(outline, run) for outline, run in zip(outlines, listed.runs, strict=True)]
    return Manifest(name, listed.plan, runs, rules, listed.code, listed.digest)


def _run_of(outline: StudyRun, listed: Listed) -> StudyRun:
    """A run of the plan with what the list says of its journal. Raises ValueError if it is listed
    otherwise than planned.
    """
    run = attrs.evolve(outline, sha256=listed.sha256, bytes=listed.bytes)
    if listed != _listed(run) or (run.sha256 is None) != (run.bytes is None):
        text = format_value(msgspec.to_builtins(listed), 200)
        raise ValueError(f"it lists {text}, where its plan has {run.path}")
    return run
