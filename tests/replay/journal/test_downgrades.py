"""Journals forged so that level 4 would have nobody to ask: it says so, or finds them out.

Checksums, digests and what is derived hold in all of them.
"""

import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from goldrush.agents.llm.options import MAX_TOKENS_MAX
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import UNIT, Commit, Header, sha256_of
from goldrush.kernel.world import Batch, Block, Row, World
from goldrush.kernel.worlds.competition import events as season_events
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import CLAIM, SUBMITTED
from goldrush.replay.journal.batch import verify_all
from goldrush.replay.journal.rebuild import world_at
from goldrush.replay.journal.verify import ONLY_ANSWERS, Verdict, verify
from tests.cli.helpers import goldrush
from tests.golden import WORDED, path_of
from tests.journals import as_it_is, commits_of, played_again, write
from tests.mining import fork, record, resume
from tests.seasons import kept, small

Setup = Mapping[str, Any]
OWN = "my.own:Policy"


def forged(
    source: Path,
    out: Path,
    world: World[Any],
    setup: Callable[[Setup], Setup] = as_it_is,
    inputs: Callable[[Sequence[Batch]], Sequence[Batch]] = as_it_is,
) -> Path:
    """A journal with other players and other inputs, and what then follows from them."""
    again = played_again(commits_of(source), world, setup, lambda unit, batches: inputs(batches))
    return write(out, again, Header(world.name, world.rules))


def players(change: Callable[[dict[str, Any]], None]) -> Callable[[Setup], Setup]:
    """A setup, or the facts of a fork, with each of its players changed."""

    def changed(setup: Setup) -> Setup:
        found = dict(setup)
        for name in ("roster", "cast"):
            if found.get(name) is not None:
                found[name] = [
                    {**player, "options": dict(player["options"])} for player in found[name]
                ]
                for player in found[name]:
                    change(player)
        return found

    return changed


