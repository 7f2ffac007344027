"""Plugins are found by name, never in the place of what is built in, and none breaks another."""

import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from goldrush.agents.plugins import COMMANDS, WORLDS, PluginFailed, load_fault, plugins
from goldrush.agents.plugins import POLICIES as GROUP_OF_POLICIES
from goldrush.agents.plugins import installed as every
from goldrush.agents.trust import add_user_folder
from goldrush.agents.worlds.mining.roster import POLICY_SET
from goldrush.games.fishery import Fishery
from goldrush.kernel.errors import BadInput, UnsupportedJournal
from goldrush.replay.catalogue import policies as policies_in
from goldrush.replay.find import (
    NAMES,
    is_shipped_at,
    tools_for,
    tools_named,
    world_named,
    worlds,
)
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.verify import verify
from tests.cli.helpers import ROOT, Ran, assert_refused, cold, goldrush
from tests.golden import path_of
from tests.journals import commits_of, write
from tests.lessons import TOOLS, play
from tests.mining import fork, record, resume
from tests.plugins.canaries import Sharks
from tests.plugins.installed import dist_info

LESSONS = "tests.lessons:TOOLS"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path / "installed")
    return tmp_path / "installed"


def test_a_world_is_found_by_its_name_with_its_distribution(folder: Path) -> None:
    dist_info(folder, {WORLDS: {"lessons": LESSONS}}, "school", "2.1")
    [found] = plugins(WORLDS, NAMES)

    assert ("lessons", "school", "2.1") == (found.name, found.distribution, found.version)
    assert TOOLS is tools_named("lessons")
    assert ["mining", "competition", "episode", "program", "lessons"] == worlds()


def test_a_game_has_the_name_of_an_installed_world_only_if_it_is_that_world(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goldrush.agents.given._GIVEN", {})
    dist_info(folder, {WORLDS: {"sharks": "tests.plugins.canaries:Sharks"}})
    other = type("Sharks", (Fishery,), {})

    assert "sharks" == world_named("tests.plugins.canaries:Sharks") == world_named(Sharks)
    with pytest.raises(BadInput, match="a world called sharks, which is installed"):
        world_named(other)


def test_a_plugin_takes_no_name_that_is_built_in(folder: Path) -> None:
    before = tools_for("mining")
    dist_info(folder, {WORLDS: {"mining": LESSONS}})

    assert before is tools_for("mining")
    assert [] == plugins(WORLDS, NAMES)


def test_one_name_of_two_distributions_is_refused_and_no_other(folder: Path) -> None:
    dist_info(folder, {WORLDS: {"lessons": LESSONS}}, "one")
    dist_info(folder, {WORLDS: {"lessons": "tests.lessons:LESSONS"}}, "two")

    with pytest.raises(PluginFailed, match="both one and two provide it"):
        tools_named("lessons")
    assert tools_named("mining") is not None


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("no_such_module:TOOLS", "ModuleNotFoundError"),
        ("tests.lessons:CAST", "tests.lessons:CAST is of type list"),
        ("tests.games.fisheries:Unplayable", "policy listed has a setting of \\[1, 2\\]"),
        ("goldrush.games.fishery:Fishery", "its world is named 'fishery'"),
    ],
)
def test_a_plugin_that_cannot_be_used_breaks_no_other_world(
    folder: Path, tmp_path: Path, value: str, says: str
) -> None:
    dist_info(folder, {WORLDS: {"lessons": value}})
    journal = play(tmp_path / "a.journal")

    with pytest.raises(BadInput, match=f"plugin lessons cannot be used: .*{says}"):
        rebuild(journal, 0)
    [found] = plugins(WORLDS, NAMES)
    assert re.search(says, load_fault(found, lambda one: tools_named(one.name)) or "")
    assert 1 == rebuild(path_of("scarce"), 1).round


