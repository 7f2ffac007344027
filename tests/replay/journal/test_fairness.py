"""The test of fairness: what it counts, what it refuses to count, and what it must catch.

It judges the draws themselves. A winner that was forged in a file is no matter of chance: the audit
names it, and the test refuses to count it. What only the test can see is draws that favour a place
and hold all the same, because whoever recorded, and whoever checks, draws by the same unfair rule.
"""

import math
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from goldrush.agents.worlds.mining.players import fork, record
from goldrush.kernel import fold
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, DamagedJournal
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.journal.draws import draws
from goldrush.replay.journal.fairness import EXPECTED_MIN, Fairness, fairness
from tests.golden import FOLDER, path_of
from tests.journals import commits_of, redrawn, write

CROWDED = {"rounds": 6, "rows": 3, "cols": 3, "truce": 0}
ROSTER = "random*2,raid*2"
SEEDS = 40


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Small runs in which agents are tied often, one a seed."""
    folder = tmp_path_factory.mktemp("journals")
    paths = [folder / f"{seed}.journal" for seed in range(SEEDS)]
    for seed, path in enumerate(paths):
        record(path, {**CROWDED, "seed": seed}, ROSTER)
    return paths


def places(paths: Iterable[Path]) -> dict[int, list[int]]:
    """From the events alone: how often each place among so many won; seeds all differ here."""
    counts: defaultdict[int, list[int]] = defaultdict(list)
    for path in paths:
        with JournalReader(path) as reader:
            for event in fold.events(MINING, reader):
                if event.name in ("claim_drawn", "raid_resolved") and event["words"]:
                    tied = event.fields.get("claimants") or event["raiders"]
                    tied = [a for a in tied if a != event.fields.get("owner")]
                    counts[len(tied)] = counts[len(tied)] or [0] * len(tied)
                    counts[len(tied)][tied.index(event["winner"])] += 1
    return counts


def by_participants(tests: Iterable[Fairness]) -> dict[int | None, Fairness]:
    return {test.participants: test for test in tests}


def test_the_statistic_is_the_one_that_is_worked_out_by_hand(runs: list[Path]) -> None:
    tests = by_participants(fairness(runs))
    counts = places(runs)

    assert [*sorted(counts), None] == list(tests)
    for tied, wins in counts.items():
        expected = sum(wins) / tied
        statistic = sum((won - expected) ** 2 / expected for won in wins)
        test = tests[tied]

        assert (sum(wins), wins, expected) == (test.draws, list(test.counts), test.expected)
        assert (statistic, tied - 1) == (pytest.approx(test.statistic), test.degrees)
    # The tail of chi-square has a closed form for one and for two degrees of freedom.
    assert math.erfc(math.sqrt(tests[2].statistic / 2)) == pytest.approx(tests[2].p)
    assert math.exp(-tests[3].statistic / 2) == pytest.approx(tests[3].p)


def test_all_together_adds_up_what_has_draws_enough(runs: list[Path]) -> None:
    *each, together = fairness(runs)
    thick = [test for test in each if not test.is_thin]

    assert len(thick) >= 2
    assert (None, ()) == (together.participants, together.counts)
    assert sum(test.draws for test in thick) == together.draws
    assert sum(test.statistic for test in thick) == pytest.approx(together.statistic)
    assert sum(test.degrees for test in thick) == together.degrees
    assert not together.is_thin


def test_rows_with_too_few_draws_are_flagged_and_left_out_of_all_together() -> None:
    *each, together = fairness(sorted(FOLDER.glob("*.journal")))
    thin = [test for test in each if test.is_thin]

    assert thin
    for test in each:
        assert test.expected is not None
        assert (test.draws / test.participants < EXPECTED_MIN) == test.is_thin
    assert sum(test.draws for test in each if test not in thin) == together.draws


def test_with_nothing_but_thin_rows_there_is_no_verdict(tmp_path: Path) -> None:
    record(tmp_path / "a.journal", {**CROWDED, "rounds": 1}, ROSTER)
    *each, together = fairness([tmp_path / "a.journal"])

    assert each
    assert all(test.is_thin for test in each)
    assert (True, 1.0, 0, 0, 0) == (
        together.is_thin, together.p, together.draws, together.degrees, together.statistic
    )  # fmt: skip


def test_a_draw_counts_once_in_however_many_journals_it_stands(
    runs: list[Path], tmp_path: Path
) -> None:
    copy = tmp_path / "copy.journal"
    copy.write_bytes(runs[0].read_bytes())
    fork(runs[0], 3, tmp_path / "fork.journal", settings={"visibility": 9})

    once = fairness([runs[0]])
    assert once == fairness([runs[0], copy, tmp_path / "fork.journal", runs[0]])
    assert fairness(runs) == fairness([*runs, copy])
    assert once != fairness(runs[:2])


def test_draws_under_another_seed_are_other_draws(runs: list[Path], tmp_path: Path) -> None:
    """A fork that changes the seed has its parent's draws up to there, and then its own."""
    path = tmp_path / "fork.journal"
    fork(runs[0], 3, path, settings={"seed": 1_000})
    own = sum(bool(a.draw_words) and a.location["round"] > 3 for a in draws(path))
    parents = sum(test.draws for test in fairness([runs[0]])[:-1])

    assert own > 0
    assert parents + own == sum(test.draws for test in fairness([runs[0], path])[:-1])


