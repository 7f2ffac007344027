"""Plugins are found by name, never in the place of what is built in, and none breaks another."""

import json
import re
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from goldrush.agents.plugins import COMMANDS, WORLDS, PluginFailed, load_fault, plugins, unreadable
from goldrush.agents.plugins import POLICIES as GROUP_OF_POLICIES
from goldrush.agents.plugins import installed as every
from goldrush.agents.trust import add_user_folder
from goldrush.agents.worlds.mining.roster import POLICY_SET
from goldrush.cli.main import cli
from goldrush.games.fishery import Fishery
from goldrush.kernel.errors import BadInput, PolicyFailed, UnsupportedJournal
from goldrush.replay.catalogue import policies as policies_in
from goldrush.replay.find import (
    NAMES,
    distribution_of,
    installed,
    is_shipped_at,
    tools_for,
    tools_named,
    world_given,
    worlds,
)
from goldrush.replay.game.tools import tools_of_game
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
    assert ["mining", "competition", "episode", "lessons"] == worlds()


def test_an_entry_point_can_be_the_class_of_a_game(folder: Path) -> None:
    dist_info(folder, {WORLDS: {"sharks": "tests.plugins.canaries:Sharks"}}, "school", "2.1")

    assert tools_of_game(Sharks) is tools_named("sharks")
    assert "school 2.1" == distribution_of("sharks")


