"""Arguments of the Python API, converted to those of the tools, with one clear error for each.

Numbers may be of any integer type (numpy's too), policies may be objects or classes, models a file.
"""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import attrs
import msgspec

from goldrush.agents.people import in_turn
from goldrush.agents.players import Resources
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.files import TemporaryFolder, read_input
from goldrush.kernel.settings import NoSettings
from goldrush.kernel.treatments import treatment_in_file

if TYPE_CHECKING:
    from goldrush.agents import people
    from goldrush.agents.external import RosterText
    from goldrush.agents.llm.models import Models
    from goldrush.agents.players import Players

Roster = str | Sequence[object] | None  # as text, or policies one after the other
Policies = Mapping[int, object] | None  # by agent
Trust = str | Sequence[str]  # names of the form module:Class
Sources = str | Path | Sequence[str | Path]  # paths of journals
Replacements = Sequence[Mapping[str, Any]] | str | Path  # submissions, or a file of them
JOBS_MAX: Final = 1_000  # processes
SUBMISSIONS_MAX: Final = 1 << 26  # bytes of a file of submissions

OnUnit = Callable[[int, Any], None]
# Called with the stage, the number of steps done in it, and their total.
OnStep = Callable[[str, int, int], None]


def integer(value: object, what: str) -> int:
    """A whole number of any integer type. Raises BadInput for anything else, truth values too."""
    with suppress(TypeError):
        if not isinstance(value, bool):
            return operator.index(value)  # type: ignore[arg-type]
    raise BadInput(f"{what} is {format_value(str(value))}", "give a whole number")


def listed(given: object, single: type | tuple[type, ...] = str) -> list[object]:
    """The values of an argument: one, or several in an iterable of no type in `single`."""
    if isinstance(given, single) or not isinstance(given, Iterable):
        return [given]
    return list(given)


def path_of(path: object, what: str = "the path") -> str:
    """A path as text, as it was given. Raises BadInput for anything else."""
    if not isinstance(path, str | os.PathLike):
        raise BadInput(f"{what} is {format_value(path)}", "give a str or a Path")
    return os.fspath(path)


def settings_of(
    treatment: str | Mapping[str, Any] | None,
    settings: Mapping[str, Any],
    config: type[attrs.AttrsInstance] = NoSettings,
) -> tuple[str | None, dict[str, Any]]:
    """The name of a treatment and plain settings.

    A treatment may also be given as its settings, or as `FILE.toml:NAME`; `config` is the class of
    the world's settings, against which the file's are checked. Raises BadInput.
    """
    name = treatment if treatment is None or isinstance(treatment, str) else None
    in_file = None if name is None else treatment_in_file(name, config)
    if in_file is not None:
        name, settings = None, {**in_file.settings, **settings}
    elif treatment is not None and name is None:
        if not isinstance(treatment, Mapping):
            says = f"the treatment is {format_value(str(treatment))}"
            raise BadInput(says, "give its name, or a dict of settings")
        settings = {**treatment, **settings}
    return name, {key: _plain(value) for key, value in settings.items()}


def _plain(value: Any) -> Any:
    """A number of another library as Python's own."""
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else value


def roster_of(who: Players[Any], roster: Roster) -> RosterText:
    """A roster as text, with the objects of its external agents. Raises BadInput."""
    from goldrush.agents.external import RosterText, roster_text

    if roster is None or isinstance(roster, str):
        return RosterText(roster)
    return roster_text(who.policy_set, roster)


def submissions_of(replace: Replacements) -> Sequence[Mapping[str, Any]]:
    """Submissions, given as such or as a file of them (`-`: standard input). Raises BadInput."""
    if not isinstance(replace, str | Path):
        return replace
    instead = "give a file of submissions"
    text = read_input(str(replace), SUBMISSIONS_MAX, instead, stdin=True)
    return submissions_in(text.removeprefix("\ufeff"), str(replace))


def submissions_in(text: str, name: str) -> list[dict[str, Any]]:
    """Submissions from text: JSON objects, one a line, as `export` prints them. `name` is the
    source of the text, for messages. Raises BadInput.
    """
    items = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            items += [json.loads(line)] if line.strip() else []
        except (ValueError, RecursionError) as error:
            where = f"{name}, line {number}"
            raise BadInput(f"{where} is not JSON: {error}", "give one JSON object a line") from None
    if not items:
        raise BadInput(f"{name} holds no submission", "give one JSON object a line")
    return items


def models_of(models: Models | str | Path | None) -> Models | None:
    """How language models are reached, by `Models` or a file of them. Raises BadInput."""
    if models is None:
        return None
    from goldrush.agents.llm.models import Models, read_models

    if isinstance(models, Models):
        return models
    return Models(by_name=read_models(path_of(models, "the file of models")))


def names_of(trust: Trust) -> tuple[str, ...]:
    """Names of user-defined policies."""
    return tuple(map(str, listed(trust)))


def jobs_of(jobs: int | None) -> int | None:
    """How many processes, None: one a processor. Raises BadInput for a number that cannot be."""
    if jobs is None:
        return None
    if not 1 <= integer(jobs, "jobs") <= JOBS_MAX:
        raise BadInput(f"jobs is {jobs}", f"give 1 to {JOBS_MAX:,}, or None: one a processor")
    return integer(jobs, "jobs")


def resources_of(
    *,
    jobs: int = 1,
    program: str | None = None,
    ask: people.Ask | None = None,
    models: Models | str | Path | None = None,
    trust: Trust = (),
    sources: Sources = (),
) -> Resources:
    """What playing needs on this machine. Raises BadInput."""
    return Resources(
        jobs_of(jobs) or 1, program, None if ask is None else in_turn(ask),
        models=models_of(models), trust=names_of(trust),
        sources=tuple(path_of(path, "a source") for path in listed(sources)),
    )  # fmt: skip


def check_program(resources: Resources, who: Players[Any]) -> None:
    """Raises BadInput for a test program in a world without one."""
    if resources.program is not None and not who.takes_program:
        raise BadInput("no program makes tests in this world", "leave it out (--test)")


def with_objects(
    resources: Resources, entries: Sequence[Any], policies: Mapping[int, object]
) -> Resources:
    """Resources with the objects that external agents play, by agent. `entries`: the roster in
    force at the end of the journal.

    Raises BadInput for an object of an agent that is not external.
    """
    if not isinstance(policies, Mapping):
        raise BadInput("policies is no dict", "give the object of each external agent by number")
    external = [n for n, entry in enumerate(entries) if entry.get("policy") == "external"]
    found = {integer(agent, "the agent"): policy for agent, policy in policies.items()}
    for agent in found:
        if agent not in external:
            there = ", ".join(map(str, external)) or "none"
            raise BadInput(f"agent {agent} is not external", f"external agents: {there}")
    return msgspec.structs.replace(resources, policies=found, roster=entries)


@contextmanager
def target_of(path: str | Path | None) -> Iterator[tuple[str | Path, TemporaryFolder | None]]:
    """Where a run is recorded: at a path, or in a temporary folder.

    If a run in a temporary folder breaks off, the journal stays and the error names it.
    """
    if path is not None:
        yield path_of(path), None
        return
    folder = TemporaryFolder()
    journal = Path(folder.path, "run.journal")
    try:
        yield journal, folder
    except BaseException as error:
        if journal.exists():
            folder.keep()
            error.add_note(f"what was recorded is in {journal}")
        raise