@pytest.mark.parametrize("name", ["Lessons", "1st", "x" * 33, "a/b/c"])
def test_a_malformed_name_is_no_plugin(folder: Path, name: str) -> None:
    dist_info(folder, {WORLDS: {name: LESSONS}})
    [found] = every(WORLDS)

    assert [] == plugins(WORLDS)
    assert load_fault(found, bool) is not None


def test_names_that_cannot_be_used_are_listed_with_the_reason(folder: Path) -> None:
    named = {"mining/raid": "x:Y", "mining/llm": "x:Y", "idle": "x:Y", "mining/no": "no_such:Y"}
    dist_info(folder, {WORLDS: {"mining": LESSONS}, GROUP_OF_POLICIES: named})
    dist_info(folder, {COMMANDS: {"record": "x:y"}}, "two")
    ran = goldrush("plugins", cwd=folder, PYTHONPATH=f"{folder}:{ROOT}")
    reasons = {name: rest for name, *rest in map(str.split, ran.out.splitlines())}

    assert (1, "") == (ran.code, ran.err)
    for name in ("mining", "mining/raid", "mining/llm", "record"):
        assert ["own"] == reasons[name][-1:]
    assert "WORLD/NAME," in reasons["idle"]
    assert "'no_such'" in reasons["mining/no"]


@pytest.mark.parametrize("text", [b"[goldrush.worlds]\nno equals sign\n", b"[x]\n\xff = y\n"])
def test_entry_points_that_cannot_be_read_hide_no_others(folder: Path, text: bytes) -> None:
    dist_info(folder, {WORLDS: {"lessons": LESSONS}}, "school")
    dist_info(folder, {}, "broken")
    (folder / "broken-1.2.dist-info" / "entry_points.txt").write_bytes(text)

    assert ["lessons"] == [found.name for found in plugins(WORLDS)]


