"""`replay`, `verify`, `export`, `policies`, `treatments`, and what all commands have in common."""

import json
import re
import shutil
from itertools import groupby
from pathlib import Path

import click
import pytest

from goldrush.agents.worlds.mining.roster import POLICIES
from goldrush.kernel.journal import FORK, JournalReader
from goldrush.kernel.worlds.mining.treatments import TREATMENTS
from tests.cli.helpers import assert_refused, built_in, goldrush
from tests.journals import commits_of
from tests.mining import record


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journals") / "a.journal"
    record(path, {"seed": 7, "rounds": 20})
    return path


def test_replay_shows_the_map_the_holders_and_the_events(journal: Path, tmp_path: Path) -> None:
    ran = goldrush("replay", journal, "--round", 3, cwd=tmp_path)
    lines = ran.out.splitlines()

    assert ran.code == 0
    assert re.fullmatch(r"round 3 of 20, digest [0-9a-f]{16}", lines[0])
    grid = lines[lines.index("owner") + 1 :][:11]
    assert grid[0].split() == [str(col) for col in range(10)]
    assert [line.split()[0] for line in grid[1:]] == [str(row) for row in range(10)]
    assert all(len(line.split()) == 11 for line in grid[1:])
    assert "agent 0 submits" in ran.out
    assert "round 3 closes with digest" in ran.out
    assert "\x1b" not in ran.out  # no colours in a pipe


def test_replay_json_agrees_with_the_words_and_with_itself(journal: Path, tmp_path: Path) -> None:
    shown = json.loads(goldrush("replay", journal, "--round", 20, "--json", cwd=tmp_path).out)
    owners = [owner for row in shown["owner"] for owner in row]
    since = [round for row in shown["since"] for round in row]

    assert shown["round"] == 20
    assert shown["plots"] == [owners.count(agent) for agent in range(len(shown["agents"]))]
    assert all(
        round is None if owner is None else 1 <= round <= 20
        for owner, round in zip(owners, since, strict=True)
    )
    assert shown["events"][-1] == {
        "event": "round_closed", "round": 20, "digest": shown["digest"],
    }  # fmt: skip


def test_replay_of_round_0_is_the_start(journal: Path, tmp_path: Path) -> None:
    ran = goldrush("replay", journal, "--round", 0, cwd=tmp_path)

    assert ran.code == 0
    assert "a run of the mining world starts" in ran.out


@pytest.mark.parametrize("round_", ["21", "-1"])
def test_a_round_that_is_not_there_is_refused(journal: Path, tmp_path: Path, round_: str) -> None:
    ran = goldrush("replay", journal, "--round", round_, cwd=tmp_path)

    assert_refused(ran, f"no round {round_}", "from 0 to 20")


def test_an_option_without_its_value_names_the_help_of_its_command(tmp_path: Path) -> None:
    assert_refused(goldrush("verify", "--test", cwd=tmp_path), "goldrush verify --help'")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("replay run.journal --round 1 --at 2", "--at is given 2 times; give it once; see"),
        ("record --seed 1 --out a.journal --seed 1 --seed 1", "--seed is given 3 times"),
        ("record --world competition --world mining", "--world is given 2 times"),
        ("log run.journal --at= --plot 1", "'--at' / '--rounds': it is empty"),
        ("log run.journal --agent 1 --agent=", "Invalid value for '--agent': it is empty; see"),
        ("export run.journal --table=", "Invalid value for '--table': it is empty"),
        ("audit run.journal --at 1 --kind --all", "it is missing before --all; see"),
        ("record --out --force", "Invalid value for '--out': it is missing before --force"),
    ],
)
def test_an_option_has_one_value_and_a_whole_one(
    journal: Path, tmp_path: Path, words: str, says: str
) -> None:
    (tmp_path / "run.journal").symlink_to(journal)

    assert_refused(goldrush(*words.split(), cwd=tmp_path), says)
    assert ["run.journal"] == [path.name for path in tmp_path.iterdir()]


def test_options_that_may_be_repeated_and_help_are_given_as_often_as_one_likes(
    journal: Path, tmp_path: Path
) -> None:
    twice = goldrush("log", journal, "--agent", 1, "--agent", 1, "--json", "--json", cwd=tmp_path)
    helped = goldrush("record", "--seed", 1, "--seed", 2, "--help", cwd=tmp_path)

    assert (0, 0) == (twice.code, helped.code)
    assert twice.out == goldrush("log", journal, "--agent", 1, "--json", cwd=tmp_path).out


