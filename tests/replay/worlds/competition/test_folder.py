"""A season as a folder: what stands in it, and that it is whole, in its place, and nowhere else."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from goldrush.kernel import files as kernel_files
from goldrush.kernel.errors import BadInput, WriteFailed
from goldrush.kernel.worlds.competition.events import CODES, Joined
from goldrush.replay.worlds.competition.leaderboard import as_files, export, season_at
from tests.seasons import forged, with_row


def tree(folder: Path) -> dict[str, str]:
    """All files below a folder, hidden ones too, by path."""
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() or path.is_symlink()
    }


# The folder itself.


def test_a_new_folder_and_an_empty_one_are_filled(season: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name in ("new", "empty"):
        export(season, tmp_path / name)

        assert tree(tmp_path / name) == as_files(season_at(season))
    assert {path.name for path in tmp_path.iterdir()} == {"new", "empty"}


def test_a_folder_that_holds_something_is_left_alone(season: Path, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "note.txt").write_text("mine")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to("empty")

    for name in ("x", "link"):
        with pytest.raises(BadInput, match=f"{name} is not an empty folder; give a new one"):
            export(season, tmp_path / name, 0)
    assert tree(tmp_path / "x") == {"note.txt": "mine"}
    assert tree(tmp_path / "empty") == {}


@pytest.mark.parametrize("folder", ["file", "", ".", "x/..", "no/such", "nul\0", "dangling/"])
def test_a_place_where_no_folder_can_be_is_refused(
    season: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    Path("dangling").symlink_to("nowhere")

    with pytest.raises(BadInput):
        export(season, folder, 0)
    assert {path.name for path in tmp_path.iterdir()} == {"file", "dangling"}


@pytest.mark.parametrize("error", [OSError(28, "No space left"), KeyboardInterrupt()])
def test_what_goes_wrong_half_way_leaves_nothing(
    season: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    write, written = kernel_files.system.write, []

    def failing(fd: int, data: bytes, offset: int) -> int:
        written.append(fd)
        if len(written) == 7:
            raise error
        return write(fd, data, offset)

    monkeypatch.setattr(kernel_files, "system", replace(kernel_files.system, write=failing))
    with pytest.raises((WriteFailed, KeyboardInterrupt)):
        export(season, tmp_path / "x", 2)

    assert (len(written), list(tmp_path.iterdir())) == (7, [])


# Names, which anybody may have put into a journal.

JOINED = CODES[Joined]


@pytest.mark.parametrize(
    "name",
    ["../../x", "/etc", "..", "", "nul\0x", "\x1b[2J", "-rf", "\uff0e\uff0e", "Ada", "ada"],
    ids=ascii,
)
def test_a_name_that_can_be_no_folders_is_refused_and_nothing_is_written(
    season: Path, tmp_path: Path, name: str
) -> None:
    path = forged(tmp_path / "a.journal", with_row(season, 0, JOINED, (50, name, None))[:2], season)
    (tmp_path / "in").mkdir()

    with pytest.raises(BadInput, match=r"agent 50 is called .* cannot be; nothing") as raised:
        export(path, tmp_path / "in" / "x")
    assert str(raised.value).isprintable()
    assert {p.name for p in tmp_path.rglob("*")} == {"a.journal", "in"}
