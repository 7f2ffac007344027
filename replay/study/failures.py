"""Counts of failed answers of language models in the runs of a study."""

from __future__ import annotations

from pathlib import Path

from goldrush.agents.llm.failures import Failures, merge_failures
from goldrush.agents.seats import MODEL, family_in
from goldrush.replay.journal.usage import failures_in
from goldrush.replay.study.plan import studied
from goldrush.replay.study.records import Manifest


def failures_of(folder: str | Path, manifest: Manifest) -> list[Failures]:
    """The failures of each model over all runs of a study. Raises JournalError."""
    names = studied(manifest.world).players.names
    asking = {
        name
        for name, text in manifest.plan["rosters"].items()
        if text is not None and any(is_model(policy) for policy in names(text))
    }
    return merge_failures(
        one
        for run in manifest.runs
        if run.cell.roster in asking
        for one in failures_in(Path(folder, run.path))
    )


def is_model(policy: str) -> bool:
    """Whether the label of a policy is that of a language model."""
    return family_in(policy) is MODEL
