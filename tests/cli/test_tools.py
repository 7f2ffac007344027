"""`log`, `diff`, `audit`, `fork` and `verify` over folders, as a person or a CI calls them."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.journal.draws import LISTED_MAX
from goldrush.replay.journal.verify import verify
from tests.cli.helpers import ROOT, Ran, assert_refused, cold, goldrush
from tests.journals import commits_of, forged, redrawn, write
from tests.mining import fork, record

ROUNDS = 12
LOUD = """
from goldrush.kernel.worlds.mining.submit import Plan

class Loud:
    def plan(self, seen, draws):
        print("a policy prints this")
        return Plan([("claim", p, 1) for p in seen.unowned[:2]], memo="\\x1b[31m\\x07\\u202e")
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of journals that no test changes: a run, forks of it, bad copies of it."""
    folder = tmp_path_factory.mktemp("kept")
    a = folder / "a.journal"
    record(a, {"seed": 7, "rounds": ROUNDS}, treatment="authority-punish")
    fork(a, 5, folder / "fork.journal", settings={"alpha": 2.0})
    data = a.read_bytes()
    commits = commits_of(a)
    (folder / "torn.journal").write_bytes(data[:-3])
    (folder / "short.journal").write_bytes(data[: commits[6].end])
    (folder / "damaged.journal").write_bytes(data[:3000] + b"\0\0" + data[3002:])
    (folder / "no.journal").write_text("hello, this is no journal")
    write(folder / "forged.journal", redrawn(commits))
    return folder


def typed(text: str, *arguments: object, cwd: Path) -> Ran:
    """Run with this on standard input."""
    return cold(*arguments, cwd=cwd, input=text)


def exported(path: Path) -> list[dict[str, Any]]:
    ran = goldrush("export", path, cwd=path.parent)
    assert ran.code == 0
    return [json.loads(line) for line in ran.out.splitlines()]


# log


def test_log_prints_what_export_does_narrowed_down(kept: Path) -> None:
    path = kept / "a.journal"
    events = exported(path)
    one = goldrush(
        "log", path, "--rounds", "2-4", "--agent", 3, "--agent", 5, "--event", "raid_resolved",
        "--event", "claim_drawn", "--json", cwd=kept,
    )  # fmt: skip
    wanted = [
        event
        for event in events
        if event["event"] in ("raid_resolved", "claim_drawn")
        and 2 <= event["round"] <= 4
        and {3, 5} & {*event.get("claimants", ()), *event.get("raiders", ()), event.get("owner")}
    ]

    assert wanted == [json.loads(line) for line in one.out.splitlines()]
    assert wanted
    assert goldrush("log", path, "--json", cwd=kept).out == goldrush("export", path, cwd=kept).out


# audit


def contested(path: Path) -> dict[str, Any]:
    return next(e for e in exported(path) if e["event"] == "claim_drawn" and e["words"])


def test_why_without_a_round_names_those_that_can_be_explained(kept: Path) -> None:
    claim = contested(kept / "a.journal")
    ran = goldrush("why", "a.journal", "--plot", claim["plot"], cwd=kept)
    [rounds] = re.findall(r"--at is missing; give one of (.*)", ran.err)
    explained = [
        goldrush("why", "a.journal", "--plot", claim["plot"], "--at", n, cwd=kept).code
        for n in range(1, ROUNDS + 1)
    ]

    assert_refused(ran)
    assert [int(n) for n in rounds.split(", ")] == [n for n, c in enumerate(explained, 1) if c == 0]


def test_why_without_a_round_names_the_first_of_many(tmp_path: Path) -> None:
    record(tmp_path / "long.journal", {"seed": 7, "rounds": 30})
    ran = goldrush("why", "long.journal", cwd=tmp_path)
    [rounds] = re.findall(r"give one of (.*), \.\.\.$", ran.err)

    assert 20 == len(rounds.split(", "))


def test_why_of_a_run_with_nothing_to_explain_names_the_log(tmp_path: Path) -> None:
    goldrush("record", "--rounds", 1, "--agents", 1, "--out", "quiet.journal", cwd=tmp_path)
    of_run = goldrush("why", "quiet.journal", cwd=tmp_path)
    of_agent = goldrush("why", "quiet.journal", "--agent", 0, cwd=tmp_path)

    assert_refused(of_run, "nothing in quiet.journal can be explained", "log quiet.journal` lists")
    assert_refused(of_agent, "nothing there can be explained; give another place or agent")


def test_audit_of_all_draws_exits_with_1_where_one_does_not_hold(kept: Path) -> None:
    claim = contested(kept / "forged.journal")
    good = goldrush("audit", "--all", "a.journal", "fork.journal", cwd=kept)
    bad = goldrush("audit", "--all", "a.journal", "forged.journal", cwd=kept)
    as_json = goldrush("audit", "--all", "a.journal", "forged.journal", "--json", cwd=kept)
    first, second = json.loads(as_json.out)

    assert (0, "", 2) == (good.code, good.err, good.out.count("; all hold\n"))
    assert (1, "", 1) == (bad.code, bad.err, as_json.code)
    assert (True, False, []) == (first["holds"], second["holds"], first["broken"])
    assert [claim["plot"]] == [draw["plot"] for draw in second["broken"]]
    events = exported(kept / "a.journal")
    assert sum(first["checked"].values()) == sum(
        e["event"] in ("claim_drawn", "raid_resolved", "ruled") for e in events
    )
    assert first["drawn"] == sum(bool(e.get("words")) for e in events)


def test_audit_of_a_draw_that_does_not_hold_exits_with_1(kept: Path, tmp_path: Path) -> None:
    plot = contested(kept / "a.journal")["plot"]
    forged(tmp_path / "forged.journal", MINING, redrawn(commits_of(kept / "a.journal")))
    ran = goldrush("audit", "forged.journal", "--at", 1, "--plot", plot, cwd=tmp_path)

    assert (1, "", True) == (ran.code, ran.err, "NO: the key gives" in ran.out)


def test_audit_lists_the_first_of_many_draws_that_do_not_hold(kept: Path, tmp_path: Path) -> None:
    write(tmp_path / "forged.journal", redrawn(commits_of(kept / "a.journal"), first=False))
    ran = goldrush("audit", "--all", "forged.journal", cwd=tmp_path)
    [shown] = json.loads(goldrush("audit", "--all", "forged.journal", "--json", cwd=tmp_path).out)
    _, *listed, last = ran.out.splitlines()

    assert LISTED_MAX == len(listed) < len(shown["broken"])
    assert f"  and {len(shown['broken']) - LISTED_MAX} more; --json has all" == last


# verify


@pytest.fixture
def runs(kept: Path, tmp_path: Path) -> Path:
    """A folder with two good journals, one of them further down."""
    (tmp_path / "runs" / "more").mkdir(parents=True)
    shutil.copy(kept / "a.journal", tmp_path / "runs" / "b.journal")
    shutil.copy(kept / "fork.journal", tmp_path / "runs" / "more" / "a.journal")
    return tmp_path / "runs"


@pytest.mark.parametrize("jobs", [1, 2])
def test_verify_of_a_folder_judges_every_journal_in_it(runs: Path, kept: Path, jobs: int) -> None:
    good = goldrush("verify", "runs", "--jobs", jobs, cwd=runs.parent)
    shutil.copy(kept / "damaged.journal", runs / "c.journal")
    bad = goldrush("verify", "runs", "--jobs", jobs, cwd=runs.parent)
    (runs / "d.journal").write_text("no journal")
    mixed = goldrush("verify", "runs", "--jobs", jobs, cwd=runs.parent)
    as_json = goldrush("verify", "runs", "--jobs", jobs, "--json", cwd=runs.parent)
    shown = json.loads(as_json.out)

    assert [(0, ""), (1, "")] == [(ran.code, ran.err) for ran in (good, bad)]
    assert "2 journals: 2 hold, 0 do not, 0 could not be judged" == good.out.splitlines()[-1]
    assert "3 journals: 2 hold, 1 do not, 0 could not be judged" == bad.out.splitlines()[-1]
    assert "4 journals: 2 hold, 1 do not, 1 could not be judged" == mixed.out.splitlines()[-1]
    assert ["runs/b.journal", "runs/c.journal", "runs/more/a.journal"] == [
        line.partition(":")[0] for line in bad.out.splitlines()[:-1]
    ]
    assert (1, 1, "") == (mixed.code, as_json.code, as_json.err)
    assert [True, False, None, True] == [outcome["holds"] for outcome in shown]
    assert "runs/d.journal" in mixed.err


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_policies_print_is_not_among_the_verdicts(tmp_path: Path, jobs: int) -> None:
    (tmp_path / "loud.py").write_text(LOUD)
    for name in ("a.journal", "b.journal"):
        goldrush("record", "--rounds", 2, "--roster", "loud:Loud*2", "--out", name, cwd=tmp_path)
    ran = goldrush(
        "verify", "a.journal", "b.journal", "--trust", "loud:Loud", "--jobs", jobs, "--json",
        cwd=tmp_path,
    )  # fmt: skip

    assert ran.code == 0
    assert "a policy prints this" not in ran.out
    assert [True, True] == [outcome["holds"] for outcome in json.loads(ran.out)]


# fork


@pytest.mark.parametrize("link", [None, os.symlink, os.link], ids=["itself", "symbolic", "hard"])
def test_fork_does_not_write_over_its_parent(
    kept: Path, tmp_path: Path, link: Callable[[Path, Path], None] | None
) -> None:
    parent = tmp_path / "run.journal"
    shutil.copy(kept / "a.journal", parent)
    out = tmp_path / "out.journal"
    if link is not None:
        link(parent, out)
    for force in ([], ["--force"]):
        target = parent if link is None else out
        ran = goldrush("fork", parent, "--at", 5, "--out", target, *force, cwd=tmp_path)

        assert_refused(ran, str(target))
        assert (kept / "a.journal").read_bytes() == parent.read_bytes()


@pytest.mark.parametrize(
    "words",
    [
        "fork JOURNAL --at 13",
        "fork JOURNAL --at 5 --set rows=3 --out b.journal",
        "fork JOURNAL --at 5 --replace-submission missing --out b.journal",
        "record --roster no_such:Policy",
    ],
)
def test_a_run_that_is_refused_leaves_nothing_behind(
    kept: Path, tmp_path: Path, words: str
) -> None:
    journal = str(kept / "a.journal")

    assert_refused(goldrush(*words.replace("JOURNAL", journal).split(), cwd=tmp_path))
    assert [] == os.listdir(tmp_path)


def test_fork_goes_on_from_what_is_whole_of_a_broken_journal(kept: Path, tmp_path: Path) -> None:
    for name in ("torn.journal", "damaged.journal", "short.journal"):
        ran = goldrush(
            "fork", kept / name, "--at", 1, "--out", name, "--set", "rounds=4", cwd=tmp_path
        )

        assert (0, True) == (ran.code, verify(tmp_path / name).holds)


# fork --replace-submission


def submission(round_: int = 6, agent: int = 3, **fields: Any) -> dict[str, Any]:
    return {"round": round_, "agent": agent, "actions": [["claim", 5, 1]], **fields}


def replaced(path: Path) -> list[dict[str, Any]]:
    """The submissions that stand in the journal in place of those of the policies."""
    events = exported(path)
    [fork] = [event for event in events if event["event"] == "forked"]
    return [
        event
        for event in events
        if event["event"] == "submitted" and [event["round"], event["agent"]] in fork["replaced"]
    ]


LINES = [submission(), submission(8, 0, actions=[], memo="m"), submission(6, 4, actions=[None])]


@pytest.mark.parametrize(
    "text",
    [
        "\n\n".join(map(json.dumps, LINES)) + "\n",
        json.dumps(LINES, indent=2),
    ],
    ids=["lines", "an array"],
)
def test_submissions_are_put_in_from_a_file_and_from_standard_input(
    kept: Path, tmp_path: Path, text: str
) -> None:
    (tmp_path / "by-hand.jsonl").write_text(text)
    arguments = ("fork", kept / "a.journal", "--at", 5, "--replace-submission")
    from_file = goldrush(*arguments, "by-hand.jsonl", "--out", "b.journal", cwd=tmp_path)
    from_stdin = typed(text, *arguments, "-", "--out", "c.journal", cwd=tmp_path)
    given = {(line["round"], line["agent"]): line for line in LINES}

    assert (0, 0) == (from_file.code, from_stdin.code)
    assert (tmp_path / "b.journal").read_bytes() == (tmp_path / "c.journal").read_bytes()
    found = replaced(tmp_path / "b.journal")
    assert sorted(given) == [(event["round"], event["agent"]) for event in found]
    for event in found:
        wanted = given[event["round"], event["agent"]]
        assert (wanted["actions"], wanted.get("memo")) == (event["actions"], event["memo"])
    assert verify(tmp_path / "b.journal").holds


def test_one_submission_of_an_export_can_be_edited_and_put_in(kept: Path, tmp_path: Path) -> None:
    line = next(
        event
        for event in exported(kept / "a.journal")
        if event["event"] == "submitted" and (event["round"], event["agent"]) == (9, 2)
    )
    line["actions"] = line["actions"][:1]
    ran = typed(
        json.dumps(line), "fork", kept / "a.journal", "--at", 8, "--replace-submission", "-",
        "--out", "b.journal", cwd=tmp_path,
    )  # fmt: skip

    assert ran.code == 0
    assert [line] == replaced(tmp_path / "b.journal")


def test_a_line_ends_where_json_lines_say_and_nowhere_else(kept: Path, tmp_path: Path) -> None:
    """Text may hold other separators as they are: JSON allows that, and many programs do it."""
    lines = [submission(agent=agent, memo="a\u2028b\x85c\u2029d") for agent in (1, 2)]
    ran = typed(
        "\n".join(json.dumps(line, ensure_ascii=False) for line in lines),
        "fork", kept / "a.journal", "--at", 5, "--replace-submission", "-", "--out", "b.journal",
        cwd=tmp_path,
    )  # fmt: skip

    assert (0, "") == (ran.code, ran.err)
    assert [lines[0]["memo"]] * 2 == [event["memo"] for event in replaced(tmp_path / "b.journal")]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no submission"),
        (f"{json.dumps(submission())}\n\n{{oops\n", "-, line 3 is not JSON"),
        (json.dumps(submission(agent="\x1b[2J")), "submission 1: agent is"),
        ("[" * 100_000, "-, line 1 is not JSON"),
    ],
)
def test_submissions_that_are_none_are_refused(
    kept: Path, tmp_path: Path, text: str, says: str
) -> None:
    ran = typed(
        text, "fork", kept / "a.journal", "--at", 5, "--replace-submission", "-",
        "--out", "b.journal", cwd=tmp_path,
    )  # fmt: skip

    assert_refused(ran, says)
    assert "\x1b" not in ran.err
    assert [] == os.listdir(tmp_path)


# all


@pytest.mark.parametrize(
    ("command", "code"),
    [("log a.journal", 0), ("diff a.journal fork.journal", 1),
     ("verify a.journal damaged.journal --jobs 2", 1)],
)  # fmt: skip
def test_a_reader_that_goes_away_is_no_error(kept: Path, command: str, code: int) -> None:
    """The pipe is closed before anything is written to it: codes that are answers are the same."""
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "goldrush", *command.split()],
        cwd=kept, stdout=write, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, text=True, timeout=600,
    )  # fmt: skip
    os.close(write)

    assert (code, "") == (done.returncode, done.stderr)


def test_reading_leaves_the_folder_as_it_was(kept: Path) -> None:
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    for command in (
        ["log", "a.journal", "--rounds", "9"],
        ["diff", "a.journal", "fork.journal", "--by-round"],
        ["audit", "a.journal", "--all"],
        ["verify", ".", "--jobs", "2"],
    ):
        goldrush(*command, cwd=kept)

    assert before == {path.name: path.read_bytes() for path in kept.iterdir()}
