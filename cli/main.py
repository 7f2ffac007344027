"""The command line: what a person types, and what they get back.

Commands say things to people or, with --json, to programs; errors are one line on stderr. Exit
codes: 0 done, 1 it differs or it failed half way, 2 it could not be done as asked, 130 stopped by
Ctrl-C. Modules that cost time to import are imported by the commands that need them, so that
`goldrush --help` is as quick as click itself.
"""

from __future__ import annotations

import os
import sys

import click

from cli import catalogue, export, record, replay, verify
from cli.text import printable

DONE, DIFFERS, TROUBLE, INTERRUPTED = 0, 1, 2, 130


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="goldrush", message="%(prog)s %(version)s")
def cli() -> None:
    """Record, replay and verify multi-agent simulations.

    A run is a journal: an append-only file of events from which everything can be derived again.
    """


for command in (
    record.record,
    replay.replay,
    verify.verify,
    export.export,
    catalogue.policies,
    catalogue.treatments,
):
    cli.add_command(command)


def main() -> None:
    """Run the command line and exit with its code."""
    sys.exit(_run())


def _run() -> int:
    try:
        return int(cli.main(standalone_mode=False) or DONE)
    except click.ClickException as error:
        error.show()
        return TROUBLE
    except (click.Abort, KeyboardInterrupt):
        click.echo("stopped", err=True)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output (`head`, say) has gone; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DIFFERS
    except Exception as error:
        return _told(error)


def _told(error: Exception) -> int:
    from kernel.errors import GoldrushError, PolicyFailed, WriteFailed

    if not isinstance(error, GoldrushError):
        raise error
    click.echo(f"goldrush: {printable(str(error))}", err=True)
    return DIFFERS if isinstance(error, (PolicyFailed, WriteFailed)) else TROUBLE
