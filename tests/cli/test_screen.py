"""What a terminal is shown: texts of journals, escaped."""

from contextlib import redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from shutil import copy

import pytest

import goldrush as library
from goldrush.cli.main import cli
from goldrush.kernel.text import escaped
from tests.games.evil import Evil

# Texts of a journal.

ODD = "\x1b[31m\nit holds.journal"


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of a game whose texts move the cursor, and one whose name does."""
    folder = tmp_path_factory.mktemp("evil")
    library.record(Evil, folder / "a.journal", seed=3)
    library.record(Evil, folder / "b.journal", seed=4)
    copy(folder / "b.journal", folder / ODD)
    return folder


@pytest.mark.parametrize(
    "words",
    [
        "replay a.journal", "log a.journal", "info a.journal", "ls .", "diff a.journal b.journal",
        "audit a.journal --at 1", "audit a.journal",
        "verify a.journal", "measure a.journal",
        "measure .", "export a.journal", "source a.journal",
        "export a.journal --format csv --table events", "fork a.journal --at 1 --out c.journal",
        "record {game} --out d.journal", "treatments {game}", "settings {game}",
        "policies {game}", "view a.journal", "view .",
        "study --world {game} --seeds 2 --rounds 2 --out study",
        "diff a.journal ODD", "verify ODD", "audit ODD", "info ODD",
    ],
)  # fmt: skip
def test_no_text_of_a_journal_or_a_game_moves_the_cursor(
    evil: Path, words: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    game = f"{Path(__file__).parents[1] / 'games/evil.py'}"
    arguments = [ODD if word == "ODD" else word for word in words.format(game=game).split()]
    if game not in arguments:
        arguments += ["--world", game]
    monkeypatch.chdir(evil)
    monkeypatch.setenv("NO_COLOR", "1")
    out = TextIOWrapper(BytesIO(), "utf-8", write_through=True)
    with redirect_stdout(out):
        cli.main(arguments, standalone_mode=False)
    out.seek(0)
    printed = out.read() + capfd.readouterr().err

    assert printed
    assert escaped(printed, "\n\t") == printed
    assert "\nit holds" not in printed
