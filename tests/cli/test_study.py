"""`goldrush study`: what it writes, what it says, what it refuses, and how it stops."""

import json
import os
import shlex
import signal
from pathlib import Path

import pytest

from goldrush.kernel.worlds.mining.treatments import TREATMENTS
from goldrush.replay.study.manifest import read_manifest
from goldrush.replay.study.study import study
from tests.cli.helpers import assert_refused, begun, goldrush
from tests.journals import tree
from tests.waiting import HANGS, until, until_gone

SMALL = [
    "study", "--treatment", "baseline", "--treatment", "scarce", "--roster", "random", "--roster",
    "raid*10", "--seeds", "2", "--rounds", "5", "--out", "a study",
]  # fmt: skip


def test_journals_that_are_not_those_of_the_manifest_are_told(tmp_path: Path) -> None:
    goldrush(*SMALL, cwd=tmp_path)
    cell = tmp_path / "a study/scarce/random/rounds-5"
    other = tmp_path / "a study/baseline/random/rounds-5/seed-0001.journal"
    (cell / "seed-0001.journal").write_bytes(other.read_bytes())
    (cell / "seed-0000.journal").rename(cell / "seed-0007.journal")
    ran = goldrush("verify", "a study", "--json", cwd=tmp_path)
    faults = {
        Path(each["path"]).name: each["faults"][0]
        for each in json.loads(ran.out)
        if not each["holds"]
    }

    assert 1 == ran.code
    assert ["seed-0000.journal", "seed-0001.journal", "seed-0007.journal"] == sorted(faults)
    assert "missing" in faults["seed-0000.journal"]
    assert "lists a journal of SHA-256" in faults["seed-0001.journal"]
    assert "does not list it" in faults["seed-0007.journal"]
    for command in (["measure", "a study"], ["export", "a study", "--format=csv", "--out=t"]):
        warned = goldrush(*command, cwd=tmp_path)

        assert (0, 2) == (warned.code, warned.err.count("warning: ")), warned.err


def test_only_manifests_of_studies_are_compared_and_without_their_worlds(tmp_path: Path) -> None:
    goldrush(*SMALL, cwd=tmp_path)
    (tmp_path / "a study/site").mkdir()
    (tmp_path / "a study/site/manifest.json").write_text('{"name": "a page", "runs": 3}')
    (tmp_path / "a study/scarce/manifest.json").write_text("no JSON")
    manifest = tmp_path / "a study/manifest.json"
    manifest.write_text(manifest.read_text().replace('"world": "mining"', '"world": "elsewhere"'))
    ran = goldrush("verify", "a study", "--level", 1, cwd=tmp_path)
    measured = goldrush("measure", "a study", cwd=tmp_path)

    assert (0, "") == (ran.code, ran.err)
    assert (0, "") == (measured.code, measured.err)


@pytest.mark.parametrize("what", ["other text", "a page's", "cut off", "no runs", "a folder"])
def test_a_destroyed_manifest_does_not_end_the_check_of_a_study(tmp_path: Path, what: str) -> None:
    goldrush(*SMALL, cwd=tmp_path)
    manifest = tmp_path / "a study/manifest.json"
    text = manifest.read_text()
    texts = {
        "other text": "x",
        "a page's": '{"name": "a page"}',
        "cut off": text[:-9],
        "no runs": text.replace(' "runs"', ' "cells"'),
    }
    manifest.unlink()
    if what == "a folder":
        manifest.mkdir()
    else:
        manifest.write_text(texts[what])
    ran = goldrush("verify", "a study", "--level", 1, cwd=tmp_path)

    assert 2 == ran.code
    assert 1 == len(ran.err.splitlines())
    assert "a study/manifest.json" in ran.err
    last = "8 journals: 8 hold, 0 do not, 0 could not be judged; 1 manifest cannot be read"
    assert last == ran.out.splitlines()[-1]


