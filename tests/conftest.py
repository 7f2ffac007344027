"""How hard the laws are tried: `HYPOTHESIS_PROFILE=thorough python -m pytest tests/laws`.

`ci`, the default, tries the same examples every time, so that a red test is a changed program and
never bad luck. `fast` (.ci/fast) tries fewer, as `mutants` does, which shrinks nothing. `thorough`
tries new ones for an hour: a million hostile plans against the oracle of the mining world, a
hundred thousand and more against each of its laws.
"""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

from goldrush.kernel import files
from tests.faults.sampling import ALL, TURN, TURNS, in_turn
from tests.indexes import cache_apart

# Whole games are large examples, and drawing one takes longer than Hypothesis likes.
LARGE = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)

settings.register_profile(
    "ci",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=40,
    suppress_health_check=LARGE,
)
settings.register_profile("fast", parent=settings.get_profile("ci"), max_examples=8)
settings.register_profile(
    "mutants", parent=settings.get_profile("fast"), phases=(Phase.explicit, Phase.generate)
)
settings.register_profile(
    "thorough", deadline=None, max_examples=20_000, suppress_health_check=LARGE
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# What a shell starts in the background is deaf to Ctrl-C, and so would be what tests start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def _cache_of_tests() -> Iterator[None]:
    """No test, and no process that one starts, touches the cache folder of whoever runs it."""
    with cache_apart():
        yield


@pytest.fixture(autouse=True, scope="session")
def _quick_disk() -> None:
    """No test waits for the disk of this machine: what is synced, and when, is asked of a simulated
    one (tests/faults/disk.py).
    """
    files.system = files.System(sync=lambda fd: None)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a test records a run."""
    return tmp_path / "run.journal"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of the tests of each kind that is marked `turns`, those of this turn, and at least one; all
    of them where all is tried, or where somebody names a test.
    """
    marks = ((item, item.get_closest_marker("turns")) for item in items)
    kinds: dict[str, list[pytest.Item]] = {}
    for item, mark in marks:
        if mark is not None:
            kind = mark.args[0] if mark.args else item.nodeid.partition("[")[0]
            kinds.setdefault(kind, []).append(item)
    if ALL or any("::" in argument for argument in config.args):
        return
    left = {item for tests in kinds.values() for item in tests}
    left -= {item for tests in kinds.values() for item in in_turn(tests)}
    items[:] = [item for item in items if item not in left]
    config.hook.pytest_deselected(items=list(left))


def pytest_collection_finish() -> None:
    """What was collected stays, as does most of what is imported later: the collector of garbage
    looks at it less often.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 10, 50)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """How many faults of each kind were tried (see tests/faults), and in how many tests one was
    missed.
    """
    how = "all" if ALL else f"third {TURN + 1} of {TURNS} (TURN={TURN}; FAULTS=all tries all)"
    terminalreporter.write_line(f"cases and experiments tried: {how}")
    tried: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            for name, value in report.user_properties:
                if name == "faults":
                    kind, cases = value
                    tried[kind] += cases
                    missed[kind] += outcome == "failed"
    if tried:
        terminalreporter.section("faults tried")
        for kind, cases in tried.items():
            failed = f", not met as they should be in {missed[kind]} tests" if missed[kind] else ""
            terminalreporter.write_line(f"{cases:>9,} {kind}{failed}")
        says = f"{missed.total()} tests failed" if missed.total() else "all met as they should be"
        terminalreporter.write_line(f"{tried.total():>9,} in all, {says}")
