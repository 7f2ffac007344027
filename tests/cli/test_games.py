"""Games on the command line: a file is a world wherever one is named, and consent to run it."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from goldrush.games import fishery
from tests.cli.helpers import ROOT, assert_refused, cold, goldrush, in_terminal

SOURCE = Path(fishery.__file__).read_text()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a new game and a run of it."""
    folder = tmp_path_factory.mktemp("harbour")
    assert goldrush("new", "Harbour", cwd=folder).code == 0
    done = goldrush(
        "record", "harbour.py", "--seed", 7, "--rounds", 6, "--out", "run.journal", cwd=folder
    )
    assert (0, "") == (done.code, done.err)
    assert "verify run.journal --world harbour.py\n" in done.out
    return folder


@pytest.mark.parametrize(
    ("name", "file", "cls"),
    [("my-market", "my_market", "MyMarket"), ("fishMarket", "fish_market", "FishMarket")],
)  # fmt: skip
def test_a_name_in_any_form_becomes_that_of_a_class(tmp_path, name, file, cls) -> None:
    done = goldrush("new", name, cwd=tmp_path)

    assert (0, "") == (done.code, done.err)
    assert f"class {cls}(goldrush.Game):" in (tmp_path / f"{file}.py").read_text()


def test_a_folder_of_runs_of_several_games_is_verified_with_all_of_them(tmp_path) -> None:
    for name in ("harbour", "market"):
        goldrush("new", name, cwd=tmp_path)
        goldrush(
            "record", f"{name}.py", "--set", "seasons=3", "--out", f"{name}.journal", cwd=tmp_path
        )
    goldrush("record", "--rounds", 2, "--out", "mining.journal", cwd=tmp_path)
    both = ("--world", "harbour.py", "--world", "market.py")

    alone = goldrush("verify", ".", "--world", "harbour.py", cwd=tmp_path)
    mixed = [
        goldrush(*words, *both, cwd=tmp_path)
        for words in (("verify", "."), ("verify", ".", "--jobs", 2), ("ls", "."))
    ]
    assert (2, 2) == (alone.code, alone.out.count("holds at levels"))
    assert "3 journals: 3 hold, 0 do not" in mixed[0].out
    assert [(0, "")] * 3 == [(ran.code, ran.err) for ran in mixed]
    assert mixed[0].out == mixed[1].out


@pytest.mark.parametrize("words", ["why", "log --plot 3"])
def test_what_a_game_lacks_names_a_command_with_its_file(folder, words) -> None:
    command, *more = words.split()
    ran = goldrush(command, "run.journal", *more, "--world", "harbour.py", cwd=folder)
    [instead] = re.findall("`goldrush (.*)`", ran.err)

    assert 2 == ran.code
    assert 0 == goldrush(*shlex.split(instead), cwd=folder).code


@pytest.mark.parametrize(
    "words", ["measure {}", "report {}", "export {} --format csv --out tables", "study {}"]
)
def test_edited_rules_give_no_numbers_of_a_study_and_do_not_replace_it(tmp_path, words) -> None:
    """Its states are none that the runs had: each told 2,441 where the runs gave 1,221."""
    folder, words = tmp_path, words.format("st").split()
    goldrush("new", "Harbour", cwd=folder)
    options = ("--world", "harbour.py", "--roster", "share*2", "--rounds", "5")
    played = goldrush("study", *options, "--seeds", 2, "--out", "st", cwd=folder)
    kept = {path: path.read_bytes() for path in (folder / "st").rglob("*") if path.is_file()}
    edited = (folder / "harbour.py").read_text().replace("+= self.fish", "+= 2 * self.fish")
    (folder / "harbour.py").write_text(edited)
    if words[0] == "study":
        ran = goldrush("study", *options, "--seeds", 3, "--out", "st", cwd=folder)
    else:
        ran = goldrush(*words, "--world", "harbour.py", cwd=folder)

    assert (0, 2) == (played.code, ran.code)
    assert "other code" in ran.err
    first = next(iter(sorted(path for path in kept if path.suffix == ".journal")))
    assert f"`goldrush source {first.relative_to(folder)}" in ran.err
    assert "" == ran.out
    assert kept == {p: p.read_bytes() for p in (folder / "st").rglob("*") if p.is_file()}


def test_what_a_file_says_controls_no_terminal_and_comes_back_exactly(tmp_path) -> None:
    title = "Does a shared stock"
    text = SOURCE.replace(title, f"\x1b[31m{title}", 1) + "\t# \u202e\r\n\n"
    (tmp_path / "game.py").write_bytes(text.encode())
    goldrush("record", "game.py", "--rounds", 1, "--out", "run.journal", cwd=tmp_path)
    prompt = ("prompt", "run.journal", "--at", 1, "--agent", 0, "--world", "game.py")
    with (tmp_path / "copy.py").open("wb") as copy:
        subprocess.run(
            [sys.executable, "-m", "goldrush", "source", "run.journal"],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=copy, check=True,
        )  # fmt: skip

    assert text.encode() == (tmp_path / "copy.py").read_bytes()
    for words in (prompt, ("source", "run.journal")):
        ran = in_terminal(*words, cwd=tmp_path)
        assert rf"\x1b[31m{title}" in ran.out
        assert "\x1b" not in ran.out
        assert "\u202e" not in ran.out


