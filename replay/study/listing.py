"""The journals that manifests of studies list, read without the worlds of these studies.

It imports nothing of studies: most journals are in none, and a study can be checked where its world
is not installed.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from goldrush.kernel.errors import BadInput
from goldrush.kernel.files import open_regular
from goldrush.kernel.text import format_count

MANIFEST: Final = "manifest.json"
MANIFEST_MAX: Final = 1 << 27  # bytes
DEPTH: Final = 4  # folders above a journal, its own included, in which a study is looked for

_PLANNED: Final = ("treatments", "rosters", "rounds", "seeds")  # a run for each combination
_HEAD: Final = rb'\s*\{\s*"goldrush"\s*:'  # which other programs do not write


Sha256 = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]


class Listed(msgspec.Struct, frozen=True):
    """A run in a manifest, by the path of its journal; without `sha256` and `bytes` until it is
    done.
    """

    path: str
    treatment: str
    roster: str
    sha256: Sha256 | None
    bytes: Annotated[int, msgspec.Meta(ge=0)] | None


class ListedManifest(msgspec.Struct, frozen=True):
    """What is read of a manifest. `fault`: how its list differs from the runs of its plan, if it
    does; `digest`: the SHA-256 of the file.
    """

    goldrush: str
    plan: Mapping[str, Any]
    runs: Sequence[Listed]
    format: int = 0
    world: str = ""
    rules: int = 0
    code: Mapping[str, Sha256] = {}
    fault: str | None = None
    digest: str = ""


def listed_in(folder: str) -> ListedManifest | None:
    """The manifest in a folder; None if there is none, or one of another program in a folder
    without runs of a study. Raises BadInput if it cannot be read.
    """
    path = os.path.join(folder, MANIFEST)
    if not os.path.isfile(path) and not (os.path.lexists(path) and _has_runs(folder)):
        return None
    with open_regular(path, "a manifest") as file:
        data = file.read(MANIFEST_MAX)
    if not re.match(_HEAD, data) and not _has_runs(folder):
        return None
    try:
        listed = msgspec.json.decode(data, type=ListedManifest)
        digest = sha256(data).hexdigest()
        return msgspec.structs.replace(listed, fault=_fault_of(listed), digest=digest)
    except (ValueError, TypeError, LookupError, RecursionError):
        reason = "it is cut off, of another version or changed"
        raise no_manifest(path, reason) from None


def no_manifest(path: str | Path, reason: str) -> BadInput:
    """The error for a file that is not the manifest of a study."""
    return BadInput(
        f"{path} is not the manifest of a study: {reason}",
        "restore it, or run the study in a new folder",
    )


def _has_runs(folder: str) -> bool:
    """Whether a folder has journals where those of a study are (see `StudyPlan`)."""
    return any(Path(folder).glob("*/*/*-*/seed-*.journal"))


def _fault_of(manifest: ListedManifest) -> str | None:
    planned = math.prod(len(manifest.plan[name]) for name in _PLANNED)
    paths = [os.path.normpath(run.path) for run in manifest.runs]
    if len(paths) != planned:
        return f"its plan has {format_count(planned, 'run')}, and it lists {len(paths):,}"
    twice = [path for path, times in Counter(paths).items() if times > 1]
    return f"it lists {twice[-1]} twice" if twice else None


def manifests_below(folder: str) -> Iterator[tuple[str, ListedManifest | BadInput]]:
    """The folders of studies in and below a folder, by name: each with what its manifest lists, or
    why that cannot be read.
    """
    for path in sorted(
        path for path, folders, names in os.walk(folder) if MANIFEST in (*folders, *names)
    ):
        try:
            listed: ListedManifest | BadInput | None = listed_in(path)
        except BadInput as error:
            listed = error
        if listed is not None:
            yield path, listed


class Listing(msgspec.Struct, frozen=True):
    """Some journals beside the manifests of studies.

    Attributes:
        faults: by journal, that the manifest of the study around it does not list it, or that it is
            listed as done and missing; by manifest, how it differs from its plan.
        unreadable: by manifest, why it cannot be read.
        sha256: by journal, as listed.
    """

    faults: Mapping[str, str]
    unreadable: Mapping[str, str]
    sha256: Mapping[str, str]


def listing_of(given: Sequence[str], journals: Sequence[str]) -> Listing:
    """The journals that were found at some paths, beside the manifests of the studies in and below
    the folders among these paths.
    """
    studies: dict[str, str] = {}  # folders as they were given, by absolute path
    listed: dict[str, tuple[str, str | None]] = {}  # path from here and SHA-256, by absolute path
    faults, unreadable, digests = dict[str, str](), dict[str, str](), dict[str, str]()
    for folder in filter(os.path.isdir, given):
        for path, study in manifests_below(folder):
            if studies.setdefault(os.path.abspath(path), path) != path:
                continue  # given twice
            manifest = os.path.join(path, MANIFEST)
            if isinstance(study, BadInput):
                unreadable[manifest] = str(study)
                continue
            for run in study.runs:
                there = os.path.join(path, run.path)
                listed[os.path.abspath(there)] = there, run.sha256
            if study.fault is not None:
                faults[manifest] = study.fault
    for journal in journals:
        absolute = Path(os.path.abspath(journal))
        around = [studies[str(folder)] for folder in absolute.parents if str(folder) in studies]
        manifest = os.path.join(around[0], MANIFEST) if around else ""
        is_listed = str(absolute) in listed
        _, digest = listed.pop(str(absolute), (journal, None))
        if digest is not None:
            digests[journal] = digest
        elif not is_listed and around and manifest not in unreadable:
            faults[journal] = f"{manifest} does not list it"
    for there, digest in listed.values():
        if digest is not None:
            faults[there] = "it is missing, and the manifest of its study lists it"
    return Listing(faults, unreadable, digests)


class StudyFolders:
    """The studies whose folders hold journals. Each folder is looked at once."""

    def __init__(self) -> None:
        self._cells: dict[Path, Mapping[Path, tuple[str, str]]] = {}

    def cell_of(self, path: str | Path) -> tuple[str, str] | None:
        """The treatment and the roster's name of a journal; None if no study lists it."""
        journal = Path(os.path.abspath(path))
        for folder in islice(journal.parents, DEPTH):
            if folder not in self._cells:
                self._cells[folder] = _cells_in(folder)
            if journal in self._cells[folder]:
                return self._cells[folder][journal]
        return None


def _cells_in(folder: Path) -> Mapping[Path, tuple[str, str]]:
    """What a manifest says of its journals; tables of journals need none that can be read."""
    try:
        listed = listed_in(str(folder))
    except BadInput:
        return {}
    journals = listed.runs if listed is not None else ()
    return {folder / each.path: (each.treatment, each.roster) for each in journals}
