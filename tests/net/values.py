"""What runs and studies of every world come to, kept as data: `python -m tests.net.values --make`.

`texts/` have what is printed; `values.tsv.xz` has the values themselves, each column of each table,
each measure, verdict, draw, outcome and difference, by its place. So a change is shown as what it
is: of numbers, or of words.
"""

from __future__ import annotations

import json
import lzma
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import click

import goldrush
from goldrush.games.fishery import Fishery
from goldrush.games.public_goods import PublicGoods
from goldrush.kernel.errors import BadInput
from goldrush.replay.journal.consequences import consequences
from tests import golden
from tests.replay.worlds.episode.envs import NoisyWalk, of_lengths, play
from tests.replay.worlds.episode.models import Herd

KEPT: Final = Path(__file__).with_name("values.tsv.xz")
MINED: Final = ("baseline", "forked", "language-models")
ARGUED: Final = ("short", "forked", "every-event", "language-model")
DIFFERENCES: Final = (
    ("baseline", "forked"),
    ("season short", "season forked"),
    ("fishery", "fishery forked"),
    ("herd", "herd at risk"),
)
# What differs with the versions of Python and of libraries, which START has; goldens pin it.
VARYING: Final = ("sha256", "bytes", "rests_on", "facts", "digest")
SHOWN_MAX: Final = 200  # characters of a value
DRAWN_MAX: Final = 8  # units of a run whose draws are kept

Values = Iterator[tuple[str, object]]


def recorded(folder: Path) -> dict[str, goldrush.Run]:
    """Runs of all worlds by name: golden ones, and those that are recorded here."""
    runs = {name: goldrush.open(golden.path_of(name)) for name in MINED}
    runs |= {f"season {name}": goldrush.open(golden.season_path(name)) for name in ARGUED}
    runs["goods"] = goldrush.record(folder / "goods", world=PublicGoods, seed=3, rounds=6)
    runs["fishery"] = goldrush.record(folder / "fishery", world=Fishery, seed=3, seasons=12)
    runs["fishery forked"] = runs["fishery"].fork(5, folder / "fishery forked", growth=1.0)
    for name, make in {"environment": NoisyWalk, "vector": _lasts}.items():
        env = goldrush.wrap(make(), folder / name)
        play(env, name, 14)
        env.close()
        runs[name] = goldrush.open(folder / name, world=make)
    for name, risk in {"herd": 0.2, "herd at risk": 0.5}.items():
        runs[name] = goldrush.record(folder / name, world=Herd, seed=4, steps=9, risk=risk)
    return runs


def _lasts() -> Any:
    return of_lengths(2, 3, 4)


def studied(folder: Path) -> dict[str, goldrush.Study]:
    """Studies of two worlds by name."""
    mined = goldrush.study(
        folder / "mined", treatments=["scarce", "cap-2"], seeds=3, rounds=20, jobs=1,
        rosters=["greedy-mine*3,raid", "random*4"],
    )  # fmt: skip
    argued = goldrush.study(
        folder / "argued", world="competition", treatments=["baseline", "no-memory"], seeds=2,
        assignments=3, workers=4, arena="nk[seeds=1]", jobs=1,
    )  # fmt: skip
    return {"mined": mined, "argued": argued}


def values_of(run: goldrush.Run) -> Values:
    """(place, value) of all that a run comes to."""
    for table in run.tables():
        yield from _columns(f"table {table}", run.table(table))
    measured = run.measured()
    yield from _places("measures", measured.as_dict())
    for name, series in measured.values.items():
        yield f"measures by unit/{name}", list(series)
    yield from _places("verdict", run.verify().as_dict())
    yield from _places("info", run.info().as_dict())
    yield from _places("outcome", run.outcome().as_dict())
    with suppress(BadInput):  # for a world, or a run, without draws
        for unit in list(run)[:DRAWN_MAX]:
            for number, draw in enumerate(run.audit(unit.round)):
                yield f"draws/{unit.round}/{number}", _plain(draw.as_dict())


def differences_of(one: goldrush.Run, other: goldrush.Run) -> Values:
    """(place, value) of the difference of two runs, and of what followed from it."""
    found = one.diff(other)
    yield from _places("diff", found.as_dict())
    followed = consequences(found)
    if followed is not None:
        yield from _places("consequences", followed.as_dict())


def values_of_study(study: goldrush.Study) -> Values:
    """(place, value) of all that a study comes to."""
    yield from _columns("runs", study.table())
    for place, rows in (
        ("verdicts", study.verdicts()),
        ("comparisons", study.answer().comparisons),
    ):
        for number, row in enumerate(rows):
            yield f"{place}/{number}", repr(row)
    yield from (
        (f"standings/{number}", repr(row)) for number, row in enumerate(study.answer().standings)
    )


def found() -> dict[str, str]:
    """The value of each place, as JSON."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        runs = recorded(folder)
        values = {name: list(values_of(run)) for name, run in runs.items()}
        for one, other in DIFFERENCES:
            values[f"{one} and {other}"] = list(differences_of(runs[one], runs[other]))
        values |= {name: list(values_of_study(each)) for name, each in studied(folder).items()}
    return {
        f"{name}: {place}": json.dumps(value, default=repr).replace(temporary, "/TMP").replace(
            str(golden.FOLDER), "/GOLDEN")
        for name, of_name in values.items()
        for place, value in of_name
        if place.rpartition("/")[2] not in VARYING
    }  # fmt: skip


def kept() -> dict[str, str]:
    """The values that were kept."""
    lines = lzma.decompress(KEPT.read_bytes()).decode().splitlines()
    return dict(line.split("\t", 1) for line in lines)


def changes(before: Mapping[str, str], now: Mapping[str, str]) -> Iterator[str]:
    """The places whose values differ, with both."""
    for place in dict.fromkeys([*before, *now]):
        if (old := before.get(place, "none")) != (new := now.get(place, "none")):
            kind = "words" if _numbers(old) == _numbers(new) else "numbers"
            yield f"{kind}  {place}: {old[:SHOWN_MAX]} -> {new[:SHOWN_MAX]}"


def _numbers(value: str) -> Sequence[object]:
    """A value without its words."""
    try:
        return _without_words(json.loads(value))
    except ValueError:
        return value


def _without_words(value: object) -> Any:
    if isinstance(value, list):
        return [_without_words(each) for each in value]
    if isinstance(value, dict):
        return [_without_words(each) for each in value.values()]
    return "" if isinstance(value, str) and " " in value else value


def _columns(place: str, table: Any) -> Values:
    for column in table.column_names:
        yield f"{place}/{column}", _plain(table[column].to_pylist())


def _places(place: str, value: object) -> Values:
    """The leaves of nested dicts; a list is a leaf."""
    if isinstance(value, Mapping) and value:
        for name, each in value.items():
            yield from _places(f"{place}/{name}", each)
    else:
        yield place, _plain(value)


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value.hex() if isinstance(value, bytes) else value


@click.command(help=__doc__)
@click.option("--make", is_flag=True, help="Keep the values of now.")
def main(make: bool) -> None:
    """Compare or keep the values."""
    now = found()
    if make:
        text = "".join(f"{place}\t{value}\n" for place, value in now.items())
        KEPT.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    changed = list(changes(kept(), now))
    click.echo("\n".join(changed))
    click.echo(f"{len(now)} values compared, {len(changed)} changed")
    sys.exit(bool(changed))


if __name__ == "__main__":
    main()
