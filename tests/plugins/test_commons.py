"""A package installed by pip, whose world is the class of a game: it edits nothing here, and the
commands that know no world play it, tell it and verify it.
"""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.helpers import ROOT, Ran, assert_refused, cold, goldrush
from tests.llm.servers import completion, serving
from tests.replay.report.pages import Page

Command = Callable[..., Ran]
ENDS = "season_closed"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the package lies, installed."""
    pytest.importorskip("setuptools", "77")
    copy, target = tmp_path_factory.mktemp("copy") / "commons", tmp_path_factory.mktemp("target")
    shutil.copytree(ROOT / "tests" / "plugins" / "commons", copy)
    done = subprocess.run(
        [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index",
         "--no-build-isolation", "--target", target, copy],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert 0 == done.returncode, done.stderr
    return target


@pytest.fixture(scope="module")
def played(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run."""
    path = tmp_path_factory.mktemp("run") / "c.journal"
    ran = goldrush(
        "record", "--world", "commons", "--seed", 3, "--roster", "share*5", "--out", path,
        cwd=path.parent, installed=installed,
    )  # fmt: skip
    assert 0 == ran.code
    return path


@pytest.fixture
def commons(installed: Path, played: Path, tmp_path: Path) -> Command:
    """Runs a command where the package is installed, in a folder with a run."""
    shutil.copy(played, tmp_path)

    def run(*arguments: object, **environment: str) -> Ran:
        return goldrush(*arguments, cwd=tmp_path, installed=installed, **environment)

    return run


def test_it_is_recorded_verified_and_told(commons: Command) -> None:
    verified = commons("verify", "--strict", "c.journal")
    shown = commons("replay", "c.journal", "--round", 3)
    told = commons("log", "c.journal", "--rounds", "2-3", "--event", "regrown").out.splitlines()
    exported = [json.loads(line) for line in commons("export", "c.journal").out.splitlines()]

    assert "holds at levels 1 to 4: 50 seasons" in verified.out
    assert shown.out.startswith("season 3 of 50, digest ")
    assert ", stock 8" in shown.out.splitlines()[0]
    assert "agent 4 submits fish" in shown.out
    assert 2 == len(told)
    assert "caught; the stock is" in told[0]
    assert 50 == sum(event["event"] == ENDS for event in exported)


def test_it_is_forked_and_compared(commons: Command) -> None:
    forked = commons("fork", "c.journal", "--at", 20, "--roster", "greedy*5", "--out", "f.journal")
    compared = commons("diff", "c.journal", "f.journal")

    assert 0 == forked.code
    assert "holds" in commons("verify", "f.journal").out
    assert 1 == compared.code
    assert "differ from season 21 on" in compared.out
    assert "cause: roster: agents 0, 1, 2, 3, 4: share in A, greedy in B" in compared.out


def test_it_is_measured_by_its_own_unit(commons: Command) -> None:
    shown = commons("measure", "c.journal", "--by-round").out.splitlines()
    [told] = json.loads(commons("measure", "c.journal", "--json", "--by-round").out)
    rows = commons("export", "c.journal", "--format", "csv", "--table", "seasons").out.splitlines()

    assert "c.journal: 50 seasons of 5 agents, seed 3" == shown[0]
    assert ["seasons", "1-50", "6-27", "28-50"] == shown[3].split()
    assert ["season", "stock", "landed", "sustained", "gini"] in map(str.split, shown)
    assert (50, 3, 5) == (told["seasons"], told["seed"], told["agents"])
    assert told["run"]["landed"] == told["by_season"][-1]["landed"]
    assert 0 == told["run"]["gini"]  # everybody shares
    assert "journal,treatment,roster,seed,season,stock,landed,sustained,gini" == rows[0]
    assert rows[1].startswith('c.journal,,"share*5",3,1,')


def test_its_tables_are_those_of_events_seasons_and_measures(
    commons: Command, tmp_path: Path
) -> None:
    done = commons("export", "c.journal", "--format", "parquet", "--out", "tables")

    assert [
        "tables/events.parquet: 652 rows", "tables/seasons.parquet: 50 rows",
        "tables/measures.parquet: 4 rows",
    ] == done.out.splitlines()  # fmt: skip


PLAN = """
world = "commons"
treatments = ["baseline", "half-shock", "small-stock"]
rosters = ["share*5", "random*5"]
seeds = [2, 5]
rounds = 12
[treatment.half-shock]
shock = 0.05
"""


