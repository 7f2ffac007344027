"""The command line: the commands by name, entry point, exit codes, errors.

Commands print text for people or, with --json, JSON for programs; an error is one line on stderr.
Modules that take long to import are imported by the commands that need them, and commands when they
are named, so that `goldrush --help` takes little longer than click alone.
"""

from __future__ import annotations

import codecs
import io
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any, Final

import click

from goldrush.cli.codes import DIFFERS, DONE, INTERRUPTED, TROUBLE
from goldrush.cli.command import PROGRAM, Command, is_command
from goldrush.cli.text import drop_output, echo_error, program
from goldrush.version import __version__

# goldrush's own, in the sections of the help: the module of each, and its first line, so that the
# help imports none of them. Not records of entry points: to import what reads those takes as long
# as everything else that help needs.
SECTIONS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {
    "Record": {
        "record": ("record", "Record a run in a journal."),
        "resume": ("record", "Continue a run that was interrupted."),
        "fork": ("fork", "Play a run again from a round on, with changes."),
    },
    "Look": {
        "ls": ("outline", "List journals with world, treatment, roster, seed, state."),
        "info": ("outline", "Show a run's settings, policies, forks, size and SHA-256."),
        "replay": ("replay", "Show a round: map, agents, events."),
        "log": ("log", "List events, filtered by round, agent, plot or name."),
        "why": ("why", "Explain captures, failed raids, claims, removed actions."),
        "view": ("view", "Write an HTML page of a run, or of all runs of a folder."),
        "prompt": ("models", "Show what an agent was asked, and what it answered."),
    },
    "Check": {
        "verify": ("verify", "Check journals: checksums, digests, events, decisions."),
        "audit": ("audit", "Recompute random draws."),
        "diff": ("diff", "Compare two runs: first difference, cause, consequences."),
        "repeats": ("repeats", "Check that a model or environment repeats from its seed."),
    },
    "Measure": {
        "measure": ("measure", "Measure a run, or the means over many runs."),
        "reask": ("asked", "Ask models again for recorded decisions: how much they vary."),
        "interview": ("asked", "Ask models about recorded decisions."),
        "study": ("study", "Record many runs: treatments x rosters x seeds x horizons."),
        "report": ("study", "Write the report of a study: what differs, how surely."),
        "export": ("export", "Convert journals to JSON lines, CSV or Parquet."),
    },
    "List what can be played": {
        "policies": ("catalogue", "List the policies for rosters, with their settings."),
        "treatments": ("catalogue", "List treatments: named variations of the settings."),
        "wordings": ("wordings", "List or show wordings: the texts of prompts."),
        "settings": ("catalogue", "List the settings of a world: name, default, range."),
        "columns": ("catalogue", "List the columns of tables: name, type, unit, meaning."),
    },
    "Extend": {
        "plugins": ("catalogue", "List worlds, policies and commands of other packages."),
        "conform": ("conform", "Test a world against the laws that all worlds keep."),
        "new": ("games", "Write the file of a new game, to be changed."),
        "source": ("games", "Print the source of the game that plays a run."),
    },
    "Seasons of the competition world": {
        "leaderboard": ("worlds.competition.leaderboard", "Show the leaderboard of a season."),
        "score": ("worlds.competition.score", "Recompute the scores of a worker of a season."),
        "arenas": ("worlds.competition.arenas", "List the arenas of seasons, with their options."),
    },
}
BUILT_IN: Final = {
    name: module for names in SECTIONS.values() for name, (module, _) in names.items()
}


# They take a program behind `--`.
OF_PROGRAMS: Final = ("record", "resume", "fork", "verify", "repeats")