def test_a_game_has_the_name_of_an_installed_world_only_if_it_is_that_world(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goldrush.agents.given._GIVEN", {})
    dist_info(folder, {WORLDS: {"sharks": "tests.plugins.canaries:Sharks"}})
    other = type("Sharks", (Fishery,), {})

    assert "sharks" == world_given("tests.plugins.canaries:Sharks") == world_given(Sharks)
    with pytest.raises(BadInput, match="a world called sharks, which is installed"):
        world_given(other)


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
        ("tests.lessons:NOTHING", "AttributeError"),
        ("tests.lessons:CAST", "tests.lessons:CAST is of type list"),
        ("goldrush:Game", "goldrush:Game is of type _GameType"),
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
    [found] = installed()
    assert re.search(says, load_fault(found, lambda one: tools_named(one.name)) or "")
    assert 1 == rebuild(path_of("scarce"), 1).round


@pytest.mark.parametrize("name", ["Lessons", "1st", "a_b", "x" * 33, "a/b/c", "-x"])
def test_a_malformed_name_is_no_plugin(folder: Path, name: str) -> None:
    dist_info(folder, {WORLDS: {name: LESSONS}})
    [found] = every(WORLDS)

    assert [] == plugins(WORLDS)
    assert "a name has 1 to 32 characters of a-z, 0-9 and -, the first a letter" == load_fault(
        found, bool
    )


def test_names_that_cannot_be_used_are_listed_with_the_reason(folder: Path) -> None:
    named = {"mining/raid": "x:Y", "mining/llm": "x:Y", "idle": "x:Y", "mining/no": "no_such:Y"}
    dist_info(folder, {WORLDS: {"mining": LESSONS}, GROUP_OF_POLICIES: named})
    dist_info(folder, {COMMANDS: {"record": "x:y"}}, "two")
    ran = goldrush("plugins", cwd=folder, PYTHONPATH=f"{folder}:{ROOT}")
    listed = {line.split()[0]: line for line in ran.out.splitlines()}

    assert (1, "") == (ran.code, ran.err)
    for name in ("mining", "mining/raid", "mining/llm", "record"):
        assert listed[name].endswith("the name is one of goldrush's own")
    assert "WORLD/NAME" in listed["idle"]
    assert "No module named 'no_such'" in listed["mining/no"]


@pytest.mark.parametrize("text", [b"[goldrush.worlds]\nno equals sign\n", b"[x]\n\xff = y\n"])
def test_entry_points_that_cannot_be_read_hide_no_others(folder: Path, text: bytes) -> None:
    dist_info(folder, {WORLDS: {"lessons": LESSONS}}, "school")
    dist_info(folder, {}, "broken")
    (folder / "broken-1.2.dist-info" / "entry_points.txt").write_bytes(text)

    assert ["lessons"] == [found.name for found in plugins(WORLDS)]
    assert ["broken"] == [name for name, _ in unreadable()]


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


def test_what_a_world_of_a_distribution_raises_is_one_line(
    run: Callable[[str, str], Ran],
) -> None:
    recorded = run("record --world raising --traceback --out failed.journal", "decide")
    traceback, _, line = recorded.err.rstrip("\n").rpartition("\n")

    assert line.startswith("goldrush: plugin package raising raised decide, raising.py:9: KeyErr")
    assert traceback.startswith("Traceback (most recent call last):")
    assert 'raise KeyError("slipped")' in traceback

    assert 0 == run("record --world raising --out a.journal", "").code
    replayed = run("replay --round 3 a.journal", "evolve")
    assert_refused(
        replayed,
        "plugin package raising raised evolve, raising.py:20: KeyError: 'slipped'; code of the "
        "raising world failed in season 1, commit 1 at byte",
    )
    assert "goldrush verify --traceback` of the journal" in replayed.err
    for fails in ("decide", "evolve"):
        judged = run("verify --traceback a.journal", fails)
        traceback, _, line = judged.err.rstrip("\n").rpartition("\n")

        assert (2, "") == (judged.code, judged.out)
        assert line.startswith(f"goldrush: a.journal: cannot be judged: {fails}, raising.py:")
        assert "code of the raising world failed in season 1, commit 1 at byte" in line
        assert 'raise KeyError("slipped")' in traceback


def test_what_ends_a_generator_or_the_process_is_told_as_any_other_bug_of_a_world(
    run: Callable[[str, str], Ran],
) -> None:
    stopped = run("record --world raising --out failed.journal", "stop")

    assert_refused(stopped, "plugin package raising raised decide, raising.py:13: StopIteration")
    ended = run("record --world raising --out ended.journal", "exit")
    assert_refused(ended, "decide, raising.py:15: SystemExit: 0; correct it")
    assert 0 == run("record --world raising --out a.journal", "").code
    for fails, what in (("stop", "StopIteration"), ("exit", "SystemExit: 0")):
        judged = run("verify a.journal", fails)

        assert (2, "") == (judged.code, judged.out)
        assert "a.journal: cannot be judged: decide, raising.py:" in judged.err
        assert what in judged.err


def test_a_whole_float_is_not_recorded_and_the_message_has_the_cure(
    run: Callable[[str, str], Ran],
) -> None:
    ran = run("record --world raising --out a.journal", "amount")

    assert_refused(
        ran,
        "a.journal: season 1: landed.fish: real number expected, found 24.0; 24.0 must be stored "
        "as the integer 24 (wrap amounts in `amount()`)",
    )
    for command in ("verify a.journal", "log a.journal", "resume a.journal", "replay a.journal"):
        assert 0 == run(command, "").code


RAISING = """
import os
import attrs
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

def evolve(state, block):
    if os.environ["FAILS"] == "evolve":
        raise KeyError("slipped")
    return COMMONS.evolve(state, block)

WORLD = attrs.evolve(COMMONS, name="raising", decide=decide, evolve=evolve)

class RaisingPlayers(CommonsPlayers):
    world = WORLD
    policy_set = attrs.evolve(CommonsPlayers.policy_set, world="raising")

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


def test_a_plugin_brings_the_world_of_its_name(folder: Path) -> None:
    dist_info(folder, {WORLDS: {"courses": LESSONS}})

    with pytest.raises(PluginFailed, match="its world is named 'lessons'"):
        tools_named("courses")


# Policies.


@pytest.fixture
def policies(folder: Path) -> None:
    entry = "tests.plugins.policies:"
    named = {"mining/idle": f"{entry}Idle", "mining/rude": f"{entry}Rude", "mining/raid": entry}
    dist_info(folder, {GROUP_OF_POLICIES: {**named, "lessons/idle": f"{entry}Idle"}}, "lazy", "3")


@pytest.mark.usefixtures("policies")
def test_the_shell_completes_policies_of_distributions() -> None:
    shell = ShellComplete(cli, {}, "goldrush", "_GOLDRUSH_COMPLETE")
    found = shell.get_completions(["record", "--roster"], "raid*2,i")

    assert ["raid*2,idle"] == [item.value for item in found]


def test_policies_that_cannot_be_used_are_told_and_not_listed(folder: Path, tmp_path: Path) -> None:
    entry = "tests.plugins.policies:"
    reserved = {f"mining/{name}": "imported:No" for name in ("llm", "recorded", "human", "raid")}
    usable = {"mining/idle": f"{entry}Idle"}
    unusable = {"mining/none": f"{entry}NONE", "mining/twice": "imported:No"}
    dist_info(folder, {GROUP_OF_POLICIES: {**reserved, **usable, **unusable}}, "one")
    dist_info(folder, {GROUP_OF_POLICIES: {"mining/twice": "imported:No"}}, "two")
    (folder / "imported.py").write_text("open('imported', 'w')")
    ran = with_packages(folder, "policies", cwd=tmp_path)
    as_json = with_packages(folder, "policies", "--json", cwd=tmp_path)
    listed = [one["policy"] for one in json.loads(as_json.out)]
    none, twice = ran.err.splitlines()

    assert (1, 1, ran.err) == (ran.code, as_json.code, as_json.err)
    assert f"mining/none cannot be used: {entry}NONE is of type NoneType" in none
    assert "mining/twice' cannot be used: both one and two provide it" in twice
    assert "idle" in listed
    assert not {"none", "twice", "llm", "recorded"} & set(listed)
    assert [] == list(tmp_path.glob("imported"))
    with pytest.warns(UserWarning, match="cannot be used") as warned:
        of_library = list(policies_in())
    assert listed == of_library
    assert [f"goldrush: {one.message}" for one in warned] == ran.err.splitlines()


@pytest.mark.usefixtures("policies")
def test_a_policy_of_a_distribution_plays_and_is_asked_again(tmp_path: Path) -> None:
    record(tmp_path / "a.journal", {"rounds": 3}, "idle*2,raid")
    verdict = verify(tmp_path / "a.journal")

    assert {"idle", "rude"} == set(POLICY_SET.installed())
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
        ("3", "tests.plugins.policies:NoPlan", "has no method plan"),
        (
            "3",
            "tests.plugins.policies:Unmade",
            "cannot be made: Unmade.__init__, policies.py:28: Zero",
        ),
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
    with ProcessPoolExecutor(1, get_context("spawn"), _take_over, [list(sys.path)]) as other:
        assert [] == other.submit(_names_found).result()
    sys.path[:] = map(str, [*sys.path[:-1], tmp_path])  # a folder of whatever there is
    assert ["lessons"] == _names_found()


def _take_over(path: list[str]) -> None:
    sys.path[:] = path


def _names_found() -> list[str]:
    return [found.name for found in plugins(WORLDS, NAMES)]


@pytest.mark.usefixtures("policies")
def test_its_answers_are_checked_as_anybodys(tmp_path: Path) -> None:
    with pytest.raises(PolicyFailed, match="policy rude of agent 0 failed in round 1"):
        record(tmp_path / "a.journal", {"rounds": 3}, "rude")


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
