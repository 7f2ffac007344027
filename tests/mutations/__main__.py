"""Applies each mutation of the list and says whether the tests notice.

    python -m tests.mutations [--only ID] [--jobs N] [--new] [--check]

A worker has a copy of the checkout, in which it changes one file at a time and runs the tests of
that entry: first the one that noticed last time (column `by` of the results), then the others.
A test that fails without a change shows nothing, so the one that noticed is run unchanged, too.
"""

import argparse
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.mutations.listed import ROOT, Mutation, faults, mutations

RESULTS = Path(__file__).parent / "results.tsv"
HEAD = ("id", "result", "seconds", "room", "by", "rule")
FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)  # in pytest's summary


class Copy:
    """A copy of the checkout, and whether a test passes in it unchanged."""

    def __init__(self, folder: str, limit: float) -> None:
        self.root = Path(folder) / "copy"
        self.limit = limit
        self.passing: dict[str, bool] = {}
        ignored = shutil.ignore_patterns(".git", ".venv", ".*_cache", ".hypothesis", "*.egg-info")
        shutil.copytree(ROOT, self.root, symlinks=True, ignore=ignored)

    def tests(self, tests: tuple[str, ...], *, keep: bool = False) -> tuple[str, str]:
        """`lived`, `died`, `timeout`, or `not-run` if pytest found nothing to run; and the test
        that failed first.
        """
        env = {**os.environ, "PYTHONPATH": str(self.root), "HYPOTHESIS_PROFILE": "mutants"}
        env["FAULTS"] = "all"  # also what a third alone notices, whichever is made
        if not keep:  # compiled modules of unchanged files stay; none of a changed file is kept
            env["PYTHONDONTWRITEBYTECODE"] = "1"
        options = ["-x", "-q", "-n0", "-p", "no:cacheprovider"]
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *tests],
            cwd=self.root, env=env, start_new_session=True, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            said, _ = process.communicate(timeout=self.limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            return "timeout", ""
        by = FAILED.search(said)
        # 2: fails when imported
        result = {0: "lived", 1: "died", 2: "died"}.get(process.returncode, "not-run")
        return result, by[1] if by else ""

    def passes_unchanged(self, test: str) -> bool:
        if test not in self.passing:
            self.passing[test] = self.tests((test,), keep=True)[0] == "lived"
        return self.passing[test]

    def result(self, mutation: Mutation, by: str) -> tuple[str, str]:
        """As `tests` with the mutation; `broken` if what failed fails without it, too. `by`: the
        test that noticed it before, or none.
        """
        path = self.root / mutation.file
        before, times = path.read_text(), path.stat()
        if before.count(mutation.old) != 1:
            return "not-applicable", ""
        for tests in filter(any, [(by,), mutation.tests]):
            path.write_text(before.replace(mutation.old, mutation.new))
            try:
                result = self.tests(tests)
            finally:
                path.write_text(before)
                os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            died, by = result[0] == "died", result[1]
            if died and self.passes_unchanged(by):
                return "died", by.partition("[")[0]
        return ("broken", by) if died else result


def known() -> dict[tuple[str, str], tuple[str, ...]]:
    """The rows of the last results by `Mutation.key`."""
    lines = RESULTS.read_text().splitlines()[1:] if RESULTS.exists() else []
    rows = [tuple(line.split("\t")) for line in lines]
    return {(row[0].rpartition(".")[0], row[-1]): row for row in rows}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutations")
    parser.add_argument("--only", default="", help="a mutation's id, or its first parts")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120, help="seconds for the tests of one")
    parser.add_argument("--new", action="store_true", help="those without a result alone")
    parser.add_argument("--check", action="store_true", help="only whether all of them apply")
    given = parser.parse_args()
    if wrong := list(faults()):
        print("\n".join(wrong), file=sys.stderr)
    if given.check or wrong:
        return bool(wrong)
    every, results = list(mutations()), known()
    due: queue.SimpleQueue[Mutation] = queue.SimpleQueue()
    parts = given.only.rstrip(".")  # whole parts: `a.1` is not the beginning of `a.10`
    for mutation in every:
        is_meant = not parts or f"{mutation.id}.".startswith(f"{parts}.")
        if is_meant and not (given.new and mutation.key in results):
            due.put(mutation)
    lock = threading.Lock()

    def work() -> None:
        with tempfile.TemporaryDirectory() as folder:
            copy = Copy(folder, given.limit)
            while not due.empty():
                try:
                    mutation, start = due.get_nowait(), time.monotonic()
                except queue.Empty:  # another worker has taken the last
                    return
                row = results.get(mutation.key)
                result, by = copy.result(mutation, row[HEAD.index("by")] if row else "")
                with lock:
                    seconds = f"{time.monotonic() - start:.0f}"
                    print(mutation.id, result, seconds, mutation.rule, sep="\t", flush=True)
                    row = (mutation.id, result, seconds, mutation.room, by, mutation.rule)
                    results[mutation.key] = row
                    rows: list[tuple[str, ...]] = [HEAD]
                    rows += [(m.id, *results[m.key][1:]) for m in every if m.key in results]
                    RESULTS.write_text("".join("\t".join(row) + "\n" for row in rows))

    workers = [threading.Thread(target=work) for _ in range(given.jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return 0


if __name__ == "__main__":
    sys.exit(main())
