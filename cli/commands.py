"""The commands by name: goldrush's own, and those of other distributions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final

import click

HELP_MAX: Final = 63  # characters of a command's line in the help, beside its name

# goldrush's own, in the sections of the help: where each is. Not records of entry points: to import
# what reads those takes as long as everything else that help needs.
SECTIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "Record": {
        "record": "record:record",
        "resume": "record:resume",
        "fork": "fork:fork",
        "season": "competition.season:season",
    },
    "Look": {
        "ls": "outline:ls",
        "info": "outline:info",
        "replay": "replay:replay",
        "log": "log:log",
        "why": "why:why",
        "watch": "watch:watch",
        "view": "view:view",
        "prompt": "models:prompt",
        "leaderboard": "competition.leaderboard:leaderboard_",
    },
    "Check": {
        "verify": "verify:verify",
        "audit": "audit:audit",
        "diff": "diff:diff",
    },
    "Measure": {
        "measure": "measure:measure",
        "study": "study:study",
        "report": "study:report",
        "export": "export:export",
    },
    "List what can be played": {
        "policies": "catalogue:policies",
        "treatments": "catalogue:treatments",
        "settings": "catalogue:settings",
        "arenas": "competition.arenas:arenas_",
    },
    "Extend": {
        "plugins": "catalogue:plugins",
        "conform": "conform:conform",
    },
}
BUILT_IN: Final = {name: where for names in SECTIONS.values() for name, where in names.items()}


class Commands(click.Group):
    """The group of all commands. A command is imported when it is named.

    The help does not list commands of other distributions: reading the entry points of all that is
    installed takes longer than the help.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of goldrush's own commands, in the order of the help."""
        return list(BUILT_IN)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, section by section."""
        width = max(map(len, BUILT_IN))
        for title, names in SECTIONS.items():
            rows = []
            for name in names:
                command = self.get_command(ctx, name)
                assert command is not None
                rows.append((name.ljust(width), command.get_short_help_str(HELP_MAX)))
            with formatter.section(title):
                formatter.write_dl(rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name, None if there is none. Raises PluginFailed for a command of
        another distribution that cannot be loaded.
        """
        if cmd_name in BUILT_IN:
            module, _, name = BUILT_IN[cmd_name].partition(":")
            return behind_door(getattr(import_module(f"goldrush.cli.{module}"), name))
        from goldrush.agents.plugins import COMMANDS, plugin

        found = plugin(COMMANDS, cmd_name, BUILT_IN)
        return None if found is None else behind_door(found.load(is_command))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but an unknown name raises BadInput with the nearest one."""
        name = args[0]
        if not (ctx.resilient_parsing or name.startswith("-") or self.get_command(ctx, name)):
            from goldrush.kernel.errors import unknown

            raise unknown("command", name, self.list_commands(ctx))
        return super().resolve_command(ctx, args)


def is_command(found: object) -> bool:
    """Whether the object of an entry point is a click command."""
    return isinstance(found, click.Command)


@cache  # a command that is looked up twice is wrapped once
def behind_door(command: click.Command) -> click.Command:
    """The command, its errors checked as those of the library's readers are (replay.forged): an
    error that a forged journal causes is reported as one of the journal.
    """
    run = command.callback
    if run is None:  # a group of another distribution
        return command

    def judged(**given: Any) -> Any:
        try:
            return run(**given)
        except Exception:  # replay.forged decides which are the journal's
            from goldrush.replay.forged import reporting_forged

            with reporting_forged(*_files_in(given)):
                raise

    command.callback = judged
    return command


def _files_in(given: Mapping[str, Any]) -> list[str]:
    """The arguments of a command that are paths of existing files."""
    values = [value if isinstance(value, tuple) else (value,) for value in given.values()]
    return [text for some in values for text in some if type(text) is str and os.path.isfile(text)]
