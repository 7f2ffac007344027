"""What the commands say of a journal of another world: its own words, or one clear line."""

import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from goldrush.cli.main import _run
from goldrush.kernel.errors import BadInput
from goldrush.replay import catalogue
from tests.cli.helpers import Ran, assert_refused
from tests.golden import path_of
from tests.journals import commits_of
from tests.lessons import LESSONS, SETUP, forked, play
from tests.plugins.installed import install_world

Goldrush = Callable[..., Ran]


@pytest.fixture
def goldrush(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Goldrush:
    """Runs a command in this process, with the other world installed, in a folder of its runs."""
    install_world(tmp_path, monkeypatch, LESSONS.name, "tests.lessons:TOOLS")
    monkeypatch.chdir(tmp_path)
    whole = play(Path("a.journal")).read_bytes()
    play(Path("seed.journal"), {**SETUP, "seed": 6})
    forked(Path("a.journal"), 2, Path("fork.journal"), changes={"seed": 8})
    ends = [commit.end for commit in commits_of(Path("a.journal"))]
    Path("short.journal").write_bytes(whole[: ends[2]])
    Path("damaged.journal").write_bytes(whole[: ends[3] - 1] + b"?" + whole[ends[3] :])

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["goldrush", *map(str, arguments)])
        code = _run()
        return Ran(code, *capsys.readouterr())

    return run


def test_verify_counts_its_units_by_their_name(goldrush: Goldrush) -> None:
    ran = goldrush("verify", "a.journal")

    assert 0 == ran.code
    assert ": 4 lessons, 21 events, finished," in ran.out


def test_the_way_out_of_damage_is_a_fork_by_the_number_of_people(goldrush: Goldrush) -> None:
    assert (
        "fork damaged.journal --at 0` keeps what is intact"
        in goldrush("verify", "damaged.journal").out
    )


@pytest.mark.parametrize(
    ("a", "b", "says"),
    [
        ("a", "a", "the same: 4 lessons, finished"),
        ("a", "fork", "a.journal (A) and fork.journal (B) differ from lesson 2 on"),
        ("short", "a", "short.journal is a prefix of a.journal: it breaks off with lesson 1, the "
         "other one goes on to 3"),
        ("a", "damaged", "a.journal (A) and damaged.journal (B) differ, but not in the events of "
         "lessons 0 to 1"),
    ],
)  # fmt: skip
def test_diff_says_how_runs_part_in_the_words_of_their_world(
    goldrush: Goldrush, a: str, b: str, says: str
) -> None:
    ran = goldrush("diff", f"{a}.journal", f"{b}.journal")

    assert says == ran.out.splitlines()[0]
    assert "" == ran.err


def test_diff_tells_events_as_json_and_has_no_consequences(goldrush: Goldrush) -> None:
    ran = goldrush("diff", "a.journal", "fork.journal")
    shown = json.loads(goldrush("diff", "a.journal", "fork.journal", "--json").out)

    assert "cause: configuration: seed is 5 in A, 8 in B" == ran.out.splitlines()[1]
    assert shown["first"]["a"] == json.loads(ran.out.splitlines()[2].removeprefix("  A: "))
    assert (None, 2) == (shown["consequences"], shown["first"]["round"])


@pytest.mark.parametrize(
    ("range_", "units"),
    [([], [-1, 0, 1, 2, 3]), (["--rounds", "0"], [0]), (["--rounds", "-1"], [-1, 0, 1]),
     (["--rounds", "0-1"], [0, 1]), (["--rounds", "2-"], [2, 3])],
)  # fmt: skip
def test_log_takes_ranges_from_0_and_tells_the_start_where_none_begins_the_range(
    goldrush: Goldrush, range_: list[str], units: list[int]
) -> None:
    ran = goldrush("log", "a.journal", *range_)

    assert units == list(dict.fromkeys(int(line[:9]) for line in ran.out.splitlines()))


@pytest.mark.parametrize("number", [-1, 0, 3])
def test_replay_shows_a_unit_by_its_events(goldrush: Goldrush, number: int) -> None:
    text = goldrush("replay", "a.journal", "--round", number).out.splitlines()
    shown = json.loads(goldrush("replay", "a.journal", "--round", number, "--json").out)
    digest = commits_of(Path("a.journal"))[number + 1].digest

    sentences = {
        "term_started": "a term of the lessons world starts (rules 1)",
        "lesson_closed": f"lesson {number} closes with digest {digest:016x}",
    }

    assert [f"lesson {number}, digest {digest:016x}", ""] == text[:2]
    assert [
        sentences.get(event["event"]) or json.dumps(event) for event in shown["events"]
    ] == text[2:]
    assert ["journal", "world", "lesson", "digest", "agents", "events"] == list(shown)


