"""`goldrush wordings`: the texts of prompts, listed, shown, checked and compared."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import attrs

from goldrush.cli.codes import DIFFERS, DONE
from goldrush.cli.command import argument, command, option
from goldrush.cli.options import FILE, Json, World
from goldrush.cli.text import echo, echo_error, echo_exact, echo_json
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.text import escaped, format_count
from goldrush.kernel.treatments import BASELINE
from goldrush.replay.text import format_table

if TYPE_CHECKING:
    from goldrush.replay.wordings import CheckedWording, ListedWording, WordingDiff

_NAMES = {"list": (0, ""), "show": (1, "NAME"), "check": (1, "NAME"), "diff": (2, "NAME NAME")}


@command()
def wordings(
    *,
    action: str = argument("[list|show|check|diff]", required=False),
    names: tuple[str, ...] = argument("[NAME|FILE.toml]...", required=False),
    world: World,
    treatment: str | None = option("--treatment", "NAME", "diff: Treatment (default: baseline)."),
    at: int | None = option("--at", "N", "diff: Round, or other unit (default: the first)."),
    agent: str | None = option(
        "--agent", "AGENT", "diff: Agent (default: the first asked; with --journal: 0)."
    ),
    journal: str | None = option(
        "--journal", "FILE", "diff: Run whose prompt is made; show: Run that has it.", type=FILE
    ),
    as_json: Json,
) -> int:
    """List, show, check or compare wordings: the texts of prompts.

    list: the wordings that goldrush has. show NAME: prints one as a TOML file, which can be edited
    and used (wording=FILE.toml in a roster); with --journal one of a run. check FILE.toml: tests a
    wording of your own by the rules for wordings and by the prompts that it gives in runs under
    every treatment. diff A B: compares a prompt in two wordings; with --journal a prompt of a run.
    Exit code: 1 if a check does not hold, or two wordings differ.

    \b
    Examples:
      goldrush wordings list --world competition
      goldrush wordings show default --world competition > own.toml
    """
    from goldrush.replay import wordings as of

    action = action or "list"
    if action not in _NAMES:
        raise BadInput(f"there is no `wordings {action}`", f"take {', '.join(_NAMES)}")
    count, form = _NAMES[action]
    if len(names) != count:
        raise BadInput(
            f"`wordings {action}` has {len(names)} names", f"write wordings {action} {form}".strip()
        )
    if action != "diff" and any(each is not None for each in (treatment, at, agent)):
        raise BadInput(
            f"`wordings {action}` has --treatment, --at or --agent", "they are for wordings diff"
        )
    if action not in ("diff", "show") and journal is not None:
        raise BadInput(f"`wordings {action}` has --journal", "it is for wordings diff and show")
    if action == "list":
        return _list(of.listed(world), as_json)
    if action == "show":
        [name] = names
        text = of.text_of(name, world) if journal is None else of.text_in(journal, name)
        echo_json({"wording": name, "toml": text}) if as_json else echo_exact([text])
        return DONE
    if action == "check":
        return _check(of.check(names[0], world), as_json)
    first, second = names
    if journal is not None:
        if treatment is not None:
            raise BadInput("--treatment and --journal exclude each other", "give one of them")
        return _diff(of.diff_in(journal, first, second, at, agent or "0"), as_json)
    if agent is not None and re.fullmatch("[0-9]{1,9}", agent) is None:
        raise BadInput(f"--agent is {format_value(agent)}", "give its number")
    number = None if agent is None else int(agent)
    return _diff(of.diff(first, second, world, treatment or BASELINE, at, number), as_json)


def _list(listed: Sequence[ListedWording], as_json: bool) -> int:
    rows = [(escaped(each.wording), escaped(each.description)) for each in listed]
    echo(as_json, lambda: [attrs.asdict(each) for each in listed], lambda: format_table(rows))
    return DONE


def _check(checked: CheckedWording, as_json: bool) -> int:
    rows: list[tuple[str, ...]] = [("treatment", "prompts", "largest, bytes", "")]
    rows += [
        (escaped(e.treatment), f"{e.prompts:,}", f"{e.largest:,}", escaped(e.fault or ""))
        for e in checked.treatments
    ]
    holds = "holds" if checked.holds else "does not hold"
    first = (
        f"wording {checked.wording} {holds}: {checked.size:,} bytes as recorded, "
        f"{format_count(checked.variants, 'variant')}, version {checked.prompt} of the prompt "
        f"(at most {checked.longest:,} bytes)"
    )
    echo(as_json, checked.as_dict, lambda: f"{first}\n{format_table(rows)}")
    for line in checked.warnings:
        echo_error(f"goldrush: warning: {escaped(line)}")
    return DONE if checked.holds else DIFFERS


def _diff(diff: WordingDiff, as_json: bool) -> int:
    lines = diff.lines
    if as_json:
        echo_json(diff.as_dict())
    elif lines:
        echo_exact(f"{line}\n" for line in lines)
    else:
        echo_error("goldrush: the prompts are the same")
    return DIFFERS if lines else DONE
