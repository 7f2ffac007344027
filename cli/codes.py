"""Exit codes: what a script that calls goldrush can tell from them."""

from typing import Final

DONE: Final = 0  # for `verify` and `audit`: all hold; for `diff`: the same
DIFFERS: Final = 1  # something does not hold; two runs differ; or a run stopped half way
TROUBLE: Final = 2  # it could not be done, written or judged as asked
INTERRUPTED: Final = 130  # Ctrl-C, as shells count it
UNREAD: Final = 141  # whoever read our output went away, as shells count it