def option(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Gives the models another option."""

    def change(player: dict[str, Any]) -> None:
        if player["policy"] == "llm":
            player["options"][name] = value

    return change


def without(name: str) -> Callable[[dict[str, Any]], None]:
    def change(player: dict[str, Any]) -> None:
        player["options"].pop(name, None)

    return change


def policy(name: Any, options: Any = None) -> Callable[[dict[str, Any]], None]:
    """Gives everybody another policy."""

    def change(player: dict[str, Any]) -> None:
        player.update(policy=name, options=player["options"] if options is None else options)

    return change


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journals") / "run.journal"
    record(path, {"rounds": 3, "rows": 3, "cols": 3})
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "forged.journal"


UNKNOWN: dict[str, Callable[[dict[str, Any]], None]] = {
    "nobody's name": policy("gredy-mine"),
    "a path": policy("../x.py", {}),
    "recorded by no hash": policy("recorded", {"journal": 5}),
    "an option of a policy that has none": policy("greedy-mine", {"depth": 3}),
    "a model with those of another": policy("llm", {"engine": "x", "top_p": 1.0}),
}
MODEL_UNKNOWN: dict[str, Callable[[dict[str, Any]], None]] = {
    "an option more": option("best_of", 5),
    "an option less": without("seed"),
    "no version": without("prompt"),
    **{f"version {v!r}": option("prompt", v) for v in (8, None, 1.0)},
}
IMPOSSIBLE: dict[str, Callable[[dict[str, Any]], None]] = {
    f"{name} {value!r}"[:40]: option(name, value)
    for name, values in {
        "name": ("", "x" * 201, "a\x00"),
        "temperature": (2.1, True),
        "max_tokens": (0, MAX_TOKENS_MAX + 1),
        "seed": (-1, 2**53),
        "answer": ("auto",),
    }.items()
    for value in values
}
GOLDEN: dict[str, tuple[Path, World[Any]]] = {
    "mining": (path_of("mining", WORDED), MINING),
    "season": (kept("asked"), world_at(kept("asked"))),
}


def assert_cannot_be_judged(path: Path) -> str:
    """Neither by the library nor by a folder's verification; the levels below still hold."""
    assert verify(path, 3).holds
    [outcome] = verify_all([str(path)], jobs=1)
    verdict = verify(path)

    assert (None, None, 3) == (verdict.holds, verdict.broken, verdict.level)
    assert (verdict, None) == (outcome.verdict, outcome.holds)
    assert outcome.error is not None
    assert re.search(r"not known to this goldrush.*--level 3", outcome.error)
    return outcome.error


@pytest.mark.parametrize("kind", UNKNOWN)
def test_a_name_or_an_option_that_nobody_has_cannot_be_judged(
    run: Path, out: Path, kind: str
) -> None:
    says = assert_cannot_be_judged(forged(run, out, MINING, players(UNKNOWN[kind])))

    assert "agent 0 " in says
    assert "so are 9 more" in says


@pytest.mark.turns
@pytest.mark.parametrize("world", GOLDEN)
@pytest.mark.parametrize("kind", MODEL_UNKNOWN)
def test_a_model_asked_in_a_way_not_known_here_cannot_be_judged(
    out: Path, world: str, kind: str
) -> None:
    source, rules = GOLDEN[world]
    assert_cannot_be_judged(forged(source, out, rules, players(MODEL_UNKNOWN[kind])))


@pytest.mark.turns
@pytest.mark.parametrize("world", GOLDEN)
@pytest.mark.parametrize("kind", IMPOSSIBLE)
def test_a_value_that_no_model_has_breaks_level_4(out: Path, world: str, kind: str) -> None:
    source, rules = GOLDEN[world]
    path = forged(source, out, rules, players(IMPOSSIBLE[kind]))
    broken = verify(path).broken

    assert verify(path, 3).holds
    assert (4, True) == (broken.level, broken.where.startswith("commit 0 at byte"))
    assert kind.partition(" ")[0] in broken.found
    assert str(broken).endswith("; no run of this goldrush writes that")


def test_who_is_not_known_from_a_fork_on_cannot_be_judged(run: Path, out: Path) -> None:
    child = out.with_name("child.journal")
    fork(run, 2, child, roster="mine*10")
    path = forged(child, out, MINING, lambda facts: {
        **facts, **({"roster": [{**p, "policy": "min"} for p in facts["roster"]]}
                    if "parent" in facts else {}),
    })  # fmt: skip

    assert "'min'" in assert_cannot_be_judged(path)


def test_a_cast_that_no_season_has_cannot_be_judged(out: Path) -> None:
    path = forged(kept("short"), out, world_at(kept("short")), players(policy("greedy-mine")))

    assert "admin plays" in assert_cannot_be_judged(path)


# Not here, but it might be: somebody's own policy, a recording.


@pytest.mark.parametrize("kind", [policy(OWN), policy("recorded", {"journal": "0" * 64})])
def test_who_might_be_asked_elsewhere_is_named_and_fails_only_strictly(
    run: Path, out: Path, kind: Callable[[dict[str, Any]], None]
) -> None:
    path = forged(run, out, MINING, players(kind))
    [plain] = verify_all([str(path)], jobs=1)
    [strict] = verify_all([str(path)], jobs=1, strict=True)
    [named] = plain.verdict.not_asked

    assert "(10 agents)" in named
    assert (True, False) == (plain.holds, strict.holds)
    assert [f"not asked again: {named}"] == strict.faults


# The laboratory.

TESTED = season_events.CODES[season_events.Tested]


CASTS: dict[str, Sequence[str]] = {
    "everybody": (),
    "who sets the table": ("assistant", "judge"),
    "the workers": ("worker",),
    "nobody": ("nobody",),
}


def recast(roles: Sequence[str]) -> Callable[[Setup], Setup]:
    """Gives these roles (without any: all) a policy that is not here."""

    def change(player: dict[str, Any]) -> None:
        if not roles or player["role"] in roles:
            player["policy"] = OWN

    return players(change)


def nth_test(
    place: int, change: Callable[[Row], Sequence[Row]]
) -> Callable[[Sequence[Batch]], Sequence[Batch]]:
    """Puts others in the place of the test of that number among all tests of a season."""
    numbers = itertools.count(1)

    def changed(batches: Sequence[Batch]) -> list[Batch]:
        found: list[Batch] = []
        for code, rows in batches:
            if code == TESTED:
                rows = [new for row in rows for new in tested(row)]
            found += [(code, rows)] if rows else []
        return found

    def tested(row: Row) -> Sequence[Row]:
        return change(row) if next(numbers) == place else [row]

    return changed


def other_digest(row: Row) -> list[Row]:
    return [(*row[:6], tuple((seed, digest ^ 1) for seed, digest in row[6]))]


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A season in which whoever sets the table is soon asked how."""
    path = tmp_path_factory.mktemp("journals") / "season.journal"
    return small(path, assignments=3, assistant_stages=(1, 2, 3, 30))


def count_tests(path: Path) -> int:
    return sum(len(b.rows(TESTED)) for c in commits_of(path) for b in c.blocks[::2])


def forged_tests(
    season: Path, out: Path, cast: str, change: Callable[[Row], Sequence[Row]]
) -> Iterator[Verdict]:
    """The season with one of its tests changed after the other, wherever the rest can follow."""
    world = world_at(season)
    for place in range(1, count_tests(season) + 1):
        with suppress(LookupError):  # with such a value the rest of the record cannot have been
            path = forged(season, out, world, recast(CASTS[cast]), nth_test(place, change))
            if verify(path, 3).holds:
                yield verify(path)
            out.unlink()


@pytest.mark.turns
@pytest.mark.parametrize("cast", CASTS)
def test_what_the_laboratory_says_is_found_out_again_whoever_the_cast_is(
    season: Path, out: Path, cast: str
) -> None:
    broken = [*forged_tests(season, out, cast, other_digest)]
    sound = verify(forged(season, out, world_at(season), recast(CASTS[cast])))

    assert len(broken) > count_tests(season) // 2
    for verdict in broken:
        assert (4, True) == (verdict.broken.level, verdict.broken.where.endswith("tested"))
    assert (None, cast != "nobody") == (sound.broken, bool(sound.not_asked))
    assert 4 == (sound.level_in_part if sound.not_asked else sound.level)


def test_a_test_that_is_not_due_is_found(season: Path, out: Path) -> None:
    """Where the table is set by who cannot be asked, too, and the rest is as it is recorded."""
    found = [*forged_tests(season, out, "who sets the table", lambda row: [row, row])]

    assert found
    for verdict in found:
        assert (4, "tested") == (verdict.broken.level, verdict.broken.where.rpartition(" ")[2])


def test_a_test_that_is_missing_is_found_without_asking_anybody(season: Path, out: Path) -> None:
    world = world_at(season)
    levels = []
    for place in range(1, count_tests(season) + 1):
        missing = nth_test(place, lambda row: [])
        verdict = verify(forged(season, out, world, recast(CASTS["nobody"]), missing), 3)
        levels.append(verdict.broken and verdict.broken.level)
        out.unlink()

    assert {2} == set(levels)


@pytest.mark.parametrize("flags", ["", "--strict"])
def test_what_is_known_to_be_wrong_is_told_though_somebody_is_not_known(
    run: Path, tmp_path: Path, flags: str
) -> None:
    nobody = forged(run, tmp_path / "nobody.journal", MINING, players(policy("nobody")))
    words = ("verify", nobody, *flags.split())
    ran = goldrush(*words, cwd=tmp_path)
    [shown] = json.loads(goldrush(*words, "--json", cwd=tmp_path).out)

    assert 2 == ran.code
    assert "agent 0 plays 'nobody': not known to this goldrush" in ran.err
    assert (None, []) == (shown["holds"], shown["faults"])
    assert (sha256_of(nobody), 3, None) == (shown["sha256"], shown["level"], shown["broken"])
    assert "not known to this goldrush" in shown["error"]


def test_no_scripted_agent_waits_in_an_open_round(tmp_path: Path) -> None:
    path, forged = tmp_path / "run", tmp_path / "forged"
    record(path, {"rounds": 3, "seed": 2}, "greedy-mine*3")
    commits = commits_of(path)
    played = commits[3].blocks[0].rows(SUBMITTED)[0]
    for row in (played, (0, ((CLAIM, 8, 1),), None, None, None, None)):
        open_round = Commit(UNIT, 3, None, [Block([(SUBMITTED, [row])])])
        write(forged, [*commits[:3], open_round])

        found = verify(forged).broken

        assert (4, ONLY_ANSWERS) == (found.level, found.expected)
        with pytest.raises(BadInput, match="unfinished round is not what its agents submit"):
            resume(forged)
