"""Seasons whose arena is not here, or is none, and those of other rules."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from goldrush.kernel.errors import MalformedEvents, UnsupportedJournal
from goldrush.kernel.journal import FORK, Commit, Header
from goldrush.kernel.worlds.competition import NAME, RULES
from goldrush.replay.journal.batch import verify_all
from goldrush.replay.journal.draws import draws_at
from goldrush.replay.journal.log import log
from goldrush.replay.journal.rebuild import rebuild, world_at
from goldrush.replay.journal.story import narrator
from goldrush.replay.journal.verify import verify
from goldrush.replay.summary import summarise
from goldrush.replay.view.page import page_of
from goldrush.replay.worlds.competition.leaderboard import as_files, season_at
from goldrush.replay.worlds.competition.prompt import prompted
from goldrush.replay.worlds.competition.score import scores
from tests.journals import commits_of, events_of, write
from tests.playing import record
from tests.seasons import HEADER, forged, fork, kept, resume


def other_arena(path: Path, **changes: Any) -> Path:
    """A short season of which somebody says that its arena is another one; its digests hold."""
    start, *rest = commits_of(kept("short"))
    setup = start.setup or {}
    arena = {**setup["config"]["arena"], **changes}
    again = Commit(start.kind, 0, 0, setup={**setup, "config": {**setup["config"], "arena": arena}})
    return forged(path, [again, *rest], write(path.with_name("start.journal"), [again], HEADER))


ABSENT = {"another arena": {"name": "nowhere"}, "another version": {"version": 99}}
READERS: dict[str, Callable[[Path], object]] = {
    "rebuild": lambda path: rebuild(path, 1),
    "log": lambda path: list(narrator(path)(log(path))),
    "audit": lambda path: draws_at(path),
    "summary": summarise,
    "page": page_of,
    "folder": lambda path: as_files(season_at(path)),
}
JUDGES: dict[str, Callable[[Path], object]] = {
    "scores": lambda path: scores(path, 1, 5),
    "prompt": lambda path: prompted(path, 1, 5),
    "resume": lambda path: resume(path),
    "fork": lambda path: fork(path, 1, path.with_name("fork.journal")),
}


@pytest.mark.parametrize("changes", ABSENT.values(), ids=ABSENT)
def test_without_its_arena_a_season_is_judged_at_two_levels_and_never_a_forgery(
    changes: dict[str, Any], tmp_path: Path
) -> None:
    path = other_arena(tmp_path / "a.journal", **changes)
    verdict = verify(path)
    [outcome] = verify_all([str(path)], jobs=1)

    assert (None, 2, 3) == (verdict.holds, verdict.level, verdict.rounds)
    assert [True, True, None, None] == [verify(path, level).holds for level in (1, 2, 3, 4)]
    assert outcome.holds is None
    assert outcome.error.endswith("only what needs no rules can be judged (--level 2)")
    assert verdict.unknown[0] in outcome.error


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_without_its_arena_a_season_can_be_read(
    read: Callable[[Path], object], tmp_path: Path
) -> None:
    assert read(other_arena(tmp_path / "a.journal", name="nowhere"))


@pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)
def test_what_takes_the_rules_of_an_arena_names_the_one_that_is_not_here(
    judge: Callable[[Path], object], tmp_path: Path
) -> None:
    path = other_arena(tmp_path / "a.journal", name="nowhere")
    before = path.read_bytes()

    with pytest.raises(UnsupportedJournal, match="there is no arena 'nowhere' here"):
        judge(path)
    assert before == path.read_bytes()
    assert not (tmp_path / "fork.journal").exists()


def test_a_record_that_no_such_arena_has_is_a_forgery(tmp_path: Path) -> None:
    start, *rest = commits_of(kept("short"))
    setup = start.setup or {}
    wrong = {
        **setup["config"]["arena"],
        "options": {"seeds": 1, "noise": 7.0, "drift": 0.2, "landscape": 2},
    }
    config = {**setup["config"], "arena": wrong}
    commits = [Commit(start.kind, 0, start.digest, setup={**setup, "config": config}), *rest]
    path = write(tmp_path / "a.journal", commits, HEADER)
    broken = verify(path).broken

    assert (2, True) == (broken.level, "noise" in broken.found)
    assert world_at(path).missing is None
    with pytest.raises(MalformedEvents):
        events_of(path) and rebuild(path, 1)


@pytest.mark.parametrize("rules", [1, 2])
def test_seasons_of_earlier_rules_are_refused_by_name(tmp_path: Path, rules: int) -> None:
    path = write(tmp_path / "a.journal", commits_of(kept("short")), Header(NAME, rules))
    for read in (*READERS.values(), *JUDGES.values(), verify):
        with pytest.raises(
            UnsupportedJournal, match=rf"rules {rules}; this reads .* rules {RULES}"
        ):
            read(path)


def test_seasons_with_a_setting_that_has_gone_are_refused_by_its_name(tmp_path: Path) -> None:
    parent, forked = tmp_path / "parent.journal", tmp_path / "forked.journal"
    record(parent, {"seed": 3, "assignments": 3, "arena": "nk"})
    fork(parent, 0, forked, settings={"moves": 2})
    start, *rest = commits_of(parent)
    config = {**start.setup["config"], "shown": "own"} if start.setup else {}
    begun = replace(start, setup={**(start.setup or {}), "config": config})
    other = [
        replace(commit, setup={**(commit.setup or {}), "changes": {"shown": "own"}})
        if commit.kind == FORK
        else commit
        for commit in commits_of(forked)
    ]
    for path in (write(parent, [begun, *rest], HEADER), write(forked, other, HEADER)):
        for read in (verify, summarise, lambda path: list(log(path))):
            with pytest.raises(UnsupportedJournal, match="the setting `shown` has gone"):
                read(path)
