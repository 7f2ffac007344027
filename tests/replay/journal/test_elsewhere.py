"""A recording ends with the run derived once more, in a process with another hash seed."""

from pathlib import Path

import pytest

import goldrush
from goldrush.kernel.errors import MalformedEvents
from goldrush.kernel.journal import JournalReader
from goldrush.replay.journal import elsewhere
from tests.cli.helpers import goldrush as command
from tests.games.fisheries import changed

NAMES = "{" + ", ".join(f"'{name}'" for name in "abcdefghijkl") + "}"
RULES = "        left = max(0.0"
POLICY = "        return self.Asked(int(seen.stock / self.agents * part))"
# From 0 to 1; nothing that is watched sees that it goes through a set.
ORDER = f"__import__('zlib').crc32(str({NAMES}).encode()) / 2**32"
CLOCK = "__import__('time').time_ns() % 10**6 / 10**6"


def differing(what: str, where: str, unit: int = 33) -> tuple[str, str]:
    """A change of the fishery: from a unit on that is not watched, it differs between processes."""
    if where == POLICY:
        return where, where.replace(
            "* part))", f"* part + 10**6 * (seen.unit >= {unit} and {what})))"
        )
    return where, f"        wanted += state.unit >= {unit} and {what}\n{where}"


def world_of(journal: Path) -> str:
    """The name of the world of a journal."""
    with JournalReader(str(journal)) as reader:
        return reader.header.world


@pytest.mark.parametrize("what", [ORDER, CLOCK])
@pytest.mark.parametrize("where", [RULES, POLICY])
def test_what_differs_in_another_process_ends_the_recording(
    tmp_path: Path, what: str, where: str
) -> None:
    game, journal = changed(tmp_path, *differing(what, where)), tmp_path / "run.journal"

    with pytest.raises(MalformedEvents) as caught:
        goldrush.record(game, journal, roster="share*5,greedy*1", seasons=60)

    assert "season 34, commit 34 at byte " in caught.value.where
    assert 'derived again in another process, expected {"event": "' in str(caught.value)
    assert f"`goldrush repeats {game.__module__}" not in str(caught.value)
    is_named = "fishery.py:Fishery` names the line" in str(caught.value)
    assert is_named == (where == RULES)  # the roster is not the one that `repeats` plays
    assert goldrush.open(journal, world=game).info().finished  # it is kept


@pytest.mark.parametrize("hash_seed", ["0", "1"])
def test_the_line_that_goes_through_a_set_is_named_whatever_its_order(
    tmp_path: Path, hash_seed: str
) -> None:
    """In some of these processes a set of two has the same order as in the other."""
    changed(tmp_path, *differing("next(iter({'a', 'b'})) == 'a'", RULES))
    recorded = command(
        "record", "fishery.py", "--roster", "share*5", "--out", "run.journal", cwd=tmp_path,
        PYTHONHASHSEED=hash_seed,
    )  # fmt: skip

    assert 2 == recorded.code
    assert "in another process, it fails: fishery.py:59 goes through a set, {'" in recorded.err
    assert recorded.err.endswith("take sorted(...) or a list\n")


def test_an_honest_run_is_recorded_where_no_other_process_can_be_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    helper = elsewhere._Helper()
    monkeypatch.setattr(elsewhere, "_HELPER", helper)
    monkeypatch.setattr("sys.executable", str(tmp_path / "none"))

    assert goldrush.record(changed(tmp_path, "", ""), tmp_path / "run.journal").verify().holds
    assert "run.journal was derived again in this process only" in caplog.text
    assert "the same order of sets: no other can be started" in caplog.text
    with pytest.raises(MalformedEvents, match="derived again, expected"):
        goldrush.record(
            changed(tmp_path, *differing(CLOCK, RULES)), tmp_path / "b", roster="share*5"
        )


def test_a_class_that_no_process_can_import_is_derived_again_in_this_one(tmp_path: Path) -> None:
    class Local(changed(tmp_path, *differing(CLOCK, RULES))):
        """A class of a function."""

    with pytest.raises(MalformedEvents, match=r"season 34, .*; leave out what differs"):
        goldrush.record(Local, tmp_path / "run.journal", roster="share*5", seasons=60)


def test_a_helper_that_died_is_started_again(tmp_path: Path) -> None:
    elsewhere._HELPER.start()
    process = elsewhere._HELPER._process
    assert process is not None
    process.kill()
    process.wait()

    assert goldrush.record(changed(tmp_path, "", ""), tmp_path / "run.journal").verify().holds


def test_a_study_ends_with_the_difference_of_its_first_run(tmp_path: Path) -> None:
    changed(tmp_path, *differing(ORDER, RULES))
    study = ["study", "--world", "fishery.py", "--roster", "share*5", "--seeds", "2", "--jobs", "1",
        "--treatment", "baseline"]  # fmt: skip
    told = command(*study, "--out", "s", cwd=tmp_path, PYTHONHASHSEED="1")
    again = command(*study, "--out", "s", cwd=tmp_path, PYTHONHASHSEED="1")

    assert (2, 1) == (told.code, told.err.count("\n"))
    assert "seed-0000.journal.unfinished: season 34, commit 34 at byte " in told.err
    assert "derived again in another process, expected " in told.err
    assert told.err.endswith("; `record --check` or `goldrush repeats fishery.py` names the line\n")
    assert (told.code, told.err) == (again.code, again.err)
    [journal] = (tmp_path / "s" / "baseline").rglob("seed-0000.*")  # it is kept
    assert goldrush.open(journal, world=str(tmp_path / "fishery.py")).info().finished