def test_what_a_run_says_of_itself_is_shown_in_any_world(goldrush: Goldrush) -> None:
    rows = json.loads(goldrush("ls", ".", "--json").out)
    text = goldrush("info", "fork.journal").out
    shown = json.loads(goldrush("info", "fork.journal", "--json").out)
    known = ["a", "damaged", "fork", "seed", "short"]

    assert [f"./{name}.journal" for name in known] == [row["journal"] for row in rows]
    assert [4, 2, 4, 4, 2] == [row["units"] for row in rows]
    assert [5, 5, 8, 6, 5] == [row["seed"] for row in rows]
    assert [True, False, True, True, False] == [row["finished"] for row in rows]
    assert "commit 3" in rows[1]["trouble"]
    assert {"eager*2,shy"} == {row["roster"] for row in rows}
    assert re.search(r"^units +4 lessons, finished$", text, re.MULTILINE)
    assert re.search(r"^0-1 +eager$", text, re.MULTILINE)
    assert ({"seed": 8, "lessons": 4}, 3) == (shown["settings"], len(shown["players"]))
    assert [1] == [fork["lesson"] for fork in shown["forks"]]


def test_a_run_of_any_world_is_watched(goldrush: Goldrush) -> None:
    lines = goldrush("watch", "a.journal").out.splitlines()

    assert ["lesson 0", "lesson 1", "lesson 2", "lesson 3"] == [
        line.partition(":")[0] for line in lines
    ]
    assert lines[1].endswith(": 3 answered, 1 praised, 1 lesson_closed")


def test_export_takes_any_world(goldrush: Goldrush) -> None:
    ran = goldrush("export", "a.journal")
    table = goldrush("export", "a.journal", "--format", "csv", "--table", "events")

    assert 21 == len(ran.out.splitlines())
    assert (0, 22) == (table.code, len(table.out.splitlines()))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["audit", "a.journal", "--round", 1, "--plot", 1], "has no draws to audit"),
        (["fork", "a.journal", "--at", "-1"], "has no players"),
        (["resume", "short.journal"], "has no players"),
        (["measure", "a.journal"], "has no measures"),
        (["prompt", "a.journal", "--round", 1, "--agent", 1], "has no players"),
        (["log", "a.journal", "--plot", 1], "has no plots"),
        (["why", "a.journal", "--at", 1], "has no explanations"),
        (["export", "a.journal", "--format", "csv", "--table", "spells"], "no table 'spells'"),
        (["diff", "a.journal", "fork.journal", "--by-round"], "lessons world are not compared by"),
    ],
)
def test_what_a_world_does_not_have_is_refused_in_one_line(
    goldrush: Goldrush, arguments: list[object], says: str
) -> None:
    before = sorted(Path().iterdir())
    ran = goldrush(*arguments)

    assert_refused(ran, says, "lessons world")
    assert before == sorted(Path().iterdir())


@pytest.mark.parametrize(
    ("listed", "says"),
    [
        (catalogue.policies, "the lessons world has no players"),
        (catalogue.treatments, "the lessons world has no treatments"),
        (catalogue.settings, "the lessons world does not list its settings"),
    ],
)
def test_what_a_world_does_not_list_is_refused_by_command_and_library(
    goldrush: Goldrush, listed: Callable[[str], object], says: str
) -> None:
    assert_refused(goldrush(listed.__name__, "--world", "lessons"), says)
    with pytest.raises(BadInput, match=says):
        listed("lessons")


@pytest.mark.parametrize(
    "arguments",
    [
        ["audit", "a b.journal", "--round", 1],
        ["measure", "a b.journal"],
        ["prompt", "a b.journal", "--round", 1, "--agent", 1],
        ["why", "a b.journal"],
    ],
)
def test_a_refusal_names_a_command_that_takes_the_same_run(
    goldrush: Goldrush, arguments: list[object]
) -> None:
    Path("a.journal").rename("a b.journal")
    refused = goldrush(*arguments)
    [command] = re.findall(r"`goldrush ([^`]+)`", refused.err)

    assert "another world" not in refused.err
    assert 0 == goldrush(*shlex.split(command)).code


def test_audit_of_all_goes_on_to_the_journals_that_it_can_audit(goldrush: Goldrush) -> None:
    ran = goldrush("audit", "--all", "a.journal", path_of("scarce"))

    assert 2 == ran.code
    assert "a.journal is a run of the lessons world, which has no draws to audit" in ran.err
    assert "; all hold" in ran.out
