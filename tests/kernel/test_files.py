"""Files that appear whole: which places are refused, what is replaced, what is swept away."""

import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from msgspec.structs import replace

from goldrush.kernel import files
from goldrush.kernel.errors import BadInput, JournalInUse, WriteFailed
from goldrush.kernel.files import TemporaryFolder, Unfinished, folder_kept, write_whole
from goldrush.kernel.journal import Header
from goldrush.replay.folders import FileGroup, NewFolder, make_folder, make_folders_within
from tests.cli.helpers import ROOT
from tests.journals import tree
from tests.mining import fork, record
from tests.quick_disk import make_old
from tests.waiting import HANGS

NOBODY = 65534
OLD, NEW = b"what was there " + files.MARK.encode(), b"what is new"


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if files.is_temporary(path.name))


def refusing(number: int) -> Callable[..., None]:
    def refuse(*arguments: object) -> None:
        raise OSError(number, os.strerror(number))

    return refuse


@contextmanager
def as_anybody(folder: str) -> Iterator[None]:
    """Not as root, who may do everything in a folder of any mode."""
    if os.geteuid() != 0:
        yield
        return
    os.chown(folder, NOBODY, -1)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def systems(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts functions in the place of system calls."""

    def put(**calls: Callable[..., object]) -> None:
        monkeypatch.setattr(files, "system", replace(files.system, **calls))

    return put


@pytest.fixture(autouse=True)
def swept_by_nobody() -> None:
    files._swept.clear()


# Places.


FOREIGN = {
    "text": b"a thesis", "zeros": b"\0" * 99, "a word": b"goldrush", "nearly": files.JOURNAL[1:],
}  # fmt: skip
CONTENTS = {**FOREIGN, "nothing": b"", "output": OLD, "journal": Header("any", 1).packed()}


def make(kind: str, place: Path) -> Path:
    """Put something at a path, and give the path."""
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "link":
        place.with_name("target").write_bytes(OLD)
        place.symlink_to("target")
    elif kind == "dangling link":
        place.symlink_to("nowhere")
    elif kind in CONTENTS:
        place.write_bytes(CONTENTS[kind])
    return Path("/dev/null") if kind == "device" else place


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "link", "dangling link", *CONTENTS])
def test_what_is_empty_or_an_output_is_replaced_and_nothing_else(
    kind: str, force: bool, tmp_path: Path
) -> None:
    place = make(kind, tmp_path / "a")
    before = sorted((path.name, path.lstat()) for path in tmp_path.iterdir())
    if kind == "nothing" or (kind == "output" and force):
        write_whole(str(place), NEW, force=force)
        assert {"a": NEW} == tree(tmp_path)
        return
    with pytest.raises(BadInput):
        write_whole(str(place), NEW, force=force)
    if kind in FOREIGN:
        with pytest.raises(BadInput):
            record(place, {"rounds": 1}, force=force)

    assert before == sorted((path.name, path.lstat()) for path in tmp_path.iterdir())


@pytest.mark.parametrize("size", [None, 90, 15])
def test_a_journal_in_the_way_of_a_journal_is_refused_with_what_replaces_it(
    size: int | None, path: Path, tmp_path: Path
) -> None:
    """Be it whole, torn in its START, or no more than the front of a header."""
    record(path, {"rounds": 1})
    path.write_bytes(path.read_bytes()[:size])
    before = path.read_bytes()
    record(tmp_path / "parent.journal", {"rounds": 1})
    for act in (
        lambda: record(path, {"rounds": 1}),
        lambda: fork(tmp_path / "parent.journal", 1, path),
    ):
        with pytest.raises(BadInput, match=r"\(--force\)"):
            act()

    assert before == path.read_bytes()
    record(path, {"rounds": 1}, force=True)


@pytest.mark.parametrize("path", ["no/a", "a/", "", "\0", "x\0/y", "n" * 300, "file/a"])
def test_a_place_where_no_file_can_be_is_refused(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    with pytest.raises(BadInput, match="cannot write"):
        write_whole(path, NEW)

    assert ["file"] == os.listdir()


def test_an_earlier_output_is_replaced_by_its_front(path: Path) -> None:
    path.write_bytes(OLD + bytes(2 * files.FRONT))
    fronts: list[bytes] = []
    write_whole(str(path), NEW, is_own=lambda front: not fronts.append(front))

    assert NEW == path.read_bytes()
    assert [(OLD + bytes(files.FRONT))[: files.FRONT]] == fronts


# Names given.


@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_what_comes_to_be_there_meanwhile_stays(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    with Unfinished(str(path)) as file:
        file.write(NEW)
        path.write_bytes(OLD) if kind == "file" else make(kind, path)
        with pytest.raises(BadInput, match="a was created by another process meanwhile; wait"):
            file.publish()

    assert [] == left(tmp_path)
    assert kind != "file" or OLD == path.read_bytes()


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOSYS])
def test_without_hard_links_a_file_gets_its_name_all_the_same(
    number: int, tmp_path: Path, systems: Callable[..., None]
) -> None:
    systems(link=refusing(number))
    write_whole(str(tmp_path / "a"), NEW)
    with Unfinished(str(tmp_path / "b")) as file:
        (tmp_path / "b").write_bytes(OLD)
        with pytest.raises(BadInput):
            file.publish()

    assert {"a": NEW, "b": OLD} == tree(tmp_path)


def test_a_file_that_is_being_written_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(OLD)
    with open(path) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(JournalInUse, match="a"):
            write_whole(str(path), NEW, force=True)

    assert OLD == path.read_bytes()


def test_names_are_unlike_and_made_exclusively(
    tmp_path: Path, systems: Callable[..., None]
) -> None:
    flags: list[int] = []

    def opened(path: str, how: int, mode: int) -> int:
        flags.append(how)
        return os.open(path, how, mode)

    systems(open=opened)
    with Unfinished(str(tmp_path / "a")), Unfinished(str(tmp_path / "b")):
        assert 2 == len(left(tmp_path))
    assert all(how & os.O_EXCL and how & os.O_NOFOLLOW for how in flags)


# What is left, and swept.

DIES = """
import os, sys
from goldrush.kernel import files
from goldrush.kernel.files import Unfinished
from goldrush.replay.folders import NewFolder
kept = Unfinished(sys.argv[1]) if sys.argv[2] == "file" else NewFolder(sys.argv[1])
if sys.argv[2] == "folder":
    kept.add("deep/file", b"data")
os._exit(9)
"""


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_dead_writer_left_is_swept_by_the_next(kind: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", DIES, tmp_path / "a", kind]
    died = subprocess.run(command, cwd=ROOT, timeout=HANGS)
    assert (9, 1) == (died.returncode, len(os.listdir(tmp_path)))

    write_whole(str(tmp_path / "b"), NEW)
    assert 1 == len(left(tmp_path))
    files._swept.clear()
    make_old(tmp_path)
    write_whole(str(tmp_path / "b"), NEW, force=True, is_own=files.always)

    assert ["b"] == os.listdir(tmp_path)


def test_what_a_living_writer_has_is_left_alone(tmp_path: Path) -> None:
    with Unfinished(str(tmp_path / "a")) as file, NewFolder(str(tmp_path / "x")) as folder:
        folder.add("in/it", OLD)
        file.write(OLD)
        files._swept.clear()
        write_whole(str(tmp_path / "b"), NEW)
        file.publish()
        folder.publish()

    assert {"a": OLD, "b": NEW, "x/in/it": OLD} == tree(tmp_path)


def test_what_only_looks_like_it_is_left_alone(tmp_path: Path) -> None:
    names = [".goldrush-1", f".goldrush-{'g' * 16}", f".goldrush-{'0' * 16}-old", "goldrush"]
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / "target").touch()
    (tmp_path / f".goldrush-{'1' * 16}").symlink_to("target")
    make_old(tmp_path)
    write_whole(str(tmp_path / "b"), NEW)

    assert {*names, "target", "b"} == set(os.listdir(tmp_path))


# Folders.


def test_a_folder_appears_with_all_that_is_in_it_and_replaces_where_it_is_said(
    tmp_path: Path,
) -> None:
    def made(name: str, **options: bool) -> None:
        with NewFolder(str(tmp_path / "x")) as folder:
            before = tree(tmp_path / "x")
            folder.add(name, NEW)
            folder.add("b/c/d", OLD)
            assert before == tree(tmp_path / "x")
            folder.publish(**options)

    made("a")
    with pytest.raises(WriteFailed, match="not empty"):
        made("e")
    assert {"x/a": NEW, "x/b/c/d": OLD} == tree(tmp_path)
    made("e", replace=True)

    assert {"x/e": NEW, "x/b/c/d": OLD} == tree(tmp_path)


def test_an_exchange_that_fails_half_way_brings_the_old_folder_back(
    tmp_path: Path, systems: Callable[..., None]
) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "old").write_bytes(OLD)
    rename, calls = files.system.rename, []

    def second_fails(one: str, other: str) -> None:
        calls.append(one)
        if len(calls) == 2:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        rename(one, other)

    with NewFolder(str(tmp_path / "x")) as folder:
        folder.add("new", NEW)
        systems(rename=second_fails)
        with pytest.raises(WriteFailed, match="input/output error"):
            folder.publish(replace=True)

    assert {"x/old": OLD} == tree(tmp_path)
    assert ["x"] == os.listdir(tmp_path)


@pytest.mark.parametrize("kind", ["dangling link", "journal"])
def test_a_folder_takes_the_place_of_nothing_else(kind: str, tmp_path: Path) -> None:
    make(kind, tmp_path / "x")
    with pytest.raises(BadInput, match="x is not a folder"):
        NewFolder(str(tmp_path / "x"))

    assert [] == left(tmp_path)


def test_folders_within_one_are_made_and_no_link_is_followed(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    make_folder(str(root / "deep"))
    elsewhere.mkdir()
    make_folders_within(str(root), "a/b/file")
    (root / "a" / "link").symlink_to(elsewhere)
    (root / "a" / "file").touch()
    for name, says in (("a/link/c/file", "symbolic link"), ("a/file/c", "not a folder")):
        with pytest.raises(OSError, match=says):
            make_folders_within(str(root), name)

    assert (root / "a" / "b").is_dir()
    assert [] == list(elsewhere.iterdir())


def test_a_folder_is_removed_whatever_is_in_it_and_nothing_outside() -> None:
    with TemporaryDirectory() as root, as_anybody(root):
        other, path = Path(root, "other"), Path(root, "new")
        other.mkdir()
        (other / "file").write_bytes(OLD)
        with NewFolder(str(path)) as folder:
            new = Path(folder.temporary)
            (new / "link").symlink_to(other)
            (new / "above").symlink_to("..")
            (new / "to a file").symlink_to(other / "file")
            (new / "dangling").symlink_to("nowhere")
            os.link(other / "file", new / "same")
            os.mkfifo(new / "pipe")
            os.mkdir(os.fsencode(new) + b"/\xff\n" + b"x" * 200)

        assert {"file": OLD} == tree(other)
        assert ["other"] == os.listdir(root)


def test_what_cannot_be_removed_keeps_nothing_else() -> None:
    with TemporaryDirectory() as root, as_anybody(root):
        with NewFolder(os.path.join(root, "x")) as folder:
            temporary = Path(folder.temporary)
            for name in ("a/stuck", "b/c", "d/e"):
                folder.add(name, NEW)
            (temporary / "a").chmod(0o500)

        assert {"a/stuck": NEW} == tree(temporary)
        assert [temporary / "a"] == [path for path in temporary.rglob("*") if path.is_dir()]
        (temporary / "a").chmod(0o700)


# Groups.


@pytest.mark.parametrize("is_new", [True, False])
def test_files_of_a_group_appear_when_all_are_whole(is_new: bool, tmp_path: Path) -> None:
    folder = tmp_path / "x"
    if not is_new:
        folder.mkdir()
    for published in ({}, {"a": b"a", "b": b"b"}):
        with FileGroup(str(folder)) as group:
            for name in ("a", "b"):
                group.file(name).write(name.encode())
            assert {} == {k: v for k, v in tree(folder).items() if ".goldrush" not in k}
            if published:
                group.publish()
        assert published == tree(folder)
    assert [] == left(tmp_path)


def test_a_group_leaves_all_as_it_was_where_one_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(OLD)
    with FileGroup(str(tmp_path)) as group:
        group.file("a").write(NEW)
        with pytest.raises(BadInput, match="b already exists"):
            group.file("b")

    assert {"b": OLD} == tree(tmp_path)


@pytest.mark.parametrize("slashes", ["/", "//"])
def test_a_folder_may_be_written_with_a_slash_behind_it(tmp_path: Path, slashes: str) -> None:
    for _ in range(2):
        with FileGroup(f"{tmp_path}/new{slashes}") as group:
            group.file("a", force=True).write(OLD)
            group.publish()
    make_folder(f"{tmp_path}/deep/er{slashes}")

    assert (tmp_path / "new" / "a").read_bytes() == OLD
    assert (tmp_path / "deep" / "er").is_dir()
    assert ["deep", "new"] == sorted(path.name for path in tmp_path.iterdir())


def test_what_was_put_in_the_place_of_what_may_be_replaced_stays(tmp_path: Path) -> None:
    path = tmp_path / "page"
    path.write_bytes(OLD)
    with Unfinished(str(path), force=True) as file:
        file.write(NEW)
        (tmp_path / "thesis").write_bytes(b"somebody's thesis")
        (tmp_path / "thesis").replace(path)
        with pytest.raises(WriteFailed, match="replaced by another file meanwhile"):
            file.publish()

    assert path.read_bytes() == b"somebody's thesis"


def test_a_temporary_folder_goes_with_its_object_but_not_in_a_forked_child() -> None:
    folder = TemporaryFolder()
    path = Path(folder.path)
    child = os.fork()
    if child == 0:
        del folder
        os._exit(0)

    assert 0 == os.waitpid(child, 0)[1]
    assert path.is_dir()

    del folder

    assert not path.exists()


@pytest.fixture
def working(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, which a test can remove."""
    folder = tmp_path / "working"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_code_runs_in_a_working_folder_that_was_removed(tmp_path: Path, working: Path) -> None:
    working.rmdir()
    with folder_kept():
        os.chdir(tmp_path)

    assert str(tmp_path) == os.getcwd()


def test_code_that_removes_the_working_folder_fails_as_itself(
    tmp_path: Path, working: Path
) -> None:
    @folder_kept()
    def failing() -> None:
        os.chdir(tmp_path)
        working.rmdir()
        raise KeyError

    with pytest.raises(KeyError):
        failing()
