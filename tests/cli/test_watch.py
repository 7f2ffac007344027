"""`watch`: a run followed by another process while it is written."""

import os
import subprocess
import sys
from pathlib import Path

from goldrush.kernel.journal import JournalWriter
from tests.cli.helpers import ROOT
from tests.golden import MODELS, path_of
from tests.journals import MINING_HEADER, commits_of


def test_a_line_is_printed_when_a_round_closes_while_the_recorder_has_the_file(
    tmp_path: Path,
) -> None:
    commits = commits_of(path_of(MODELS))
    with JournalWriter(tmp_path / "run.journal", MINING_HEADER) as journal:
        journal.append(commits[0])
        watching = subprocess.Popen(
            [sys.executable, "-m", "goldrush", "watch", "run.journal", "--every", "0.1"],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)},
            text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert watching.stdout is not None
        for commit in commits[1:]:
            journal.append(commit)
            if commit.digest is not None:
                line = watching.stdout.readline()

                assert line.startswith(f"round {commit.unit} of 6: ")
    out, err = watching.communicate()

    assert (0, "", "") == (watching.returncode, out, err)
    assert ["run.journal"] == os.listdir(tmp_path)
