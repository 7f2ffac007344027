"""The arena `command`: conducts are text, and a user's program tests them.

The text may be a prompt, a configuration, or code. The record holds the whole agenda, the program's
file name and SHA-256, and the limits of its runs. That is enough to judge a season and to identify
the program; nothing in the record is ever run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import attrs
import msgspec
from xxhash import xxh3_64_hexdigest

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.settings import choice, flag, integer, setting
from goldrush.kernel.shape import TEXT, Kind, text
from goldrush.kernel.worlds.competition.arena import (
    DIRECTIONS,
    NAME_MAX,
    SEEDS_MAX,
    Arena,
    ArenaType,
    Conduct,
    Rules,
    Subject,
)

TEXT_MAX: Final = 4_000  # characters of a conduct
TASK_MAX: Final = 1_000
AGENDA_MAX: Final = 100  # subjects
TIME_MAX: Final = 3_600  # seconds
OUTPUT_MAX: Final = 1 << 24  # bytes
FILE_NAME_MAX: Final = 255
_FRONT: Final = 40  # characters of a conduct in its short description

_NAME: Final = re.compile(r"[^\x00-\x1f\x7f]+")
_SHA256: Final = re.compile("[0-9a-f]{64}", re.ASCII)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")  # the only characters that UTF-8 cannot encode


@attrs.frozen
class Item:
    """An item of the agenda: a subject, the `task` as text, and the text that sets the bar."""

    treatment: str
    objective: str
    better: str
    task: str
    start: str

    @property
    def subject(self) -> Subject:
        """The subject. The subjects of a treatment are one family."""
        return Subject(self.objective, self.better, self.treatment, self.treatment)


def _is_text(value: Any, most: int, least: int = 1) -> bool:
    """Whether this is text of `least` to `most` characters that UTF-8 can encode."""
    is_short = type(value) is str and least <= len(value) <= most
    return is_short and _SURROGATE.search(value) is None


def _is_name(value: Any, most: int = NAME_MAX) -> bool:
    return _is_text(value, most) and _NAME.fullmatch(value) is not None


def _is_file_name(value: Any) -> bool:
    return _is_name(value, FILE_NAME_MAX) and "/" not in value


def _is_conduct(value: Any) -> bool:
    return _is_text(value, TEXT_MAX, 0) and value == trimmed(value)


_A_NAME: Final = Kind(f"1 to {NAME_MAX} characters in one line", _is_name)
# The fields of an item, in order.
_ITEM: Final[Mapping[str, Kind]] = {
    "treatment": _A_NAME,
    "objective": _A_NAME,
    "better": Kind(" or ".join(DIRECTIONS), choice(*DIRECTIONS).holds),
    "task": Kind(f"text of up to {TASK_MAX:,} characters", lambda v: _is_text(v, TASK_MAX, 0)),
    "start": Kind(
        f"text of up to {TEXT_MAX:,} characters, without spaces at the ends of lines", _is_conduct
    ),
}


def agenda_fault(agenda: Any) -> tuple[str, str] | None:
    """The first fault of an agenda, and what to give instead; None if it is valid."""
    if not isinstance(agenda, (list, tuple)):
        return f"agenda is {format_value(agenda)}", f"give up to {AGENDA_MAX} subjects"
    if len(agenda) > AGENDA_MAX:
        return f"agenda has {len(agenda):,} subjects", f"give up to {AGENDA_MAX}"
    numbers: dict[tuple[str, str], int] = {}
    directions: dict[str, str] = {}
    for number, item in enumerate(agenda, 1):
        if not isinstance(item, (list, tuple)) or len(item) != len(_ITEM):
            return f"subject {number} is {format_value(item)}", f"give {', '.join(_ITEM)}"
        for (name, kind), value in zip(_ITEM.items(), item, strict=True):
            if not kind.holds(value):
                return f"subject {number}: {name} is {_format(value)}", f"give {kind.name}"
        treatment, objective, better = item[:3]
        earlier = numbers.setdefault((treatment, objective), number)
        if earlier != number:
            what = f"subject {number} has the treatment and the objective of subject {earlier}"
            return what, "give each pair once"
        if directions.setdefault(objective, better) != better:
            direction = f"better is {better!r}, but {format_value(objective)} has another one above"
            return f"subject {number}: {direction}", "give each objective one direction"
    return None


def _format(value: Any) -> str:
    """A value for a message, with its length if it is a text that was cut."""
    if isinstance(value, str) and len(value) > _FRONT:
        return f"{format_value(value, _FRONT)} ({len(value):,} characters)"
    return format_value(value)


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value <= TIME_MAX


@attrs.frozen
class CommandOptions:
    """The options of the arena.

    Attributes:
        program, sha256: the file name and the digest of the program.
        agenda: a list of [treatment, objective, better, task, start].
        seeds: the number of runs of a test.
        time_limit: seconds; a run that exceeds it has no value.
        output_limit: bytes; a run that exceeds it has no value.
        deterministic: whether the program always gives the same value for the same text and seed.
    """

    program: str = setting(
        "", Kind(f"a file name of 1 to {FILE_NAME_MAX} characters: that of --test", _is_file_name)
    )
    sha256: str = setting(
        "",
        Kind(
            "64 of 0-9, a-f: that of --test",
            lambda v: type(v) is str and _SHA256.fullmatch(v) is not None,
        ),
    )
    agenda: Sequence[Sequence[str]] = setting(
        (),
        Kind(
            f"1 to {AGENDA_MAX} of [treatment, objective, up or down, task, start], typed as the "
            "path of a TOML file; each treatment and objective once, each objective one direction",
            lambda v: agenda_fault(v) is None,
        ),
    )
    seeds: int = setting(5, integer(1, SEEDS_MAX))
    time_limit: float = setting(10, Kind(f"a number above 0 and up to {TIME_MAX}", _is_time))
    output_limit: int = setting(65_536, integer(1, OUTPUT_MAX))
    deterministic: bool = setting(True, flag())

    def __attrs_post_init__(self) -> None:
        if not self.agenda or not self.program or not self.sha256:
            raise BadInput(
                "the arena command has no program or no agenda",
                "give the program (--test) and an agenda: command[agenda=agenda.toml]",
            )

    @property
    def items(self) -> Sequence[Item]:
        return [Item(*item) for item in self.agenda]


def _subjects(options: CommandOptions, assignments: int) -> Sequence[Subject]:
    return [item.subject for item in options.items]


def _rules(arena: Arena, options: CommandOptions) -> Rules:
    start = {item.subject: item.start for item in options.items}
    return Rules(
        arena=arena,
        treatments=tuple(dict.fromkeys(item.treatment for item in options.items)),
        conduct=msgspec.structs.replace(TEXT, schema=text(TEXT_MAX).schema),
        is_canonical=lambda conduct, treatment: _is_conduct(conduct),
        distance=distance,
        bar=start.__getitem__,
        describe=_describe,
    )


# Conducts


def trimmed(text: str) -> str:
    """A text without white space at the ends of its lines and without empty lines at its end."""
    return "\n".join(line.rstrip(" \t\r") for line in text.split("\n")).rstrip("\n")


def distance(first: str, second: str) -> int:
    """The distance of two trimmed texts.

    0 if they are equal; 1 if, apart from the lines at the start and then at the end that are the
    same in both, they have no line in common; else 2.
    """
    a, b = trimmed(first).split("\n"), trimmed(second).split("\n")
    if a == b:
        return 0
    shorter = min(len(a), len(b))
    front = next((k for k in range(shorter) if a[k] != b[k]), shorter)
    back = next((k for k in range(shorter - front) if a[-1 - k] != b[-1 - k]), shorter - front)
    return 2 if set(a[front : len(a) - back]) & set(b[front : len(b) - back]) else 1


def _describe(conduct: Conduct) -> str:
    """The first characters, the number of lines, and four digits of a hash."""
    text = str(conduct).strip()
    front = " ".join(text[: 2 * _FRONT].split())
    if len(text) > 2 * _FRONT or len(front) > _FRONT:
        front = f"{front[:_FRONT]}..."
    lines = str(conduct).count("\n") + 1
    mark = xxh3_64_hexdigest(str(conduct).encode(errors="surrogatepass"))[:4]
    return f"{front} ({lines} line{'s' if lines > 1 else ''}, #{mark})"


ARENA: Final = ArenaType(
    version=1,
    description="text that a program of your own tests (--test)",
    options=CommandOptions,
    subjects=_subjects,
    rules=_rules,
)