def test_verify_of_several_files_hides_no_break_behind_what_cannot_be_judged(
    journal: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.journal"
    data = bytearray(journal.read_bytes())
    data[3000] ^= 1
    broken.write_bytes(data)
    holds = goldrush("verify", journal, cwd=tmp_path)
    differs = goldrush("verify", journal, broken, cwd=tmp_path)
    trouble = goldrush("verify", journal, tmp_path / "missing", cwd=tmp_path)
    both = goldrush("verify", journal, broken, tmp_path / "missing", cwd=tmp_path)

    assert (holds.code, differs.code, trouble.code, both.code) == (0, 1, 2, 1)
    assert "holds at levels 1 to 4: 20 rounds" in holds.out
    assert re.search(r"DOES NOT HOLD: level 1 .* at commit \d+ at byte \d+", differs.out)
    assert "no such file" in trouble.err


def test_one_byte_changed_anywhere_is_found_and_placed(journal: Path, tmp_path: Path) -> None:
    data = journal.read_bytes()
    broken = tmp_path / "broken.journal"
    for offset in (0, 5, 9, 10, 14, 20, 30, 300, len(data) // 2, len(data) - 1):
        broken.write_bytes(data[:offset] + bytes([data[offset] ^ 0x20]) + data[offset + 1 :])
        ran = goldrush("verify", broken, cwd=tmp_path)

        assert (ran.code, ran.err) == (1, "")
        assert re.search(
            r"level 1 \(integrity\) breaks at (header|commit \d+) at byte \d+", ran.out
        )


def test_verify_json_has_the_verdicts(journal: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.journal"
    torn.write_bytes(journal.read_bytes()[:-3])
    ran = goldrush("verify", journal, torn, "/dev/null", "--json", cwd=tmp_path)
    first, second, third = json.loads(ran.out)

    assert ran.code == 1
    assert (first["holds"], first["finished"], len(first["sha256"])) == (True, True, 64)
    assert (second["holds"], second["broken"]["level"]) == (False, 1)
    assert (third["holds"], "not an ordinary file" in third["error"]) == (None, True)


@pytest.mark.parametrize("forked", [False, True])
def test_a_tail_torn_off_in_the_first_round_is_resumed(
    journal: Path, path: Path, tmp_path: Path, forked: bool
) -> None:
    shutil.copy(journal, path)
    if forked:
        goldrush("fork", journal, "--at", 0, "--out", path, "--force", cwd=tmp_path)
    data = path.read_bytes()
    first = next(commit for commit in commits_of(path) if commit.unit == 1)
    path.write_bytes(data[: first.offset + 20].ljust(first.end, b"\0"))
    ran = goldrush("verify", path, cwd=tmp_path)
    command = f"resume {path}"

    assert (1, True) == (ran.code, f"{command}` removes them and continues the run" in ran.out)
    assert 0 == goldrush(*command.split(), cwd=tmp_path).code
    assert data == path.read_bytes()


def test_a_fork_that_was_never_finished_is_told_by_verify(journal: Path, tmp_path: Path) -> None:
    goldrush("fork", journal, "--at", 5, "--out", "f.journal", cwd=tmp_path)
    path = tmp_path / "f.journal"
    fork = next(commit for commit in commits_of(path) if commit.kind == FORK)
    path.write_bytes(path.read_bytes()[: fork.end - 1])
    ran = goldrush("log", path, cwd=tmp_path)

    assert (2, True) == (ran.code, "keeps what is intact" in ran.err)
    assert "keeps what is intact" in goldrush("verify", path, cwd=tmp_path).out


@pytest.mark.parametrize("command", [["replay", "--round", "1"], ["export"], ["verify"]])
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "an empty file"),
        (b"hello, this is no journal", "not a goldrush journal"),
        (None, "no such file"),
    ],
)
def test_what_is_no_journal_is_refused_in_one_line(
    tmp_path: Path, command: list[str], content: bytes | None, says: str
) -> None:
    path = tmp_path / "x.journal"
    if content is not None:
        path.write_bytes(content)
    ran = goldrush(command[0], path, *command[1:], cwd=tmp_path)

    assert_refused(ran, "x.journal", says)


