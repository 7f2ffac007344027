"""Files made to do harm, under right checksums: refused or told, in little memory."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from goldrush.kernel.errors import BadInput, MalformedEvents
from goldrush.kernel.worlds.mining.events import RULED, SUBMITTED
from goldrush.replay.journal.verify import verify
from tests.cli.helpers import ROOT
from tests.faults import forge
from tests.faults.conftest import Counted
from tests.faults.hostile import typed
from tests.faults.journals import TRUST, Sound, forked, small
from tests.mining import fork

GROWTH_MAX = 400 << 20  # bytes; msgpack takes lists in lists for what they say they hold


@pytest.mark.parametrize("what", ["runs", "seasons"])
def test_forged_journals_are_refused_or_told_in_little_memory(what: str, counted: Counted) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.hostile", what],
        cwd=ROOT, capture_output=True, text=True, timeout=600,
    )  # fmt: skip

    said = [line for line in done.stderr.splitlines() if "num_ctx" not in line]  # of its server
    assert (done.returncode, said) == (0, [])
    found = json.loads(done.stdout)
    counted(f"forged {what}", found["cases"])

    assert found["wrong"] == []
    assert found["grown"] < GROWTH_MAX
    assert found["cases"] >= 15


def forged(tmp_path: Path, code: int, what: str, sound: Callable[[], Sound] = small) -> Path:
    path = tmp_path / "forged"
    path.write_bytes(dict(forge.event_makers(sound(), code, forge.VALUES))[what]())
    return path


@pytest.mark.parametrize("sound", [small, forked])
def test_the_digests_of_a_forged_journal_hold_where_its_events_can_be_applied(
    sound: Callable[[], Sound], tmp_path: Path
) -> None:
    path = forged(tmp_path, SUBMITTED, "submitted.memo is text", sound)
    levels = [(broken := verify(path, level).broken) and broken.level for level in (1, 2, 4)]

    assert [None, None, 4] == levels


def test_nobody_goes_on_from_numbers_that_no_rule_gives(tmp_path: Path) -> None:
    path = forged(tmp_path, RULED, "ruled.fine is the largest integer")
    with pytest.raises(MalformedEvents, match=r'expected .*"fine": .*, found .*"fine": 1.8446'):
        fork(path, 3, tmp_path / "fork", trust=TRUST)

    assert not (tmp_path / "fork").exists()


@pytest.mark.parametrize(
    ("does", "says"),
    [
        (lambda: (_ for _ in ()).throw(ValueError("so")), ["log --json: ValueError: so"]),
        (lambda: print("\x1b[2J"), ["log prints what moves the cursor"]),
        (lambda: (_ for _ in ()).throw(BadInput("no", "yes")), []),
    ],
)
def test_what_is_typed_is_watched(
    does: Callable[[], None], says: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.faults.hostile.cli.main", lambda *words, **options: does())

    assert says == list(typed(["log", "a.journal", "--json"]))
