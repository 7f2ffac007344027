"""Arenas by name: goldrush's own, and those of other distributions.

An arena has two halves, each an entry point of its name: the rules (`goldrush.arenas`), which judge
a season, and the bench (`goldrush.benches`), which tests. The setup of a season has its arena; only
an arena of the same name and version can judge it again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final

import attrs

from goldrush.agents.plugins import (
    ARENAS,
    BENCHES,
    PluginFailed,
    PluginKind,
    load_plugin,
    plugins,
)
from goldrush.agents.roster import parsed_settings
from goldrush.agents.worlds.competition.bench import Bench, BenchType, Tests
from goldrush.kernel.errors import BadInput, format_value, nearest
from goldrush.kernel.settings import configured, listed
from goldrush.kernel.worlds.competition.arena import Arena, ArenaType, Rules, arena_of, options_in

NAMES: Final = ("mining", "nk", "command")
ARENA_DEFAULT: Final = NAMES[0]
OWN_ARENAS: Final = {
    name: f"goldrush.kernel.worlds.competition.arenas.{name}:ARENA" for name in NAMES
}
OWN_BENCHES: Final = {
    name: f"goldrush.agents.worlds.competition.benches.{name}:BENCH" for name in NAMES
}

_TEXT: Final = re.compile(r"(?P<name>[^\[\]]+?)\s*(?:\[(?P<settings>[^\[\]]*)\])?")
_HOW: Final = "write arena or arena[option=value], as in nk[noise=0.1;drift=0]"


class UnknownArena(BadInput):
    """An arena is not installed, has another version, or fails to load. Its journals may hold."""


class NoProgram(BadInput):
    """An arena needs a user-defined test program, and none was given."""


# The halves


def arena_type(name: str) -> ArenaType[attrs.AttrsInstance]:
    """The rules of an arena. Raises UnknownArena."""
    rules: ArenaType[attrs.AttrsInstance] = _half(ARENAS, name)
    return rules


def bench_type(name: str) -> BenchType[attrs.AttrsInstance]:
    """The bench of an arena. Raises UnknownArena."""
    bench: BenchType[attrs.AttrsInstance] = _half(BENCHES, name)
    return bench


def _half(group: str, name: str) -> Any:
    kind = next(kind for kind in KINDS if kind.group == group)
    try:
        half = load_plugin(group, name, kind.accepts, kind.built_in)
    except PluginFailed as error:
        raise UnknownArena(error.what, error.instead) from None
    if half is None:
        known = list(NAMES) if group == BENCHES else arenas()
        instead = f"{nearest(name, known)}install its distribution, or take {', '.join(known)}"
        raise UnknownArena(f"there is no {kind.title} {format_value(name)} here", instead)
    return half


def arenas() -> list[str]:
    """The names of all installed arenas: goldrush's own, then those of other distributions."""
    return [*NAMES, *(plugin.name for plugin in plugins(ARENAS, NAMES))]


def arena_entry(name: str) -> dict[str, Any]:
    """The catalogue entry of an arena: what it is, whether a user-defined program tests it, and its
    options, of which one may have the season's seed as its default. Raises UnknownArena if its
    rules or bench fail to load.
    """
    rules, bench = arena_type(name), bench_type(name)
    options: list[dict[str, Any]] = []
    for name_of_option, setting in listed(rules.options).items():
        option = {"option": name_of_option, **setting._asdict()}
        is_seeded = name_of_option == rules.seeded
        options.append(option | ({"default": None, "default_from": "seed"} if is_seeded else {}))
    return {
        "arena": name,
        "version": rules.version,
        "takes_program": bench.program is not None,
        "says": rules.description,
        "options": options,
    }


KINDS: Final = (
    PluginKind(ARENAS, "arena", lambda loaded: isinstance(loaded, ArenaType), OWN_ARENAS),
    PluginKind(BENCHES, "bench", lambda loaded: isinstance(loaded, BenchType), OWN_BENCHES),
)


# From text to the record, and back


