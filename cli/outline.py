"""`goldrush ls` and `goldrush info`: journals in a list, and the setup of one."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from goldrush.cli.command import argument, command
from goldrush.cli.options import FILE, Journal, Json
from goldrush.cli.text import as_dicts, cut, echo, echo_error, with_rosters_cut
from goldrush.kernel.text import escaped, format_count
from goldrush.replay.text import format_ranges, format_table

if TYPE_CHECKING:
    from goldrush.agents.llm.versions import PromptVersion
    from goldrush.replay.journal.outline import Outline

OTHERS_MAX: Final = 45  # characters of the settings in a list of journals
# Of an entry, what stands elsewhere, and what is too long.
_ELSEWHERE: Final = (
    "agent", "ordinal", "name", "policy", "options", "wording_sha256", "wording_text",
)  # fmt: skip


@command()
def ls(*, folders: tuple[str, ...] = argument("[DIR]...", type=FILE), as_json: Json) -> None:
    """List journals with world, treatment, roster, seed, state.

    Lists all *.journal files in and below the folders given, by default the current one. Journals
    of environments and models are listed with their subject. The treatment is that of the study
    that the journal belongs to, or the settings that differ from the world's defaults. Checksums
    are checked, events are not; `goldrush verify` checks both.

    \b
    Examples:
      goldrush ls
      goldrush ls journals --json
    """
    from goldrush.agents.plugins import PluginFailed
    from goldrush.kernel.errors import BadInput
    from goldrush.replay.journal.batch import journals_in
    from goldrush.replay.journal.outline import outline_of
    from goldrush.replay.study.listing import StudyFolders

    for path in folders:
        if not os.path.lexists(path):
            raise BadInput(f"there is no {path}", "give a folder of journals")
    paths = journals_in(folders) if folders else map(os.path.normpath, journals_in(["."]))
    studies = StudyFolders()
    found = [outline_of(path, studies) for path in paths]
    failed = (one.trouble for one in found if isinstance(one.trouble, PluginFailed))
    for name, reason in dict.fromkeys((one.name, one.reason) for one in failed):
        echo_error(f"goldrush: {PluginFailed(name, reason)}")
    echo(as_json, as_dicts(found), lambda: _listed(found))


def _listed(found: Sequence[Outline]) -> str:
    """A row for each journal; what runs are of, if any says so, stands behind their world."""
    head = ("journal", "world", "subject", "treatment", "roster", "seed", "units", "state", "bytes")
    rows = with_rosters_cut([head, *map(_row, found)], 4)
    if any(info.subject for info in found):
        return format_table(rows, numbers=(5, 6, 8))
    return format_table([(*row[:2], *row[3:]) for row in rows], numbers=(4, 5, 7))


def _row(info: Outline) -> tuple[str, ...]:
    roster, seed = info.declared.roster, info.declared.seed
    units = str(info.units) if info.planned is None else f"{info.units} of {info.planned}"
    return (
        escaped(info.path),
        "-" if info.header is None else escaped(info.header.world),
        cut(info.subject or "-", OTHERS_MAX),
        cut(info.treatment or _others(info) or "-", OTHERS_MAX),
        roster or "-",
        "-" if seed is None else str(seed),
        "-" if info.header is None else units,
        info.state,
        f"{info.bytes:,}",
    )


@command()
def info(journal: Journal, as_json: Json) -> None:
    """Show a run's settings, policies, forks, size and SHA-256.

    A setting that differs from the world's default is shown with that default. Checksums are
    checked, events are not; `goldrush verify` checks both. If the world is not installed here, the
    settings are left out, and the exit code is 2.

    \b
    Examples:
      goldrush info run.journal
      goldrush info run.journal --json
    """
    from goldrush.replay.journal.outline import outline_of
    from goldrush.replay.study.listing import StudyFolders

    found = outline_of(journal, StudyFolders(), hashed=True)
    if found.trouble is not None and found.header is None:
        raise found.trouble
    echo(as_json, found.whole_as_dict, lambda: _format(found))
    if found.trouble is not None:
        raise found.trouble


def _format(info: Outline) -> str:
    from goldrush.kernel.journal import FORMAT

    assert info.header is not None
    world = f"{info.header.world}, rules {info.header.rules}, journal format {FORMAT}"
    of = "" if info.planned is None else f" of {info.planned:,}"
    rows = [
        ("world", world),
        ("distribution", info.distribution),
        ("treatment", info.treatment),
        ("units", f"{format_count(info.units, info.vocabulary.unit)}{of}, {info.state}"),
        ("seed", None if info.declared.seed is None else str(info.declared.seed)),
        *info.about.facts,
        ("bytes", f"{info.bytes:,}"),
        ("sha256", info.sha256),
    ]
    parts = [format_table([(name, escaped(value)) for name, value in rows if value is not None])]
    if info.declared.roster is not None:
        rosters = _rosters(info)
        parts.append(format_table(with_rosters_cut(rosters, len(rosters[0]) - 2)))
    if info.declared.settings:
        settings = _settings(info)
        shown = 3 if any(default for _, _, default in settings) else 2
        parts.append(
            format_table([row[:shown] for row in (("setting", "value", "default"), *settings)])
        )
    if info.declared.history:
        parts.append("\n".join(escaped(text) for _, text in info.declared.history))
    return "\n\n".join(parts)


def _rosters(info: Outline) -> list[tuple[str, ...]]:
    """Rows of who plays; of several rosters each row with the unit from which it is in force."""
    head = ("agents", "policy", "options")
    each = [
        (str(first), _players(players, info.declared.prompt, variants))
        for first, players, variants in info.declared.drawn
    ]
    if len(each) == 1:
        return [head, *each[0][1]]
    rows = [(first, *row) for first, rows in each for row in rows]
    return [(f"from {info.vocabulary.unit}", *head), *rows]


def _players(
    players: Sequence[Any], prompt: PromptVersion | None, variants: Mapping[int, int]
) -> list[tuple[str, str, str]]:
    """Rows of agents, policy and options; consecutive agents with the same policy and options
    share a row. Short options come first, for a row is cut.
    `variants`: of their wordings, by agent.
    """

    def kind(pair: tuple[int, Mapping[str, Any]]) -> tuple[str, dict[str, str]]:
        return _kind(pair[1], prompt, variants.get(pair[0]))

    rows = []
    for (policy, options), group in groupby(enumerate(players), kind):
        members = list(group)
        ordered = sorted(options, key=lambda name: len(options[name]))
        others = " ".join(f"{name}={options[name]}" for name in ordered)
        names = [entry["name"] for _, entry in members if "name" in entry]
        who = ", ".join(map(str, names)) or format_ranges(number for number, _ in members)
        rows.append((cut(who), policy, cut(others)))
    return rows


def _kind(
    entry: Mapping[str, Any], prompt: PromptVersion | None, variant: int | None
) -> tuple[str, dict[str, str]]:
    """The policy of an entry, and its options as text by name, but for the agent's number and
    name.
    """
    from goldrush.agents.llm.versions import LABELLED
    from goldrush.agents.seats import is_outside, policy_label

    others = {**entry, **entry["options"]}
    elsewhere = {*_ELSEWHERE, *(LABELLED if is_outside(entry["policy"]) else ())} - {"persona"}
    drawn = {} if variant is None else {"variant": str(variant)}
    shown = {k: json.dumps(v) for k, v in others.items() if k not in elsewhere}
    return policy_label(entry, prompt), drawn | shown


def _others(info: Outline) -> str:
    """The settings that differ from the world's defaults, without those that have columns."""
    shown = ("seed", info.vocabulary.units)
    return " ".join(
        f"{name}={value}"
        for name, value, default in _settings(info)
        if default and name not in shown
    )


def _settings(info: Outline) -> list[tuple[str, str, str]]:
    """Rows of setting, value, and default if the value differs from it."""
    defaults = {name: json.dumps(default) for name, default in info.defaults.items()}
    return [
        (escaped(name), cut(json.dumps(value)), defaults.get(name, ""))
        for name, value in info.declared.settings.items()
    ]
