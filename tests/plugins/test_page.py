"""The page on plugins: the package that it shows is written down as it stands there, installed, and
put through the commands that stand there.
"""

import re
import shlex
from importlib import import_module
from pathlib import Path

import pytest

from goldrush.kernel.journal import UNIT, Commit, Header
from goldrush.kernel.world import Block, World
from goldrush.replay.journal.verify import verify
from tests.cli.helpers import ROOT, assert_refused, goldrush
from tests.journals import commits_of, write
from tests.plugins.installed import dist_info

PAGE = (ROOT / "goldrush" / "PLUGINS.md").read_text()
FILES = dict(re.findall(r"`([\w/]+\.(?:py|toml))`:\n\n```\w+\n(.*?)```", PAGE, flags=re.DOTALL))
[COMMANDS] = re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL)
POINTS = dict(re.findall(r'^(\w+) = "(dicegame\.tools:\w+)"$', FILES["pyproject.toml"], re.M))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dice")
    (folder / "dicegame").mkdir()
    for name, text in {**FILES, "dicegame/__init__.py": ""}.items():
        (folder / name).write_text(text)
    dist_info(folder, {"goldrush.worlds": POINTS}, "dicegame", "0.1")
    return folder


def test_the_package_of_the_page_goes_through_the_commands_of_the_page(folder: Path) -> None:
    told = {}
    for line in COMMANDS.splitlines():
        program, command, *rest = shlex.split(line)
        ran = goldrush(command, *rest, cwd=folder, PYTHONPATH=f"{folder}:{ROOT}")
        told[command] = ran.out

        assert "goldrush" == program
        assert (int(command == "diff"), "") == (ran.code, ran.err), line

    (folder / "by-hand.json").write_text('{"round": 50, "agent": 3}')
    by_hand = goldrush(
        "fork", "dice.journal", "--at", 50, "--replace-submission", "by-hand.json",
        "--out", "by-hand.journal", cwd=folder, PYTHONPATH=f"{folder}:{ROOT}",
    )  # fmt: skip
    assert_refused(by_hand, "submission 1 has no face; see `called` in an export")
    assert "holds at levels 1 to 4: 100 rounds" in told["verify"]
    assert "points of all" in told["measure"]
    assert "always[face=3] in a, guess in b" in told["diff"]
    assert set() == {line.split(": ")[1] for line in told["conform"].splitlines()} - {"holds"}


@pytest.mark.parametrize("level", [2, 3])
@pytest.mark.parametrize("is_pending", [False, True], ids=["judged", "pending"])
@pytest.mark.parametrize("agents", [(0, 1, 99), (0, 1, 1), (0, 1, 2, 3)])
def test_forged_agents_are_told_as_such_and_not_as_a_bug_of_the_world_of_the_page(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    agents: tuple[int, ...],
    is_pending: bool,
    level: int,
) -> None:
    source = tmp_path / "source.journal"
    played = goldrush(
        "record", "--world", "dice", "--out", source, cwd=folder, PYTHONPATH=f"{folder}:{ROOT}"
    )
    monkeypatch.syspath_prepend(folder)
    world: World[None] = import_module("dicegame.world").DICE
    start, first, *_ = commits_of(source)
    [(face, words)] = first.blocks[1].rows(1)
    inputs = Block([(0, [(agent, face) for agent in agents])])  # all of them are right
    derived = Block([(1, [(face, words)]), (2, [(agent,) for agent in agents])])
    unit = Commit(UNIT, 1, None, [inputs])
    if not is_pending:
        unit = Commit(UNIT, 1, first.digest, [inputs, derived])
    path = write(tmp_path / "forged.journal", [start, unit], Header("dice", 1))
    broken = verify(path, level, world=world).broken

    assert 0 == played.code, played.err
    assert (is_pending and level == 2) == (broken is None)
