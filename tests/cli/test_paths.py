"""Paths on the command line: where outputs may go, and advice that can be typed as it stands."""

import os
import subprocess
from pathlib import Path

import pytest

from goldrush.cli.options import Output
from goldrush.kernel.text import is_visible, quoted, quoted_path
from tests.cli.helpers import assert_refused, built_in, goldrush
from tests.mining import record
from tests.waiting import HANGS

# Every command that writes where it is told, up to the path.
FILES = {
    "new": ["new", "Harbour", "--out"],
    "record": ["record", "--rounds", "1", "--out"],
    "fork": ["fork", "a.journal", "--at", "1", "--out"],
    "report": ["report", "study", "--out"],
    "view": ["view", "a.journal", "--out"],
    "reask": ["reask", "a.journal", "--round", "1", "--out"],
    "interview": ["interview", "a.journal", "Why?", "--round", "1", "--out"],
}
FOLDERS = {
    "study": ["study", "--seeds", "1", "--rounds", "1", "--out"],
    "export": ["export", "a.journal", "--format", "csv", "--out"],
    "report --figures": ["report", "study", "--figures"],
    "report --tables": ["report", "study", "--tables"],
    "leaderboard --to": ["leaderboard", "a.journal", "--to"],
}


@pytest.mark.parametrize("command", [*FILES, *FOLDERS])
def test_standard_output_and_nothing_are_no_paths_to_write_at(tmp_path: Path, command: str) -> None:
    record(tmp_path / "a.journal", {"rounds": 2})
    arguments = (FILES | FOLDERS)[command]

    assert_refused(goldrush(*arguments, "-", cwd=tmp_path), arguments[-1], "./-")
    assert_refused(goldrush(*arguments, "", cwd=tmp_path), arguments[-1], "empty")
    assert ["a.journal"] == os.listdir(tmp_path)


@pytest.mark.parametrize("command", FILES)
def test_a_path_with_a_slash_behind_it_is_no_file(tmp_path: Path, command: str) -> None:
    record(tmp_path / "a.journal", {"rounds": 2})

    assert_refused(goldrush(*FILES[command], "x/", cwd=tmp_path), "x/", "folder")
    assert ["a.journal"] == os.listdir(tmp_path)


def test_every_output_is_one_of_these() -> None:
    """Or another command would take - for a name."""
    options = {
        (command, option)
        for command, found in built_in().items()
        for parameter in found.params
        if isinstance(parameter.type, Output)
        for option in parameter.opts
    }
    named = {
        (command, option)
        for command, found in built_in().items()
        for parameter in found.params
        for option in parameter.opts
        if option in ("--out", "--to", "--figures", "--tables")
    }

    assert options == named == {(words[0], words[-1]) for words in (FILES | FOLDERS).values()}


def test_a_file_that_is_called_so_can_be_written(tmp_path: Path) -> None:
    ran = goldrush("record", "--rounds", 1, "--out", "./-", cwd=tmp_path)

    assert (0, ["-"]) == (ran.code, os.listdir(tmp_path))


ODD = [
    "-x.journal", "a b", "it's", "new\nline", "\x1b[2J.journal", "-\n'\\.journal", "\udcff.journal",
    "ä\u202e.journal", "plain.journal", "$'a'", "`x`", "\u3164",
]  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_a_quoted_path_is_one_word_that_a_shell_reads_as_it_was(name: str) -> None:
    done = subprocess.run(
        ["bash", "-c", f"printf %s {quoted_path(name)}"],
        capture_output=True, timeout=HANGS, check=True,
    )  # fmt: skip

    assert os.path.normpath(os.fsdecode(done.stdout)) == name
    assert is_visible(quoted_path(name))
    assert is_visible(quoted(name))
    assert not quoted_path(name).startswith("-")


@pytest.mark.parametrize("name", ["-x.journal", "a\nb \x1b.journal", "\u202e'.journal"])
def test_what_is_suggested_of_an_odd_name_can_be_typed_as_it_stands(
    tmp_path: Path, name: str
) -> None:
    recorded = goldrush("record", "--rounds", 2, "--out", name, cwd=tmp_path)
    torn = (tmp_path / name).read_bytes()[:-3]
    (tmp_path / name).write_bytes(torn)
    said = [
        goldrush("verify", "--", name, cwd=tmp_path).out,
        goldrush("log", "--", name, cwd=tmp_path).err,
    ]
    suggested = [text.partition("`python -m goldrush ")[2].partition("` ")[0] for text in said]
    nexts = [line.partition("python -m goldrush ")[2] for line in recorded.out.splitlines()]

    for command in [one for one in [*nexts, *suggested] if one]:
        (tmp_path / name).write_bytes(torn)
        typed = subprocess.run(
            ["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, timeout=HANGS
        ).stdout
        words = [os.fsdecode(word) for word in typed.split(b"\0")[:-1]]
        [path] = [word for word in words if os.path.normpath(word) == name]
        assert path == name or path == f"./{name}"
        if words[0] in ("resume", "verify"):
            assert "no such file" not in goldrush(*words, cwd=tmp_path).err.lower()
    assert len(nexts) > 1
    assert all(suggested)
