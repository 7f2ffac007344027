"""Exit codes: what a script that calls goldrush can tell from them.

Output that nobody reads to its end (`goldrush log run.journal | head`) is no error, as for ripgrep:
the code is 0, and that of `verify`, `diff` and `audit` what it would be else. To die of SIGPIPE, as
git and grep do, would make a pipeline under `set -o pipefail` fail for its reader's choice.
"""

from typing import Final

DONE: Final = 0  # for `verify` and `audit`: all hold; for `diff`: the same
DIFFERS: Final = 1  # something does not hold; two runs differ; or a run stopped half way
TROUBLE: Final = 2  # it could not be done, written or judged as asked
INTERRUPTED: Final = 130  # Ctrl-C, as shells count it
