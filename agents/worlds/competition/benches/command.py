"""The bench of the arena `command`: a user-defined program, started once for each run.

The program gets the text on its standard input and the seed as its argument, and prints a JSON
object with a finite number `value`; otherwise the text has no value. It runs without a shell, in an
empty temporary folder, with a small environment, and within limits of time and output. At the end
of a run its process group is killed. This is not a sandbox: the program has the user's rights.

The path of the program is given to play or check a season; the record has its name and SHA-256.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from selectors import EVENT_READ, DefaultSelector
from subprocess import DEVNULL, PIPE, STDOUT, Popen
from tempfile import TemporaryFile  # noqa: TID251  # which has no name
from typing import Any, Final

import attrs
from xxhash import xxh3_64_intdigest

from goldrush.agents.pool import before_exit
from goldrush.agents.worlds.competition.bench import (
    ARENA_TEXTS,
    Bench,
    BenchType,
    Run,
    TimedOut,
)
from goldrush.kernel import files
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, format_value, nearest
from goldrush.kernel.journal import sha256_of
from goldrush.kernel.measures import Value
from goldrush.kernel.worlds.competition.arena import DOWN, UP
from goldrush.kernel.worlds.competition.arenas.command import (
    AGENDA_MAX,
    TEXT_MAX,
    CommandOptions,
    Item,
    agenda_fault,
    trimmed,
)

AGENDA_BYTES: Final = 8 << 20
POLL_SECONDS: Final = 0.05  # between checks whether the program has ended
CHUNK: Final = 1 << 16
TRIES: Final = 4  # of each kind of change to a text
_WORD: Final = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?|[^\s0-9]+", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9.]+", re.ASCII)
_NO_PROGRAM: Final = (errno.ENOEXEC, errno.ENOENT, errno.EACCES)  # the file cannot be executed
_EXAMPLE: Final = 'a [[subject]] for each, with treatment, objective, better = "up", task and start'


# The record: the program and the agenda.


def _program(path: str) -> Mapping[str, Any]:
    path = _executable(path)
    return {"program": os.path.basename(path), "sha256": sha256_of(path)}


def _options(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    path = settings.get("agenda")
    return {**settings, "agenda": agenda_at(path)} if isinstance(path, str) else settings


def agenda_at(path: str) -> Sequence[Sequence[str]]:
    """The agenda in a TOML file: [treatment, objective, better, task, start] of each subject.
    Raises BadInput for a malformed file.
    """
    found = files.read_toml(path, AGENDA_BYTES, "give a file with an agenda", _EXAMPLE)
    for name in found:
        if name != "subject":
            raise BadInput(f"{path} has {format_value(name)}, not an agenda", f"write {_EXAMPLE}")
    subjects = found.get("subject")
    if not isinstance(subjects, list):
        raise BadInput(f"{path} is not an agenda", f"write {_EXAMPLE}, at most {AGENDA_MAX}")
    agenda = tuple(_item(path, number, item) for number, item in enumerate(subjects, 1))
    fault = agenda_fault(agenda)
    if fault is not None:
        raise BadInput(f"{path}: {fault[0]}", fault[1])
    return agenda


def _item(path: str, number: int, item: Any) -> Sequence[str]:
    names, where = [field.name for field in attrs.fields(Item)], f"{path}: subject {number}"
    if not isinstance(item, dict):
        raise BadInput(f"{where} is {format_value(item)}", f"write {_EXAMPLE}")
    for name in item:
        if name not in names:
            instead = f"{nearest(name, names)}write {', '.join(names)}"
            raise BadInput(f"{where} has {format_value(name)}, which no subject has", instead)
    missing = [name for name in names if name not in item]
    if missing:
        raise BadInput(f"{where} has no {', '.join(missing)}", f"write {_EXAMPLE}")
    if isinstance(item["start"], str):
        item["start"] = trimmed(item["start"])
    return tuple(item[name] for name in names)


def _executable(program: str) -> str:
    """The absolute path of an executable file. Raises BadInput."""
    path = os.path.abspath(program)
    if not os.path.isfile(path):
        raise BadInput(f"there is no program {program}", "give the path of a file (--test)")
    if not os.access(path, os.X_OK):
        raise BadInput(f"{program} is not executable", f"type chmod +x {program}")
    return path


# Runs


def _opened(options: CommandOptions, program: str | None) -> Bench:
    assert program is not None  # see arenas.bench_of
    opened = _Program(_executable(program), options)
    before_exit(_end_all)
    return Bench(
        test=opened.test,
        vary=_vary,
        read=lambda value, treatment: trimmed(value) if isinstance(value, str) else value,
        text=_text(options),
        whole=str,
        deterministic=options.deterministic,
        time_limit=options.time_limit,
        remark=opened.remark,
    )


def _text(options: CommandOptions) -> str:
    better = {UP: "more", DOWN: "less"}
    subjects = (
        ARENA_TEXTS("command_subject", item, better=better[item.better]) for item in options.items
    )
    return ARENA_TEXTS("command", most=f"{TEXT_MAX:,}", subjects="\n".join(subjects))


class _Program:
    """The user's program."""

    def __init__(self, path: str, options: CommandOptions) -> None:
        """Raises BadInput if the file does not have the recorded SHA-256."""
        self._path = path
        self._options = options
        self._stamp: tuple[int, ...] = ()
        self._check()

    def test(self, text: str, treatment: str, objective: str, seed: int) -> Run:
        """One run: the value or None, and the digest of the output. Raises TimedOut, and BadInput
        if the file has changed or the system cannot start it.
        """
        output = self._output_of(text, treatment, objective, seed)
        if output.fault == _LATE:
            raise TimedOut
        return output.value, xxh3_64_intdigest(output.data)

    def remark(self) -> str | None:
        """Why the start of the first subject has no value, if it has none. The program is run again
        for that, with what it writes on its standard error.
        """
        first = Item(*self._options.agenda[0])
        asked = first.start, first.treatment, first.objective, 0
        if self._output_of(*asked).value is not None:
            return None
        output = self._output_of(*asked, stderr=STDOUT)
        fault = output.fault or 'it prints no JSON object with a finite number "value"'
        last = output.data.decode(errors="replace").strip().rpartition("\n")[2]
        says = f"; the last it wrote: {format_value(last)}" if last else ""
        program, treatment = self._options.program, format_value(first.treatment)
        return f"{program} gives the start under {treatment} no value: {fault}{says}"

    def _output_of(
        self, text: str, treatment: str, objective: str, seed: int, stderr: int = DEVNULL
    ) -> _Output:
        """A run, which ends with the program, though processes that it started may still print. Its
        output goes to a file, for a pipe would have to be read while the program prints.
        """
        self._check()
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "GOLDRUSH_OBJECTIVE": objective,
            "GOLDRUSH_TREATMENT": treatment,
            "GOLDRUSH_SEED": str(seed),
        }
        with files.TemporaryFolder() as folder, TemporaryFile() as given:
            given.write(text.encode())
            given.seek(0)
            until = time.monotonic() + self._options.time_limit
            try:
                process = Popen(  # noqa: S603  # what the user gave
                    [self._path, str(seed)], stdin=given, stdout=PIPE, stderr=stderr,
                    bufsize=0, cwd=folder.path, env=environment, start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                if error.errno in _NO_PROGRAM:
                    return _Output(fault=files.format_reason(error))
                raise BadInput(
                    f"{self._path} cannot be started: {files.format_reason(error)}", "try again"
                ) from None
            _groups.add(process.pid)
            try:
                if _ending:
                    return _Output(fault="it is ended")
                return _output(process, self._options.output_limit, until)
            finally:
                _kill(process.pid)
                process.wait()
                _groups.discard(process.pid)

    def _check(self) -> None:
        """Raises BadInput unless the file is the one that the record names."""
        try:
            found = os.stat(self._path)
        except OSError as error:
            raise BadInput(
                f"{self._path} cannot be run any more: {files.format_reason(error)}",
                "restore the file",
            ) from None
        stamp = (found.st_ino, found.st_size, found.st_mtime_ns)
        if stamp == self._stamp:
            return
        sha256 = sha256_of(self._path)
        if sha256 != self._options.sha256:
            raise BadInput(
                f"{self._path} has the SHA-256 {sha256}",
                f"give the program that tested before, {self._options.program}: its SHA-256 is "
                f"{self._options.sha256} (a journal in which two programs tested is verified "
                "without one, up to level 3)",
            )
        self._stamp = stamp


_LATE: Final = "it does not end in time"


@attrs.frozen
class _Output:
    """The output of a program; `fault`: how it failed to end with code 0 and within its limits, in
    words; empty if it did.
    """

    data: bytes = b""
    fault: str = ""

    @property
    def value(self) -> Value:
        """The finite number `value` of a JSON object; None for anything else, and after a fault."""
        try:
            found = json.loads(self.data.decode())
            value: Any = found["value"] if isinstance(found, dict) else None
            number = float(value) if type(value) in (int, float) else math.nan
        except (ValueError, KeyError, OverflowError, RecursionError):
            return None
        return number if math.isfinite(number) and not self.fault else None


def _output(process: Popen[bytes], limit: int, until: float) -> _Output:
    """The output of a program, until it ends, though processes that it started may still hold the
    pipe open. `until`: the deadline, in monotonic seconds.
    """
    assert process.stdout is not None
    data = bytearray()
    os.set_blocking(process.stdout.fileno(), False)
    with process.stdout, DefaultSelector() as selector:
        selector.register(process.stdout, EVENT_READ)
        while (seconds := until - time.monotonic()) > 0:
            has_ended = process.poll() is not None
            is_ready = bool(selector.select(0 if has_ended else min(seconds, POLL_SECONDS)))
            if has_ended and not is_ready:
                return _Output(bytes(data), _format_return_code(process.returncode))
            chunk = process.stdout.read(CHUNK) if is_ready else None
            data += chunk or b""
            if chunk == b"":
                selector.unregister(process.stdout)
            if len(data) > limit:
                return _Output(bytes(data[:limit]), f"it prints over {limit:,} bytes")
    return _Output(fault=_LATE)


def _format_return_code(code: int) -> str:
    """The return code of a failed process, as text."""
    if code == 0:
        return ""
    return f"it ends by signal {-code}" if code < 0 else f"it ends with status {code}"


# The process groups of the runs of this process, and whether it ends.
_groups: Final = set[int]()
_ending: Final[list[bool]] = []


def _kill(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _end_all() -> None:
    _ending.append(True)
    for group in list(_groups):
        _kill(group)


# Neighbours


def _vary(text: str, treatment: str, draws: Draws) -> str:
    """A text with one line or word left out or doubled, or one number changed."""
    lines = text.split("\n")
    for change in draws.shuffled(TRIES * [_line_left_out, _line_twice, _word_changed]):
        changed = trimmed("\n".join(change(lines, draws)))
        if changed != text and len(changed) <= TEXT_MAX:
            return changed
    return "" if text else "?"


def _line_left_out(lines: list[str], draws: Draws) -> list[str]:
    place = draws.below(len(lines))
    return lines[:place] + lines[place + 1 :]


def _line_twice(lines: list[str], draws: Draws) -> list[str]:
    place, line = draws.below(len(lines) + 1), lines[draws.below(len(lines))]
    return [*lines[:place], line, *lines[place:]]


def _word_changed(lines: list[str], draws: Draws) -> list[str]:
    place = draws.below(len(lines))
    words = list(_WORD.finditer(lines[place]))
    if not words:
        return lines
    word = words[draws.below(len(words))]
    front, back = lines[place][: word.start()], lines[place][word.end() :]
    if _NUMBER.fullmatch(word[0]):
        put = _another_number(word[0], draws)
    else:
        put = ("", f"{word[0]} {word[0]}")[draws.below(2)]
    return [*lines[:place], f"{front}{put}{back}", *lines[place + 1 :]]


def _another_number(digits: str, draws: Draws) -> str:
    """One more, one less, twice, or half."""
    number = Decimal(digits)
    return str((number + 1, abs(number - 1), number * 2, number / 2)[draws.below(4)])


BENCH: Final = BenchType(_opened, _options, _program)
