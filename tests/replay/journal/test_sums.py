"""Lists of pins: what sha256sum writes is read, anything else is refused by its line."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.agents.worlds.mining.players import record
from goldrush.kernel.errors import BadInput
from goldrush.replay.journal.batch import Demands, verify_all
from goldrush.replay.journal.sums import SUMS_MAX, read_sums

ONE, TWO = "ab" * 32, "0" * 64


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def pins_in(text: str | bytes) -> dict[str, str | None]:
    Path("SUMS").write_bytes(text if isinstance(text, bytes) else text.encode())
    sums = read_sums("SUMS")
    return {name: sums.pin_of(name) for name in sums.names}


def test_pins_of_text_and_of_binary_files_are_the_same() -> None:
    assert {"a b": ONE, "c/*d": TWO} == pins_in(f"{ONE}  a b\n{TWO} *c/*d\n")


def test_the_last_line_need_not_end_and_letters_may_be_large() -> None:
    assert {"a": ONE} == pins_in(f"{ONE.upper()}  a")


def test_a_name_is_the_file_whatever_way_leads_to_it(tmp_path: Path) -> None:
    Path("SUMS").write_text(f"{ONE}  ./a/../b\n")
    sums = read_sums("SUMS")

    assert (ONE, ONE, None) == tuple(map(sums.pin_of, ("b", str(tmp_path / "b"), "a/b")))


@pytest.mark.parametrize("here", [(), ("a",)])
def test_a_file_is_beside_its_list_unless_it_is_in_the_working_folder(
    tmp_path: Path, here: Sequence[str]
) -> None:
    (tmp_path / "lists").mkdir()
    for name in ("lists/a", "lists/b", *here):
        Path(name).touch()
    Path("lists/SUMS").write_text(f"{ONE}  a\n{TWO}  b\n{TWO}  gone\n")

    assert ("a" if here else "lists/a", "lists/b", "gone") == read_sums("lists/SUMS").names


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="there is no sha256sum")
def test_what_sha256sum_writes_is_read(tmp_path: Path) -> None:
    names = ["plain", " a", "*b", "back\\slash", "line\nend", "re\rturn", "\\n", "ü", "#c", "d  e"]
    for name in names:
        Path(name).write_text(name)
    for option in ("--text", "--binary"):
        wrote = subprocess.run(["sha256sum", option, *names], capture_output=True, check=True)
        expected = {name: hashlib.sha256(name.encode()).hexdigest() for name in names}

        assert expected == pins_in(wrote.stdout)


@pytest.mark.parametrize(
    "line",
    [
        "", " ", "# a comment", ONE, f"{ONE} ", f"{ONE}  ", f"{ONE} a", f"{ONE}   "[:66],
        f"{ONE[1:]}  a", f"{ONE}0  a", f" {ONE}  a", f"{ONE}\t a", f"{ONE}  a\rb", f"{ONE}  a\0b",
        f"\\{ONE}  a\\", f"\\{ONE}  a\\tb", f"g{ONE[1:]}  a", f"SHA256 (a) = {ONE}",
        f"\\\\{ONE}  a", f"{ONE}--a",
    ],
)  # fmt: skip
@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_malformed_line_is_refused_by_its_number(line: str, place: int) -> None:
    lines = [f"{TWO}  x", f"{TWO}  y"]
    lines.insert(place - 1, line)
    with pytest.raises(BadInput, match=rf"SUMS, line {place} is .*as sha256sum does"):
        pins_in("\n".join(lines) + "\n")


def test_lines_that_end_as_on_windows_are_refused_as_that() -> None:
    with pytest.raises(BadInput, match=r"SUMS, line 1 ends with \\r; end lines with \\n"):
        pins_in(f"{ONE}  a\r\n{TWO}  b\r\n")


def test_the_name_in_a_malformed_line_is_shown() -> None:
    with pytest.raises(BadInput, match="the-name"):
        pins_in(f"{ONE} the-name")


def test_what_is_no_file_is_no_list_of_pins() -> None:
    Path("folder").mkdir()
    os.mkfifo("pipe")
    for path in ("folder", "pipe"):
        with pytest.raises(BadInput, match="not an ordinary file; give the path of a list of pins"):
            read_sums(path)


def test_an_empty_list_two_pins_of_one_file_and_too_long_a_list_are_refused() -> None:
    with pytest.raises(BadInput, match="lists no file"):
        pins_in("")
    with pytest.raises(BadInput, match=r"line 2: './a' has another pin above"):
        pins_in(f"{ONE}  a\n{TWO}  ./a\n")
    assert {"a": ONE, "./a": ONE} == pins_in(f"{ONE}  a\n{ONE}  ./a\n")
    with pytest.raises(BadInput, match="no such file"):
        read_sums("missing")
    os.truncate("SUMS", SUMS_MAX + 1)
    with pytest.raises(BadInput, match="has more than"):
        read_sums("SUMS")


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        found = pins_in(data)
    except BadInput:
        return
    assert found


def test_a_journal_holds_only_under_its_pin(tmp_path: Path) -> None:
    record("a.journal", {"rounds": 2})
    record("b.journal", {"rounds": 2, "seed": 1})
    pin = hashlib.sha256(Path("a.journal").read_bytes()).hexdigest()
    Path("SUMS").write_text(f"{pin}  a.journal\n{pin}  b.journal\n")
    demands = Demands(sums=read_sums("SUMS"))
    shutil.copy("a.journal", "c.journal")
    same, other, none = verify_all(
        ["./a.journal", "b.journal", "c.journal"], jobs=1, demands=demands
    )

    assert [True, False, None] == [one.holds for one in (same, other, none)]
    assert (("pinned in SUMS",), ()) == (same.notes, same.faults)
    assert other.verdict.holds  # but for its pin
    assert (f"its SHA-256 is {other.verdict.sha256}, but SUMS has {pin}",) == other.faults
    assert "c.journal has no pin in SUMS" in (none.error or "")
