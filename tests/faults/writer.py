"""A recorder that waits after each round for a line: `python -m tests.faults.writer PATH`."""

import sys

from tests.faults.journals import AUTHORITY, ROSTER, SMALL
from tests.mining import record


def main() -> None:
    """Record the small journal; say which round is whole, then wait."""

    def wait(round: int, _: object) -> None:
        print(round, flush=True)
        sys.stdin.readline()

    record(sys.argv[1], SMALL, ROSTER, AUTHORITY, on_round=wait)


if __name__ == "__main__":
    main()
