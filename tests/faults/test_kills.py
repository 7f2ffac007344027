"""What was committed survives the death of the recorder, and the run goes on to the same bytes."""

import json
import subprocess
import sys

from tests.cli.helpers import ROOT
from tests.faults.conftest import Counted
from tests.faults.sampling import ALL


def test_what_was_announced_survives_every_kill_and_the_run_ends_in_the_same_bytes(
    counted: Counted,
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.kills", *(("1", "8") if ALL else ("3", "50"))],
        cwd=ROOT, capture_output=True, text=True, timeout=3_600,
    )  # fmt: skip

    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    counted("kills", found["kills"])

    assert found["says"] == []
    assert min(found[k] for k in ("kills", "inside a commit", "announced")) > 10
