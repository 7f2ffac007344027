"""The large numbers: `python -m tests.faults [CORRUPTIONS]`, by default a million.

The tests of this folder with nothing left out (FAULTS=all), and as many random corruptions. The
summary counts what was tried; what fails names the case, by which it can be had again.
"""

import os
import subprocess
import sys

CORRUPTIONS = sys.argv[1] if len(sys.argv) > 1 else "1000000"

sys.exit(
    subprocess.call(
        [sys.executable, "-m", "pytest", "-q", "-n", "auto", "tests/faults"],
        env={**os.environ, "FAULTS": "all", "CORRUPTIONS": CORRUPTIONS},
    )
)