def test_a_manifest_that_was_cut_off_is_told_where_no_run_is_in_its_place(tmp_path: Path) -> None:
    goldrush(*SMALL, cwd=tmp_path)
    for number, journal in enumerate((tmp_path / "a study").rglob("*.journal")):
        journal.rename(tmp_path / f"a study/{number}.journal")
    manifest = tmp_path / "a study/manifest.json"
    manifest.write_text(manifest.read_text()[:-9])
    ran = goldrush("verify", "a study", cwd=tmp_path)

    assert (2, True) == (ran.code, "is not the manifest of a study" in ran.err)


def test_a_plan_that_names_code_is_played_where_the_same_is_typed(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(
        "import pathlib\nfrom goldrush.games.fishery import Fishery\n"
        "pathlib.Path('ran').touch()\nclass Own(Fishery):\n    pass\n"
    )
    (tmp_path / "plan.toml").write_text(
        "world = 'own.py'\ntreatments = 'baseline'\nrosters = 'share*2'\nseeds = 1\nseasons = 2\n"
    )
    ran = goldrush("study", "plan.toml", "--out", "out", cwd=tmp_path)

    assert_refused(ran, "plan.toml: the world 'own.py' is user-defined code", "--world own.py")
    assert ["own.py", "plan.toml"] == sorted(os.listdir(tmp_path))
    of = ("--world", "own.py")
    ran = goldrush("study", "plan.toml", *of, "--out", "out", cwd=tmp_path)
    assert 0 == ran.code, ran.err
    assert 0 == goldrush("verify", "out", *of, cwd=tmp_path).code
    other = goldrush("study", "plan.toml", "--world", "mining", "--out", "other", cwd=tmp_path)
    assert_refused(other, "its world is 'own.py', and another was given", "--world own.py")


def test_a_manifest_lists_each_run_of_its_plan_once(tmp_path: Path) -> None:
    goldrush(*SMALL, cwd=tmp_path)
    manifest = tmp_path / "a study/manifest.json"
    table = json.loads(manifest.read_text())
    first, second, *_, last = table["runs"]
    (tmp_path / "a study" / last["path"]).unlink()
    for runs, fault in (
        ([], "its plan has 8 runs, and it lists 0"),
        (table["runs"][:-1], "its plan has 8 runs, and it lists 7"),
        ([*table["runs"][:-1], second], f"it lists {second['path']} twice"),
        ([*table["runs"][:-1], second | {"path": f"./{first['path']}"}], "twice"),
    ):
        manifest.write_text(json.dumps({**table, "runs": runs}))
        ran = goldrush("verify", "a study", cwd=tmp_path)

        assert 1 == ran.code
        assert fault in ran.out
        assert ran.out.endswith("; 1 manifest not as planned\n")
        assert fault in goldrush("measure", "a study", cwd=tmp_path).err


def test_options_and_a_file_that_says_the_same_give_the_same_folder(tmp_path: Path) -> None:
    """On the command line and in Python; a treatment of the file stands under its name, and `all`
    stands for it, too.
    """
    (tmp_path / "plan.toml").write_text(
        'treatments = ["dense", "scarce"]\nrosters = ["random", "mixed"]\nseeds = [0, 1, 5]\n'
        "rounds = [3, 4]\n[settings]\ntruce = 2\n[treatment.dense]\nrows = 4\nfine = 5.0\n"
    )
    dense = ("--treatment", "plan.toml:dense")
    more = ("--roster", "random", "--rounds", 3, "--set", "truce=2", "--seeds")
    goldrush("study", "plan.toml", "--out", "a", "--jobs", 1, cwd=tmp_path)
    ran = goldrush(
        "study", *dense, "--treatment", "scarce", *more, "0-1,5", "--roster", "mixed",
        "--rounds", 4, "--out", "b", "--jobs", 2, cwd=tmp_path,
    )  # fmt: skip
    every = goldrush(
        "study", *dense, "--treatment", "all", *more, 1, "--out", "c", "--json", cwd=tmp_path
    )
    study(
        tmp_path / "d", treatments=[f"{tmp_path}/plan.toml:dense", "scarce"],
        rosters=["random", "mixed"], seeds=[0, 1, 5], rounds=[3, 4], truce=2,
    )  # fmt: skip

    assert (0, 0) == (ran.code, every.code), ran.err
    assert 24 == len(read_manifest(tmp_path / "a").runs)
    assert tree(tmp_path / "a") == tree(tmp_path / "b") == tree(tmp_path / "d")
    assert json.loads(every.out)["runs"] == 1 + len(TREATMENTS)


def test_two_ways_of_sharing_the_work_are_refused(tmp_path: Path) -> None:
    both = ("--jobs", 1, "--dask", "x:1")

    assert_refused(goldrush("study", *both, "--out", "x", cwd=tmp_path), "--jobs and --dask")
    assert [] == os.listdir(tmp_path)


BROKEN = """
class Broken:
    def plan(self, seen, draws):
        if seen.round == 3 and not __import__("os").path.exists("ready"):
            print("what a policy prints")
            raise RuntimeError("cannot go on \\x1b[2J")
        return []
"""


def test_a_run_that_fails_is_named_and_the_command_that_is_printed_goes_on(
    tmp_path: Path,
) -> None:
    (tmp_path / "mine.py").write_text(BROKEN)
    ran = goldrush(
        "study", "--treatment", "baseline", "--roster", "random", "--roster", "mine:Broken*2",
        "--seeds", 1, "--rounds", 4, "--out", "a study", "--json", cwd=tmp_path,
    )  # fmt: skip
    printed, line = ran.err.splitlines()
    command = shlex.split(line.rpartition("`python -m goldrush ")[2].partition("`")[0])
    (tmp_path / "ready").touch()

    assert (2, "", "what a policy prints") == (ran.code, ran.out, printed)
    assert "baseline/mine_Broken_2/rounds-4/seed-0000.journal: policy mine:Broken" in line
    assert "RuntimeError: cannot go on \\x1b[2J" in line
    assert "what is finished is kept; mend your code and give another folder (--out)" in line
    again = goldrush(*command, cwd=tmp_path)

    assert (0, 1) == (again.code, json.loads(again.out)["kept"])


# Whose runs do not end while there is a file `hold`, once others have ended.
HELD = """
from pathlib import Path
from time import sleep

class Held:
    def plan(self, seen, draws):
        while Path("hold").exists() and len(list(Path().rglob("*.journal"))) >= 3:
            sleep(0.005)
        return [("claim", plot, 1) for plot in seen.unowned[:1]]
"""


@pytest.mark.turns
@pytest.mark.parametrize("whom", ["all", "the first"])
def test_ctrl_c_says_what_to_type_and_that_ends_in_the_same_folder(
    tmp_path: Path, whom: str
) -> None:
    (tmp_path / "held.py").write_text(HELD)
    (tmp_path / "hold").touch()
    arguments = [
        "study", "--treatment", "baseline", "--roster", "held:Held*2", "--seeds", "9", "--rounds",
        "9", "--out", "a study",
    ]  # fmt: skip
    process, _ = begun(tmp_path, *arguments, MARK=str(tmp_path))
    try:
        until(lambda: len(list(tmp_path.rglob("*.journal"))) >= 3)
        if whom == "all":  # as a terminal does
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=HANGS)
    finally:
        process.kill()

    assert (130, "") == (process.returncode, out)
    assert ["stopped: what is finished is kept; `python -m goldrush study --treatment baseline "
            "--roster 'held:Held*2' --seeds 9 --rounds 9 --out 'a study'` continues the study"
            ] == err.splitlines()  # fmt: skip
    until_gone(str(tmp_path))
    (tmp_path / "hold").unlink()
    command = shlex.split(err.rpartition("`python -m goldrush ")[2].partition("`")[0])
    again = goldrush(*command, "--json", cwd=tmp_path)
    goldrush(*arguments[:-1], "whole", cwd=tmp_path)

    assert (0, "") == (again.code, again.err)
    assert 3 <= json.loads(again.out)["kept"] < 9
    assert tree(tmp_path / "whole") == tree(tmp_path / "a study")
