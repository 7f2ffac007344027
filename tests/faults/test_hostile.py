"""Files made to do harm, under right checksums: refused or told, in little memory."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from goldrush.kernel.errors import BadInput, GoldrushError, MalformedEvents
from goldrush.kernel.journal import START, Commit
from goldrush.kernel.worlds.mining.events import CLAIM_DRAWN, RULED, SUBMITTED
from goldrush.replay.journal.verify import verify
from goldrush.replay.summary import summarise
from tests.cli.helpers import ROOT, goldrush
from tests.faults import forge
from tests.faults.commands import typed
from tests.faults.conftest import Counted
from tests.faults.hostile import KINDS
from tests.faults.hostile_seasons import SAMPLE
from tests.faults.journals import TRUST, Sound, forked, small
from tests.mining import fork

GROWTH_MAX = 400 << 20  # bytes; msgpack takes lists in lists for what they say they hold


# Frames that claim to hold much take the most memory: in a process of their own.
@pytest.mark.parametrize("kinds", [KINDS[:-1], KINDS[-1:]], ids=["events", "frames"])
def test_forged_journals_are_refused_or_told_in_little_memory(
    kinds: Sequence[str], counted: Counted
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.hostile", *kinds],
        cwd=ROOT, capture_output=True, text=True, timeout=600,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    counted("forged journals", found["cases"])

    assert found["wrong"] == []
    assert found["grown"] < GROWTH_MAX
    assert found["cases"] >= 5 * len(kinds)


def test_forged_seasons_are_refused_or_told(counted: Counted) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.hostile_seasons"],
        cwd=ROOT, capture_output=True, text=True, timeout=600,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    counted("forged seasons", found["cases"])

    assert found["wrong"] == []
    assert found["cases"] >= SAMPLE


def test_settings_that_are_no_json_can_be_compared(tmp_path: Path) -> None:
    sound = small()
    setup = {**(sound.commits[0].setup or {})}
    setup["config"] = {**setup["config"], "seed": b"bytes"}
    start = Commit(START, 0, 0, setup=setup)
    bodies = [start.body(), *(commit.raw for commit in sound.commits[1:])]
    (tmp_path / "sound").write_bytes(sound.data)
    (tmp_path / "forged").write_bytes(forge.journal(bodies))
    ran = goldrush("diff", "sound", "forged", "--json", cwd=tmp_path)

    assert "Traceback" not in ran.err


@pytest.mark.parametrize("make", [small, forked])
def test_the_digests_of_a_forged_journal_hold_where_its_events_can_be_applied(
    make: Callable[[], Sound], tmp_path: Path
) -> None:
    wrong = forge.events(make(), SUBMITTED, every=True)
    path = tmp_path / "forged"
    path.write_bytes(next(data for what, data in wrong if what == "submitted.memo is text"))
    levels = [(broken := verify(path, level).broken) and broken.level for level in (1, 2, 4)]

    assert [None, None, 4] == levels


def forged_row(code: int, what: str) -> bytes:
    return next(data for name, data in forge.events(small(), code, every=True) if name == what)


def test_nobody_goes_on_from_numbers_that_no_rule_gives(tmp_path: Path) -> None:
    path = tmp_path / "forged"
    path.write_bytes(forged_row(RULED, "ruled.fine is the largest integer"))
    with pytest.raises(MalformedEvents, match=r'expected .*"fine": .*, found .*"fine": 1.8446'):
        fork(path, 3, tmp_path / "fork", trust=TRUST)

    assert not (tmp_path / "fork").exists()


def test_claimants_that_are_no_list_are_told_by_the_summary(tmp_path: Path) -> None:
    path = tmp_path / "forged"
    path.write_bytes(forged_row(CLAIM_DRAWN, "claim_drawn.claimants is nil"))

    with pytest.raises(GoldrushError):
        summarise(path)


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
    monkeypatch.setattr("tests.faults.commands.cli.main", lambda *words, **options: does())

    assert says == list(typed(["log", "a.journal", "--json"]))
