"""Many journals verified at once, for a CI that must not be fooled by an empty folder."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import redirect_stdout, suppress
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import attrs

from kernel.errors import BadInput, GoldrushError
from replay.parent import fault_of
from replay.sums import Sums
from replay.verify import DECIDE, LEVELS, Verdict, verify
from replay.workers import jobs_for, workers

SUFFIX: Final = ".journal"

# How `junit` begins a file; other attributes may stand there too.
_JUNIT: Final = re.compile(
    rb"""<\?xml [^>]*>\s*<testsuites\b[^>]*>\s*<testsuite [^>]*\bname="goldrush verify\""""
)


@attrs.frozen
class Demands:
    """What a journal must be beyond what `verify` checks of it.

    `strict`: everybody is asked again. `sums`: its bytes are those that are pinned. `parent`: it is
    a fork of the journal at this path.
    """

    strict: bool = False
    sums: Sums | None = None
    parent: str | None = None


@attrs.frozen
class Outcome:
    """What came of one journal: a verdict, or why it could not be judged.

    `faults`: which demands it does not meet, and how; `notes`: what is to be said of those that it
    meets. `seconds`: how long it took to judge.
    """

    path: str
    verdict: Verdict | None
    error: str | None
    faults: Sequence[str] = ()
    notes: Sequence[str] = ()
    seconds: float = attrs.field(default=0.0, eq=False)

    @property
    def holds(self) -> bool | None:
        """Whether it holds and meets all demands; None where it could not be judged."""
        return None if self.verdict is None else self.verdict.holds and not self.faults

    def as_dict(self) -> dict[str, Any]:
        """The outcome for JSON."""
        if self.verdict is None:
            return {"path": self.path, "holds": None, "error": self.error}
        said = {"holds": self.holds, "faults": list(self.faults), "notes": list(self.notes)}
        return {**self.verdict.as_dict(), **said}


def journals_in(paths: Sequence[str | Path]) -> list[str]:
    """The files that are meant: a file as it is, of a folder all `*.journal` files in and below it,
    by name, each once. Raises BadInput for a folder without any.
    """
    found: dict[str, str] = {}
    for path in map(str, paths):
        if not os.path.isdir(path):
            found.setdefault(os.path.abspath(path), path)
            continue
        inside = sorted(_below(path))
        if not inside:
            raise BadInput(f"{path} holds no journal (*{SUFFIX})", "give a folder that does")
        for file in inside:
            found.setdefault(os.path.abspath(file), file)
    return list(found.values())


def _below(folder: str) -> Iterator[str]:
    """The journals in and below a folder. Nothing is passed over in silence: neither a link to
    nowhere nor a folder that cannot be read.
    """

    def refuse(error: OSError) -> None:
        raise BadInput(f"cannot read {error.filename}: {error.strerror}", "leave it out") from None

    for path, _, names in os.walk(folder, onerror=refuse):
        yield from (os.path.join(path, name) for name in names if name.endswith(SUFFIX))


def verify_all(
    paths: Sequence[str],
    level: int = DECIDE,
    *,
    jobs: int | None = None,
    trust: Sequence[str] = (),
    sources: Sequence[str] = (),
    demands: Demands | None = None,
) -> Iterator[Outcome]:
    """`verify` for each journal, the outcomes in the order given, as they come.

    `jobs`: how many processes work at it, by default as many as there are processors. Where one
    dies, the journals not judged yet are judged one by one, but for those that make it die.
    """
    jobs = jobs_for(len(paths), jobs)
    if jobs == 1:
        for path in paths:
            yield _judged(path, level, trust, sources, demands)
        return
    pool = workers(jobs)
    try:
        futures = []
        with suppress(BrokenProcessPool):  # a worker has died already
            for path in paths:
                futures.append(pool.submit(_judged, path, level, trust, sources, demands))
        for place, path in enumerate(paths):
            try:
                yield futures[place].result()
            except (BrokenProcessPool, IndexError):
                yield _judged_alone(path, level, trust, sources, demands)
    except BaseException:  # Ctrl-C above all: nobody waits for what is under way
        pool.stop()
        raise
    pool.shutdown()


