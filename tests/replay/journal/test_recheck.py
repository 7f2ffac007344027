"""All draws of a journal at once, and what is told where not all can be read."""

from pathlib import Path

import attrs

from goldrush.replay.journal.draws import Recheck, draws, recheck
from tests.golden import path_of
from tests.journals import commits_of

RUN = path_of("scarce")


def test_all_draws_of_a_sound_journal_hold_and_are_counted_by_kind() -> None:
    every = list(draws(RUN))
    found = recheck(RUN)

    assert (str(RUN), True, None, ()) == (found.path, found.holds, found.error, tuple(found.broken))
    assert len(every) == sum(found.checked.values()) > 0
    assert sum(bool(one.draw_words) for one in every) == found.drawn > 0
    assert {one.kind for one in every} == set(found.checked)


def test_a_broken_draw_is_broken_though_the_rest_cannot_be_read() -> None:
    sound = next(one for one in draws(RUN) if one.draw_words)
    broken = attrs.evolve(sound, draw_words=())

    assert recheck(RUN).holds is True
    assert Recheck("a", {}, 0, [broken], None).holds is False
    assert Recheck("a", {}, 0, [broken], "damaged").holds is False
    assert Recheck("a", {}, 0, [], "damaged").holds is None


def test_of_a_damaged_journal_what_can_be_read_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "damaged.journal"
    end = commits_of(RUN)[10].end
    path.write_bytes(RUN.read_bytes()[: end + 5])
    found = recheck(path)

    assert found.holds is None
    assert "torn tail" in str(found.error)
    assert 0 < sum(found.checked.values()) < sum(recheck(RUN).checked.values())
