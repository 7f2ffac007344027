"""The words of `diff`."""

from pathlib import Path

from tests.cli.helpers import goldrush
from tests.mining import record


def test_a_difference_that_words_do_not_tell_is_shown_as_it_is(tmp_path: Path) -> None:
    for seed in (0, 1):
        record(tmp_path / f"{seed}", {"rounds": 6, "rows": 4, "cols": 4, "seed": seed}, "random*4")
    ran = goldrush("diff", "0", "1", cwd=tmp_path)
    a, b = (line for line in ran.out.splitlines() if line.startswith(("  A: ", "  B: ")))

    assert ran.code == 1
    assert a[5:] != b[5:]
