"""Pages of runs: bytes beside the journal's, and in headless Chromium how long one takes to open,
to have checked itself, and to show another unit. By the clock, the median of some tries.
"""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from goldrush.replay.view.page import write_page
from tests.mining import record
from tests.playing import record as record_season

Row = tuple[str, str, str, str, str]
TRIES = 5
LARGE = {"seed": 3, "agents": 20, "rounds": 500}
RAIDERS = "random*5,greedy-mine*5,raid*5,tit-for-tat-raid*5"
# Moves the scrubber through the run and gives the milliseconds until each moment was laid out.
_SCRUB = """() => {
  const scrubber = document.getElementById("scrubber");
  const [first, last] = [Number(scrubber.min), Number(scrubber.max)];
  return Array.from({ length: 100 }, (_, index) => {
    const start = performance.now();
    scrubber.value = first + ((index * 37) % (last - first + 1));
    scrubber.dispatchEvent(new Event("input"));
    document.body.getBoundingClientRect();
    return performance.now() - start;
  });
}"""


def rows(folder: Path) -> Iterator[Row]:
    """The rows of the table, each measured when it is asked for."""
    from tests.browser import browsers  # which the other tables can do without

    yield ("what", "beside", "measured", "target", "the journal, or the slowest")
    record(folder / "default run.journal", {"seed": 7})
    record(folder / "R=500, N=20.journal", LARGE, RAIDERS)
    record_season(folder / "season of 40 on nk.journal", {"seed": 1, "arena": "nk"})
    with contextlib.contextmanager(browsers)() as browser:
        for journal in sorted(folder.glob("*.journal")):
            yield from _page(journal, browser)


def _page(journal: Path, browser: Any) -> Iterator[Row]:
    from tests.browser import WIDE, Tab

    name, page = journal.stem, journal.with_suffix(".html")
    start = time.perf_counter()
    written = write_page(journal, page)
    made = time.perf_counter() - start
    journal_size = written.runs[0].size
    times = written.size / journal_size
    over = (written.size - 2 * journal_size) / 1000
    yield (
        f"page of {name}", "its journal", f"{times:.2f} x", "<= 2 x + 300 kB",
        f"{journal_size:,} bytes; 2 x {over:+,.0f} kB",
    )  # fmt: skip
    yield f"page of {name}", "made in", f"{made:.2f} s", "", ""
    opened = [_opened(page, browser) for _ in range(TRIES)]
    yield f"page of {name}", "opened and checked", f"{statistics.median(opened):.2f} s", "", ""
    tab = Tab(browser, "light", WIDE).open(page)
    scrubbed = tab.page.evaluate(_SCRUB)
    tab.context.close()
    yield (
        f"page of {name}", "another unit shown", f"{statistics.median(scrubbed):.0f} ms", "",
        f"{max(scrubbed):.0f} ms",
    )  # fmt: skip


def _opened(page: Path, browser: Any) -> float:
    from tests.browser import WIDE, Tab

    tab = Tab(browser, "light", WIDE)
    start = time.perf_counter()
    tab.open(page)
    took = time.perf_counter() - start
    tab.context.close()
    return took
