"""Tables as files: where they go, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldrush.kernel.errors import BadInput, TornTail
from goldrush.replay.data import encoded
from goldrush.replay.data.encoded import CSV, PARQUET
from tests.golden import path_of
from tests.mining import record

BOTH = pytest.mark.parametrize("form", [CSV, PARQUET])


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run."""
    path = tmp_path_factory.mktemp("runs") / "a.journal"
    record(path, {"rounds": 1}, "raid*3")
    return path


@BOTH
def test_force_replaces_an_earlier_table_and_no_other_file(
    journal: Path, tmp_path: Path, form: str
) -> None:
    """Another table in its place, with other columns, is no earlier one."""
    encoded.write_tables([journal], tmp_path, form)
    kept, other = tmp_path / f"agents.{form}", (tmp_path / f"spells.{form}").read_bytes()
    first = kept.read_bytes()
    with pytest.raises(BadInput):
        encoded.write_tables([journal], tmp_path, form, names=["agents"])
    assert 5 == len(encoded.write_tables([journal], tmp_path, form, force=True))
    assert first == kept.read_bytes()

    for data in (b"mine", first[:9], other):
        kept.write_bytes(data)
        for force in (False, True):
            with pytest.raises(BadInput):
                encoded.write_tables([journal], tmp_path, form, names=["agents"], force=force)
        assert data == kept.read_bytes()


@BOTH
def test_a_journal_that_is_read_is_never_written_over(
    journal: Path, tmp_path: Path, form: str
) -> None:
    data = journal.read_bytes()
    own = tmp_path / f"spells.{form}"
    own.write_bytes(data)
    (tmp_path / "link.journal").symlink_to(own)
    for read in (own, tmp_path / "link.journal"):
        with pytest.raises(BadInput, match="is a journal"):
            encoded.write_tables([path_of("baseline"), read], tmp_path, form, force=True)

    assert data == own.read_bytes()
    assert {own.name, "link.journal"} == {path.name for path in tmp_path.iterdir()}


@BOTH
@pytest.mark.parametrize("is_new", [True, False])
def test_a_journal_that_breaks_leaves_nothing_behind(
    journal: Path, tmp_path: Path, form: str, is_new: bool
) -> None:
    torn = tmp_path / "torn.journal"
    torn.write_bytes(journal.read_bytes()[:-3])
    place = tmp_path / "tables"
    if not is_new:
        encoded.write_tables([journal], place, form, names=["events"])
        before = (place / f"events.{form}").read_bytes()
    with pytest.raises(TornTail):
        encoded.write_tables([journal, torn], place, form, force=True)

    assert is_new is not place.exists()
    assert is_new or [before] == [path.read_bytes() for path in place.iterdir()]
