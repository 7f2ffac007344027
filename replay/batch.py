"""Many journals verified at once, for a CI that must not be fooled by an empty folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import attrs

from kernel.errors import BadInput, GoldrushError
from kernel.journal import sha256_of
from replay.verify import DECIDE, LEVELS, Verdict, verify

SUFFIX: Final = ".journal"


@attrs.frozen
class Outcome:
    """What came of one journal: a verdict and the file's SHA-256, or why it could not be judged."""

    path: str
    verdict: Verdict | None
    sha256: str | None
    error: str | None

    @property
    def holds(self) -> bool | None:
        """Whether it holds; None where it could not be judged."""
        return None if self.verdict is None else self.verdict.holds

    def as_dict(self) -> dict[str, Any]:
        """The outcome for JSON."""
        if self.verdict is None:
            return {"path": self.path, "holds": None, "error": self.error}
        return {**self.verdict.as_dict(), "sha256": self.sha256}


def journals_in(paths: Sequence[str | Path]) -> list[str]:
    """The files that are meant: a file as it is, of a folder all `*.journal` files in and below it,
    by name, each once. Raises BadInput for a folder without any.
    """
    found: dict[str, None] = {}
    for path in map(str, paths):
        if not os.path.isdir(path):
            found[path] = None
            continue
        inside = sorted(str(file) for file in Path(path).rglob("*" + SUFFIX) if file.is_file())
        if not inside:
            raise BadInput(f"{path} holds no journal (*{SUFFIX})", "give a folder that does")
        found.update(dict.fromkeys(inside))
    return list(found)


def verify_all(
    paths: Sequence[str],
    level: int = DECIDE,
    *,
    jobs: int | None = None,
    trust: Sequence[str] = (),
    sources: Sequence[str] = (),
) -> Iterator[Outcome]:
    """`verify` for each journal, the outcomes in the order given, as they come.

    `jobs`: how many processes work at it, by default as many as there are processors. One that dies
    takes nothing with it but the journals that were not judged yet.
    """
    jobs = min(jobs or os.cpu_count() or 1, len(paths))
    if jobs <= 1:
        for path in paths:
            yield _judged(path, level, trust, sources)
        return
    pool = ProcessPoolExecutor(jobs, initializer=_find_modules, initargs=(list(sys.path),))
    try:
        futures = [pool.submit(_judged, path, level, trust, sources) for path in paths]
        for path, future in zip(paths, futures, strict=True):
            yield _result(path, future)
    finally:
        pool.shutdown(cancel_futures=True)


def _find_modules(path: list[str]) -> None:
    """Let a worker import what its parent can: policies of somebody's own, say."""
    sys.path[:] = path


def _judged(path: str, level: int, trust: Sequence[str], sources: Sequence[str]) -> Outcome:
    try:
        return Outcome(
            path, verify(path, level, trust=trust, sources=sources), sha256_of(path), None
        )
    except GoldrushError as error:
        return Outcome(path, None, None, str(error))


def _result(path: str, future: Future[Outcome]) -> Outcome:
    try:
        return future.result()
    except BrokenProcessPool:
        return Outcome(path, None, None, f"{path}: the process that verified it died")


def junit(outcomes: Sequence[Outcome]) -> bytes:
    """The outcomes as JUnit XML in UTF-8, which CI systems show: one test case a journal."""
    suite = ElementTree.Element(
        "testsuite",
        name="goldrush verify",
        tests=str(len(outcomes)),
        failures=str(sum(outcome.holds is False for outcome in outcomes)),
        errors=str(sum(outcome.holds is None for outcome in outcomes)),
    )
    for outcome in outcomes:
        case = ElementTree.SubElement(
            suite, "testcase", name=_legal(outcome.path), classname="goldrush"
        )
        if outcome.verdict is None:
            ElementTree.SubElement(case, "error", message=_legal(outcome.error or ""))
        elif outcome.verdict.broken is not None:
            level = LEVELS[outcome.verdict.broken.level - 1]
            says = _legal(str(outcome.verdict.broken))
            ElementTree.SubElement(case, "failure", type=level, message=says)
        else:
            ElementTree.SubElement(case, "system-out").text = f"sha256 {outcome.sha256}"
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    text: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _legal(text: str) -> str:
    """Text without what XML cannot hold."""
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
