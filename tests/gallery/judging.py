"""What the doctor says of a subject, as the table needs it."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from tests.gallery.packages import HERE, Subject
from tests.gallery.processes import ran

TOTAL_SECONDS: Final = 600  # of a judgement, after which causes are not looked for
RUN_SECONDS: Final = 150
TEXT_MAX: Final = 300  # characters of an error
NOT_FORGOTTEN: Final = "a reset by the seed in the same process gives another run"
_SITE = re.compile(r"(/[^\s:'\"]*)?/(site-packages|lib/python3\.\d+)/")
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}\b")


@attrs.frozen
class Cause:
    """Why a subject does not repeat.

    Attributes:
        where: file and line.
        within: of the subject's code that led there; empty: the same.
        kind: one of the doctor's.
        what: the function called, or what was read.
        is_confirmed: by taking it away.
    """

    where: str
    within: str
    kind: str
    what: str
    is_confirmed: bool


@attrs.frozen
class Judgement:
    """What came out.

    Attributes:
        name: of the subject.
        command: as typed after `goldrush`.
        repeats: None: it could not be judged.
        kind: of the subject.
        steps: how many were compared.
        first_step: the first that differs.
        path: the value that differs.
        causes: why.
        why: it could not be judged, or no cause is confirmed; empty otherwise.
        notes: what else was seen.
    """

    name: str
    command: Sequence[str]
    repeats: bool | None
    kind: str = ""
    steps: int = 0
    first_step: int | None = None
    path: str = ""
    causes: Sequence[Cause] = ()
    why: str = ""
    notes: Sequence[str] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Judgement:
        """The judgement of a record of `attrs.asdict`."""
        return cls(**{**given, "causes": tuple(Cause(**cause) for cause in given["causes"])})


def judged(subject: Subject, python: Path) -> Judgement:
    """The doctor's verdict on a subject, in a folder of its own."""
    words = ["repeats", *subject.arguments()]
    command = [*words, "--json", f"--timeout={RUN_SECONDS}"]
    shown = [argument.removeprefix(f"{HERE}/") for argument in words]
    late = ""
    for more in ([], ["--no-causes"]):
        with tempfile.TemporaryDirectory() as folder:
            whole = [str(python), "-P", "-m", "goldrush", *command, *more]
            process = ran(whole, TOTAL_SECONDS, folder=Path(folder))
        if process.code is not None:
            break
        late = f"causes were not found in {TOTAL_SECONDS} seconds"
    if process.code in (0, 1) and process.out.startswith("{"):
        return judgement(subject.name, shown, json.loads(process.out), late)
    why = process.last_line.removeprefix("goldrush: ").removeprefix("error: ")
    return Judgement(subject.name, shown, None, why=plain(why))


def judgement(
    name: str, command: Sequence[str], verdict: Mapping[str, Any], late: str = ""
) -> Judgement:
    """The judgement of a verdict, as `goldrush repeats --json` prints it."""
    difference = verdict["difference"] or {"step": None, "path": ""}
    repeats = verdict["difference"] is None
    why = late if late and not repeats else verdict["unexplained"]
    return Judgement(
        name, command, repeats, verdict["kind"], verdict["steps"],
        difference["step"], plain(difference["path"]),
        tuple(map(_cause, verdict["causes"])), plain(why), tuple(map(plain, _notes(verdict))),
    )  # fmt: skip


def _cause(given: Mapping[str, Any]) -> Cause:
    where, within = (
        plain(f"{place['file']}:{place['line']}") if place else ""
        for place in (given["place"], given["within"])
    )
    kind, what = given["place"]["kind"], plain(given["what"])
    return Cause(where, within, kind, what, given["is_confirmed"])


def _notes(verdict: Mapping[str, Any]) -> Sequence[str]:
    notes = []
    if verdict["error"]:
        notes.append(f"every run ends there with the same error: {verdict['error']}")
    if verdict["resets"] is False:
        notes.append(NOT_FORGOTTEN)
    elif verdict["reset_forgets"] is False:
        notes.append("another one in the same process gives another run")
    if verdict["seed"] is None:
        notes.append("takes no seed")
    if verdict["not_seen"]:
        notes.append(f"not compared: {', '.join(verdict['not_seen'])}")
    return notes


def plain(text: str) -> str:
    """A text that is the same on every machine: no folders, no addresses, one line."""
    text = _SITE.sub("", text.replace(f"{HERE}/", "").replace(str(Path.home()), "~"))
    text = _ADDRESS.sub("0x…", text)
    text = " ".join(text.split())
    return text if len(text) <= TEXT_MAX else f"{text[:TEXT_MAX]}…"
