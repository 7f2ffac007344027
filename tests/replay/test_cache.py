"""The folder of derived files: whose it is, how large it gets, and where it lies."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from goldrush.kernel.errors import BadInput, WriteFailed
from goldrush.replay import cache
from tests.indexes import cached


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def keep(name: str, data: bytes = b"data") -> None:
    file = cache.unfinished(name)
    assert file is not None
    with file:
        cache.append(file, data)
        file.publish()


def kept(name: str) -> bytes | None:
    file = cache.opened(name)
    if file is None:
        return None
    with file:
        return file.read()


HOME_CACHE = "/home/me/" + ("Library/Caches" if sys.platform == "darwin" else ".cache")


@pytest.mark.parametrize(
    ("named", "home", "base"),
    [
        ("/caches", "/home/me", "/caches"),
        (None, "/home/me", HOME_CACHE),
        ("relative", "/home/me", HOME_CACHE),
        ("/caches", None, "/caches"),
        (None, "relative", None),
    ],
)
def test_the_folder_follows_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, named: str | None, home: str | None, base: str | None
) -> None:
    for name, value in (("XDG_CACHE_HOME", named), ("HOME", home)):
        if value is None:
            monkeypatch.delenv(name, raising=False)
        else:
            monkeypatch.setenv(name, value)

    assert (base and f"{base}/goldrush/indexes") == cache.folder()


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o077])
def test_folders_are_made_for_the_user_alone(mask: int) -> None:
    before = os.umask(mask)
    keep("a")
    os.umask(before)

    assert b"data" == kept("a")
    for folder in (cached(), cached().parent, cached().parent.parent):
        assert 0o700 == folder.stat().st_mode & 0o777


def _opened_to_others(folder: Path) -> None:
    folder.chmod(0o701)


def _behind_a_link(folder: Path) -> None:
    folder.rename(f"{folder}-elsewhere")
    folder.symlink_to(f"{folder}-elsewhere")


@pytest.mark.parametrize("levels", [0, 1], ids=["the folder", "the one around it"])
@pytest.mark.parametrize("change", [_opened_to_others, _behind_a_link])
def test_a_folder_that_others_could_change_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, change: Callable[[Path], None], levels: int
) -> None:
    keep("a")
    change([cached(), cached().parent][levels])
    found = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(cache, "CACHE_MAX", 0)
    cache.trim()

    assert kept("a") is cache.unfinished("b") is None
    assert found == sorted(tmp_path.rglob("*"))


def test_what_is_no_file_of_this_user_is_not_read() -> None:
    keep("a")
    (cached() / "link.index").symlink_to(cached() / "a.index")
    (cached() / "folder.index").mkdir()
    os.mkfifo(cached() / "pipe.index")

    assert b"data" == kept("a")
    assert [None] * 4 == [kept(name) for name in ("link", "folder", "pipe", "none")]
    for name in ("link", "folder", "pipe"):
        with pytest.raises(BadInput, match=r"folder|ordinary file"):
            cache.unfinished(name)


def test_what_was_not_used_for_longest_is_removed_first(monkeypatch: pytest.MonkeyPatch) -> None:
    for day, name in enumerate("abcd"):
        keep(name, bytes(10))
        os.utime(cached() / f"{name}.index", ns=(0, day))
    (cached() / "other").write_bytes(bytes(100))
    (cached() / "link.index").symlink_to("other")
    monkeypatch.setattr(cache, "CACHE_MAX", 40)
    cache.trim()
    before = sorted(os.listdir(cached()))
    kept("a")
    monkeypatch.setattr(cache, "CACHE_MAX", 25)
    cache.trim()

    assert ["a.index", "b.index", "c.index", "d.index", "link.index", "other"] == before
    assert ["a.index", "d.index", "link.index", "other"] == sorted(os.listdir(cached()))


def test_a_file_larger_than_the_limit_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "CACHE_MAX", 40)
    keep("a", bytes(40))
    with pytest.raises(WriteFailed, match="over 40 bytes"):
        keep("b", bytes(41))

    assert ["a.index"] == os.listdir(cached())
