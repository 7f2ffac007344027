"""The large numbers: `python -m tests.faults [CORRUPTIONS KILLS]`, by default a million and 1,000.

The tests of this folder with nothing left out (FAULTS=all), and as many random corruptions and
kills. The summary counts what was tried; what fails names the case, by which it can be had again.
"""

import os
import subprocess
import sys

CORRUPTIONS, KILLS = sys.argv[1:] or ("1000000", "1000")

sys.exit(
    subprocess.call(
        [sys.executable, "-m", "pytest", "-q", "-n", "auto", "tests/faults"],
        env={**os.environ, "FAULTS": "all", "CORRUPTIONS": CORRUPTIONS, "KILLS": KILLS},
    )
)
