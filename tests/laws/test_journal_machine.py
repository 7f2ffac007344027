"""The journal against a plain list: whatever is appended, cut off, reopened, branched off and lost,
in whatever order, what is read is what the list says, and the file has the bytes that it should.
"""

import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from goldrush.kernel import files
from goldrush.kernel.errors import (
    BadInput,
    DamagedJournal,
    JournalInUse,
    NotAJournal,
    TornTail,
    WriteFailed,
)
from goldrush.kernel.journal import (
    END,
    FORK,
    START,
    UNIT,
    Commit,
    JournalReader,
    JournalWriter,
    Location,
)
from goldrush.kernel.world import Block
from tests.kernel.tiny import HEADER, content, forged

FRONT = len(HEADER.packed())
FRAME = 20  # bytes of a commit around its body
DIGESTS = st.integers(0, 2**64 - 1)
INPUTS, DERIVED = range(2)


def blocks(code: int) -> st.SearchStrategy[Block]:
    rows = st.lists(st.tuples(st.integers(0, 300), st.sampled_from(("", "plan", "x" * 90))))
    return st.builds(lambda rows: Block([(code, rows)]), rows.filter(lambda rows: len(rows) < 4))


STEPS = st.lists(st.tuples(blocks(INPUTS), blocks(DERIVED)), min_size=1, max_size=2)


def file_of(commits: Sequence[Commit]) -> tuple[bytes, list[int]]:
    """The bytes of a journal of these commits, worked out without the writer, and their ends."""
    bodies = [commit.body() for commit in commits]
    _, *ends = accumulate((len(body) + FRAME for body in bodies), initial=FRONT)
    return forged(bodies), ends


def full_after(left: int) -> files.System:
    """A system with a write that fails after so many bytes."""

    def write(fd: int, data: Any, offset: int) -> int:
        nonlocal left
        if not left:
            raise OSError(errno.ENOSPC, "No space left on device")
        written = os.pwrite(fd, bytes(data)[:left], offset)
        left -= written
        return written

    return files.System(write=write)


def is_open(machine: "JournalMachine") -> bool:
    return machine.writer is not None


def is_closed(machine: "JournalMachine") -> bool:
    return machine.writer is None


def goes_on(machine: "JournalMachine") -> bool:
    return machine.writer is not None and not machine.ended


def is_between_units(machine: "JournalMachine") -> bool:
    return goes_on(machine) and machine.list[-1].digest is not None


def has_commits(machine: "JournalMachine") -> bool:
    return bool(machine.list)


