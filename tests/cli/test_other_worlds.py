"""What the commands say of a journal of another world: its own words, or one clear line."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.helpers import Ran, assert_refused, in_process
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
    return in_process(monkeypatch, capsys)


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
    "arguments",
    [
        ["audit", "a b.journal", "--round", 1],
        ["measure", "a b.journal"],
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
