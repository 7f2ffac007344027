"""`audit`, `score` and `leaderboard` on a season, as a person calls them."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goldrush.cli.main import _run
from goldrush.kernel.worlds.competition.events import CODES, RoundtableOpened
from tests.cli.helpers import Ran
from tests.seasons import changed, forged, rich

Goldrush = Callable[..., Ran]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a season and one with a forged word."""
    folder = tmp_path_factory.mktemp("seasons")
    season = rich(folder).rename(folder / "s.journal")

    def word(row: list[Any]) -> None:
        row[3] = (row[3][0] ^ 1, *row[3][1:])

    commits = changed(season, CODES[RoundtableOpened], 0, word)
    forged(folder / "forged.journal", commits, season)
    return folder


@pytest.fixture
def goldrush(
    kept: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Goldrush:
    """Runs a command in this process, in the folder of the seasons."""
    monkeypatch.chdir(kept)

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["goldrush", *map(str, arguments)])
        code = _run()
        return Ran(code, *capsys.readouterr())

    return run


# audit


def test_audit_of_all_draws_exits_with_1_where_one_does_not_hold(goldrush: Goldrush) -> None:
    good = goldrush("audit", "s.journal")
    bad = goldrush("audit", "forged.journal")
    shown = json.loads(goldrush("audit", "forged.journal", "--json").out)

    assert (0, "", len(shown)) == (good.code, good.err, good.out.count("holds      yes"))
    assert (1, 1) == (bad.code, sum(not draw["holds"] for draw in shown))
    assert {draw["kind"] for draw in shown} == {"order", "conclude", "bottom"}


# who is not there


@pytest.mark.parametrize(("at", "agent"), [(7, "ada"), (4, "ben")], ids=["gone", "benched"])
def test_prompt_says_who_was_asked_nothing(goldrush: Goldrush, at: int, agent: str) -> None:
    ran = goldrush("prompt", "s.journal", "--at", at, "--agent", agent)

    assert (0, "") == (ran.code, ran.out)
    assert f"{agent} was not asked in assignment {at}\n" == ran.err