def _judged(
    path: str,
    level: int,
    trust: Sequence[str],
    sources: Sequence[str],
    demands: Demands | None,
) -> Outcome:
    began = time.perf_counter()
    try:
        with redirect_stdout(sys.stderr):  # what a policy prints is no part of the answer
            outcome = _demanded(path, level, trust, sources, demands or Demands())
    except GoldrushError as error:
        outcome = Outcome(path, None, str(error))
    except MemoryError:
        outcome = Outcome(path, None, f"{path}: not enough memory to judge it")
    except Exception as error:  # of a world or a policy: the others are judged
        says = f"{path}: cannot be judged ({type(error).__name__}: {error})"
        outcome = Outcome(path, None, says)
    return attrs.evolve(outcome, seconds=time.perf_counter() - began)


def _demanded(
    path: str, level: int, trust: Sequence[str], sources: Sequence[str], demands: Demands
) -> Outcome:
    """Raises GoldrushError where a journal, its pin or its parent is not there to be judged."""
    pin = demands.sums and demands.sums.pin_of(path)
    if demands.sums is not None and pin is None:
        raise BadInput(
            f"{path} has no pin in {demands.sums.path}", "add what sha256sum prints of it"
        )
    verdict = verify(path, level, trust=trust, sources=sources)
    faults, notes = [], []
    if pin is not None and demands.sums is not None:
        if pin == verdict.sha256:
            notes.append(f"pinned in {demands.sums.path}")
        else:
            faults.append(f"its SHA-256 is {verdict.sha256}, but {demands.sums.path} has {pin}")
    if demands.parent is not None and verdict.holds:
        fault, note = fault_of(verdict.branch, demands.parent)
        (notes if fault is None else faults).append(note if fault is None else fault)
    if demands.strict and verdict.not_asked:
        faults.append(f"not asked again: {', '.join(verdict.not_asked)}")
    return Outcome(path, verdict, None, tuple(faults), tuple(notes))


def _judged_alone(
    path: str,
    level: int,
    trust: Sequence[str],
    sources: Sequence[str],
    demands: Demands | None,
) -> Outcome:
    """Once more, in a process of its own, so that who makes a worker die is known."""
    with workers(1) as pool:
        try:
            return pool.submit(_judged, path, level, trust, sources, demands).result()
        except BrokenProcessPool:
            return Outcome(path, None, f"{path}: the process that verified it died")


def junit(outcomes: Sequence[Outcome]) -> bytes:
    """The outcomes as JUnit XML in UTF-8, which CI systems show: one test case a journal."""
    suite = ElementTree.Element(
        "testsuite",
        name="goldrush verify",
        tests=str(len(outcomes)),
        failures=str(sum(outcome.holds is False for outcome in outcomes)),
        errors=str(sum(outcome.holds is None for outcome in outcomes)),
        time=_seconds(sum(outcome.seconds for outcome in outcomes)),
    )
    for outcome in outcomes:
        case = ElementTree.SubElement(
            suite,
            "testcase",
            name=_legal(outcome.path),
            classname="goldrush",
            time=_seconds(outcome.seconds),
        )
        if outcome.verdict is None:
            ElementTree.SubElement(case, "error", message=_legal(outcome.error or ""))
        else:
            _add_verdict(case, outcome, outcome.verdict)
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    text: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _add_verdict(case: ElementTree.Element, outcome: Outcome, verdict: Verdict) -> None:
    """What was found of a journal that was judged: its properties, a failure, all in words."""
    said = {"level": str(verdict.level), "sha256": verdict.sha256}
    properties = ElementTree.SubElement(case, "properties")
    for name, value in (*said.items(), *(("not asked again", who) for who in verdict.not_asked)):
        ElementTree.SubElement(properties, "property", name=name, value=_legal(value))
    if verdict.broken is not None:
        level, says = LEVELS[verdict.broken.level - 1], _legal(str(verdict.broken))
        ElementTree.SubElement(case, "failure", type=level, message=says)
    elif outcome.faults:
        says = _legal("; ".join(outcome.faults))
        ElementTree.SubElement(case, "failure", type="demand", message=says)
    lines = [f"sha256 {verdict.sha256}", f"levels 1 to {verdict.level}", *outcome.notes]
    lines += [f"not asked again: {who}" for who in verdict.not_asked]
    ElementTree.SubElement(case, "system-out").text = "\n".join(map(_legal, lines))


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"


def is_junit(front: bytes) -> bool:
    """Whether a file that begins so is one that `junit` made."""
    return _JUNIT.match(front) is not None


def _legal(text: str) -> str:
    """Text without what XML cannot hold."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