def of_program(name: str) -> Command:
    """The command of this name for a program behind `--`."""
    found: Command = getattr(import_module("goldrush.cli.worlds.program.programs"), name)
    return found


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
            module = import_module(f"goldrush.cli.{BUILT_IN[cmd_name]}")
            command: Command = getattr(module, cmd_name)
            if cmd_name in OF_PROGRAMS:
                command.for_program = partial(of_program, cmd_name)
            return behind_door(command, is_ours=True)
        from goldrush.agents.plugins import COMMANDS, plugin

        found = plugin(COMMANDS, cmd_name, BUILT_IN)
        return None if found is None else behind_door(found.load(is_command))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but an unknown name raises BadInput with the nearest one. A command with a
        program behind `--` is that of programs.
        """
        name = args[0]
        if _has_program(args):
            end = args.index("--")
            ctx.meta[PROGRAM] = args[end + 1 :]
            return name, behind_door(of_program(name), is_ours=True), args[1:end]
        if not (ctx.resilient_parsing or name.startswith("-") or self.get_command(ctx, name)):
            from goldrush.kernel.errors import BadInput, unknown

            if name == "season":  # until 0.2
                raise BadInput("seasons are recorded by record", f"type {_SEASON}")
            raise unknown("command", name, self.list_commands(ctx))
        return super().resolve_command(ctx, args)


def _has_program(args: Sequence[str]) -> bool:
    """Whether a program follows `--`, and no journal with an odd name: that stands before, or
    behind --journal.
    """
    name, *words = args
    before = words[: words.index("--")] if "--" in words else ()
    has_journal = any(not word.startswith("-") for word in before)
    return name in OF_PROGRAMS and "--" in words and (name in ("record", "repeats") or has_journal)


@cache  # a command that is looked up twice is wrapped once
def behind_door(command: click.Command, *, is_ours: bool = False) -> click.Command:
    """The command, its errors checked as those of the library's readers are
    (replay.journal.forged): an error that a forged journal causes is reported as one of the
    journal. `is_ours`: no command of a plugin, so what ends it (`sys.exit()`) is an error of code
    that it runs.
    """
    run = command.callback
    if run is None:  # a group of another distribution
        return command

    def judged(**given: Any) -> Any:
        from goldrush.cli.options import echo_traceback
        from goldrush.kernel.errors import (
            BadInput,
            GoldrushError,
            RulesFailed,
            format_error,
            format_traceback,
        )
        from goldrush.replay.journal.forged import reporting_forged

        try:
            with reporting_forged(*_files_in(given)):
                return run(**given)
        except BadInput as error:
            option = re.search(_OPTION, error.what)
            if option and any(f"--{option[1]}" in known.opts for known in command.params):
                raise BadInput(error.what, f"--{option[1]} gives it, without --set") from error
            raise
        except (GoldrushError, KeyboardInterrupt):
            raise
        except Exception as bug:
            echo_traceback(format_traceback(bug))
            raise
        except BaseException as error:
            if not is_ours:
                raise
            what = f"code that the command runs would end it: {format_error(error)}"
            raise RulesFailed(what, "correct it") from error

    command.callback = judged
    return command


def _files_in(given: Mapping[str, Any]) -> list[str]:
    """The arguments of a command that are paths of existing files."""
    values = [value if isinstance(value, tuple) else (value,) for value in given.values()]
    return [text for some in values for text in some if type(text) is str and os.path.isfile(text)]


_OPTION = r"(?:no setting|attribute .+|argument) '(roster|treatment|world|check|at)'$"
_PLAIN = "plain_ascii"  # an encoding
_SEASON = "goldrush record competition --set arena=nk --rounds 8 --roster WHO=POLICY"


_EPILOG = """`goldrush COMMAND --help` explains a command, with examples. `goldrush plugins` lists
commands of other packages.

\b
Completion (bash; or zsh_source; fish_source piped to source):
  eval "$(_GOLDRUSH_COMPLETE=bash_source goldrush)"
"""


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EPILOG,
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """Record, replay and verify multi-agent simulations.

    A run is a journal: an append-only file of events from which everything can be derived again.
    """


def main() -> None:
    """Run the command line and exit with its code."""
    _open_standard_files()
    received = _end_by_signals()
    code = _run()
    sys.exit(128 + received[0] if received and code != DONE else code)


def _end_by_signals() -> list[int]:
    """Make TERM and HUP end a command as Ctrl-C does: partial files are removed, and a message
    tells what was kept. A signal that the caller ignores (nohup) stays ignored.

    Returns the list to which the numbers of received signals are appended.
    """
    received: list[int] = []
    pid = os.getpid()

    def stop(number: int, frame: object) -> None:
        if os.getpid() != pid:  # a worker that has not begun yet
            os._exit(128 + number)
        received.append(number)
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)
    return received


def _open_standard_files() -> None:
    """Open /dev/null for each closed standard file. Otherwise the journal would get its descriptor,
    and printed text would be written into it.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # noqa: TID251  # takes the lowest free number: this
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode))  # noqa: SIM115  # as long as the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            _escape_unencodable(stream)


