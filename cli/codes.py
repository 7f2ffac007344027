"""Exit codes of all commands.

A closed pipe (`goldrush log run.journal | head`) is not an error, as in ripgrep: the code is 0, and
for `verify`, `diff`, `repeats`, `audit` and `conform` their verdict. Ending by SIGPIPE, as git and
grep do, would make such a pipeline fail under `set -o pipefail`.
"""

from collections.abc import Iterable
from typing import Final

DONE: Final = 0  # for `verify` and `audit`: all holds; for `diff`: no difference
DIFFERS: Final = 1  # something does not hold, two runs differ, or a run stopped at a limit
TROUBLE: Final = 2  # the command could not do, write or judge what was asked
INTERRUPTED: Final = 130  # Ctrl-C, as shells count it


def code_of(verdicts: Iterable[bool | None]) -> int:
    """DONE if all hold, DIFFERS if one does not, else TROUBLE. None: it could not be judged."""
    found = {*verdicts}
    if False in found:
        return DIFFERS
    return TROUBLE if None in found else DONE
