"""The commands by name: goldrush's own, and those of other distributions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, Final

import click

# goldrush's own, in the sections of the help: where each is, and its first line, so that the help
# imports none of them. Not records of entry points: to import what reads those takes as long as
# everything else that help needs.
SECTIONS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    "Record": {
        "record": ("record:record", "Record a run in a journal."),
        "resume": ("record:resume", "Continue a run that was interrupted."),
        "fork": ("fork:fork", "Play a run again from a round on, with changes."),
        "season": ("worlds.competition.season:season", "Record a season of the competition world."),
    },
    "Look": {
        "ls": ("outline:ls", "List journals with world, treatment, roster, seed, state."),
        "info": ("outline:info", "Show a run's settings, policies, forks, size and SHA-256."),
        "replay": ("replay:replay", "Show a round: map, agents, events."),
        "log": ("log:log", "List events, filtered by round, agent, plot or name."),
        "why": ("why:why", "Explain captures, failed raids, claims, removed actions."),
        "watch": ("watch:watch", "Follow a run while it is recorded."),
        "view": ("view:view", "Write an HTML page that plays a run."),
        "prompt": ("models:prompt", "Show the prompt that an agent was, or would be, sent."),
        "leaderboard": (
            "worlds.competition.leaderboard:leaderboard_",
            "Show the leaderboard of a season.",
        ),
    },
    "Check": {
        "verify": ("verify:verify", "Check journals: checksums, digests, events, decisions."),
        "audit": ("audit:audit", "Recompute random draws and scores; test their fairness."),
        "diff": ("diff:diff", "Compare two runs: first difference, cause, consequences."),
    },
    "Measure": {
        "measure": ("measure:measure", "Measure a run, or the means over many runs."),
        "study": ("study:study", "Record many runs: treatments x rosters x seeds x horizons."),
        "report": ("study:report", "Write the report of a study: verdicts, figures, tables."),
        "export": ("export:export", "Convert journals to JSON lines, CSV or Parquet."),
    },
    "List what can be played": {
        "policies": ("catalogue:policies", "List the policies for rosters, with their settings."),
        "treatments": (
            "catalogue:treatments",
            "List treatments: named variations of the settings.",
        ),
        "settings": ("catalogue:settings", "List the settings of a world: name, default, range."),
        "arenas": (
            "worlds.competition.arenas:arenas_",
            "List the arenas of seasons, with their options.",
        ),
    },
    "Extend": {
        "plugins": ("catalogue:plugins", "List worlds, policies and commands of other packages."),
        "conform": ("conform:conform", "Test a world against the laws that all worlds keep."),
    },
}
BUILT_IN: Final = {name: where for names in SECTIONS.values() for name, (where, _) in names.items()}


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
            rows = [(name.ljust(width), line) for name, (_, line) in names.items()]
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
        from goldrush.cli.help import is_command

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


@cache  # a command that is looked up twice is wrapped once
def behind_door(command: click.Command) -> click.Command:
    """The command, its errors checked as those of the library's readers are
    (replay.journal.forged): an error that a forged journal causes is reported as one of the
    journal.
    """
    run = command.callback
    if run is None:  # a group of another distribution
        return command

    def judged(**given: Any) -> Any:
        try:
            return run(**given)
        except Exception:  # replay.journal.forged decides which are the journal's
            from goldrush.cli.options import echo_traceback
            from goldrush.kernel.errors import GoldrushError, format_traceback
            from goldrush.replay.journal.forged import reporting_forged

            try:
                with reporting_forged(*_files_in(given)):
                    raise
            except GoldrushError:
                raise
            except Exception as bug:
                echo_traceback(format_traceback(bug))
                raise

    command.callback = judged
    return command


def _files_in(given: Mapping[str, Any]) -> list[str]:
    """The arguments of a command that are paths of existing files."""
    values = [value if isinstance(value, tuple) else (value,) for value in given.values()]
    return [text for some in values for text in some if type(text) is str and os.path.isfile(text)]