FIELDS = {
    "run_started": ["world", "rules", "config", "roster"],
    "submitted": ["round", "agent", "actions", "error", "say", "memo", "source"],
    "pruned": ["round", "agent", "removed", "cost"],
    "claim_drawn": ["round", "plot", "claimants", "winner", "words"],
    "raid_resolved": [
        "round", "plot", "owner", "raiders", "defense", "outcome", "winner", "words",
    ],
    "ruled": ["round", "plot", "captor", "victim", "detected", "remedy", "fine", "words"],
    "mining_settled": ["round", "plot", "agent", "stamina", "gold"],
    "round_closed": ["round", "digest"],
    "run_ended": ["round"],
}  # fmt: skip

TWO_MINDS = """
class TwoMinds:
    def plan(self, seen, draws):
        own = [("mine", plot, 1) for plot in seen.own]
        return [("claim", 0, 1), ("claim", 0, 1), ("raid", 1, 1), ("mine", 0, 99), *own]
"""


def test_export_prints_every_event_with_exactly_the_fields_of_the_rules(tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text(TWO_MINDS)
    goldrush(
        "record", "--treatment", "authority-punish", "--rounds", 30, "--out", "x.journal",
        "--roster", "two:TwoMinds*2,random*8", cwd=tmp_path,
    )  # fmt: skip
    events = [
        json.loads(line) for line in goldrush("export", "x.journal", cwd=tmp_path).out.splitlines()
    ]
    seen = {event["event"]: event for event in events}

    order = list(FIELDS)
    for _, group in groupby(events[1:-1], key=lambda event: event["round"]):
        places = [order.index(event["event"]) for event in group]
        assert places == sorted(places)
    assert set(seen) == set(FIELDS)
    for event in events:
        assert list(event) == ["event", *FIELDS[event["event"]]]
    assert all(type(e["gold"]) is float for e in events if e["event"] == "mining_settled")
    assert all(type(e["fine"]) is float for e in events if e["event"] == "ruled")
    words = [word for event in events for word in event.get("words", [])]
    assert all(re.fullmatch("[0-9a-f]{16}", word) for word in words)
    assert words


def test_export_gives_as_many_events_as_verify_counts(journal: Path, tmp_path: Path) -> None:
    lines = goldrush("export", journal, "--format", "jsonl", cwd=tmp_path).out.splitlines()
    [verdict] = json.loads(goldrush("verify", journal, "--json", cwd=tmp_path).out)

    assert len(lines) == verdict["events"]


def test_a_damaged_journal_exports_what_is_whole_and_then_says_where_it_breaks(
    journal: Path, tmp_path: Path
) -> None:
    torn = tmp_path / "torn.journal"
    torn.write_bytes(journal.read_bytes()[:-3])
    ran = goldrush("export", torn, cwd=tmp_path)

    assert ran.code == 2
    assert json.loads(ran.out.splitlines()[-1])["event"] == "round_closed"
    assert "torn tail: 21 whole commits" in ran.err


def test_policies_and_treatments_are_listed_with_what_they_do(tmp_path: Path) -> None:
    policies = json.loads(goldrush("policies", "--json", cwd=tmp_path).out)
    treatments = json.loads(goldrush("treatments", "--json", cwd=tmp_path).out)

    assert [entry["policy"] for entry in policies][: len(POLICIES)] == list(POLICIES)
    assert "external" not in [entry["policy"] for entry in policies]  # a Python object
    assert [entry["treatment"] for entry in treatments] == list(TREATMENTS)
    assert all(entry["says"] for entry in policies + treatments)
    for name in POLICIES:
        assert name in goldrush("policies", cwd=tmp_path).out
    shown = goldrush("treatments", cwd=tmp_path).out.splitlines()
    assert {"rows": 5, "cols": 6, "agents": 20} == treatments[-1]["settings"]
    assert ["scarce-20", "5 x 6 plots for 20 agents", "rows=5 cols=6 agents=20"] == (
        re.split("  +", shown[-1])
    )


def test_what_another_world_has_is_listed(tmp_path: Path) -> None:
    listed = json.loads(goldrush("policies", "--world", "competition", "--json", cwd=tmp_path).out)

    assert "scripted" == listed[0]["policy"]
    assert "independent" in goldrush("treatments", "--world", "competition", cwd=tmp_path).out
    settings = json.loads(goldrush("settings", "competition", "--json", cwd=tmp_path).out)
    assert {"arena", "assignments"} <= {entry["setting"] for entry in settings}
    by_option = goldrush("settings", "--world", "competition", "--json", cwd=tmp_path).out
    assert settings == json.loads(by_option)
    both = goldrush("settings", "competition", "--world", "mining", cwd=tmp_path)
    assert_refused(both, "are two worlds; give one")
    assert_refused(goldrush("policies", "--world", "no-such", cwd=tmp_path), "no world 'no-such'")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("record --assignments 4", "--rounds"),
        ("log --assignments 4", "--rounds"),
        ("audit --table 4", "--place"),
        ("replay --brief", "goldrush log --event NAME"),
        ("replay --table T", "goldrush log --event NAME"),
        ("replay --play", "goldrush view"),
        ("replay --speed 2", "goldrush view"),
        ("measure --csv", "goldrush export --format csv --table measures (or rounds, spells)"),
        ("measure --spells", "goldrush export --format csv --table spells"),
        ("audit --score ada", "goldrush score JOURNAL --at N --agent WHO"),
        (
            "audit --fairness",
            "--all and the program in replay/README.md, 'Was a tie broken fairly?'",
        ),
        ("verify --sums S", "sha256sum -c"),
        ("verify --junit J", "pytest: replay/README.md, 'In CI'"),
        ("verify --parent P", "--json"),
        ("export --to DIR", "goldrush leaderboard --to DIR"),
        ("season --files", "goldrush leaderboard --to DIR"),
        ("season --class-model haiku=A", "--cast worker=llm:A,sonnet=llm:B"),
        ("fork --class-model sonnet=A", "--roster sonnet=llm:B"),
        ("report --format md", "the HTML page, or --tables DIR"),
        ("report --pages", "goldrush view RUN.journal"),
    ],
)
def test_an_option_that_has_gone_says_what_to_type_instead(
    tmp_path: Path, words: str, says: str
) -> None:
    command, option, *_ = words.split()
    ran = goldrush(*words.split(), cwd=tmp_path)

    assert_refused(ran, f"No such option '{option}'; use {says}; see 'python -m goldrush {command}")


