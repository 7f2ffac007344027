"""The page that follows the source sentence by sentence leaves none out."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[3]
PAGE = TESTS.parent / "kernel" / "worlds" / "competition" / "SOURCE.md"


def test_every_sentence_has_a_verdict() -> None:
    rows = re.findall(r"^\| (\d+) \|.*\| (kept|\*\*\w+ \w+\*\*).*\|$", PAGE.read_text(), re.M)

    assert [str(number) for number in range(1, 78)] == [number for number, _ in rows]
