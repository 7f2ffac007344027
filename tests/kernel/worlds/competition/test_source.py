"""The page that follows the source sentence by sentence names tests that exist."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[3]
PAGE = TESTS.parent / "kernel" / "worlds" / "competition" / "SOURCE.md"
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE.read_text())))


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_what_shows_a_sentence_exists(path: str, name: str) -> None:
    assert f"def {name}(" in (TESTS / path).read_text()


def test_every_sentence_has_a_verdict() -> None:
    rows = re.findall(r"^\| (\d+) \|.*\| (kept|\*\*\w+ \w+\*\*).*\|$", PAGE.read_text(), re.M)

    assert [str(number) for number in range(1, 78)] == [number for number, _ in rows]
