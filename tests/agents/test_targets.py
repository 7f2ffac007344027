"""What is given to be run: a game, or whatever else can be called."""

import importlib
import pickle
import sys

import pytest

from goldrush.agents import given
from goldrush.agents.targets import check_imports, resolve, target_of
from goldrush.agents.trust import UserFolder
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


@pytest.mark.parametrize(
    ("location", "says"),
    [
        ("{0}/absent.py:make", "cannot be read"),
        ("{0}/its_numbers.py:number", "number is '7'"),
        ("{0}/its_broken.py:make", "its_broken.py:1: ZeroDivisionError"),
        ("{0}/json.py:make", "has the name of another module"),
        ("{0}/its.faults.py:make", "cannot be imported by its name"),
        ("NoSuch-v1", "there is no environment"),
    ],
)
def test_what_cannot_be_loaded_is_refused(tmp_path, location, says) -> None:
    (tmp_path / "its_numbers.py").write_text("number = 7\n")
    (tmp_path / "its_broken.py").write_text("1 / 0\n")
    for name in ("json", "its.faults"):
        (tmp_path / f"{name}.py").write_text("def make(): pass\n")

    with pytest.raises(BadInput, match=says):
        world_named(location.format(tmp_path))
    assert {} == given._MAKERS


@pytest.mark.parametrize("value", [["its_module:Env-v0"], {"a": {"its_module:Env-v0"}}])
def test_parameters_of_a_journal_import_no_module(value) -> None:
    with pytest.raises(BadInput, match="'its_module:Env-v0'"):
        check_imports({"env": value})

    check_imports({"env": ["its text: of no module", "json:dumps", "Env-v0"]})


GAME = "from goldrush.games.fishery import Fishery\n\n\nclass Own(Fishery):\n    number = {}\n"


def test_a_file_is_the_module_of_its_stem_for_what_is_beside_it_and_for_pickles(
    tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "its_own.py").write_text(GAME.format(1))
    (tmp_path / "its_user.py").write_text("from its_own import Own\n")
    game = resolve(f"{tmp_path}/its_own.py").value

    assert game is resolve(f"{tmp_path}/its_user.py:Own").value
    assert game is resolve(f"{tmp_path}/its_own.py:Own").value
    assert game is pickle.loads(pickle.dumps(game))
    assert not (tmp_path / "__pycache__").exists()  # it might be of a file that is edited now


def test_a_file_is_run_anew_where_its_text_or_its_folder_is_another(tmp_path) -> None:
    file, other = tmp_path / "a" / "its_edited.py", tmp_path / "b" / "its_edited.py"
    for number, each in enumerate((file, other)):
        each.parent.mkdir()
        each.write_text(GAME.format(number))

    first, second = resolve(str(file)), resolve(str(other))
    assert [0, 1] == [first.value.number, second.value.number]
    assert "" == target_of(first.value).location  # other processes would find another class
    assert f"{other}:Own" == target_of(second.value).location
    other.write_text(GAME.format(2))
    assert 2 == resolve(str(other)).value.number


@pytest.mark.parametrize("text", [GAME, "def make(): return {}\n"])
def test_a_module_that_was_imported_is_run_anew_where_its_file_was_edited(tmp_path, text) -> None:
    stem = f"its_imported_{len(text)}"
    file = tmp_path / f"{stem}.py"
    file.write_text(text.format(1))
    sys.path.append(UserFolder(tmp_path))
    module = importlib.import_module(stem)
    name = "make" if "make" in text else "Own"

    assert getattr(module, name) is resolve(f"{file}:{name}").value
    file.write_text(text.format(2))
    made = resolve(f"{file}:{name}").value
    assert 2 == (made() if name == "make" else made.number)


def test_a_file_that_fails_when_it_is_edited_leaves_the_module_that_was_there(tmp_path) -> None:
    file = tmp_path / "its_spoilt.py"
    file.write_text(GAME.format(1))
    game = resolve(str(file)).value
    file.write_text("def broken(:\n")

    with pytest.raises(BadInput, match=r"its_spoilt.py:1 cannot be run: invalid syntax"):
        resolve(str(file))
    assert game is sys.modules["its_spoilt"].Own


def test_what_is_there_is_listed_where_a_name_is_not(tmp_path) -> None:
    file = tmp_path / "its_several.py"
    file.write_text(GAME.format(1) + "def make(): pass\nclass Other(Own): pass\n")

    with pytest.raises(BadInput, match=r"no name in .*'made'; did you mean make\? take one of Own"):
        resolve(f"{file}:made")
    with pytest.raises(BadInput, match=r"has Own, Other; name one: .*its_several.py:Own"):
        resolve(str(file))
