"""The source of a game is recorded: other code is told from a fault, and can be forked to."""

import importlib
import sys
import types
import warnings

import msgspec
import pytest

import goldrush
from goldrush.agents import given
from goldrush.agents.game import source as sources
from goldrush.agents.targets import resolve
from goldrush.kernel.errors import BadInput, OtherCode
from goldrush.kernel.journal import START, Commit, Header
from goldrush.kernel.walk import OtherDigest
from goldrush.replay.journal.source import source_in, text_of
from goldrush.replay.workers import map_in_order
from tests.games.fisheries import SOURCE, changed, recorded
from tests.journals import commits_of, write

RULES = ("draw.between(1 - self.shock", "draw.between(1.01 - self.shock")
EFFECT = ("+= self.fish", "+= 2 * self.fish")
POLICY = ("part=0.8", "part=0.801")  # which gives the same catches


@pytest.fixture
def run(tmp_path):
    return recorded(changed(tmp_path, "", ""), tmp_path / "run.journal")


def test_a_long_source_is_held_by_its_hash_alone(tmp_path) -> None:
    comment = "#" * sources.TEXT_MAX
    run = recorded(changed(tmp_path, "import goldrush\n", f"import goldrush\n{comment}\n"),
                   tmp_path / "run.journal")  # fmt: skip
    found = source_in(run.path)

    assert found.text is None
    assert found.sha256
    with pytest.raises(BadInput, match="holds the SHA-256 of its source alone"):
        text_of(found, run.path)


NUMBERS = [lambda run: run.measures(), lambda run: run.table("measures"), list]


@pytest.mark.parametrize("numbers", NUMBERS)
def test_other_code_whose_states_differ_gives_no_numbers(run, tmp_path, numbers) -> None:
    other = goldrush.open(run.path, world=changed(tmp_path, *EFFECT))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OtherCode)
        with pytest.raises(OtherDigest, match="with other code of fishery; `goldrush source"):
            numbers(other)


def test_other_code_of_the_same_states_warns_where_it_gives_numbers(run, tmp_path) -> None:
    """Of a measure that was changed, say; it holds."""
    other = goldrush.open(run.path, world=changed(tmp_path, *POLICY))
    found = other.verify()

    assert (True, source_in(run.path).sha256) == (found.holds, found.other_code)
    with pytest.warns(OtherCode, match="other code: .*`goldrush source .* > old.py`"):
        other.measures()


def test_a_source_that_nobody_knows_is_another_one_everywhere(tmp_path, monkeypatch) -> None:
    typed = types.ModuleType("prompt")
    monkeypatch.setitem(sys.modules, "prompt", typed)
    exec(SOURCE, vars(typed))
    path = recorded(typed.Fishery, tmp_path / "run.journal").path
    run = goldrush.open(path, world=changed(tmp_path, *POLICY))

    assert (True, "unknown") == (run.verify().holds, run.verify().other_code)
    with pytest.warns(OtherCode, match=r"of SHA-256 unknown.*nobody kept that code"):
        run.measures()
    run = goldrush.open(path, world=changed(tmp_path, *RULES))
    assert (None, "unknown") == (run.verify().holds, run.verify().other_code)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        RULES,
        ("        stock: float\n", "        stock: float\n        more: int\n"),
        ("    growth = setting", "    another = setting(1, 0, 2)\n    growth = setting"),
    ],
    ids=["decides otherwise", "cannot read the start", "has another setting"],
)
def test_other_code_is_no_fault_of_the_journal(run, tmp_path, old, new) -> None:
    found = goldrush.open(run.path, world=changed(tmp_path, old, new)).verify()

    assert (None, source_in(run.path).sha256) == (found.holds, found.other_code)


def test_a_forged_source_is_not_printed(run, tmp_path) -> None:
    commits = commits_of(run.path)
    setup = dict(commits[0].setup)
    setup["source"] = {**setup["source"], "text": "print('another')"}
    forged = Commit(START, 0, commits[0].digest, setup=setup)
    write(tmp_path / "forged", [forged], Header("fishery", 1))

    with pytest.raises(BadInput, match="records a source whose SHA-256 is not"):
        source_in(tmp_path / "forged")


