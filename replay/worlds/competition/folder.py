"""A season as a folder: the metrics, memory and instructions of each agent, and the leaderboard.

    agents/{name}/metrics.json    agents/{name}/MEMORY.md    agents/{name}/CLAUDE.md
    benchmarks/leaderboard.json

Writes are atomic: the files are written to a temporary folder with the same parent, which is then
moved to the target path, also after each assignment of a running season (`LiveFolder`). Agents'
names come from the journal, which is untrusted: if a name could lead out of the folder, or two
names are the same folder on some systems, nothing is written.
"""

from __future__ import annotations

import json
import os
import re
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.worlds.competition.cast import SCRIPTED
from goldrush.agents.worlds.competition.character import MOST, instructions_of
from goldrush.agents.worlds.competition.formats import format_memory
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.files import FRONT, NewFolder, format_reason
from goldrush.kernel.journal import JournalReader, Location
from goldrush.kernel.text import is_visible
from goldrush.kernel.worlds.competition import VOCABULARY
from goldrush.kernel.worlds.competition.arena import Rules
from goldrush.kernel.worlds.competition.state import AgentState, SeasonState, ended
from goldrush.kernel.worlds.competition.terms import Status
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.worlds.competition.leaderboard import ScoresSoFar, SeasonAt, season_at

AGENTS, BENCHMARKS = "agents", "benchmarks"
LEADERBOARD: Final = "leaderboard.json"
METRICS, MEMORY, INSTRUCTIONS = OF_AGENT = ("metrics.json", "MEMORY.md", "CLAUDE.md")
_TITLES: Final = {MEMORY: "Memory", INSTRUCTIONS: "Instructions"}

