"""A command is a function whose signature declares its options.

    @command()
    def audit(*, journal: Journal, every: bool = option("--all", help="...")) -> None:

An option of one command is the default of its parameter; one that several share is a type of
`cli.options`; those that go together are a named tuple. The type of a parameter says what is
parsed: `bool` is a flag, `int` and `float` are numbers, `tuple[T, ...]` is an option that can be
repeated, or an argument of any number of values.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from importlib import import_module
from itertools import pairwise
from shutil import which
from typing import Annotated, Any, Final, get_args, get_origin, get_type_hints

import click

from goldrush.agents.given import games
from goldrush.cli.text import echo_error, program
from goldrush.kernel.text import quoted

PROGRAM: Final = "goldrush.program"  # in the context's meta: the words behind `--`
_NETWORK: Final = "_network"  # the parameter of --network, which no function takes

Declaration = Any  # makes the parameter of a name and a type; its value is of that type


class Command(click.Command):
    """A command that refuses options without a value, or with several, and knows of its options for
    a program (`for_program`: the command for one; None: it takes none).
    """

    for_program: Callable[[], click.Command] | None = None

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does. Raises UsageError also for an option that is repeated in vain, and
        for a missing value.
        """
        words = [*args]  # click takes them out
        try:
            rest = super().parse_args(ctx, args)
            if not ctx.resilient_parsing:
                self._check(ctx, words)
            return rest
        except click.UsageError as error:
            error.ctx = error.ctx or ctx  # click's parser knows none
            self._refuse_program(ctx, words, getattr(error, "option_name", None))
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, then those that differ for a program."""
        super().format_options(ctx, formatter)
        own = [param.get_help_record(ctx) for param in self.params]
        theirs = [option.get_help_record(ctx) for option in self._for_programs(ctx)]
        if rows := [record for record in theirs if record and record not in own]:
            with formatter.section(f"For a program ({ctx.command_path} [OPTIONS] -- COMMAND...)"):
                formatter.write_dl(rows)

    def _for_programs(self, ctx: click.Context) -> list[click.Option]:
        """The options that the command has for a program; none if there is one, or cannot be."""
        if self.for_program is None or PROGRAM in ctx.meta:
            return []
        return _options(self.for_program())

    def _refuse_program(
        self, ctx: click.Context, words: Sequence[str], unknown: str | None = None
    ) -> None:
        """Raises UsageError where `--` is missing: before a word that can be run and stands behind
        no option, or because of an option for programs.
        """
        theirs = self._for_programs(ctx)
        for index, (before, word) in enumerate(pairwise(["", *words])):
            if theirs and not before.startswith("-") and which(word):
                line = map(quoted, [self.name or "", *words[:index], "--", *words[index:]])
                typed = f"{program()} {' '.join(line)}"
                raise click.UsageError(f"put -- before the program: {typed}", ctx)
        if any(unknown in option.opts for option in theirs):
            raise click.UsageError(f"{unknown} is for a program behind --: -- python sim.py", ctx)

    def _check(self, ctx: click.Context, words: Sequence[str]) -> None:
        _, _, given = self.make_parser(ctx).parse_args([*words])  # in order, repeated ones too
        if not all(map(os.path.lexists, ctx.params.get("journals") or ())):
            self._refuse_program(ctx, words)
        options = _options(self)
        flags = {flag for option in options for flag in option.opts}
        for option in options:
            times = given.count(option)
            if times > 1 and not (option.multiple or option.is_flag):
                name = option.opts[0]
                raise click.UsageError(f"{name} is given {times} times; give it once", ctx)
            values = ctx.params.get(option.name or "")
            for value in values if isinstance(values, tuple) else (values,):
                if value == "":
                    raise click.BadParameter("it is empty", ctx, option)
                if value in flags:
                    raise click.BadParameter(f"it is missing before {value}", ctx, option)


def _options(command: click.Command) -> list[click.Option]:
    return [param for param in command.params if isinstance(param, click.Option)]


def command(name: str | None = None) -> Callable[[Callable[..., Any]], Command]:
    """The decorator that makes a command of a function, by its signature."""

    def decorated(function: Callable[..., Any]) -> Command:
        hints = get_type_hints(function, include_extras=True)
        hints.pop("return", None)
        defaults = function.__kwdefaults__ or {}
        records = {
            name: hint
            for name, hint in hints.items()
            if name not in defaults and get_origin(hint) is not Annotated
        }

        @wraps(function)
        def called(**given: Any) -> Any:
            given.pop(_NETWORK, None)
            for name, record in records.items():
                given[name] = record(*(given.pop(field) for field in record._fields))
            if function.__name__ not in _JUDGES and games():
                from goldrush.kernel.errors import OtherCode

                _tell_other_code(given)
                with warnings.catch_warnings():  # what makes the numbers warns, too
                    warnings.simplefilter("ignore", OtherCode)
                    return function(**given)
            return function(**given)

        params = [*_declared(hints, defaults)]
        if reads_journals(params) and not function.__module__.startswith("goldrush.cli.worlds."):
            params += _game_options(is_judge=function.__name__ not in ("fork", "resume"))
        return click.command(name, cls=Command, params=params)(called)

    return decorated


# They tell of other code themselves, go on with it, or show nothing that depends on it.
_JUDGES: Final = ("fork", "info", "ls", "resume", "source", "verify")


def _tell_other_code(given: Mapping[str, Any]) -> None:
    """Print a line on stderr for each journal or folder of a command that holds runs which other
    code of their game recorded.
    """
    from goldrush.replay.journal.batch import below
    from goldrush.replay.journal.source import other_code_among

    named = [given.get(name) for name in ("journal", "a", "b", "study")]
    named += [*given.get("journals", ()), *given.get("folders", ())]
    for path in dict.fromkeys(filter(None, named)):
        if text := other_code_among(below(path) if os.path.isdir(path) else [path]):
            echo_error(f"goldrush: {text}")


def reads_journals(params: Iterable[click.Parameter]) -> bool:
    """Whether a command reads journals, and has no world that it is told."""
    names = {param.name for param in params}
    return "world" not in names and bool(names & {"journal", "journals", "folders", "a", "study"})


def _game_options(is_judge: bool) -> Iterator[click.Option]:
    """The option --world of a command that reads journals: consent to the games that they are of,
    or to what makes their environments or models. Unless the command plays on, that code connects
    to other machines only by --network.
    """
    yield click.Option(
        ["--world", "--env", "_world"], metavar="FILE.py", expose_value=False, callback=_give,
        multiple=True,
        help="Code of the recorded game, environment or model: FILE.py, FILE.py:NAME, module:NAME, "
        "or an id of Gymnasium; repeatable.",
    )  # fmt: skip
    if is_judge:
        yield click.Option(
            ["--network", _NETWORK], is_flag=True, is_eager=True,
            help="Let code that is given connect to other machines.",
        )  # fmt: skip


def _give(context: click.Context, parameter: click.Parameter, locations: Sequence[str]) -> None:
    from goldrush.replay.find import tools_for

    if locations:
        keep_here(context)
    for location in locations:
        tools_for(location)  # or it would be ignored


def keep_here(context: click.Context) -> None:
    """Let code that is given to be judged connect to this machine alone, but for --network."""
    if not context.params.get(_NETWORK, True):
        import_module("goldrush.hook.goldrush_hook").stay_here()


def option(flags: str, metavar: str | None = None, help: str = "", **settings: Any) -> Declaration:
    """An option: its flags, separated by spaces, and what click takes besides."""

    def declared(name: str, kind: Any) -> click.Option:
        parsed = {**_parsed(kind, "multiple", True), **settings}
        return click.Option([*flags.split(), name], metavar=metavar, help=help, **parsed)

    return declared


def argument(metavar: str | None = None, **settings: Any) -> Declaration:
    """An argument, and what click takes for it."""

    def declared(name: str, kind: Any) -> click.Argument:
        return click.Argument([name], metavar=metavar, **{**_parsed(kind, "nargs", -1), **settings})

    return declared


def _parsed(kind: Any, several: str, value: object) -> dict[str, Any]:
    """What click is told of a type; `several`: how, if there can be several values."""
    inner = next(iter(get_args(kind)), kind)
    settings: dict[str, Any] = {several: value} if get_origin(kind) is tuple else {}
    if inner is bool:
        settings["is_flag"] = True
    elif inner in (int, float):
        settings["type"] = inner
    return settings


def _declared(hints: Mapping[str, Any], defaults: Mapping[str, Any]) -> Iterator[click.Parameter]:
    """The parameters of a signature: declared by default, by type, or as those of a record."""
    for name, hint in hints.items():
        if name in defaults:
            yield defaults[name](name, hint)
        elif get_origin(hint) is Annotated:
            kind, declare = get_args(hint)
            yield declare(name, kind)
        else:
            fields = get_type_hints(hint, include_extras=True)
            yield from _declared(fields, hint._field_defaults)


def is_command(found: object) -> bool:
    """Whether the object of an entry point is a click command."""
    return isinstance(found, click.Command)
