"""The command line: entry point, exit codes, errors.

Commands print text for people or, with --json, JSON for programs; an error is one line on stderr.
Modules that take long to import are imported by the commands that need them, and commands when they
are named, so that `goldrush --help` takes little longer than click alone.
"""

from __future__ import annotations

import codecs
import io
import os
import signal
import sys

import click

from goldrush.cli.codes import DIFFERS, DONE, INTERRUPTED, TROUBLE
from goldrush.cli.commands import Commands
from goldrush.cli.text import drop_output, echo_error, program
from goldrush.kernel.text import quoted_path

_PLAIN = "plain_ascii"  # an encoding


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
@click.version_option(package_name="goldrush", message="%(prog)s %(version)s")
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
    from goldrush.kernel.errors import GoldrushError, PolicyFailed, RunStopped, format_error

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
    echo_error(f"goldrush: {error}{_way_out(error)}")
    return DIFFERS if isinstance(error, (PolicyFailed, RunStopped)) else TROUBLE


def _plugin_of(error: Exception) -> str | None:
    """The last package of another distribution in the traceback of an error."""
    import traceback

    from goldrush.agents.plugins import LOADED

    frames = traceback.walk_tb(error.__traceback__)
    packages = [frame.f_globals.get("__name__", "").split(".")[0] for frame, _ in frames]
    return next((package for package in reversed(packages) if package in LOADED), None)


def _way_out(error: Exception) -> str:
    """The command that saves what can be saved of a broken journal, as the end of a message."""
    from goldrush.kernel.errors import DamagedJournal, TornTail

    if isinstance(error, TornTail) and error.commits and not error.in_fork:
        return f"; `{program()} resume {quoted_path(error.path)}` removes it and continues the run"
    if isinstance(error, TornTail) and not error.commits:
        return "; nothing was recorded in it: record again over it (--force)"
    if isinstance(error, TornTail) or (isinstance(error, DamagedJournal) and error.commit > 0):
        return f"; `{program()} verify {quoted_path(error.path)}` says what can be saved"
    return ""
