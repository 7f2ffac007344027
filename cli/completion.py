"""Names that the shell completes: worlds, treatments, policies, settings.

The world is that of the command, of --world or of a journal on the line, otherwise the default one.
An unknown world completes nothing, without an error. bash takes `=` for the end of a word: nothing
is completed after one there.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from goldrush.cli.command import ARGUMENTS, Command

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from goldrush.replay.tools import Tools


def worlds(ctx: click.Context, param: click.Parameter, text: str) -> list[str]:
    """The worlds."""
    from goldrush.replay.find import worlds as known

    return _beginning(known(), text)


def treatments(ctx: click.Context, param: click.Parameter, text: str) -> list[CompletionItem]:
    """Treatments, and files."""
    from click.shell_completion import CompletionItem

    names = _tool_names(ctx, lambda tools: tools.treatments)
    # The file first: at one, click's script for bash forgets what came before it.
    return [CompletionItem(text, type="file"), *map(CompletionItem, _beginning(names, text))]


def settings(ctx: click.Context, param: click.Parameter, text: str) -> list[str]:
    """Settings, each with `=`."""

    def names(tools: Tools) -> Iterable[str]:
        import attrs

        return [f"{field.name}=" for field in attrs.fields(tools.config)]

    return _beginning(_tool_names(ctx, names), text)


def policies(ctx: click.Context, param: click.Parameter, text: str) -> list[str]:
    """Policies: the last of a roster, that after `=` in a cast; none that is a class of the
    user's.
    """

    def names(tools: Tools) -> Iterable[str]:
        from goldrush.agents.trust import is_import_name

        players = tools.players
        listed = [name for name in players.policies if not is_import_name(name)]
        listed += players.policy_set.installed()
        return [re.sub(":.*", ":", name) for name in listed]  # llm:MODEL is llm:, and a model

    start = max(text.rfind(","), text.rfind("=")) + 1
    return _beginning([text[:start] + name for name in _tool_names(ctx, names)], text)


def _tool_names(ctx: click.Context, names: Callable[[Tools], Iterable[str]]) -> Iterable[str]:
    """The names that the tools of the line's world have; none if it is not known."""
    from goldrush.kernel.errors import GoldrushError
    from goldrush.replay.find import WORLD_DEFAULT, tools_at, tools_for

    world = ctx.command.world if isinstance(ctx.command, Command) else None
    try:
        journal = next(filter(os.path.isfile, ctx.meta.get(ARGUMENTS, ())), None)
        if world is None and journal is not None:
            return names(tools_at(journal))
        return names(tools_for(world or ctx.params.get("world") or WORLD_DEFAULT))
    except GoldrushError:
        return ()


def _beginning(names: Iterable[str], text: str) -> list[str]:
    return [name for name in names if name.startswith(text)]
