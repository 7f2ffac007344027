"""The layout of `--help`: commands and options in sections.

click lists each in one long list. Here `cli.commands` has the sections of commands, and the table
below those of options, by the name of the parameter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import click

MANY: Final = 10  # options of a command that are not split into sections

_REST: Final = "Options"
_SECTIONS: Final[Mapping[str, tuple[str, ...]]] = {
    "Language models": (
        "models_path", "model", "by_class", "base_url", "concurrency", "patience", "fail_over",
        "max_tokens", "max_cost", "dry_run",
    ),
    "Policies and tests of your own": ("trust", "sources", "test"),
    "Output": ("out", "files", "junit", "force", "fsync", "as_csv", "as_json",
        "traceback",
    ),
}  # fmt: skip
_SECTION_OF: Final = {name: title for title, names in _SECTIONS.items() for name in names}


ARGUMENTS: Final = "goldrush.arguments"  # in the context's meta: the words behind the command


class Command(click.Command):
    """A command whose help lists more than MANY options in sections."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does, and keep the words for completion: at an option whose value is to be
        completed, click parses no arguments.
        """
        ctx.meta[ARGUMENTS] = tuple(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # click's parser knows none
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option)]
        found = [(one.name, one.get_help_record(ctx)) for one in options]
        shown = [(name, record) for name, record in found if record is not None]
        sections: dict[str, list[tuple[str, str]]] = {_REST: [], **{t: [] for t in _SECTIONS}}
        for name, record in shown:
            is_split = len(shown) > MANY
            sections[_SECTION_OF.get(name or "", _REST) if is_split else _REST].append(record)
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)


def command(name: str | None = None) -> Callable[[Callable[..., Any]], Command]:
    """The decorator click.command, with Command as the class."""
    return click.command(name, cls=Command)


def is_command(found: object) -> bool:
    """Whether the object of an entry point is a click command."""
    return isinstance(found, click.Command)