def test_resume_refuses_other_code_and_a_fork_takes_it(run, tmp_path) -> None:
    whole = run.path.read_bytes()
    run.path.write_bytes(whole[:-200])
    other = goldrush.open(run.path, world=changed(tmp_path, *RULES))

    with pytest.raises(BadInput, match="recorded with other code of fishery"):
        other.resume()
    assert whole[:-200] == run.path.read_bytes()

    run.path.write_bytes(whole)
    fork = other.fork(at=5)
    assert source_in(fork.path).sha256 != source_in(run.path).sha256
    assert fork.at(5).state.stock == run.at(5).state.stock
    assert fork.at(6).state.stock != run.at(6).state.stock


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            ("        fish: float\n", "        fish: str\n", "{fish:amount}", "{fish}"),
            "landed.fish: text expected, found ",
        ),
        (("    growth = setting", "    other = setting(1, 0, 2)\n    growth = setting"), "config"),
    ],
)  # fmt: skip
def test_a_fork_that_would_mix_two_forms_of_an_event_is_refused(
    run, tmp_path, changes, says
) -> None:
    other = goldrush.open(run.path, world=changed(tmp_path, *changes))

    with pytest.raises(BadInput, match=f"(?s)other code of fishery.*{says}.*`goldrush source "):
        other.fork(5, tmp_path / "fork.journal")
    assert not (tmp_path / "fork.journal").exists()


def game_beside(folder, value):
    """The fishery in a folder, whose growth is that of a module beside it."""
    folder.mkdir()
    (folder / "beside.py").write_text(f"print('printed')\nGROWTH = {value}\n")
    text = SOURCE.replace("import goldrush\n", "import goldrush\nimport beside\n", 1)
    (folder / "game.py").write_text(
        text.replace("growth = setting(0.5", "growth = setting(beside.GROWTH")
    )
    return str(folder / "game.py")


def test_a_module_beside_another_game_is_not_taken_for_its_own(tmp_path, capsys) -> None:
    first, second = game_beside(tmp_path / "a", 0.25), game_beside(tmp_path / "b", 0.75)
    run = goldrush.record(first, tmp_path / "a.journal", seasons=1)

    assert 0.25 == run.at(0).state.config.growth
    assert ("", "printed\n") == capsys.readouterr()
    with pytest.raises(
        BadInput, match=r"imports beside, which is not the one beside it but .*/a/be"
    ):
        goldrush.record(second, tmp_path / "b.journal", seasons=1)


def test_other_processes_find_a_game_by_its_file_or_do_without(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(given, "_GIVEN", {})
    monkeypatch.setattr(given, "_MAKERS", {})
    game = changed(tmp_path, "capacity = setting(1000.0", "capacity = setting(500.0")
    path = tmp_path / "run.journal"
    recorded(game, path, seasons=1)

    assert [("--world", f"{tmp_path}/fishery.py:Fishery")] == given.options()
    assert [500.0, 500.0] == list(map_in_order(stock_at_start, [str(path)] * 2, 2))
    (tmp_path / "fishery.py").unlink()
    assert ["1", "2"] == list(map_in_order(str, [1, 2], 2))


def stock_at_start(path):
    return goldrush.open(path).at(0).state.stock


@pytest.mark.parametrize("is_file", [True, False])
def test_the_source_is_what_was_loaded_not_what_the_file_has_by_then(
    tmp_path, monkeypatch, is_file
) -> None:
    file = tmp_path / "edited_game.py"
    file.write_text(SOURCE)
    if is_file:
        game = resolve(str(file)).value
    else:
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "edited_game")
        game = importlib.import_module("edited_game").Fishery
    file.write_text(SOURCE.replace(*RULES))

    run = recorded(game, tmp_path / "run.journal")

    assert SOURCE == text_of(source_in(run.path), run.path)
    assert (True, None) == (run.verify().holds, run.verify().other_code)
    elsewhere = goldrush.open(run.path, world=str(file)).verify()
    assert elsewhere.other_code == source_in(run.path).sha256


def test_a_function_of_a_file_that_was_edited_has_no_source(tmp_path, monkeypatch) -> None:
    file = tmp_path / "edited_measure.py"
    file.write_text("def one(state):\n    return 1\n\nclass Kind:\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("edited_measure")
    one = module.one

    assert sources.source_of_code(one).text == file.read_text()
    other = tmp_path / "other_measure.py"
    other.write_text(text := file.read_text())
    loaded = resolve(f"{other}:one").value
    for each in (file, other):
        each.write_text("def one(state):\n    return 2\n")
    assert (None, None) == msgspec.structs.astuple(sources.source_of_code(one))
    assert text == sources.source_of_code(loaded).text  # kept as it was loaded
    # Only functions are compared with the file: a class has it as it is now.
    assert sources.source_of_code(module.Kind).text == file.read_text()
