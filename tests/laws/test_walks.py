"""One walk, whatever it checks: every mode, by commit and by step, from any unit on, gives the same
states; each forgery is told from the mode on that checks for it, and not before.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.errors import MalformedEvents
from goldrush.kernel.journal import Commit, JournalReader
from goldrush.kernel.walk import DERIVED, DIGESTS, ROWS, TRUSTED, NotDerived, OtherDigest, Walk
from goldrush.kernel.world import Block, Row, World, advance
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import CLAIM_DRAWN
from goldrush.replay.journal.rebuild import world_at
from tests.golden import NAMES, SEASON_NAMES, path_of, season_path
from tests.journals import commits_of, forged, in_pieces, write

MODES = TRUSTED, ROWS, DIGESTS, DERIVED
GOLDEN = [*map(path_of, sorted(NAMES)), *map(season_path, sorted(SEASON_NAMES))]

Found = list[tuple[int, int | None]]


def told(world: World[Any], commit: Commit, state: Any) -> tuple[int, int | None]:
    """A commit and, if no unit is open after it, the digest of the state."""
    return commit.index, None if commit.digest is None else world.digest(state)


def walked(path: Path, mode: int, *, by_step: bool) -> tuple[Found, Any, bytes]:
    """All that a walk gives: the commits with their digests, the forks, what is pending."""
    world = world_at(path)
    with JournalReader(path) as reader:
        walk = Walk(world, reader, mode)
        found: Found = []
        if by_step:
            found += (told(world, commit, at) for commit, step, at in walk.steps() if not step)
        else:
            found += (told(world, commit, at) for commit, at in walk)
        return found, walk.forks, walk.pending.packed


def assert_all_modes_agree(path: Path) -> Found:
    first = walked(path, TRUSTED, by_step=False)
    for mode in MODES:
        for by_step in (False, True):
            assert first == walked(path, mode, by_step=by_step)
    return first[0]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_mode_gives_the_recorded_digests_by_commit_and_by_step(path: Path) -> None:
    digests = [(commit.index, commit.digest) for commit in commits_of(path)]

    assert digests == assert_all_modes_agree(path)


@pytest.mark.parametrize("cut", [2, 3, 6, 8])
def test_every_mode_leaves_the_same_inputs_pending(tmp_path: Path, cut: int) -> None:
    pieces = in_pieces(commits_of(path_of("baseline")), 3)[:cut]

    assert_all_modes_agree(write(tmp_path / "open.journal", pieces))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_advancing_by_the_inputs_gives_what_is_recorded(path: Path) -> None:
    world = world_at(path)
    with JournalReader(path) as reader:
        state: Any = None
        for commit, step, at in Walk(world, reader).steps():
            if step is not None:
                state, derived, is_closed = advance(world, state, step.inputs)

                assert step.derived == derived
                assert world.unit_done(at) is is_closed
            elif commit.setup is not None:
                state = world.copy(at)
            elif commit.digest is not None:
                assert commit.digest == world.digest(state)


@pytest.mark.parametrize(
    "path", [path_of("forked"), season_path("forked")], ids=["a run", "a season"]
)
def test_a_walk_from_any_unit_on_gives_the_rest(path: Path) -> None:
    world = world_at(path)
    with JournalReader(path) as reader, reader.again() as other:
        whole = [told(world, commit, state) for commit, state in Walk(world, reader)]
        for commit, state in Walk(world, other):
            if commit.digest is None:
                continue
            rest = Walk(
                world, reader, commits=reader.commits(commit.after), state=world.copy(state)
            )

            assert whole[commit.index + 1 :] == [told(world, *at) for at in rest]


def with_claim(commits: Sequence[Commit], change: Callable[[Row], Row]) -> list[Commit]:
    """The commits with another row for the first claim of the first round."""
    inputs, derived = commits[1].blocks
    [(code, [row, *rows]), *more] = derived
    assert code == CLAIM_DRAWN
    commits[1].blocks = [inputs, Block([(code, [change(row), *rows]), *more])]
    return list(commits)


def wordless(row: Row) -> Row:
    return (*row[:3], (-1,))  # no 64 bits


def of_another(row: Row) -> Row:
    return (*row[:2], (row[2] + 1) % 10, row[3])


def with_digest(commits: Sequence[Commit]) -> list[Commit]:
    assert commits[3].digest is not None
    commits[3].digest ^= 1
    return list(commits)


def of_its_digests(path: Path, commits: Sequence[Commit]) -> Path:
    return forged(path, MINING, commits)


@pytest.mark.parametrize(
    ("forge", "write", "mode", "error"),
    [
        (lambda commits: with_claim(commits, wordless), of_its_digests, ROWS, MalformedEvents),
        (with_digest, write, DIGESTS, OtherDigest),
        (lambda commits: with_claim(commits, of_another), of_its_digests, DERIVED, NotDerived),
    ],
    ids=["a row of another shape", "another digest", "another winner"],
)
def test_what_is_forged_is_told_from_the_mode_on_that_checks_it(
    tmp_path: Path,
    forge: Callable[[Sequence[Commit]], list[Commit]],
    write: Callable[[Path, Sequence[Commit]], Path],
    mode: int,
    error: type[MalformedEvents],
) -> None:
    path = write(tmp_path / "forged.journal", forge(commits_of(path_of("baseline"))))
    for each in MODES:
        if each < mode:
            walked(path, each, by_step=False)
            continue
        for by_step in (False, True):
            with pytest.raises(error):
                walked(path, each, by_step=by_step)
