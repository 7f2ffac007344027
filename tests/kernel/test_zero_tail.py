"""A power loss may keep a file's new size and lose its last bytes, which then read as zeros: behind
whole commits that is a torn tail, told apart, which `resume` drops; anywhere else it is damage. Of
every byte: test_journal.py.
"""

import os
from pathlib import Path

import pytest

from goldrush.kernel.errors import TornTail
from goldrush.replay.journal.verify import verify
from tests.journals import commits_of, peak
from tests.mining import record, resume


@pytest.fixture
def journal(path: Path) -> Path:
    record(path, {"rounds": 3, "rows": 2, "cols": 2, "agents": 2, "seed": 5})
    return path


def test_verify_says_torn_and_resume_goes_on_to_the_same_bytes(journal: Path) -> None:
    data, commits = journal.read_bytes(), commits_of(journal)
    for commit in commits[1:]:
        for start in (commit.offset, commit.offset + 5, commit.end - 4):
            journal.write_bytes(data[:start] + bytes(commit.end - start + 512))
            broken = verify(journal).broken

            assert (broken.level, broken.torn) == (1, True)
            assert "zeros" in broken.found
            resume(journal)
            assert journal.read_bytes() == data


def test_a_sparse_file_is_judged_in_constant_memory(journal: Path) -> None:
    os.truncate(journal, commits_of(journal)[2].offset + 20)
    os.truncate(journal, 1 << 27)

    def read() -> None:
        with pytest.raises(TornTail) as caught:
            commits_of(journal)
        assert caught.value.zeros

    assert peak(read) < 8 << 20
