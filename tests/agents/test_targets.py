"""What is given to be run: a game, or whatever else can be called."""

import sys

import pytest

from goldrush.agents import given
from goldrush.kernel.errors import BadInput
from goldrush.replay.find import world_named


@pytest.fixture(autouse=True)
def nothing_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldrush.agents.given._GIVEN", {})
    monkeypatch.setattr("goldrush.agents.given._MAKERS", {})
    monkeypatch.setattr(sys, "path", [*sys.path])


def test_what_makes_an_environment_is_told_from_a_game(tmp_path, capsys) -> None:
    maker, game = tmp_path / "its_maker.py", tmp_path / "its_game.py"
    maker.write_text("print('run')\nclass make(int): pass\n")
    game.write_text("from goldrush.games.fishery import *\nclass Own(Fishery): pass\n")

    assert "episode" == world_named(f"{maker}:make")
    assert ("", "run\n") == capsys.readouterr()
    assert 7 == given.maker_of("whatever:Env")(7)
    assert "its_maker" == given.maker_of("whatever:Env").__module__
    assert [("--env", f"{maker}:make")] == given.options()
    assert "own" == world_named(f"{game}:Own")


def test_an_id_of_gymnasium_has_the_module_before_it_imported(tmp_path, monkeypatch) -> None:
    entry = "tests.replay.worlds.episode.envs:NoisyWalk"
    text = f"import gymnasium\ngymnasium.register('Its-v0', {entry!r})\n"
    (tmp_path / "its_registered.py").write_text(text)
    monkeypatch.chdir(tmp_path)

    assert "episode" == world_named("its_registered:Its-v0")
    assert "Its-v0" == given.maker_of("Its-v0")(id="its_registered:Its-v0").spec.id
    with pytest.raises(BadInput, match=r"did you mean its_registered:Its-v0\?"):
        world_named("its_registered:It-v0")


def test_each_subject_has_the_maker_that_was_given_for_it() -> None:
    given.give(dict, subject="a:A")
    given.give(list)

    assert (dict, list) == (given.maker_of("a:A"), given.maker_of("b:B"))


@pytest.mark.parametrize(
    ("location", "says"),
    [
        ("{0}/absent.py:make", "absent.py cannot be read"),
        ("{0}/its_faults.py:absent", "no name in .*its_faults.py 'absent'; take one of fails"),
        ("{0}/its_numbers.py:number", "number is '7'"),
        ("{0}/its_broken.py:make", r"cannot be loaded: its_broken.py:1: ZeroDivisionError"),
        ("{0}/json.py:make", "the name of another module"),
        ("no_such_module_here:make", "No module named"),
        ("NoSuch-v1", "there is no environment NoSuch-v1"),
        ("no_such_module_here:Own-v0", "there is no module no_such_module_here"),
    ],
)
def test_what_cannot_be_loaded_is_refused_in_one_line(tmp_path, location, says) -> None:
    (tmp_path / "its_faults.py").write_text("def fails(): pass\n")
    (tmp_path / "its_numbers.py").write_text("number = 7\n")
    (tmp_path / "its_broken.py").write_text("1 / 0\n")
    (tmp_path / "json.py").write_text("def make(): pass\n")

    with pytest.raises(BadInput, match=says) as refused:
        world_named(location.format(tmp_path))
    assert "\n" not in str(refused.value)
    assert {} == given._MAKERS