@pytest.fixture(scope="module")
def raising(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the world `raising` is installed, which fails as named."""
    folder = tmp_path_factory.mktemp("raising")
    (folder / "raising.py").write_text(RAISING)
    dist_info(folder, {WORLDS: {"raising": "raising:TOOLS"}})
    return folder


def with_packages(folder: Path, *arguments: str, cwd: Path, **env: str) -> Ran:
    """Run a command that finds the packages of a folder: in a new process, because one that forks
    has first to load everything.
    """
    return cold(*arguments, cwd=cwd, env={"PYTHONPATH": f"{folder}:{ROOT}", **env})


@pytest.fixture
def run(raising: Path, tmp_path: Path) -> Callable[[str, str], Ran]:
    """Runs a line of commands in that world."""
    return lambda line, fails: with_packages(raising, *line.split(), cwd=tmp_path, FAILS=fails)


@pytest.mark.parametrize(
    ("fails", "says"),
    [
        ("decide", "raising.py:9: KeyError"),
        ("stop", "raising.py:13: StopIteration"),
        ("exit", "raising.py:15: SystemExit"),
    ],
)
def test_what_a_world_of_a_distribution_does_wrong_is_one_line(
    fails: str, says: str, run: Callable[[str, str], Ran]
) -> None:
    assert_refused(run("record --world raising --out failed.journal", fails), says)
    assert 0 == run("record --world raising --out a.journal", "").code
    judged = run("verify --traceback a.journal", fails)
    *traceback, line = judged.err.splitlines()

    assert (2, "") == (judged.code, judged.out)
    assert line.startswith("goldrush: a.journal: cannot be judged: ")
    assert says in line
    assert traceback[0].startswith("Traceback (most recent call last):")


def test_a_whole_float_is_not_recorded(run: Callable[[str, str], Ran]) -> None:
    ran = run("record --world raising --out a.journal", "amount")

    assert_refused(ran, "season 1: landed.fish: real number expected, found 24.0")


RAISING = """
import os
from msgspec.structs import replace
from goldrush.replay.simultaneous import SimultaneousTools
from tests.bench.commons_by_hand import COMMONS, CommonsConfig, CommonsPlayers

def decide(state, inputs):
    if os.environ["FAILS"] == "decide":
        raise KeyError("slipped")
    if os.environ["FAILS"] == "amount":
        return [(1, [(0, 24.0)])]
    if os.environ["FAILS"] == "stop":
        next(iter(()))
    if os.environ["FAILS"] == "exit":
        raise SystemExit(0)
    return COMMONS.decide(state, inputs)

WORLD = replace(COMMONS, name="raising", decide=decide)

class RaisingPlayers(CommonsPlayers):
    world = WORLD
    policy_set = replace(CommonsPlayers.policy_set, world="raising")

TOOLS = SimultaneousTools(RaisingPlayers(), CommonsConfig)
"""


@pytest.mark.parametrize(
    ("allowed", "known"), [("", False), ("other", False), ("x, lessons", True)]
)
def test_plugins_are_allowed_by_the_environment(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: str, known: bool
) -> None:
    dist_info(folder, {WORLDS: {"lessons": LESSONS}})
    monkeypatch.setenv("GOLDRUSH_PLUGINS", allowed)
    journal = play(tmp_path / "a.journal")

    if known:
        assert 0 == rebuild(journal, 0).round
    else:
        with pytest.raises(UnsupportedJournal, match="world 'lessons'; this goldrush plays mining"):
            rebuild(journal, 0)


# Policies.


@pytest.fixture
def policies(folder: Path) -> None:
    entry = "tests.plugins.policies:"
    named = {"mining/idle": f"{entry}Idle", "mining/raid": entry}
    dist_info(folder, {GROUP_OF_POLICIES: {**named, "lessons/idle": f"{entry}Idle"}}, "lazy", "3")


def test_policies_that_cannot_be_used_are_told_and_not_listed(folder: Path, tmp_path: Path) -> None:
    entry = "tests.plugins.policies:"
    reserved = {f"mining/{name}": "imported:No" for name in ("llm", "recorded", "human", "raid")}
    unusable = {"mining/none": f"{entry}NONE", "mining/twice": "imported:No"}
    usable = {"mining/idle": f"{entry}Idle"}
    dist_info(folder, {GROUP_OF_POLICIES: {**reserved, **usable, **unusable}}, "one")
    dist_info(folder, {GROUP_OF_POLICIES: {"mining/twice": "imported:No"}}, "two")
    (folder / "imported.py").write_text("open('imported', 'w')")
    ran = with_packages(folder, "policies", "--json", cwd=tmp_path)
    listed = [one["policy"] for one in json.loads(ran.out)]
    with pytest.warns(UserWarning, match="cannot be used") as warned:
        of_library = list(policies_in())

    assert (1, of_library) == (ran.code, listed)
    assert {"idle"} == {"idle", "none", "twice", "llm", "recorded"} & set(listed)
    assert [] == list(tmp_path.glob("imported"))
    assert [f"goldrush: {one.message}" for one in warned] == ran.err.splitlines()
    assert 2 == len(warned)


@pytest.mark.usefixtures("policies")
def test_a_policy_of_a_distribution_plays_and_is_asked_again(tmp_path: Path) -> None:
    record(tmp_path / "a.journal", {"rounds": 3}, "idle*2,raid")
    verdict = verify(tmp_path / "a.journal")

    assert {"idle"} == set(POLICY_SET.installed())
    assert (4, True, ()) == (verdict.level, verdict.holds, verdict.not_asked)


@pytest.mark.usefixtures("policies")
def test_runs_with_a_policy_of_a_distribution_are_verified_in_processes_of_their_own(
    tmp_path: Path,
) -> None:
    rosters = {"added": "raid,idle", "shipped": "raid,random"}
    for name, roster in rosters.items():
        record(tmp_path / name, {"rounds": 1}, roster)
    for name, roster in rosters.items():
        fork(tmp_path / "shipped", 0, tmp_path / f"forked-{name}", roster=roster)
    names = ("added", "shipped", "forked-added", "forked-shipped")

    assert [False, True, False, True] == [is_shipped_at(tmp_path / name) for name in names]


@pytest.mark.usefixtures("policies")
def test_where_it_is_not_installed_its_runs_cannot_be_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(tmp_path / "a.journal", {"rounds": 3}, "idle*2,raid")
    monkeypatch.setenv("GOLDRUSH_PLUGINS", "")
    verdict = verify(tmp_path / "a.journal")

    assert (3, None) == (verdict.level, verdict.holds)
    assert "agent 0 plays 'idle'" in verdict.unknown
    with pytest.raises(BadInput, match="there is no policy 'idle'"):
        record(tmp_path / "b.journal", {"rounds": 3}, "idle*2,raid")


@pytest.mark.usefixtures("policies")
@pytest.mark.parametrize(
    ("version", "entry", "says"),
    [
        ("4", "tests.plugins.policies:Idle", "was of lazy 3, here it is of lazy 4"),
        ("3", "no_such_module:Idle", "ModuleNotFoundError"),
    ],
)
def test_another_version_of_it_or_one_that_fails_neither_judges_nor_goes_on(
    folder: Path, tmp_path: Path, version: str, entry: str, says: str
) -> None:
    record(tmp_path / "whole.journal", {"rounds": 3}, "idle*2,raid")
    journal = write(tmp_path / "a.journal", commits_of(tmp_path / "whole.journal")[:-2])
    shutil.rmtree(folder)
    dist_info(folder, {GROUP_OF_POLICIES: {"mining/idle": entry}}, "lazy", version)
    verdict = verify(journal)

    assert (3, None) == (verdict.level, verdict.holds)
    assert says in verdict.unknown[0]
    before = journal.read_bytes()
    for go_on in (lambda: resume(journal), lambda: fork(journal, 1, tmp_path / "f.journal")):
        with pytest.raises(BadInput, match=re.escape(says)):
            go_on()
    assert before == journal.read_bytes()
    assert not (tmp_path / "f.journal").exists()


def test_metadata_in_the_folder_of_ones_own_policies_is_no_plugin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dist_info(tmp_path, {WORLDS: {"lessons": LESSONS}})
    monkeypatch.setattr("sys.path", [*sys.path])
    add_user_folder(str(tmp_path))

    assert [] == plugins(WORLDS, NAMES)
    sys.path[:] = map(str, [*sys.path[:-1], tmp_path])  # a folder of whatever there is
    assert ["lessons"] == [found.name for found in plugins(WORLDS, NAMES)]


def test_a_command_that_leaves_with_a_text_is_told_in_it(folder: Path, tmp_path: Path) -> None:
    dist_info(folder, {COMMANDS: {"leave": "leaver:leave"}})
    (folder / "leaver.py").write_text(
        "import sys, click\n@click.command()\ndef leave():\n    sys.exit('enough')\n"
    )
    ran = with_packages(folder, "leave", cwd=tmp_path)

    assert (1, "", "enough\n") == (ran.code, ran.out, ran.err)


def test_a_world_that_cannot_be_loaded_hides_no_journal_of_another_one(
    folder: Path, tmp_path: Path
) -> None:
    dist_info(folder, {WORLDS: {"lessons": "halves:TOOLS"}})
    (folder / "halves.py").write_text("def half(:\n")
    play(tmp_path / "b.journal")
    shutil.copy(path_of("baseline"), tmp_path / "a.journal")
    ls, verify_, measure = (
        with_packages(folder, command, ".", cwd=tmp_path) for command in ("ls", "verify", "measure")
    )
    failed = "plugin lessons cannot be used: "

    assert ["mining", "lessons"] == [line.split()[1] for line in ls.out.splitlines()[1:]]
    assert (0, 1, 1) == (ls.code, ls.err.count(failed), verify_.err.count(failed))
    assert "1 hold, 0 do not, 1 could not be judged" in verify_.out
    assert f"./b.journal: {failed}" in verify_.err
    assert_refused(measure, f"./b.journal: {failed}")