def arena_record(
    text: str | None = None,
    assignments: int = 1,
    test: str | None = None,
    seed: int = 0,
) -> Arena:
    """The record of an arena, as in the setup of a season.

    Args:
        text: a name, with or without options: `nk[noise=0.1;drift=0]`; None: the default arena.
        test: the path of the program, for an arena that takes one (`--test`).
        seed: of the season, the default of the option `ArenaType.seeded`.

    Raises BadInput for malformed text, an unknown arena, and invalid options.
    """
    text = ARENA_DEFAULT if text is None else text.strip()
    match = _TEXT.fullmatch(text)
    if match is None:
        raise BadInput(f"{text!r} is no arena", _HOW)
    name, between = match["name"], match["settings"]
    typed = {} if between is None else parsed_settings(between, text, _HOW)
    rules, bench = arena_type(name), bench_type(name)
    program = _program(name, test, typed)
    seeded = {} if rules.seeded is None else {rules.seeded: seed}
    try:
        options = configured(rules.options, {**seeded, **bench.options(typed), **program})
    except BadInput as error:
        raise BadInput(f"arena {name}: {error.what}", error.instead) from None
    subjects = tuple(rules.subjects(options, assignments))
    recorded = attrs.asdict(options, recurse=False)
    return arena_of(Arena(name, rules.version, recorded, subjects).as_dict())


def with_program(arena: Arena, test: str) -> Arena:
    """The record of an arena with another program. Raises UnknownArena, and BadInput for an arena
    that takes no program.
    """
    _type_of(arena.name, arena.version)
    return attrs.evolve(arena, options={**arena.options, **_program(arena.name, test)})


def _program(name: str, test: str | None, typed: Collection[str] = ()) -> Mapping[str, Any]:
    """The options that identify the program in the record of an arena."""
    program = bench_type(name).program
    _check_program(name, test)
    if program is None or test is None:
        return {}
    options = program(test)
    for option in options:
        if option in typed:
            raise BadInput(f"{option} is set", "leave it out: the program (--test) sets it")
    return options


def seeded_setting(settings: Mapping[str, object]) -> Sequence[tuple[str, ...]]:
    """The settings of a season, besides `seed`, whose default is the seed, each as the keys that
    lead to it; () for an arena that is not installed, or has another version.
    """
    record = settings.get("arena")
    name, version = map(record.get, ("name", "version")) if isinstance(record, dict) else (None, 0)
    if not isinstance(name, str) or not isinstance(version, int):
        return ()
    try:
        seeded = _type_of(name, version).seeded
    except UnknownArena:
        return ()
    return () if seeded is None else (("arena", "options", seeded),)


def _check_program(name: str, test: str | None) -> None:
    """Raises NoProgram for a missing program, BadInput for one that the arena does not take."""
    is_taken = bench_type(name).program is not None
    if is_taken and test is None:
        raise NoProgram(f"the arena {name} is tested by a program", "give it (--test PROGRAM)")
    if not is_taken and test is not None:
        raise BadInput(f"the arena {name} takes no program", "leave it out (--test)")


def rules_of(arena: Arena) -> Rules:
    """The rules of a recorded arena. Raises UnknownArena if that version is not installed, BadInput
    for options or subjects that it does not have.
    """
    return _type_of(arena.name, arena.version).rules_of(arena)


def bench_of(arena: Arena, test: str | None = None) -> Bench:
    """The bench of a recorded arena, whose program is at the path `test`.

    Raises UnknownArena if that version is not installed, NoProgram, and BadInput if the bench
    cannot be opened.
    """
    options = options_in(arena, _type_of(arena.name, arena.version).options)
    _check_program(arena.name, test)
    return bench_type(arena.name).opened(options, test)


def opened_tests(arena: Arena, test: str | None = None, jobs: int = 1) -> Tests:
    """Tests in an arena, with `jobs` parallel runs. Raises as `bench_of`."""
    return Tests(arena, partial(bench_of, arena, test), jobs)


def _type_of(name: str, version: int) -> ArenaType[attrs.AttrsInstance]:
    rules = arena_type(name)
    if rules.version != version:
        raise UnknownArena(
            f"the arena {name} has version {rules.version} here, not {version}",
            "install the version of goldrush, or of the plugin, that has it",
        )
    return rules