_QUOTATION: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_PUNCTUATION: Final = frozenset("-_. '")
# Names of devices on some systems, with any extension.
_DEVICES: Final = frozenset(
    ["con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))]
)


@reader_of
def export(
    path: str | Path, folder: str | Path, assignment: int | None = None, *, force: bool = False
) -> SeasonAt:
    """Write a season, as of the end of an assignment, into a folder. After an error the folder is
    unchanged.

    Args:
        folder: the target; new or empty, or an earlier export if `force` is set.
        assignment: the assignment, from 0; None: the last closed one.
        force: replace an earlier export.

    Returns the season that was written.

    Raises BadInput if there is no such closed assignment, the folder cannot be used, or the name of
    an agent cannot be the name of a folder; JournalError if the journal cannot be read; WriteFailed
    if the system refuses to write.
    """
    season = season_at(path, assignment)
    _write(_target(str(folder), _TO), season, _TO, force=force)
    return season


# The options that take a folder.
_TO: Final = "--to"
_FILES: Final = "--files"


def _write(target: str, season: SeasonAt, option: str, *, force: bool, sync: bool = True) -> None:
    files = as_files(season)
    _check_free(target, force, option)
    with NewFolder(target) as new:
        for name, text in files.items():
            new.add(name, text.encode(), sync=sync)
        _check_free(target, force, option)
        new.publish(replace=force, sync=sync)


class LiveFolder:
    """Updates the folder of a season while it is recorded: an observer of closed assignments
    (kernel.run.OnUnit). Writes the same files as `export`; calls fsync only after the last
    assignment.
    """

    def __init__(self, path: str | Path, folder: str | Path, *, force: bool = False) -> None:
        """Check the folder.

        Args:
            path: the journal, which need not exist yet.
            folder: the target; new or empty, or an earlier export if `force` is set.
            force: replace an earlier export.

        Raises BadInput if the folder cannot be used.
        """
        self._path = path
        self._target = _target(str(folder), _FILES)
        self._scores = ScoresSoFar()
        self._after: Location | None = None
        _check_free(self._target, force, _FILES)

    def __call__(self, unit: int, state: SeasonState) -> None:
        """Write the folder after this unit. Raises as `export` does."""
        with JournalReader(self._path) as reader:
            for commit in reader.commits(self._after):
                self._scores.add(commit)
                self._after = commit.after
        number = VOCABULARY.number(unit)
        season = SeasonAt(number, state, self._scores.by_agent)
        _write(self._target, season, _FILES, force=True, sync=ended(state))


def as_files(season: SeasonAt) -> dict[str, str]:
    """The contents of the files by their paths relative to the folder, separated by `/`.

    Raises BadInput if the name of an agent cannot be the name of a folder.
    """
    people = season.state.agents.values()
    _check_names(people)
    files = {}
    for agent in people:
        for name, text in (
            (METRICS, _json(_metrics(season, agent))),
            (MEMORY, _memory(agent, season.state.rules)),
            (INSTRUCTIONS, _instructions(agent)),
        ):
            files[f"{AGENTS}/{agent.name}/{name}"] = text
    files[f"{BENCHMARKS}/{LEADERBOARD}"] = _json(season.leaderboard.as_dict())
    return files


# The contents of the files.


def _metrics(season: SeasonAt, agent: AgentState) -> dict[str, Any]:
    """The metrics of an agent; those of workers are null for other roles."""

    def of_worker(value: Any) -> Any:
        return value if agent.is_worker else None

    return {
        "after_assignment": season.assignment,
        "agent": agent.ordinal,
        "name": agent.name,
        "role": agent.role,
        "policy": agent.policy,
        "class": of_worker(agent.class_),
        "status": agent.status,
        "stage": agent.stage,
        "self_determined": agent.is_self_determined,
        "sparks": of_worker(agent.sparks),
        "served": agent.served,
        "bottoms": of_worker(agent.bottoms),
        "rolling": of_worker(_rolling(season, agent)),
        "all_time": of_worker(agent.all_time),
        "mean_total": season.mean_total(agent.ordinal),
        "scores": [attrs.asdict(score) for score in season.scores.get(agent.ordinal, ())],
        "contract": None if agent.contract is None else attrs.asdict(agent.contract),
    }


def _rolling(season: SeasonAt, agent: AgentState) -> int:
    """The rolling sum on the day of the assignment; the state is already in the next one."""
    config = season.state.config
    today = config.day(season.assignment)
    return sum(total for day, total in agent.recent if config.is_recent(day, today))


def _memory(agent: AgentState, rules: Rules | None) -> str:
    """The memory of an agent: a list for each family of subjects."""
    lines = []
    for family, facts in agent.memory.items():
        lines += ["", f"## {_safe(family)}", ""]
        lines += [f"- {_safe(_requoted(format_memory(f, rules, apart=True)))}" for f in facts]
    return _page(f"{_TITLES[MEMORY]} of {agent.name}", lines[1:] or ["Nothing yet."])


def _requoted(text: str) -> str:
    """Text of a prompt with its quotations as JSON: a prompt escapes more than a page must."""
    return _QUOTATION.sub(lambda found: _quotation(found[0]), text)


def _quotation(text: str) -> str:
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:  # quotes in the name of an arena's objective
        return text


def _instructions(agent: AgentState) -> str:
    """Instructions, persona and traits of an agent; for a scripted worker all its parameters."""
    is_scripted = agent.is_worker and agent.policy == SCRIPTED
    instructions = instructions_of(agent) if is_scripted else agent.instructions
    scale = f"From 0 to {MOST}:" if is_scripted else ""
    return _page(
        f"{_TITLES[INSTRUCTIONS]} of {agent.name}",
        [
            f"{'It is deleted and acts no more. ' if agent.status == Status.GONE else ''}"
            f"Agent {agent.ordinal}, {agent.role}, {agent.status}, played by "
            f"{_quoted(agent.policy)}.",
            "",
            "## Instructions",
            "",
            *([scale, ""] if scale else []),
            *_listed(f"{_quoted(name)}: {_quoted(value)}" for name, value in instructions.items()),
            "",
            "## Persona",
            "",
            "None." if agent.persona is None else _quoted(agent.persona),
            "",
            "## Traits",
            "",
            *_listed(map(_quoted, agent.traits)),
        ],
    )


def _listed(items: Iterable[str]) -> list[str]:
    return [f"- {item}" for item in items] or ["None."]


def _page(title: str, lines: Iterable[str]) -> str:
    return "\n".join([f"# {title}", "", *lines]) + "\n"


def _quoted(value: Any) -> str:
    """A plain value as text; strings are quoted unless they look like names."""
    if isinstance(value, str) and value.replace("-", "").replace("_", "").isalnum():
        return _safe(value)
    return _safe(json.dumps(value, ensure_ascii=False))


def _safe(text: str) -> str:
    """Text on one line without markup: special characters are escaped as in JSON."""
    return "".join(c if is_visible(c) and c not in "<>&`[]|" else _in_json(c) for c in text)


def _in_json(character: str) -> str:
    """The JSON escape of a character, so that quoted values can be read back."""
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _json(value: Any) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return "".join(c if c == "\n" or is_visible(c) else _in_json(c) for c in text) + "\n"


# Names as folders.


def _check_names(people: Iterable[AgentState]) -> None:
    """Raise BadInput if a name is invalid for a folder, or two names can be the same folder."""
    known: dict[str, AgentState] = {}
    for agent in people:
        fault = _fault(agent.name)
        if fault is not None:
            raise BadInput(
                f"agent {agent.ordinal} is called {format_value(agent.name)}, which no folder "
                f"can be: {fault}",
                "nothing is written",
            )
        other = known.setdefault(_folded(agent.name), agent)
        if other is not agent:
            raise BadInput(
                f"agents {other.ordinal} and {agent.ordinal} are called {format_value(other.name)} "
                f"and {format_value(agent.name)}, which are one folder on some systems",
                "nothing is written",
            )


def _fault(name: str) -> str | None:
    """The reason why a name is not a valid folder name on all systems; None if it is."""
    if not name:
        return "it is empty"
    for c in name:
        if unicodedata.category(c)[0] not in "LNM" and c not in _PUNCTUATION:
            return f"it has {format_value(c)}"
    for c in (name[0], name[-1]):
        if c in _PUNCTUATION:
            return f"it begins or ends with {format_value(c)}"
    if _folded(name).partition(".")[0].strip() in _DEVICES:
        return "some systems have a device of that name"
    return None


def _folded(name: str) -> str:
    """A normal form: names that share it are the same folder on systems that ignore case or the
    Unicode form of accents.
    """
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    return unicodedata.normalize("NFKC", folded)


# The folder itself.


def _target(folder: str, option: str) -> str:
    """The path of the folder without trailing slashes; `option`: named in the error message."""
    target = folder.rstrip("/")
    if os.path.basename(target) in ("", os.curdir, os.pardir):
        raise BadInput(
            f"{format_value(folder)} names no folder of its own", f"give {option} a new one"
        )
    return target


def _check_free(target: str, force: bool, option: str) -> None:
    """Raise BadInput if the path is taken and must not be replaced."""
    if os.path.islink(target):
        raise BadInput(f"{target} is a symbolic link", f"give {option} the folder itself")
    if not os.path.lexists(target):
        return
    if not os.path.isdir(target):
        raise BadInput(f"{target} is not a folder", f"give {option} a new one")
    try:
        foreign = next(_foreign(target), None)
        is_empty = not os.listdir(target)
    except OSError as error:
        raise BadInput(
            f"cannot read {target}: {format_reason(error)}", "give another folder"
        ) from None
    if foreign is not None:
        raise BadInput(
            f"{target} holds {format_value(foreign)}, which is not recognised as part of an export",
            f"move it away, or give {option} a new folder",
        )
    if not is_empty and not force:
        raise BadInput(
            f"{target} holds an export already",
            f"give {option} another folder, or replace it with --force",
        )


def _foreign(target: str) -> Iterator[str]:
    """The relative paths of entries, links included, that an export does not write."""
    yield from _others(target, "", (AGENTS, BENCHMARKS), _is_folder)
    yield from _others(target, BENCHMARKS, (LEADERBOARD,), _is_exported)
    yield from _others(target, AGENTS, None, _is_folder)
    agents = os.path.join(target, AGENTS)
    for name in sorted(os.listdir(agents)) if os.path.isdir(agents) else ():
        yield from _others(target, f"{AGENTS}/{name}", OF_AGENT, _is_exported)


def _others(
    target: str, inside: str, names: Sequence[str] | None, is_right: Callable[[str], bool]
) -> Iterator[str]:
    """The entries of a subfolder with another name than `names` (None: any name is right), and
    those whose path is not right.
    """
    folder = os.path.join(target, inside)
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        if (names is not None and name not in names) or not is_right(os.path.join(folder, name)):
            yield f"{inside}/{name}".lstrip("/")


def _is_folder(path: str) -> bool:
    return stat.S_ISDIR(os.lstat(path).st_mode)


def _is_exported(path: str) -> bool:
    """Whether a file begins as `as_files` writes one of its name in a folder of this name."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        return False
    with open(path, encoding="utf-8", errors="replace") as file:
        front = file.read(FRONT)
    folder, name = path.split(os.sep)[-2:]
    if name in _TITLES:
        return _folded(front.partition("\n")[0]) == _folded(f"# {_TITLES[name]} of {folder}")
    first = "after_assignment" if name == METRICS else "assignment"
    return front.startswith(f'{{\n  "{first}": ')