def test_a_study_of_a_file_is_played_by_processes(folder) -> None:
    done = goldrush(
        "study", "--world", "harbour.py", "--out", "study", "--seeds", 2, "--rounds", 4,
        "--treatment", "high-growth", "--roster", "greedy", "--jobs", 2, cwd=folder,
    )  # fmt: skip
    assert (0, "") == (done.code, done.err.rpartition("\r")[2].strip())

    checked = goldrush("verify", "study", "--world", "harbour.py", "--json", cwd=folder)
    assert [True, True] == [one["holds"] for one in json.loads(checked.out)]

    unnamed = goldrush("report", "study", cwd=folder)
    assert_refused(unnamed, "or give the file of its game (--world FILE.py)")
    words = ("report", "study", "--world", "harbour.py")
    assert 0 == goldrush(*words, cwd=folder).code
    page = (folder / "study" / "report.html").read_text()
    commands = re.findall(r"goldrush (?:report|measure) [^<\n]*", page)
    assert commands
    for command in commands:
        assert command.endswith(" --world ../harbour.py")
    assert 0 == goldrush(*commands[0].split()[1:], cwd=folder / "study").code


def test_a_file_imports_what_is_beside_it(tmp_path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "harbour_rules.py").write_text("TITLE = 'stock, tonnes'\n")
    text = SOURCE.replace("import goldrush\n", "import harbour_rules\n\nimport goldrush\n", 1)
    text = text.replace('@measure("stock, tonnes")', "@measure(harbour_rules.TITLE)")
    (tmp_path / "sub" / "harbour.py").write_text(text)

    done = goldrush(
        "study", "--world", "sub/harbour.py", "--out", "study", "--seeds", 2, "--rounds", 2,
        "--treatment", "high-growth", "--roster", "greedy", "--jobs", 2, cwd=tmp_path,
    )  # fmt: skip
    assert (0, "") == (done.code, done.err.rpartition("\r")[2].strip())


def test_a_module_of_the_current_folder_is_a_world(tmp_path) -> None:
    (tmp_path / "harbour.py").write_text(SOURCE)
    for words in (
        ("record", "harbour:Fishery", "--rounds", 2, "--out", "run.journal"),
        ("verify", "run.journal", "--world", "harbour:Fishery"),
    ):
        ran = cold(*words, cwd=tmp_path, front=("-P", "-m", "goldrush"))
        assert (0, "") == (ran.code, ran.err)


# By part of the game: a line of it, which is run when so many seasons have closed.
FAILING = {
    "rules": "        wanted = sum(one.fish",
    "policy": "        return self.Asked(int(seen.stock / self.agents * part))",
}


@pytest.mark.parametrize("part", ["rules", "policy"])
def test_after_a_mistake_in_a_game_the_advice_works(tmp_path: Path, part: str) -> None:
    seen = "state" if part == "rules" else "seen"
    line, game = FAILING[part], tmp_path / "fishery.py"
    mistake = f"        if {seen}.unit == 3: 1 / 0\n{line}"
    game.write_text(SOURCE.replace(line, mistake, 1))
    record = ("record", "fishery.py", "--set", "seasons=6", "--out", "run.journal")
    failed = goldrush(*record, cwd=tmp_path)

    assert 2 == failed.code
    assert "holds seasons 1 to 3, whole; mend it and record again with --force, or" in failed.err
    game.write_text(SOURCE)
    fork = shlex.split(failed.err.rpartition("`python -m goldrush ")[2].partition("`")[0])
    assert 2 == goldrush("resume", "run.journal", "--world", "fishery.py", cwd=tmp_path).code
    assert 0 == goldrush(*fork, "--out", "fork.journal", cwd=tmp_path).code
    assert 0 == goldrush(*record, "--force", cwd=tmp_path).code


@pytest.mark.parametrize("part", FAILING)
def test_a_mistake_in_the_first_unit_keeps_the_journal_that_it_would_replace(
    tmp_path: Path, part: str
) -> None:
    line, game, out = FAILING[part], tmp_path / "fishery.py", tmp_path / "run.journal"
    game.write_text(SOURCE)
    record = ("record", "fishery.py", "--set", "seasons=4", "--out", "run.journal")
    assert 0 == goldrush(*record, cwd=tmp_path).code
    assert 0 == goldrush(*record[:-1], "other.journal", "--seed", 3, cwd=tmp_path).code
    before = out.read_bytes()
    game.write_text(SOURCE.replace(line, f"        1 / 0\n{line}", 1))
    failed = goldrush(*record, "--force", cwd=tmp_path)
    forked = goldrush(
        "fork", "other.journal", "--at", 2, "--world", "fishery.py", "--out", "run.journal",
        "--force", cwd=tmp_path,
    )  # fmt: skip

    assert failed.code
    assert forked.code
    assert "resume" not in failed.err + forked.err
    assert before == out.read_bytes()
