"""The file of what models were asked afterwards: JSON lines, appended to as answers arrive.

The first line says what was asked, of which journal; then comes a line for each answer; the last
has the SHA-256 of all lines before. A file without that line is continued. A torn line, as a crash
leaves it at the end, is not read, and written over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from typing import Annotated, Any, Final, TypeVar

import msgspec

from goldrush.agents.llm.afterwards import Changes, QuestionAbout
from goldrush.agents.llm.options import SAMPLE_MAX
from goldrush.agents.players import Facts
from goldrush.kernel import files
from goldrush.kernel.errors import BadInput, JournalInUse

SUFFIX: Final = ".asked.jsonl"
SIZE_MAX: Final = 1 << 29  # bytes of a file
TIMES_MAX: Final = 10_000
REASK, INTERVIEW = "reask", "interview"

T = TypeVar("T")
Key = tuple[int, int, int, int, int]  # of an answer: see `AskedAnswer.key`


class AskedOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How it was asked.

    Attributes:
        times: how often each question.
        sample: the first one; each time has the next (see `question.drawn_seed`).
        decisions: the public number of the unit of each, its agent, and the labels of the model
            that is asked and of its wording.
        changes: see `afterwards.Changes`.
        moves: the fields of a submission that make a move: all but free texts; empty: all.
    """

    times: Annotated[int, msgspec.Meta(ge=1, le=TIMES_MAX)]
    sample: Annotated[int, msgspec.Meta(ge=0, le=SAMPLE_MAX)]
    decisions: tuple[tuple[int, int, str, str], ...]
    changes: Changes
    moves: tuple[str, ...]


class AskedHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was asked. `journal`: its SHA-256; `question`: of an interview."""

    journal: str
    kind: str
    question: tuple[QuestionAbout, ...]
    options: AskedOptions


class AskedAnswer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer.

    Attributes:
        number: of the question to the agent in its unit, from 0; an interview comes after all.
        part: of an interview, the index of its question.
        seed: of the request, as far as it was drawn.
        error: as a run would record it, or count it as a failure.
        source: see `Answer.source`.
        submission: what it submits, by field; in an interview the fields of a form. None: nothing.
    """

    round: int
    agent: int
    number: int
    sample: int
    part: int
    seed: int | None
    error: str | None
    source: Facts
    submission: Facts | None

    @property
    def key(self) -> Key:
        """What it answers."""
        return self.round, self.agent, self.number, self.sample, self.part

    @property
    def text(self) -> str | None:
        """What was answered."""
        raw = self.source.get("raw")
        return raw if type(raw) is str else None


class AskedFile(msgspec.Struct, frozen=True):
    """What a file holds. `data`: its whole lines; `is_complete`: it has the last one."""

    path: str
    head: AskedHead
    answers: Mapping[Key, AskedAnswer]
    data: bytes
    is_complete: bool


def encoded(line: object) -> bytes:
    """A line of a file. What JSON lacks is text in it."""
    return msgspec.json.encode(line, enc_hook=str) + b"\n"


def read(path: str) -> AskedFile:
    """The content of a file. Raises BadInput for one that is not of this form, or was changed."""
    with files.open_regular(path, "a file of answers") as file:
        data = file.read(SIZE_MAX + 1)
    if len(data) > SIZE_MAX:
        raise BadInput(f"{path} has more than {SIZE_MAX:,} bytes", _INSTEAD)
    data = data[: data.rfind(b"\n") + 1]
    lines = data.splitlines(keepends=True)
    is_complete = len(lines) > 1 and lines[-1].startswith(b'{"sha256":')
    if is_complete and lines.pop() != _end(b"".join(lines)):
        raise BadInput(
            f"{path} was changed: its last line is not the SHA-256 of those before", _INSTEAD
        )
    head, *others = (_decoded(path, *each) for each in enumerate(lines or [b""]))
    answers = {answer.key: answer for answer in others}
    parts = range(max(1, len(head.question)))
    if len(answers) < len(others) or any(answer.part not in parts for answer in others):
        raise BadInput(f"{path} has two answers to one question, or one to none", _INSTEAD)
    return AskedFile(path, head, answers, data, is_complete)


_INSTEAD: Final = "give a file that `goldrush reask` or `goldrush interview` wrote"


def _end(lines: bytes | bytearray) -> bytes:
    """The last line."""
    return encoded({"sha256": sha256(lines).hexdigest()})


def _decoded(path: str, index: int, line: bytes) -> Any:
    try:
        if index:
            return msgspec.json.decode(line, type=AskedAnswer)
        head = msgspec.json.decode(line, type=AskedHead)
        for code in (code for about in head.question for code in about.codes.values()):
            re.compile(code)
    except (ValueError, RecursionError, re.error) as error:
        raise BadInput(f"{path}: line {index + 1} cannot be read: {error}", _INSTEAD) from None
    return head


@contextmanager
def appending(
    path: str, head: AskedHead, found: AskedFile | None
) -> Iterator[Callable[[AskedAnswer], None]]:
    """Appends to a new file, or to one that was `found` without its last line, which comes at the
    end. Each answer is on the disk before the next. No other process can write meanwhile. Raises
    BadInput, JournalInUse, WriteFailed.
    """
    lines = bytearray(encoded(head) if found is None else found.data)
    if found is None:
        files.write_whole(path, bytes(lines))
    fd = files.locked(path, os.O_RDWR)

    def append(line: bytes) -> None:
        with files.writing(path):
            files.write_all(fd, line, len(lines))
            files.system.sync(fd)
        lines.extend(line)

    try:
        if read(path).data != lines:
            raise JournalInUse(path, "another process has just written to it; type that again")
        with files.writing(path):
            files.system.truncate(fd, len(lines))
        yield lambda answer: append(encoded(answer))
        append(_end(lines))
    finally:
        files.system.close(fd)
