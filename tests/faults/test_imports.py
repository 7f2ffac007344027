"""No string of a file becomes an import: whatever command or reader has it, no mark is left."""

import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import attrs
import click
import pytest

from goldrush.agents.players import Resources
from goldrush.cli.main import cli
from goldrush.kernel.errors import GoldrushError
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.journal.rebuild import world_at
from goldrush.replay.journal.verify import verify
from tests import mining
from tests.faults import sentinel
from tests.faults.sentinel import SENTINEL

EVERYBODY = range(5 + 6)  # offices, user and workers


@attrs.frozen
class Place:
    """A folder from which the module can be imported, and its mark; a sound journal and a forged
    one of each kind.
    """

    folder: Path
    mark: Path
    season: Path
    conduct: Path
    cast: Path
    run: Path
    roster: Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Place:
    folder = tmp_path_factory.mktemp("sentinel")
    season, run = sentinel.season(folder / "season"), folder / "run"
    mining.record(run, {"rounds": 5}, "raid*2,mine")
    return Place(
        folder,
        sentinel.leave(folder),
        season,
        sentinel.proposed_in(folder / "conduct", season),
        sentinel.played_by_it(folder / "cast", season, world_at(season), EVERYBODY),
        run,
        sentinel.played_by_it(folder / "roster", run, MINING, [0, 2]),
    )


@pytest.fixture
def place(made: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    monkeypatch.syspath_prepend(made.folder)
    made.mark.unlink(missing_ok=True)
    yield made
    sys.modules.pop("sentinel", None)


def typed(*words: object) -> str:
    """What a command prints, wherever; it may refuse."""
    out = StringIO()
    with redirect_stdout(out), redirect_stderr(out):
        try:
            cli.main([str(word) for word in words], standalone_mode=False)
        except (GoldrushError, click.ClickException) as error:
            print(error)
    return out.getvalue()


def test_the_mark_is_left_where_the_module_is_imported(place: Place, tmp_path: Path) -> None:
    """Or the tests below could not fail."""
    typed("record", "--rounds", 1, "--roster", SENTINEL, "--out", tmp_path / "x")

    assert place.mark.exists()


COMMANDS: dict[str, list[list[object]]] = {
    "replay": [["{}", "--round", 1], ["{}", "--round", 1, "--json"]],
    "log": [["{}"], ["{}", "--json"]],
    "why": [["{}", "--round", 1], ["{}", "--round", 2, "--json"]],
    "ls": [["{}"]],
    "info": [["{}"], ["{}", "--json"]],
    "view": [["{}", "--out", "{out}"], ["{}", "--json", "--out", "{out}"]],
    "audit": [["{}"], ["{}", "--round", 1]],
    "score": [["{}", "--at", 1, "--agent", 6]],
    "export": [["{}"], ["{}", "--format", "csv", "--out", "{out}"]],
    "measure": [["{}"], ["{}", "--usage"]],
    "leaderboard": [["{}", "--to", "{out}"], ["{}", "--at", 1, "--to", "{out}-1"]],
    "diff": [["{}", "{other}"], ["{other}", "{}"], ["{}", "{other}", "--json"]],
    "verify": [*(["{}", "--level", level] for level in (1, 2, 3, 4)),
               ["{}", "--trust", "sentinel:other", "--trust", "other:run"]],
    "prompt": [["{}", "--round", unit, "--agent", agent]
               for unit in (1, 2) for agent in (0, 2, 5, 10)],
    "resume": [["{}"], ["{}", "--trust", "sentinel:other"]],
    "fork": [*(["{}", "--at", at, "--out", "{out}"] for at in (-1, 0, 1, 2)),
             ["{}", "--at", 1, "--roster", "judge=scripted", "--out", "{out}"]],
    "study": [["{}", "--out", "{out}"]],
    "report": [["{}"]],
    "reask": [["{}", "--round", 1, "--base-url", "http://127.0.0.1:9"]],
    "interview": [["{}", "Why?", "--round", 1, "--base-url", "http://127.0.0.1:9"]],
    "source": [["{}"], ["{}", "--json"]],
}  # fmt: skip


def test_every_command_that_reads_a_file_is_tried() -> None:
    without = {
        "arenas", "columns", "conform", "new", "plugins", "policies", "record", "repeats",
        "settings", "treatments", "wordings",
    }  # fmt: skip

    assert set(cli.list_commands(click.Context(cli))) - without == set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["conduct", "cast", "roster"])
def test_no_command_imports_what_a_journal_names(
    command: str, kind: str, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sound = place.run if kind == "roster" else place.season
    refused = False
    for number, words in enumerate(COMMANDS[command]):
        journal = tmp_path / f"{number}.journal"
        journal.write_bytes(getattr(place, kind).read_bytes())
        said = typed(
            command,
            *(str(w).format(journal, other=sound, out=tmp_path / f"{number}.out") for w in words),
        )
        refused |= 'expected {"event": "refused"' in said

        assert "No such option" not in said, words
        assert not place.mark.exists(), words
        assert "sentinel" not in sys.modules, words
    # Who acts on a season refuses it at the first event that no rule gives.
    assert refused or command not in ("prompt", "resume", "fork") or kind != "conduct"


def test_level_4_does_not_hold_and_asks_nobody_of_it(place: Place) -> None:
    for trust in ((), ("sentinel:other",)):
        verdict = verify(place.conduct, resources=Resources(trust=trust))

        assert not verdict.holds
    assert [True, True, False] == [verify(place.conduct, level).holds for level in (1, 2, 3)]
    assert not place.mark.exists()
