"""Any draw, computed again by the page's program, which needs nothing of ours."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from goldrush.replay.journal.draws import draws
from goldrush.replay.journal.tie_break import TieBreak
from tests.golden import FOLDER, path_of
from tests.redraw import PROGRAM, redraw

SEASON = FOLDER / "seasons" / "every-code.journal"
ALONE = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "goldrush":
            raise ImportError(name)

sys.meta_path.insert(0, Refuse())
"""


def computed(drawn: TieBreak) -> tuple[object, list[str]]:
    """The outcome of a draw among recorded participants, and the words that it took, in hex."""
    again = redraw(drawn.key)
    among = list(drawn.participants)
    result: object
    if match := re.match(r"below\((\d+)\)", drawn.rule):
        result = among[again.below(int(match[1]))]
    elif match := re.match(r"chance\(([\d.e-]+)\)", drawn.rule):
        result = again.chance(float(match[1]))
    else:
        order = again.shuffled(among)
        result = tuple(order) if isinstance(drawn.outcome, tuple) else order
    return result, [f"{word:016x}" for word in again.words]


@pytest.mark.parametrize(
    "path", [path_of("scarce-20"), path_of("forked"), SEASON], ids=lambda path: path.stem
)
def test_the_program_gives_words_and_outcome_of_every_draw(path: Path) -> None:
    audits = [drawn for drawn in draws(path) if drawn.draw_words]

    assert audits
    for drawn in audits:
        outcome, words = computed(drawn)
        assert list(drawn.draw_words) == words
        assert drawn.outcome in outcome if isinstance(outcome, list) else drawn.outcome == outcome


def test_the_program_needs_nothing_of_ours() -> None:
    program = f"{ALONE}{PROGRAM}\nprint(Redraw(bytes.fromhex('9407010aa5636c61696d')).below(2))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, timeout=600
    )

    assert ("1\n", "") == (done.stdout, done.stderr)
