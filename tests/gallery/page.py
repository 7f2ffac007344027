"""The gallery as a page, made of recorded judgements alone."""

from __future__ import annotations

import json
import lzma
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from tests.gallery.judging import NOT_FORGOTTEN, Cause, Judgement
from tests.gallery.packages import HERE, Gallery, Package

RESULTS: Final = HERE / "gallery.json.xz"
PAGE: Final = HERE / "GALLERY.md"
REPORTS: Final = HERE / "reports"
SOURCES: Final = {
    "random": "global generator of `random`, not seeded",
    "random-unseeded": "`random.Random` without a seed",
    "numpy-random": "global generator of `numpy.random`, not seeded",
    "numpy-unseeded": "numpy generator without a seed",
    "system-random": "random bytes of the system",
    "clock": "clock",
    "process": "number of the process",
    "id": "address of an object",
    "hash": "hash",
    "files": "order of files",
    "completion": "order in which threads are ready",
    "set-order": "order of a set",
    "set-pop": "`pop()` of a set",
}
_TITLE: Final = """\
# Gallery: which public models and environments repeat

Made by `python -m tests.gallery` from [packages.toml](packages.toml); do not edit. Each subject is
judged by `goldrush repeats` ([how](../../replay/repeats/README.md)): four runs from seed 1, in
fresh processes, under three hash seeds, all values of all steps compared. A cause is *confirmed* if
the run repeats without it; [reports/](reports/) has the smallest programs that show such causes,
and their lines. "Repeats" holds for these steps and versions: [gallery.json.xz](gallery.json.xz)
has all packages of an environment, the first value that differs, each cause with its line, and why
a subject was not judged.
"""


@attrs.frozen
class Result:
    """What came out of a package.

    Attributes:
        version: of the package.
        python: the interpreter's version.
        installed: all packages beside it, with versions.
        not_installed: why; empty if it is.
        judgements: of its subjects, in their order.
    """

    version: str = ""
    python: str = ""
    installed: Sequence[str] = ()
    not_installed: str = ""
    judgements: Sequence[Judgement] = ()

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Result:
        """The result of a record of `attrs.asdict`."""
        return cls(**{**given, "judgements": tuple(map(Judgement.of, given["judgements"]))})


Results = Mapping[str, Result]  # by name of the package


def read(path: Path = RESULTS) -> dict[str, Result]:
    """Recorded results; none if there is no file."""
    if not path.exists():
        return {}
    table = json.loads(lzma.decompress(path.read_bytes()))
    return {name: Result.of(one) for name, one in table.items()}


def write(results: Results, path: Path = RESULTS) -> None:
    """Record results."""
    plain = {name: attrs.asdict(results[name]) for name in sorted(results)}
    new = path.with_suffix(f".{os.getpid()}")  # whole at every moment: others read it
    text = json.dumps(plain, indent=1, ensure_ascii=False) + "\n"
    new.write_bytes(lzma.compress(text.encode(), preset=9))
    new.replace(path)


def page(gallery: Gallery, results: Results) -> str:
    """The page, in the order of the data file."""
    packages = [package for package in gallery.packages if package.name in results]
    lines = [_TITLE, f"**{counts(gallery, results)}**"]
    for package in packages:
        lines += ["", *_section(package, results[package.name])]
    if gallery.left_out:
        lines += ["", "## Not tried", ""]
        by_reason: dict[str, list[str]] = {}
        for name, why in gallery.left_out.items():
            by_reason.setdefault(_cell(why), []).append(name)
        lines += [f"- {why}: {', '.join(names)}" for why, names in by_reason.items()]
    return "\n".join(lines).rstrip() + "\n"


def counts(gallery: Gallery, results: Results) -> str:
    """How many subjects there are, by verdict."""
    there = [results[one.name] for one in gallery.packages if one.name in results]
    judgements = [judgement for result in there for judgement in result.judgements]
    count = Counter(judgement.repeats for judgement in judgements)
    sure = sum(any(cause.is_confirmed for cause in each.causes) for each in judgements)
    forget_not = sum(NOT_FORGOTTEN in judgement.notes for judgement in judgements)
    packages = sum(not result.not_installed for result in there)
    return (
        f"{len(judgements)} subjects of {packages} packages: {count[True]} repeat ({forget_not} of"
        f" them not after another episode in the same process), {count[False]} do not ({sure} with"
        f" a confirmed cause), {count[None]} could not be judged."
    )


def _section(package: Package, result: Result) -> Iterator[str]:
    yield f"## {package.name}"
    yield ""
    if result.not_installed:
        yield f"Not installed: {_cell(result.not_installed)}"
        return
    yield f"{package.distribution} {result.version}, Python {result.python}."
    said: dict[str, list[str]] = {}  # those of which the same is said share a paragraph
    for judgement in result.judgements:
        said.setdefault(_verdict(judgement), []).append(_cell(judgement.name))
    for verdict in sorted(said, key=len):
        yield ""
        yield f"- {verdict}: {', '.join(said[verdict])}"


def _verdict(judgement: Judgement) -> str:
    """What is said of a subject. Reports have the lines of causes; here they stand by kind."""
    if judgement.repeats is None:
        return "not judged"
    parts = list(dict.fromkeys(map(_cause, judgement.causes)))
    parts += [*filter(None, [judgement.why]), *judgement.notes]
    if judgement.repeats is False or NOT_FORGOTTEN in judgement.notes:
        parts += [f"[report](reports/{name}.md)" for name in _reports_of(judgement.name)]
    verdict = "repeat" if judgement.repeats else "**differ**"
    return f"{verdict} ({_cell('; '.join(parts))})" if parts else verdict


def _reports_of(subject: str) -> Sequence[str]:
    paths = sorted(REPORTS.glob("*.md"))
    return [path.stem for path in paths if f"`{subject}`" in path.read_text()]


def _cause(cause: Cause) -> str:
    return f"{'confirmed' if cause.is_confirmed else 'suspected'}: {SOURCES[cause.kind]}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")
