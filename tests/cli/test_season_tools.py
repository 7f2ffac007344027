"""`audit`, `score` and `leaderboard` on a season, as a person calls them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.worlds.competition.events import CODES, Joined, RoundtableOpened
from goldrush.replay.worlds.competition.leaderboard import season_at
from tests.cli.helpers import Ran, assert_refused, in_process
from tests.seasons import changed, forged, rich, with_row

Goldrush = Callable[..., Ran]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a season, one with a forged word, and one with a name that is a path."""
    folder = tmp_path_factory.mktemp("seasons")
    season = rich(folder).rename(folder / "s.journal")

    def word(row: list[Any]) -> None:
        row[3] = (row[3][0] ^ 1, *row[3][1:])

    commits = changed(season, CODES[RoundtableOpened], 0, word)
    forged(folder / "forged.journal", commits, season)
    odd = with_row(season, 0, CODES[Joined], (50, "../../x", None))[:2]
    forged(folder / "path.journal", odd, season)
    return folder


@pytest.fixture
def goldrush(
    kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Goldrush:
    """Runs a command in this process, in the folder of the seasons."""
    monkeypatch.chdir(kept)
    return in_process(monkeypatch, capsys)


# audit


def test_audit_of_all_draws_exits_with_1_where_one_does_not_hold(goldrush: Goldrush) -> None:
    good = goldrush("audit", "s.journal")
    bad = goldrush("audit", "forged.journal")
    shown = json.loads(goldrush("audit", "forged.journal", "--json").out)

    assert (0, "", len(shown)) == (good.code, good.err, good.out.count("holds      yes"))
    assert (1, 1) == (bad.code, sum(not draw["holds"] for draw in shown))
    assert {draw["kind"] for draw in shown} == {"order", "conclude", "bottom"}


# leaderboard --to


def test_leaderboard_keeps_a_season_in_a_folder(
    goldrush: Goldrush, kept: Path, tmp_path: Path
) -> None:
    first = goldrush("leaderboard", "s.journal", "--to", tmp_path / "x", "--at", 3)
    again = goldrush("leaderboard", "s.journal", "--to", tmp_path / "x")
    as_json = goldrush("leaderboard", "s.journal", "--to", tmp_path / "y", "--at", 3, "--json")
    board = json.loads((tmp_path / "x" / "benchmarks" / "leaderboard.json").read_text())

    assert (0, "") == (first.code, first.err)
    assert first.out.endswith(" agents, as after assignment 3\n")
    assert_refused(again, "is not an empty folder; give a new one")
    assert board == json.loads(json.dumps(list(season_at(kept / "s.journal", 3).ranks)))
    assert board == json.loads(as_json.out)
    assert (tmp_path / "x" / "agents" / "ada" / "metrics.json").exists()


def test_leaderboard_writes_nothing_for_a_name_that_is_a_path(
    goldrush: Goldrush, tmp_path: Path
) -> None:
    ran = goldrush("leaderboard", "path.journal", "--to", tmp_path / "in" / "x")
    (tmp_path / "in").mkdir()
    again = goldrush("leaderboard", "path.journal", "--to", tmp_path / "in" / "x")

    for refused in (ran, again):
        assert_refused(refused, "agent 50 is called '../../x', which its folder cannot be")
    assert [path.name for path in tmp_path.rglob("*")] == ["in"]


# who is not there


@pytest.mark.parametrize(("at", "agent"), [(7, "ada"), (4, "ben")], ids=["gone", "benched"])
def test_prompt_says_who_was_asked_nothing(goldrush: Goldrush, at: int, agent: str) -> None:
    ran = goldrush("prompt", "s.journal", "--at", at, "--agent", agent)

    assert (0, "") == (ran.code, ran.out)
    assert f"{agent} was not asked in assignment {at}\n" == ran.err
