"""Verification of many journals at once, for CI: an empty folder is an error."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from goldrush.agents.modules import printing_to_stderr
from goldrush.agents.players import PROGRAM, Resources
from goldrush.agents.targets import import_early
from goldrush.agents.trust import EXTERNAL
from goldrush.kernel.errors import BadInput, GoldrushError, format_error, format_traceback
from goldrush.kernel.text import format_count
from goldrush.replay.find import is_shipped_at
from goldrush.replay.folders import total_size
from goldrush.replay.journal.verify import DECIDE, DERIVE, FOLD, Verdict, verify, way_out
from goldrush.replay.study.listing import MANIFEST, Listing
from goldrush.replay.workers import map_in_order

SUFFIX: Final = ".journal"

OnBytes = Callable[[int, int], None]  # called with the bytes judged, and all bytes


class BatchResult(msgspec.Struct, frozen=True):
    """The result for one journal.

    Attributes:
        path: the journal.
        verdict: its verdict; None if it could not be judged at all.
        error: why it could not be judged, or not in full; None if it was.
        faults: the requirements that it does not meet, as text.
        trace: the traceback of a world, or policy, that failed; empty without one.
        note: what holds, where there is no verdict, as text.
    """

    path: str
    verdict: Verdict | None
    error: str | None
    faults: Sequence[str] = ()
    trace: str = ""
    note: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether it holds and meets all requirements; None where it could not be judged. A known
        fault takes precedence over an open question.
        """
        if self.faults or (self.verdict is not None and self.verdict.holds is False):
            return False
        return True if self.error is None else None

    def as_dict(self) -> dict[str, Any]:
        verdict = {} if self.verdict is None else self.verdict.as_dict()
        result = {"holds": self.holds, "error": self.error, "faults": list(self.faults)}
        return {"path": self.path, **verdict, **result}


def journals_in(paths: Sequence[str | Path]) -> list[str]:
    """The journals at these paths, each once: a file as it is, of a folder all `*.journal` files in
    and below it, by name. Raises BadInput for a folder without any.
    """
    found: dict[str, str] = {}
    for path in map(str, paths):
        inside = below(path) if os.path.isdir(path) else [path]
        if not inside:
            raise BadInput(f"{path} holds no journal (*{SUFFIX})", "give a folder that does")
        for file in inside:
            found.setdefault(os.path.abspath(file), file)
    return list(found.values())


def below(folder: str, suffix: str = SUFFIX) -> list[str]:
    """The journals, or other files, in and below a folder, by name, including links to nowhere; a
    file of this name itself. Raises BadInput for a folder that cannot be read.
    """
    if not os.path.isdir(folder):
        return [folder] if folder.endswith(suffix) else []

    def refuse(error: OSError) -> None:
        raise BadInput(f"cannot read {error.filename}: {error.strerror}", "leave it out") from None

    found = os.walk(folder, onerror=refuse)
    return sorted(
        os.path.join(path, name)
        for path, _, names in found
        for name in names
        if name.endswith(suffix)
    )


def verify_all(
    paths: Sequence[str],
    level: int = DECIDE,
    resources: Resources = Resources(),
    *,
    jobs: int | None = None,
    strict: bool = False,
    on_bytes: OnBytes = lambda done, every: None,
) -> Iterator[BatchResult]:
    """`verify` for each journal, with the results in the order given, as they arrive.

    Of several journals each that given code plays is judged in a process of its own: such code may
    keep something that the next one would find, or end the process.

    Args:
        level: the highest level to check, 1 to 4.
        jobs: the number of processes; None: as many as there are processors. For one journal: the
            number of its tests made at once; None: one.
        strict: require that every player was asked again.
        on_bytes: called with the number of judged bytes and of all bytes: after each commit of a
            single journal, else after each journal.

    Raises WorkerDied if another process was killed.
    """
    resources = msgspec.structs.replace(resources, jobs=jobs or 1 if len(paths) == 1 else 1)
    judged = partial(_judged, level=level, strict=strict, resources=resources)
    done, sizes = 0, [total_size([path]) for path in paths]
    if len(paths) == 1:
        yield judged(paths[0], on_bytes=lambda size: on_bytes(size, sizes[0]))
        return
    if resources.trust or not all(map(is_shipped_at, paths)):
        import_early(resources.trust, resources.trust)
        judged = partial(_judged_apart, judged)
    with closing(map_in_order(judged, paths, jobs)) as results:
        for result, size in zip(results, sizes, strict=True):
            yield result
            done += size
            on_bytes(done, sum(sizes))


def compared(outcomes: Iterable[BatchResult], listing: Listing) -> Iterator[BatchResult]:
    """The results for journals, with what is wrong with them by the manifests of their studies as
    a fault. Journals that are missing, and manifests that cannot be read, have results of their
    own.
    """
    faults = dict(listing.faults)
    for outcome in outcomes:
        fault, sha256 = faults.pop(outcome.path, None), listing.sha256.get(outcome.path)
        if sha256 and outcome.verdict and outcome.verdict.sha256 != sha256:
            fault = f"the manifest of its study lists a journal of SHA-256 {sha256} here"
        yield msgspec.structs.replace(
            outcome, faults=[*outcome.faults, *([fault] if fault else [])]
        )
    yield from (BatchResult(path, None, None, [fault]) for path, fault in faults.items())
    yield from (BatchResult(path, None, why) for path, why in listing.unreadable.items())