def test_what_has_taken_the_place_of_an_option_is_told_only_where_it_is_one(tmp_path: Path) -> None:
    ran = goldrush("report", "--table", cwd=tmp_path)

    assert_refused(ran, "No such option '--table'. Did you mean '--tables'?; see")


def test_an_unknown_command_is_a_usage_error(tmp_path: Path) -> None:
    unknown = goldrush("reploy", cwd=tmp_path)
    assert_refused(unknown, "there is no command 'reploy'", "did you mean replay?")


def test_text_from_a_journal_cannot_move_the_cursor(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text(
        "from goldrush.kernel.worlds.mining.submit import Plan\n"
        "class Loud:\n"
        "    def plan(self, seen, draws):\n"
        "        return Plan([], say='\\x1b[2Jhi', memo='\\x1b[31m\\x07\\u202e')\n"
    )
    goldrush(
        "record", "--treatment", "communication", "--rounds", 2, "--roster", "loud:Loud",
        "--out", "x.journal", cwd=tmp_path,
    )  # fmt: skip
    shown = goldrush("replay", "x.journal", "--round", 2, cwd=tmp_path, FORCE_COLOR="1").out

    assert 'says "[2Jhi"' in shown
    assert not set(shown) & {"\x1b", "\x07", "\u202e"}


def test_commands_that_print_take_json() -> None:
    printing = {
        "arenas", "audit", "conform", "diff", "fork", "info", "leaderboard", "log", "ls", "measure",
        "new", "plugins", "policies", "prompt", "record", "repeats", "replay", "report", "resume",
        "score", "season", "settings", "source", "study", "treatments", "verify", "view", "watch",
        "why", "wordings",
    }  # fmt: skip
    with_json = {
        name
        for name, command in built_in().items()
        if any(isinstance(p, click.Option) and "--json" in p.opts for p in command.params)
    }

    assert with_json == printing


def test_reading_does_not_change_the_file(journal: Path, tmp_path: Path) -> None:
    before = journal.read_bytes()
    for arguments in (["verify", journal], ["replay", journal, "--round", 2], ["export", journal]):
        goldrush(*arguments, cwd=tmp_path)
    with JournalReader(journal) as reader:
        commits = sum(1 for _ in reader)

    assert journal.read_bytes() == before
    assert commits == 22
