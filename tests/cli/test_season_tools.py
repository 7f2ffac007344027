"""`audit`, `score` and `leaderboard` on a season, as a person calls them."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goldrush.cli.main import _run
from goldrush.kernel.worlds.competition.events import CODES, Joined, RoundtableOpened, Scored
from goldrush.replay.journal.draws import draws
from goldrush.replay.worlds.competition.leaderboard import season_at
from goldrush.replay.worlds.competition.score import scores
from tests.cli.helpers import Ran, assert_refused
from tests.golden import path_of
from tests.seasons import LAST, changed, forged, rich, with_row

Goldrush = Callable[..., Ran]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a season, one with a forged word and score, and one with a name that is a
    path.
    """
    folder = tmp_path_factory.mktemp("seasons")
    season = rich(folder).rename(folder / "s.journal")

    def word(row: list[Any]) -> None:
        row[3] = (row[3][0] ^ 1, *row[3][1:])

    def total(row: list[Any]) -> None:
        row[5] += 1

    path = forged(folder / "f", changed(season, CODES[RoundtableOpened], 0, word), season)
    score = changed(path, CODES[Scored], LAST, total, is_meant=lambda row: row[0] == 0)
    forged(folder / "forged.journal", score, season)
    (folder / "f").unlink()
    odd = with_row(season, 0, CODES[Joined], (50, "../../x", None))[:2]
    forged(folder / "path.journal", odd, season)
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


def test_audit_lays_the_draws_of_an_assignment_open(goldrush: Goldrush, kept: Path) -> None:
    ran = goldrush("audit", "s.journal", "--at", 0)
    shown = json.loads(goldrush("audit", "s.journal", "--at", 0, "--json").out)
    order = next(a for a in draws(kept / "s.journal") if a.kind == "order")

    assert (0, "") == (ran.code, ran.err)
    assert ran.out.startswith("order at table 0 in assignment 0\n\ntook part  agents 5, 6, 7, ")
    assert f"order      agents {', '.join(map(str, order.outcome_again))}\n" in ran.out
    assert "conclude at table 0 in assignment 0\n\ntook part  proposals " in ran.out
    assert shown[0] == json.loads(json.dumps(order.as_dict()))


def test_audit_takes_a_table_and_a_kind(goldrush: Goldrush, kept: Path) -> None:
    tie = next(a for a in draws(kept / "s.journal") if a.kind == "bottom" and a.draw_words)
    ran = goldrush(
        "audit", "s.journal", "--at", tie.location["assignment"], "--place", tie.location["table"],
        "--kind", "bottom",
    )  # fmt: skip

    assert ran.code == 0
    assert ran.out.startswith(f"bottom at table {tie.location['table']} in assignment ")
    assert f"\nlast       agent {tie.outcome}\nrecorded   agent {tie.outcome}\n" in ran.out


def test_audit_of_all_draws_exits_with_1_where_one_does_not_hold(goldrush: Goldrush) -> None:
    good = goldrush("audit", "--all", "s.journal", path_of("scarce"))
    bad = goldrush("audit", "--all", "forged.journal")
    [shown] = json.loads(goldrush("audit", "--all", "forged.journal", "--json").out)

    assert (0, "", 2) == (good.code, good.err, good.out.count("; all hold\n"))
    assert (1, 1) == (bad.code, len(shown["broken"]))
    assert "; 1 DO NOT HOLD\n  order at table " in bad.out
    assert set(shown["checked"]) == {"order", "conclude", "bottom"}


def test_audit_of_a_score_says_why_it_is_what_it_is(goldrush: Goldrush, kept: Path) -> None:
    ran = goldrush("score", "s.journal", "--at", 0, "--agent", "dov")
    [shown] = json.loads(goldrush("score", "s.journal", "--at", 0, "--agent", 8, "--json").out)
    [score] = scores(kept / "s.journal", 0, 8)

    assert (0, "") == (ran.code, ran.err)
    assert ran.out.startswith("the score of dov (agent 8) at table 0 in assignment 0: ")
    assert ran.out.endswith("\nholds\n")
    for line in ("by the rubric", "by the therapist", "recorded"):
        assert f"\n{line}" in ran.out
    assert shown == json.loads(json.dumps(score.as_dict()))


def test_audit_tells_every_score_of_a_season(goldrush: Goldrush, kept: Path) -> None:
    told = ""
    for assignment in range(LAST + 1):
        seated = season_at(kept / "s.journal", assignment).ranks
        for row in seated:
            ran = goldrush("score", "s.journal", "--at", assignment, "--agent", row["agent"])
            assert ran.code == 0 or "sat at no table" in ran.err
            told += ran.out
    for words in (
        ", conclusion, ", "nearest ", "not held", "held, sharp", "without it: the same",
        "stands by #", "not sustained", "relative: ", "novelty-farming: accuracy",
    ):  # fmt: skip
        assert words in told


def test_a_forged_score_exits_with_1(goldrush: Goldrush, kept: Path) -> None:
    agent = next(
        row["agent"]
        for row in season_at(kept / "s.journal").ranks
        if 0 in [s.table for s in _scores(kept, row["agent"])]
    )
    ran = goldrush("score", "forged.journal", "--at", LAST, "--agent", agent, "--table", 0)
    was = ran.out.split("DOES NOT HOLD: recorded total ")[1].split()

    assert ran.code == 1
    assert int(was[0]) == int(was[2]) + 1


