"""What was committed survives the death of the recorder, and the run goes on to the same bytes."""

import json
import subprocess
import sys

import pytest

from tests.cli.helpers import ROOT
from tests.faults.conftest import Counted

KILLS = 40  # at random instants; more come at every call


@pytest.mark.parametrize("seed", range(2))
def test_what_was_announced_survives_every_kill_and_the_run_ends_in_the_same_bytes(
    seed: int, counted: Counted
) -> None:
    piece = 0 if seed else 80  # the calls are the same for every seed
    done = subprocess.run(
        [
            sys.executable, "-m", "tests.faults.kills", "--seed", str(seed),
            "--kills", str(KILLS), "--piece", str(piece),
        ],
        cwd=ROOT, capture_output=True, text=True, timeout=600,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    counted("kills", found["kills"])

    assert found["says"] == []
    assert (0, 0, 0, 0) == tuple(found[k] for k in ("lost", "differ", "misread", "tracebacks"))
    assert found["kills"] >= KILLS
    if piece:  # then not only chance says where
        assert min(found[k] for k in ("inside a commit", "forks", "resumed", "announced")) > 10