class JournalMachine(RuleBasedStateMachine):
    """`list` is what the journal at `path` should hold, `torn` what follows as a torn tail."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="journal-machine-"))
        self.names = 0
        self.path = self.new_path()
        self.list: list[Commit] = []
        self.torn = b""
        self.writer: JournalWriter | None = None
        self.early: tuple[JournalReader, list[Commit]] | None = None  # opened in the past
        self.parents: dict[Path, bytes] = {}

    def teardown(self) -> None:
        self.close()
        self.forget()
        shutil.rmtree(self.folder)

    # The list.

    @property
    def ended(self) -> bool:
        return bool(self.list) and self.list[-1].kind == END

    @property
    def unit(self) -> int:
        """The last unit closed."""
        return max((c.unit for c in self.list if c.digest is not None), default=0)

    def closed(self) -> list[int]:
        """The commits after which no unit is open and the run has not ended."""
        return [index for index, commit in enumerate(self.list) if commit.digest is not None]

    def new_path(self) -> Path:
        self.names += 1
        return self.folder / f"{self.names}.journal"

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
            self.writer = None

    def forget(self) -> None:
        if self.early is not None:
            self.early[0].close()
            self.early = None

    def append(self, commit: Commit) -> None:
        assert self.writer is not None
        self.writer.append(commit)
        self.list.append(commit)

    # Starting and appending.

    @initialize(digest=DIGESTS)
    def start(self, digest: int) -> None:
        self.writer = JournalWriter(self.path, HEADER)
        self.append(Commit(START, 0, digest, setup={"players": 2}))

    @precondition(goes_on)
    @rule(digest=DIGESTS, steps=STEPS)
    def close_a_unit(self, digest: int, steps: list[tuple[Block, Block]]) -> None:
        both = [block for step in steps for block in step]
        self.append(Commit(UNIT, self.unit + 1, digest, both))

    @precondition(goes_on)
    @rule(inputs=blocks(INPUTS), steps=st.just([]) | STEPS)
    def append_inputs_only(self, inputs: Block, steps: list[tuple[Block, Block]]) -> None:
        both = [block for step in steps for block in step]
        self.append(Commit(UNIT, self.unit + 1, None, [*both, inputs]))

    @precondition(is_between_units)
    @rule(digest=DIGESTS)
    def fork_in_place(self, digest: int) -> None:
        self.append(Commit(FORK, self.unit, digest, setup={"why": None}))

    @precondition(is_between_units)
    @rule()
    def append_the_end(self) -> None:
        self.append(Commit(END, self.unit))

    @precondition(goes_on)
    @rule(digest=DIGESTS, steps=STEPS, data=st.data())
    def append_what_the_disk_has_no_room_for(
        self, digest: int, steps: list[tuple[Block, Block]], data: st.DataObject
    ) -> None:
        commit = Commit(UNIT, self.unit + 1, digest, [block for step in steps for block in step])
        room = data.draw(st.integers(0, len(commit.body()) + FRAME - 1))
        assert self.writer is not None
        whole = len(self.list)
        with (
            mock.patch.object(files, "system", full_after(room)),
            pytest.raises(WriteFailed, match=f"after {whole} whole commits"),
        ):
            self.writer.append(commit)

    # Losing and reopening.

    @precondition(is_open)
    @rule()
    def stop(self) -> None:
        self.close()

    @precondition(has_commits)
    @rule(data=st.data())
    def crash_in_the_last_write(self, data: st.DataObject) -> None:
        """The last commit is lost or torn."""
        before = self.list[:-1]
        whole, torn = len(file_of(before)[0]) if before else 0, len(file_of(self.list)[0])
        self.cut(data.draw(st.integers(whole, torn - 1)))

    @precondition(has_commits)
    @rule(data=st.data())
    def lose_writes(self, data: st.DataObject) -> None:
        """The file is as it was after any earlier byte."""
        self.cut(data.draw(st.integers(FRONT, len(file_of(self.list)[0]))))

    def cut(self, size: int) -> None:
        self.close()
        self.forget()
        data, ends = file_of(self.list)
        os.truncate(self.path, size)
        kept = sum(end <= size for end in ends)
        self.list = self.list[:kept]
        self.torn = data[:size][ends[kept - 1] if kept else 0 :]

    @precondition(is_closed)
    @rule(data=st.data())
    def reopen(self, data: st.DataObject) -> None:
        """Go on after the last whole commit or after an earlier one; without any, start anew."""
        self.forget()
        self.torn = b""
        if not self.list:
            self.writer = JournalWriter(self.path, HEADER, force=True)
            self.append(Commit(START, 0, 7, setup={"players": 2}))
            self.append(Commit(UNIT, 1, 7, [Block(()), Block(())]))  # replaces what is left there
            return
        most = len(self.list) - 1 - self.ended
        last = data.draw(st.just(most) | st.integers(0, most))
        self.writer = JournalWriter.reopen(self.path)
        found, _ = read(self.path)
        self.writer.go_on_after(found[last])
        self.list = self.list[: last + 1]

    @precondition(is_open)
    @rule(data=st.data())
    def a_second_writer_is_refused(self, data: st.DataObject) -> None:
        second: Callable[[], JournalWriter] = data.draw(
            st.sampled_from(
                (
                    lambda: JournalWriter.reopen(self.path),
                    lambda: JournalWriter(self.path, HEADER, force=True),
                )
            )
        )
        with pytest.raises(JournalInUse):
            second()

    @precondition(lambda machine: any(machine.path.read_bytes()))  # an empty one is replaced
    @rule()
    def a_new_journal_in_its_place_is_refused(self) -> None:
        with pytest.raises(BadInput, match=r"already exists|is a journal"):
            JournalWriter(self.path, HEADER)

    # Branching.

    @precondition(lambda machine: bool(machine.closed()))
    @rule(digest=DIGESTS, data=st.data(), room=st.none() | st.integers(0, 200))
    def branch(self, digest: int, data: st.DataObject, room: int | None) -> None:
        """Go on with a branch; where there is no room for it, there is none."""
        last = data.draw(st.sampled_from(self.closed()))
        fork = Commit(FORK, self.list[last].unit, digest, setup={"why": "to see"})
        out, common = self.new_path(), self.list[: last + 1]
        whole = len(file_of([*common, fork])[0])
        with JournalReader(self.path) as reader:
            commits = reader.commits()
            commit = [next(commits) for _ in common][last]
            commits.close()
            with pytest.raises(BadInput, match="parent itself"):
                JournalWriter.branch(self.path, reader, commit, force=True)
            branch = JournalWriter.branch(out, reader, commit)
            if room is not None and room < whole:
                with (
                    mock.patch.object(files, "system", full_after(room)),
                    pytest.raises(WriteFailed),
                ):
                    branch.append(fork)
                branch.close()

                assert not out.exists()
                return
            self.close()
            self.forget()
            self.parents[self.path] = self.path.read_bytes()
            self.path, self.writer, self.torn, self.list = out, branch, b"", common
            self.append(fork)

    # Reading.

    @precondition(has_commits)
    @rule(data=st.data())
    def read_from_a_place(self, data: st.DataObject) -> None:
        last = data.draw(st.sampled_from(self.closed()))
        ends = file_of(self.list)[1]
        place = Location(ends[last], last + 1, self.list[last].unit)
        found, torn = read(self.path, place)

        assert [content(commit) for commit in found] == [
            content(commit) for commit in self.list[last + 1 :]
        ]
        assert [commit.end for commit in found] == ends[last + 1 :]
        assert torn is bool(self.torn)

    @precondition(has_commits)
    @rule()
    def open_a_reader(self) -> None:
        self.forget()
        self.early = JournalReader(self.path), list(self.list)

    @precondition(lambda machine: machine.early is not None and not machine.torn)
    @rule()
    def read_with_an_early_reader(self) -> None:
        """A reader gives what was there when it was opened, whatever was appended since."""
        assert self.early is not None
        reader, expected = self.early

        assert [content(commit) for commit in reader] == [content(commit) for commit in expected]

    @invariant()
    def what_is_read_is_the_list(self) -> None:
        data, ends = file_of(self.list)
        if not self.list:
            data = b""

        assert self.path.read_bytes() == data + self.torn
        if len(data + self.torn) < FRONT:
            with pytest.raises((DamagedJournal, NotAJournal)):
                JournalReader(self.path)
            return
        with JournalReader(self.path) as reader:
            found, torn = all_of(reader)

            assert reader.ended == self.ended
        assert [content(commit) for commit in found] == [content(commit) for commit in self.list]
        assert [commit.end for commit in found] == ends
        assert [commit.index for commit in found] == list(range(len(found)))
        assert torn is bool(self.torn)

    @invariant()
    def parents_stay_as_they_were(self) -> None:
        for path, data in self.parents.items():
            assert path.read_bytes() == data


def read(path: Path, place: Location | None = None) -> tuple[list[Commit], bool]:
    with JournalReader(path) as reader:
        return all_of(reader, place)


def all_of(reader: JournalReader, place: Location | None = None) -> tuple[list[Commit], bool]:
    """The whole commits, and whether there is a torn tail."""
    found: list[Commit] = []
    try:
        found.extend(reader.commits(place))
    except TornTail:
        return found, True
    return found, False


TestJournal = JournalMachine.TestCase
TestJournal.settings = settings(stateful_step_count=40)
