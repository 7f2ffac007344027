"""What a terminal is shown: maps in colour, rounds one after the other."""

import re
from pathlib import Path

import pytest

from tests.cli.helpers import assert_refused, bars_after, goldrush, in_terminal
from tests.golden import path_of

COLOURED = re.compile(r"\x1b\[[0-9;]*m")
RESTORED = "\x1b[?1049l"  # the screen that was there before


@pytest.mark.parametrize(
    ("term", "codes"),
    [
        ("xterm-256color", r"(30|97);48;5;\d+"),
        ("xterm", r"(4;)?3[07];4[1-6]|1;4;36"),  # eight colours
        ("linux", r"(4;)?3[07];4[1-6]|1;4;36"),
    ],
)
def test_a_map_has_the_colours_of_its_legend(tmp_path: Path, term: str, codes: str) -> None:
    replay = ("replay", path_of("agents-20"), "--at", 20)
    piped = goldrush(*replay, cwd=tmp_path)
    shown = in_terminal(*replay, cwd=tmp_path, TERM=term)
    plain = in_terminal(*replay, cwd=tmp_path, NO_COLOR="1")
    cells = re.findall(r"\x1b\[([0-9;]+)m +(\d+)\x1b\[0m", shown.out)
    colour_of = {agent: colour for colour, agent in cells}

    assert (0, 0) == (shown.code, plain.code)
    assert piped.out == COLOURED.sub("", shown.out).replace("\r", "")
    assert piped.out == plain.out.replace("\r", "")
    assert 20 == len(colour_of) == len(set(cells))
    legend = piped.out.partition("\n\nowner")[0]
    policy_of = dict(re.findall(r"^ +(\d+)  (\S+)", legend, re.MULTILINE))
    colours = {(policy_of[agent], colour) for agent, colour in colour_of.items()}
    assert len({colour for _, colour in colours}) == len(colours)  # of one policy each
    assert all(re.fullmatch(codes, colour) for colour in colour_of.values())


def test_rounds_play_one_after_the_other_to_the_end(tmp_path: Path) -> None:
    play = ("replay", path_of("baseline"), "--play")
    ran = in_terminal(*play, "--at", 3, "--speed", 100, cwd=tmp_path)
    rounds = list(map(int, re.findall(r"round (\d+) of 20", ran.out.partition(RESTORED)[0])))

    assert 0 == ran.code
    assert list(range(3, 21)) == sorted(set(rounds)) == list(dict.fromkeys(rounds))
    assert "round 20 of 20" in ran.out.partition(RESTORED)[2]  # it stays
    assert_refused(goldrush(*play, cwd=tmp_path), "--play needs a terminal; leave it out")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--play", "--json"], "--play takes no --json, --brief or --table"),
        (["--play", "--brief"], "--play takes no --json, --brief or --table"),
        (["--play", "--table", 0], "--play takes no --json, --brief or --table"),
        (["--speed", 2], "--speed needs --play"),
        (["--play", "--speed", "nan"], "Invalid value for '--speed': nan is not a number"),
        (["--play", "--speed", "inf"], "inf is not in the range 0.1<=x<=100"),
        (["--play", "--speed", "fast"], "'fast' is not a valid number"),
    ],
)
def test_options_that_do_not_go_with_playing_are_refused(
    tmp_path: Path, options: list[object], says: str
) -> None:
    assert_refused(goldrush("replay", path_of("baseline"), *options, cwd=tmp_path), says)


def test_ctrl_c_ends_what_plays_and_leaves_the_terminal_as_it_was(tmp_path: Path) -> None:
    play = ("replay", path_of("baseline"), "--play", "--speed", 0.1)
    ran = in_terminal(*play, cwd=tmp_path, until=b"round 0 of 20")

    assert 0 == ran.code
    assert RESTORED in ran.out
    assert "Traceback" not in ran.out


def test_verify_shows_how_far_it_has_come_and_then_the_verdict(tmp_path: Path) -> None:
    journal = path_of("baseline")
    ran = in_terminal("verify", journal, cwd=tmp_path, **bars_after(0, tmp_path))
    size = journal.stat().st_size
    lines = [line.rpartition("\x1b[2K")[2] for line in ran.out.split("\r\n")]

    assert 0 == ran.code
    assert re.search(rf"bytes .*{size}/{size}", COLOURED.sub("", ran.out))
    assert any(line.startswith(f"{journal}: holds at levels 1 to 4") for line in lines)
    assert "bytes" not in goldrush("verify", journal, cwd=tmp_path).err
