"""Names that the shell completes: worlds, treatments, policies, settings, arenas, events.

The world is that of --world, of WORLD or of the journal that stands on the line; without any, the
default one. What cannot be found out completes nothing: a shell has no use for an error.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from goldrush.cli.help import ARGUMENTS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from goldrush.replay.toolkit import Toolkit

Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def worlds(ctx: click.Context, param: click.Parameter, text: str) -> list[CompletionItem]:
    """The worlds."""
    from goldrush.replay.toolkit import worlds as known

    return _beginning(known(), text)


def treatments(world: str | None = None) -> Complete:
    """The treatments of a world (None: of the world on the line), and files."""

    def complete(ctx: click.Context, param: click.Parameter, text: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        names = _toolkit_names(ctx, world, lambda toolkit: toolkit.treatments)
        return [*_beginning(names, text), CompletionItem(text, type="file")]

    return complete


def settings(world: str | None = None) -> Complete:
    """The settings of a world, each with `=`."""

    def names(toolkit: Toolkit) -> Iterable[str]:
        import attrs

        fields = () if toolkit.config is None else attrs.fields(toolkit.config)
        return [f"{field.name}=" for field in fields]

    def complete(ctx: click.Context, param: click.Parameter, text: str) -> list[CompletionItem]:
        return _beginning(_toolkit_names(ctx, world, names), text)

    return complete


def policies(world: str | None = None) -> Complete:
    """The policies of a world: the last one of a roster, the one after `=` of a cast."""

    def names(toolkit: Toolkit) -> Iterable[str]:
        listed = () if toolkit.players is None else toolkit.players.policies
        return [re.sub(":.*", ":", name) for name in listed]  # llm:MODEL is llm:, and a model

    def complete(ctx: click.Context, param: click.Parameter, text: str) -> list[CompletionItem]:
        start = max(text.rfind(","), text.rfind("=")) + 1
        found = _toolkit_names(ctx, world, names)
        return _beginning([text[:start] + name for name in found], text)

    return complete


def _toolkit_names(
    ctx: click.Context, world: str | None, names: Callable[[Toolkit], Iterable[str]]
) -> Iterable[str]:
    """The names that a toolkit has; none where there is no toolkit."""
    from goldrush.kernel.errors import GoldrushError
    from goldrush.replay.toolkit import WORLD_DEFAULT, toolkit_at, toolkit_for

    try:
        journal = next(filter(os.path.isfile, ctx.meta.get(ARGUMENTS, ())), None)
        if world is None and journal is not None:
            return names(toolkit_at(journal))
        return names(toolkit_for(world or ctx.params.get("world") or WORLD_DEFAULT))
    except GoldrushError:
        return ()


def _beginning(names: Iterable[str], text: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in names if name.startswith(text)]
