"""The journals that manifests of studies list, read without the worlds of these studies.

It imports nothing of studies: most journals are in none, and a study can be checked where its world
is not installed.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.kernel.errors import BadInput
from goldrush.kernel.files import open_regular

MANIFEST: Final = "manifest.json"
MANIFEST_MAX: Final = 1 << 27  # bytes
MISSING: Final = "it is missing, and the manifest of its study lists it"
SHA256: Final = re.compile("[0-9a-f]{64}")

_KEYS: Final = {"goldrush", "runs"}  # which the manifests of other programs do not have
_HEAD: Final = re.compile(rb'\s*\{\s*"goldrush"\s*:')  # as a manifest is written


@attrs.frozen
class Listed:
    """A journal in a manifest. `sha256` is None until its run is done."""

    path: str
    treatment: str
    roster: str
    sha256: str | None


def listed_in(folder: str) -> list[Listed]:
    """The journals that the manifest in a folder lists; none if there is no manifest, or one of
    another program. Raises BadInput if it cannot be read.
    """
    path = os.path.join(folder, MANIFEST)
    if not os.path.isfile(path):
        return []
    with open_regular(path, "a manifest") as file:
        data = file.read(MANIFEST_MAX)
    try:
        table = json.loads(data)
    except (ValueError, RecursionError):
        if not _HEAD.match(data):
            return []
        table = dict.fromkeys(_KEYS)
    if not isinstance(table, dict) or not table.keys() >= _KEYS:
        return []
    try:
        return [_listed(folder, run) for run in table["runs"]]
    except (ValueError, TypeError, LookupError):
        raise BadInput(
            f"{path} is not the manifest of a study: it is cut off, or was changed",
            "restore it, or run the study's command again in a new folder",
        ) from None


def _listed(folder: str, run: Mapping[str, Any]) -> Listed:
    path, sha256 = os.path.join(folder, run["path"]), run["sha256"]
    names = run["treatment"], run["roster"]
    is_done = sha256 is not None and SHA256.fullmatch(sha256) is not None
    if not all(isinstance(name, str) for name in names) or not (is_done or sha256 is None):
        raise ValueError
    return Listed(path, *names, sha256)


def manifests_below(folder: str) -> Iterator[tuple[str, list[Listed] | BadInput]]:
    """The folders of studies in and below a folder, by name: each with what its manifest lists, or
    why that cannot be read.
    """
    for path in sorted(path for path, _, names in os.walk(folder) if MANIFEST in names):
        try:
            listed: list[Listed] | BadInput = listed_in(path)
        except BadInput as error:
            listed = error
        if listed:
            yield path, listed


@attrs.frozen
class Listing:
    """Some journals beside the manifests of studies.

    Attributes:
        unlisted: by journal, that the manifest of the study around it does not list it.
        missing: the journals that are listed as done, and are not there.
        unreadable: by manifest, why it cannot be read.
        sha256: by journal, as listed.
    """

    unlisted: Mapping[str, str]
    missing: Sequence[str]
    unreadable: Mapping[str, str]
    sha256: Mapping[str, str]

    @property
    def differing(self) -> list[str]:
        """What is known of them before they are read, as text."""
        faults = {**self.unlisted, **dict.fromkeys(self.missing, MISSING)}
        return [*self.unreadable.values(), *(f"{path}: {text}" for path, text in faults.items())]

    def fault(self, journal: str, sha256: str | None) -> str | None:
        """What is wrong with a journal of this SHA-256 (None: not known), as text; None: nothing
        is.
        """
        listed = self.sha256.get(journal)
        if listed is not None and sha256 not in (None, listed):
            return f"the manifest of its study lists a journal of SHA-256 {listed} here"
        return self.unlisted.get(journal)


def listing_of(given: Sequence[str], journals: Sequence[str]) -> Listing:
    """The journals that were found at some paths, beside the manifests of the studies in and below
    the folders among these paths.
    """
    studies: dict[str, str] = {}  # folders as they were given, by absolute path
    listed: dict[str, Listed] = {}
    unreadable: dict[str, str] = {}
    for folder in filter(os.path.isdir, dict.fromkeys(given)):
        for path, found in manifests_below(folder):
            if isinstance(found, BadInput):
                unreadable[os.path.join(path, MANIFEST)] = str(found)
            elif studies.setdefault(os.path.abspath(path), path) == path:
                listed |= {os.path.abspath(each.path): each for each in found}
    unlisted: dict[str, str] = {}
    sha256: dict[str, str] = {}
    for journal in journals:
        absolute = os.path.abspath(journal)
        around = [studies[str(each)] for each in Path(absolute).parents if str(each) in studies]
        its_entry = listed.pop(absolute, None)
        if its_entry is not None and its_entry.sha256 is not None:
            sha256[journal] = its_entry.sha256
        elif its_entry is None and around:
            unlisted[journal] = f"{os.path.join(around[0], MANIFEST)} does not list it"
    missing = [entry.path for entry in listed.values() if entry.sha256 is not None]
    return Listing(unlisted, missing, unreadable, sha256)