def _scores(kept: Path, agent: int) -> list[Any]:
    from goldrush.kernel.errors import BadInput

    try:
        return scores(kept / "s.journal", LAST, agent)
    except BadInput:
        return []


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["s.journal", "--at", 1, "--place", 7],
            "no draw at table 7 in assignment 1; it has order at",
        ),
        (["s.journal", "--at", 1, "--kind", "raid"], "take one of order, conclude, bottom"),
        (["s.journal", "--at", 99], "no assignment 99; give one from 0 to 15"),
        (["s.journal", "--place", 0], "give --at"),
        (["s.journal", "--at", 1, "--all"], "give --at (a round or other unit), or --all"),
        (["s.journal", "--place", 1, "--all"], "give --at (a"),
        (["s.journal", "s.journal", "--at", 1], "--at takes one journal"),
        (["s.journal", "--kind", "order"], "--kind needs --at"),
        ([path_of("scarce"), "--at", 1, "--plot", 0, "--kind", "order"], "take one of claim"),
        (["no.journal", "--at", 1], "no such file"),
    ],
    ids=str,
)
def test_audit_refuses_what_does_not_fit_together(
    goldrush: Goldrush, arguments: list[object], says: str
) -> None:
    assert_refused(goldrush("audit", *arguments), says)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["s.journal", "--at", 1, "--agent", "\x1b[31mx"], r"no agent '\x1b[31mx'"),
        (["s.journal", "--at", 1, "--agent", "user"], " sat at no table"),
        (["s.journal", "--at", 1, "--agent", "ada", "--table", "x"], "there is no table 'x'"),
        ([path_of("scarce"), "--at", 1, "--agent", 0], "of the mining world; give a season"),
        (["no.journal", "--at", 1, "--agent", "ada"], "no such file"),
    ],
    ids=str,
)
def test_score_refuses(goldrush: Goldrush, arguments: list[object], says: str) -> None:
    assert_refused(goldrush("score", *arguments), says)


def test_replay_of_a_broken_season_shows_its_last_whole_assignment(
    goldrush: Goldrush, kept: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.journal"
    cut.write_bytes((kept / "s.journal").read_bytes()[:-1])
    ran = goldrush("replay", cut, "--json")

    assert (0, LAST) == (ran.code, json.loads(ran.out)["assignment"])
    assert ran.err.endswith("; the last whole assignment is shown\n")


# leaderboard


def test_leaderboard_shows_where_everybody_stands(goldrush: Goldrush, kept: Path) -> None:
    ran = goldrush("leaderboard", "s.journal")
    shown = json.loads(goldrush("leaderboard", "s.journal", "--json").out)
    found = season_at(kept / "s.journal").ranks
    lines = ran.out.splitlines()

    assert (0, "") == (ran.code, ran.err)
    assert lines[0] == "after assignment 15, day 7"
    assert [line.split()[:3] for line in lines[3:]] == [
        [str(row["rank"]), str(row["agent"]), row["name"]] for row in found
    ]
    assert shown == list(found)


def test_leaderboard_of_an_earlier_assignment(goldrush: Goldrush) -> None:
    assert goldrush("leaderboard", "s.journal", "--at", 4).out.startswith("after assignment 4, ")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["s.journal", "--at", 16], "no closed assignment 16; give one from 0 to 15"),
        (["s.journal", "--at", -1], "no closed assignment -1"),
        ([path_of("scarce")], "of the mining world; give a season"),
        (["no.journal"], "no such file"),
    ],
    ids=str,
)
def test_leaderboard_refuses(goldrush: Goldrush, arguments: list[object], says: str) -> None:
    assert_refused(goldrush("leaderboard", *arguments), says)


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


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["s.journal", "--to", "x", "--at", 99], "no closed assignment 99"),
        (["s.journal", "--to", "s.journal"], "s.journal is not a folder"),
        (["s.journal", "--to", "."], "is not an empty folder"),
        (["s.journal", "--to", "no/x"], "cannot write no/x"),
    ],
    ids=str,
)
def test_leaderboard_keeps_nothing_of_what_it_refuses(
    goldrush: Goldrush, kept: Path, arguments: list[object], says: str
) -> None:
    before = sorted(kept.iterdir())

    assert_refused(goldrush("leaderboard", *arguments), says)
    assert sorted(kept.iterdir()) == before


# who is not there


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["log", "s.journal", "--agent", 99], "there is no agent 99; give one from 0 to 13"),
        (["log", "s.journal", "--agent", -1], "there is no agent -1; give one from 0 to 13"),
        (["prompt", "s.journal", "--at", 7, "--agent", 99], "there is no agent 99"),
        (
            ["fork", "s.journal", "--at", 7, "--roster", "ada=random", "--out", "f.journal"],
            "ada is gone at this fork; there are admin, assistant",
        ),
    ],
    ids=str,
)
def test_who_is_not_there_is_told(goldrush: Goldrush, arguments: list[object], says: str) -> None:
    assert_refused(goldrush(*arguments), says)


@pytest.mark.parametrize(("at", "agent"), [(7, "ada"), (4, "ben")], ids=["gone", "benched"])
def test_prompt_says_who_was_asked_nothing(goldrush: Goldrush, at: int, agent: str) -> None:
    ran = goldrush("prompt", "s.journal", "--at", at, "--agent", agent)

    assert (0, "") == (ran.code, ran.out)
    assert f"{agent} was not asked in assignment {at}\n" == ran.err