def test_the_order_of_the_journals_does_not_matter(runs: list[Path]) -> None:
    assert fairness(runs) == fairness(runs[::-1])


def test_what_an_authority_notices_is_no_place_among_participants() -> None:
    path = path_of("authority-punish")
    tied = sum(bool(a.draw_words and a.participants) for a in draws(path))

    assert tied == sum(test.draws for test in fairness([path])[:-1])
    assert tied < sum(bool(a.draw_words) for a in draws(path))


def test_draws_by_the_rules_are_fair(runs: list[Path]) -> None:
    *each, together = fairness(runs)

    assert together.draws > 300
    assert all(test.p > 0.001 for test in [*each, together])


# What must be caught.


def _first_place(draws: Draws, n: int) -> int:
    """A word is taken, as it should be, and the first place wins, whatever it is."""
    draws.word()
    return 0


@pytest.fixture
def rigged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """Runs in whose draws the lowest id wins, recorded where `below` always gave 0."""
    paths = [tmp_path / f"rigged{seed}.journal" for seed in range(15)]
    with monkeypatch.context() as patch:
        patch.setattr(Draws, "below", _first_place)
        for seed, path in enumerate(paths):
            record(path, {**CROWDED, "seed": seed}, ROSTER)
    return paths


def test_runs_that_were_recorded_by_rigged_draws_do_not_hold_and_are_not_counted(
    rigged: list[Path],
) -> None:
    """By the right rules these winners are wrong: a matter for the audit, not for chance."""
    broken = [audited for path in rigged for audited in draws(path) if not audited.holds]

    assert broken
    assert all(a.draw_words == a.draw_words_again for a in broken)
    with pytest.raises(BadInput, match=r"rigged\d+.journal: a draw does not hold: plot \d"):
        fairness(rigged)


def test_rigged_draws_that_hold_by_their_own_rules_are_caught_by_the_test(
    rigged: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where recorder and auditor share an unfair `below`, every draw holds; only counting tells."""
    monkeypatch.setattr(Draws, "below", _first_place)

    assert all(audited.holds for path in rigged for audited in draws(path))
    *each, together = fairness(rigged)
    assert together.p < 1e-12
    for test in each:
        assert test.counts == [test.draws] + [0] * (len(test.counts) - 1)


@pytest.fixture
def forged(runs: list[Path], tmp_path: Path) -> Path:
    """The first run, with another winner of the first draw under right checksums."""
    return write(tmp_path / "forged.journal", redrawn(commits_of(runs[0])))


def test_a_forged_draw_is_refused_and_not_counted(runs: list[Path], forged: Path) -> None:
    with pytest.raises(BadInput, match=r"forged.journal: a draw does not hold: plot \d+, round 1"):
        fairness([*runs[1:], forged])


def test_a_forged_draw_is_refused_beside_the_run_that_it_was_made_from(
    runs: list[Path], forged: Path
) -> None:
    """Whichever of the two is read first."""
    for paths in ([forged, runs[0]], [runs[0], forged]):
        with pytest.raises(BadInput, match="a draw does not hold"):
            fairness(paths)


# What cannot be tested.


def test_without_scipy_it_says_what_to_install(
    runs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)

    with pytest.raises(BadInput, match=r"needs scipy; .*pip install 'goldrush-sim\[stats\]'"):
        fairness(runs)


def test_where_nothing_was_drawn_there_is_nothing_to_test(path: Path) -> None:
    record(path, {"rounds": 3}, "greedy-mine*1")

    for paths in ([path], []):
        with pytest.raises(BadInput, match="nothing was drawn"):
            fairness(paths)


def test_a_damaged_journal_is_no_evidence(runs: list[Path], path: Path) -> None:
    path.write_bytes(runs[0].read_bytes()[:-40] + b"x" * 40)

    with pytest.raises(DamagedJournal):
        fairness([runs[1], path])