def test_it_is_studied_and_reported(commons: Command, tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    studied = commons("study", "plan.toml", "--out", "study", "--jobs", 2)
    again = commons("study", "plan.toml", "--out", "study")
    reported = commons("report", "study", "--criteria")
    answered = json.loads(commons("report", "study", "--criteria", "--json").out)
    table = commons("export", "study", "--format", "csv", "--table", "seasons").out.splitlines()

    assert studied.out.startswith("12 runs in study (0 were there already")
    assert again.out.startswith("12 runs in study (12 were there already")
    manifest = json.loads((tmp_path / "study" / "manifest.json").read_text())
    assert "goldrush-commons 0.1.0" == manifest["distribution"]
    journal = "small-stock/share_5/seasons-12/seed-0005.journal"
    assert (tmp_path / "study" / journal).is_file()
    assert commons("verify", "study").out.endswith("12 hold, 0 do not, 0 could not be judged\n")
    heads = [line.split() for line in reported.out.splitlines()]
    assert ["treatments", "roster", "seasons", "criterion", "verdict", "because"] in heads
    page = Page((tmp_path / "study" / "report.html").read_text(encoding="utf-8"))
    assert "Does a shared stock outlive those who fish it? A study of 12 runs" in page.text
    assert "Treatment half-shock, 12 seasons" in page.text
    assert "shock 0.05, " in page.text
    # The answer, the differences, a point for each run; the score and four measures over
    # time; the treatments against the baseline.
    assert 3 + 5 + 1 == page.tags.count("figure")
    assert ["recovery"] * 3 == [one["criterion"] for one in answered["verdicts"]]  # not of the null
    assert 4 == len(answered["against_baseline"])
    assert {"stock", "landed", "sustained", "gini"} == set(
        answered["against_baseline"][0]["differences"]
    )
    assert any(line.startswith(f'study/{journal},small-stock,"share*5",5,12,') for line in table)


BY_METHOD = """
import multiprocessing, sys
multiprocessing.set_start_method(sys.argv.pop(1))
from goldrush.cli.main import main
main()
"""


def test_processes_find_it_however_they_begin(
    commons: Command, installed: Path, tmp_path: Path
) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    commons("study", "plan.toml", "--out", "alone", "--jobs", 1)
    alone = (tmp_path / "alone" / "manifest.json").read_bytes()
    for method in ("fork", "forkserver", "spawn"):
        done = cold(
            method, "study", "plan.toml", "--out", method, "--jobs", 2, cwd=tmp_path,
            front=("-c", BY_METHOD), env={"PYTHONPATH": f"{installed}:{ROOT}"},
        )  # fmt: skip

        assert (0, "") == (done.code, done.err)
        assert alone == (tmp_path / method / "manifest.json").read_bytes()


def test_its_plans_are_checked_whole_before_a_run(commons: Command, tmp_path: Path) -> None:
    for arguments, says in (
        (
            ["--treatment", "scarce"],
            "no treatment 'scarce'; take one of baseline, high-growth, small-stock, or all",
        ),
        (["--rounds", 10_001], "seasons is 10001; it must be a whole number from 1 to 10000"),
        (["--rounds", 3, "--set", "seasons=3"], "seasons is given twice; give it once"),
        (["--set", "growt=1"], "did you mean growth?"),
        (["--roster", "share*4", "--set", "agents=5"], "the roster has 4 agents"),
    ):
        assert_refused(commons("study", "--world", "commons", *arguments, "--out", "s"), says)
    assert ["c.journal"] == [path.name for path in tmp_path.iterdir()]


def test_a_study_without_its_plugin_is_refused_by_name(commons: Command) -> None:
    made = commons("study", "--world", "commons", "--roster", "share*5", "--seeds", 1, "--out", "s")
    refused = commons("report", "s", GOLDRUSH_PLUGINS="")

    assert 0 == made.code
    assert_refused(refused, "the study of s/manifest.json cannot be read here")
    assert "there is no world 'commons'; install the package of its world" in refused.err


def test_its_treatments_are_recorded_and_forked(commons: Command) -> None:
    commons("record", "--world", "commons", "--treatment", "small-stock", "--out", "t.journal")
    commons("fork", "c.journal", "--at", 5, "--treatment", "high-growth", "--out", "g.journal")
    compared = commons("diff", "c.journal", "g.journal").out
    [start, *_] = commons("export", "t.journal").out.splitlines()

    assert 500 == json.loads(start)["config"]["capacity"]
    assert "cause: configuration: growth is 0.5 in A, 1.0 in B" in compared


def test_its_runs_are_not_one_table_with_those_of_another_world(commons: Command) -> None:
    golden = ROOT / "journals" / "golden" / "baseline.journal"
    for arguments in (
        ["measure", "c.journal", golden, "--by-run"],
        ["export", "c.journal", golden, "--format", "csv", "--out", "tables"],
    ):
        assert_refused(commons(*arguments), "baseline.journal is a run of the mining world")
    grouped = json.loads(commons("measure", "c.journal", golden, "--json").out)
    assert ["commons", "mining"] == [group["world"] for group in grouped]


def test_policies_have_settings(commons: Command, tmp_path: Path) -> None:
    roster = "greedy[part=0.25]*2,share*1"
    recorded = commons(
        "record", "--world", "commons", "--roster", roster, "--rounds", 4, "--out", "s.journal"
    )
    again = commons(
        "record", "--world", "commons", "--roster", "greedy*2,share*1", "--rounds", 4,
        "--out", "d.journal",
    )  # fmt: skip

    assert (0, 0) == (recorded.code, again.code)
    assert 0 == commons("verify", "--strict", "s.journal").code
    compared = commons("diff", "s.journal", "d.journal").out
    assert "cause: roster: agents 0, 1: greedy[part=0.25] in A, greedy in B" in compared


def test_a_submission_is_put_in_by_hand_and_a_recording_played(
    commons: Command, tmp_path: Path
) -> None:
    (tmp_path / "by-hand.jsonl").write_text('{"season": 21, "agent": 4, "fish": 60}\n')
    forked = commons(
        "fork", "c.journal", "--at", 20, "--replace-submission", "by-hand.jsonl",
        "--out", "f.journal",
    )  # fmt: skip
    played = commons(
        "record", "--world", "commons", "--seed", 3, "--roster", "recorded:f.journal*5",
        "--out", "r.journal",
    )  # fmt: skip

    assert (0, 0) == (forked.code, played.code), forked.err + played.err
    assert "agent 4 submits fish 60" in commons("replay", "f.journal", "--round", 21).out
    assert "agent 4 submits fish 60" in commons("replay", "r.journal", "--round", 21).out
    exported = map(json.loads, commons("export", "f.journal").out.splitlines())
    assert [[[21, 4]]] == [event["replaced"] for event in exported if event["event"] == "forked"]
    assert 0 == commons("verify", "--strict", "f.journal").code
    assert 0 == commons("verify", "--strict", "--source", "f.journal", "r.journal").code


ASKED = {"season": 21, "agent": 4, "fish": 60}


@pytest.mark.parametrize(
    ("submissions", "says"),
    [
        ([ASKED, ASKED], "agent 4 in season 21 cannot be replaced; give seasons 21 to 50, and"),
        ([ASKED, {**ASKED, "agent": "x"}], "submission 2: asked.agent: integer >= 0 expected"),
        ([{"season": 21, "fish": 6}], "submission 1 has no agent; see `asked` in an export"),
        ([{"season": 21, "agent": 4}], "submission 1 has no fish; see `asked` in an export"),
    ],
)
def test_submissions_put_in_by_hand_are_checked_before_anything_is_written(
    commons: Command, tmp_path: Path, submissions: list[dict[str, Any]], says: str
) -> None:
    (tmp_path / "by-hand.json").write_text(json.dumps(submissions))
    forked = commons(
        "fork", "c.journal", "--at", 20, "--replace-submission", "by-hand.json",
        "--out", "f.journal",
    )  # fmt: skip

    assert_refused(forked, says)
    assert not (tmp_path / "f.journal").exists()


def test_a_language_model_plays_and_its_journal_is_verified_without_it(commons: Command) -> None:
    with serving(lambda asked: completion('I take {"fish": 7}')) as server:
        played = commons(
            "record", "--world", "commons", "--roster", "llm:small*1,share*4", "--rounds", 5,
            "--base-url", server.address, "--out", "m.journal",
        )  # fmt: skip
    prompt = json.loads(commons("prompt", "m.journal", "--round", 3, "--agent", 0, "--json").out)
    [asked] = prompt["questions"]

    assert 0 == played.code, played.err
    assert "agent 0 submits fish 7" in commons("replay", "m.journal", "--round", 5).out
    assert 0 == commons("verify", "--strict", "m.journal").code
    assert asked["digest"] == asked["recorded"]
    assert "You have landed 14 so far." in asked["request"]["messages"][1]["content"]
    assert "small" in commons("measure", "--usage", "m.journal").out


def test_models_in_its_studies_go_on_where_a_run_broke_off(
    commons: Command, tmp_path: Path
) -> None:
    asked = []

    def answer(question: Any) -> Any:
        asked.append(question)
        return completion('I take {"fish": 7}')

    with serving(answer) as server:
        study = (
            "study", "--world", "commons", "--treatment", "baseline", "--seeds", 1, "--rounds", 9,
            "--roster", "llm:small*1,share*4", "--base-url", server.address, "--out", "m",
        )  # fmt: skip
        made = commons(*study)
        first = len(asked)
        [journal] = tmp_path.glob("m/*/*/*/seed-0000.journal")
        whole = journal.read_bytes()
        journal.with_name(f"{journal.name}.unfinished").write_bytes(whole[: len(whole) * 5 // 6])
        journal.unlink()
        again = commons(*study)
    reported = commons("report", "m", "--json")

    assert (0, 0, 0) == (made.code, again.code, reported.code), reported.err
    assert whole == journal.read_bytes()
    assert len(asked) - first < first / 2
    assert [("small", 9, False)] == [
        (one["model"], one["answers"], one["hardly_played"])
        for one in json.loads(reported.out)["models"]
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["export", "c.journal", "--format", "csv"],
            "3 tables cannot be printed at once; give --out, a folder",
        ),
        (
            ["export", "c.journal", "--format", "csv", "--table", "rounds"],
            "events, seasons, measures",
        ),
        (["leaderboard", "c.journal"], "is a run of the commons world; give a season"),
        (["audit", "c.journal", "--at", 1, "--place", 2], "have no place"),
        (["audit", "c.journal", "--round", 1, "--kind", "claim"], "take one of word, below"),
        (
            ["record", "--world", "commons", "--roster", "share[part=x]"],
            "policy share: part is 'x'",
        ),
        (["record", "--world", "commons", "--roster", "share[prt=1]"], "did you mean part?"),
        (["record", "--world", "commons", "--roster", "random[part=1]"], "random has no settings"),
        (["log", "c.journal", "--plot", "3"], "which has no plots"),
        (["replay", "c.journal", "--round", 51], "no season 51; give one from 0 to 50"),
        (["record", "--world", "commons", "--roster", "gredy"], "there is no policy 'gredy'"),
        (["record", "--world", "commons", "--set", "growt=1"], "did you mean growth?"),
        (["record", "--world", "fishery"], "no world 'fishery'; take one of mining, competition,"),
    ],
)
def test_what_it_does_not_have_is_refused_in_one_line(
    commons: Command, arguments: list[object], says: str
) -> None:
    assert_refused(commons(*arguments), says)


def test_its_settings_are_listed_with_their_ranges(commons: Command) -> None:
    listed = json.loads(commons("settings", "commons", "--json").out)

    assert {"setting": "growth", "default": 0.5, "range": "a number from 0 to 2"} in listed
    assert "growth" in commons("settings", "commons").out


def test_its_policies_and_treatments_are_listed(commons: Command) -> None:
    listed = commons("policies", "--world", "commons").out.splitlines()
    treatments = json.loads(commons("treatments", "--world", "commons", "--json").out)

    assert {"capacity": 500} == {t["treatment"]: t["settings"] for t in treatments}["small-stock"]
    [first, *_] = json.loads(commons("policies", "--world", "commons", "--json").out)

    name, text = listed[0].split(maxsplit=1)
    assert "share" == name
    assert text.startswith("Takes a part of its share of the largest")
    assert ["part", "0.8; a number"] == listed[1].split(maxsplit=1)
    assert [{"setting": "part", "default": 0.8, "range": "a number"}] == (first["settings"])


def test_it_is_listed_among_the_plugins(commons: Command) -> None:
    assert [
        ["commons", "world", "goldrush-commons", "0.1.0"],
        ["mining/settler", "policy", "goldrush-commons", "0.1.0"],
        ["quota", "command", "goldrush-commons", "0.1.0"],
    ] == [line.split() for line in commons("plugins").out.splitlines()]
    assert [] == json.loads(commons("plugins", "--json", GOLDRUSH_PLUGINS="").out)


def test_it_adds_a_policy_of_another_world(commons: Command) -> None:
    recorded = commons("record", "--roster", "settler[plots=1]*2", "--rounds", 6, "--out", "m")

    assert (0, 0) == (recorded.code, commons("verify", "--strict", "m").code), recorded.err
    assert "The settler[plots=1] agents own 2 of 100 plots at the end." in recorded.out


def test_it_adds_a_command(commons: Command) -> None:
    assert Ran(0, "125\n", "") == commons("quota", "c.journal")
    assert_refused(commons("quota", "no.journal"), "no such file")
    assert_refused(commons("quota", "c.journal", GOLDRUSH_PLUGINS="commons"), "no command 'quota'")


def test_without_plugins_its_journals_are_refused_by_name(commons: Command) -> None:
    for allowed in ("", "other"):
        ran = commons("replay", "c.journal", "--round", 1, GOLDRUSH_PLUGINS=allowed)

        assert_refused(ran, "world 'commons'; this goldrush plays mining, competition")
    assert 0 == commons("verify", "c.journal", GOLDRUSH_PLUGINS="other,commons").code