def _escape_unencodable(stream: io.TextIOWrapper) -> None:
    """Write characters that the file's encoding lacks as escapes.

    click replaces ASCII by UTF-8, so ASCII is registered under another name.
    """
    ascii = codecs.lookup("ascii")
    if codecs.lookup(stream.encoding) != ascii:
        stream.reconfigure(errors="backslashreplace")
        return
    named = codecs.CodecInfo(
        ascii.encode, ascii.decode, ascii.streamreader, ascii.streamwriter,
        ascii.incrementalencoder, ascii.incrementaldecoder, name=_PLAIN,
    )  # fmt: skip
    codecs.register(lambda name: named if name == _PLAIN else None)
    stream.reconfigure(encoding=_PLAIN, errors="backslashreplace")


def _run() -> int:
    stdout, code = sys.stdout, DONE
    try:
        code = int(cli.main(standalone_mode=False) or DONE)
        sys.stdout.flush()  # here, where a full disk can still be told
        return code
    except click.UsageError as error:
        return _misused(error)
    except (click.Abort, KeyboardInterrupt):
        echo_error("stopped")
        return INTERRUPTED
    except BrokenPipeError:  # whoever reads has had enough (`head`): no error
        drop_output()
        return code
    except SystemExit as error:
        if sys.stdout is stdout:  # click's shell completion, or a plugin's command
            if isinstance(error.code, str):  # a plugin's `sys.exit("text")`
                echo_error(error.code)
                return DIFFERS
            return int(error.code or DONE)
        drop_output()  # click has met a broken pipe, and replaced stdout
        return DONE
    except MemoryError:
        drop_output()
        echo_error("goldrush: not enough memory for this; see the limits in kernel/README.md")
        return TROUBLE
    except OSError as error:
        drop_output()
        echo_error(f"goldrush: cannot continue, or cannot print: {error.strerror or error}")
        return TROUBLE
    except Exception as error:
        return _reported(error)


def _misused(error: click.UsageError) -> int:
    command = error.ctx.command_path if error.ctx else "goldrush"
    message = error.format_message()
    if message.startswith("Usage:"):  # `goldrush` alone: click's message is the whole help
        click.echo(message)
    else:
        echo_error(f"goldrush: {message.rstrip('.')}; see '{command} --help'")
    return TROUBLE


def _reported(error: Exception) -> int:
    from goldrush.kernel.errors import (
        DamagedJournal,
        GoldrushError,
        RunStopped,
        TornTail,
        format_error,
    )

    if isinstance(error.__cause__, StopIteration):  # of code that a generator called
        error = error.__cause__
    if not isinstance(error, GoldrushError):
        plugin = _plugin_of(error)
        if plugin is None:
            raise error
        more = ""
        if hasattr(error, "__notes__"):  # the place in a journal, to which `verify` comes, too
            more = f" (`{program()} verify --traceback` of the journal prints the traceback)"
        text = f"plugin package {plugin} raised {format_error(error)}; fix it{more}"
        echo_error(f"goldrush: {text}")
        return TROUBLE
    more = ""
    if isinstance(error, (DamagedJournal, TornTail)):
        from goldrush.replay.journal.verify import way_out_of

        more = way_out_of(error.path, program())
    echo_error(f"goldrush: {error}{more}")
    return DIFFERS if isinstance(error, RunStopped) else TROUBLE


def _plugin_of(error: Exception) -> str | None:
    """The last package of another distribution in the traceback of an error."""
    import traceback

    from goldrush.agents.plugins import LOADED

    frames = traceback.walk_tb(error.__traceback__)
    packages = [frame.f_globals.get("__name__", "").split(".")[0] for frame, _ in frames]
    return next((package for package in reversed(packages) if package in LOADED), None)