def _judged_apart(judged: Callable[[str], BatchResult], path: str) -> BatchResult:
    """The result for a journal whose process judges nothing else."""
    from goldrush.agents.pool import ChildDied, in_child

    try:
        return in_child(judged, path)
    except ChildDied:
        return BatchResult(path, None, f"{path}: the process that verified it died")


def _judged(
    path: str,
    level: int,
    strict: bool,
    resources: Resources,
    on_bytes: Callable[[int], None] | None = None,
) -> BatchResult:
    try:
        with printing_to_stderr():
            verdict = verify(path, level, resources=resources, on_bytes=on_bytes)
    except GoldrushError as error:
        text = str(error)
        return BatchResult(path, None, text if path in text else f"{path}: {text}")
    except MemoryError:
        return BatchResult(path, None, f"{path}: not enough memory to judge it")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # of a world; the other journals are still judged
        problem = f"{path}: cannot be judged: {format_error(error)}"
        return BatchResult(path, None, problem, trace=format_traceback(error))
    trouble = _not_known(verdict) if verdict.holds is None else None
    faults = []
    if strict and verdict.not_asked:
        faults.append(f"not asked again: {', '.join(verdict.not_asked)}")
    return BatchResult(path, verdict, trouble, faults)


def _not_known(verdict: Verdict) -> str:
    """Why a journal cannot be judged in whole."""
    if verdict.other_code and verdict.broken is not None:
        return f"{verdict.path}: {_other_code(verdict)}; {verdict.broken}"
    if not verdict.unknown:
        first, *more = verdict.unjudged
        return f"{verdict.path}: {first}{f' ({len(more)} more like it)' if more else ''}"
    first, *more = verdict.unknown
    others = f", and so are {len(more)} more" if more else ""
    if verdict.level < DERIVE:
        return f"{verdict.path}: {first}; --level {FOLD} judges what needs no rules"
    return (
        f"{verdict.path}: {first}: not known to this goldrush{others}; what such players decide "
        f"cannot be judged, levels 1 to {verdict.level} hold (--level {verdict.level})"
    )


def format_results(outcomes: Sequence[BatchResult]) -> str:
    """How many of several journals hold, as a line, with the manifests that do not."""
    manifests = [each for each in outcomes if os.path.basename(each.path) == MANIFEST]
    outcomes = [each for each in outcomes if each not in manifests]
    hold, broken, unjudged = (
        sum(outcome.holds is value for outcome in outcomes) for value in (True, False, None)
    )
    whole = [outcome.verdict for outcome in outcomes if outcome.holds]
    unfinished = sum(verdict is not None and not verdict.finished for verdict in whole)
    part = f" ({unfinished} unfinished)" if unfinished else ""
    also = ""
    for holds, what in ((False, "not as planned"), (None, "cannot be read")):
        count = sum(manifest.holds is holds for manifest in manifests)
        also += f"; {format_count(count, 'manifest')} {what}" if count else ""
    return (
        f"{format_count(len(outcomes), 'journal')}: {hold} hold{part}, {broken} do not, "
        f"{unjudged} could not be judged{also}"
    )


def format_result(outcome: BatchResult, program: str = "goldrush") -> str:
    """The result for a journal that was judged, as a line; `program`: for the command in it."""
    verdict = outcome.verdict
    if verdict is None and outcome.holds:
        return f"{outcome.path}: holds: {outcome.note}"
    if verdict is None or outcome.holds is False:
        faults = [*outcome.faults]
        if verdict is not None and verdict.broken is not None:
            faults.insert(0, f"{verdict.broken}{way_out(verdict, program)}")
            if verdict.rests_on and verdict.broken.level == DERIVE:
                repeats = "`goldrush repeats` names what differs from run to run"
                faults.insert(1, f"it was run here under {verdict.rests_on}; {repeats}")
        return f"{outcome.path}: DOES NOT HOLD: {'; '.join(faults)}"
    levels = verdict.levels
    if verdict.not_asked:
        who = f"not asked again: {', '.join(verdict.not_asked)}{_how_to_ask(verdict.not_asked)}"
        levels = f"{levels.removesuffix(')')}, {who})"
    if outcome.holds is None:
        why = (outcome.error or "").removeprefix(f"{verdict.path}: ")
        levels += f", but could not be judged in full ({why})"
    end = "finished" if verdict.finished else "unfinished"
    notes = f", {_other_code(verdict)}" if verdict.other_code else ""
    if verdict.rests_on and outcome.holds is not None:
        notes += f"; it repeats here, under {verdict.rests_on}"
        notes += f"; not compared: {verdict.not_compared}" if verdict.not_compared else ""
    units = format_count(verdict.counted, verdict.vocabulary.unit)
    return (
        f"{verdict.path}: holds at {levels}: {units}, "
        f"{verdict.events:,} events, {end}, sha256 {verdict.sha256}{notes}"
    )


def _other_code(verdict: Verdict) -> str:
    return f"other code: it was recorded with the source of SHA-256 {verdict.other_code}"


def _how_to_ask(players: Sequence[str]) -> str:
    """How players can be asked again, as the end of a message; empty: they cannot."""
    players = [player for player in players if not player.startswith(PROGRAM)]
    are_external = [player.split(" ")[0] == EXTERNAL for player in players]
    ways = "" if all(are_external) else "; see --trust, --source and --test"
    if any(are_external):
        ways += "; goldrush.open(path).verify(policies=...) asks external agents in Python"
    return ways
