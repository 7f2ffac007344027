"""The memory of agents: facts about the subjects they discussed, by family of subjects.

Memory is part of the state and of its digest. The latest FACTS_MAX facts of a family are kept, in
this order within an assignment: own trials, own claims with their results, the conclusion and its
tested value, own four scores with their reasons. They are added when the scores are posted: before
lessons, and before a newcomer inherits the memory (README, section 7).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

import attrs

from goldrush.kernel.worlds.competition.arena import Conduct

FACTS_MAX: Final = 12  # of a family; the oldest is forgotten


@attrs.frozen
class Remembered:
    """A fact. Fields that its `kind` does not need are None or empty.

    Attributes:
        kind: a name of terms.Fact.
        assignment: when it was learned.
        objective, treatment: of the subject, or of the trial.
        conduct, value: what was tested or tried, and the result.
        part, claimed, held: of a claim.
        scores, reasons: in the order of terms.Dimension.
    """

    kind: str
    assignment: int
    objective: str
    treatment: str
    conduct: Conduct = None
    value: float | None = None
    part: str | None = None
    claimed: float | None = None
    held: bool | None = None
    scores: tuple[int, ...] = ()
    reasons: tuple[str, ...] = ()


Memory = Mapping[str, tuple[Remembered, ...]]  # by family


def remembering(memory: Memory, family: str, facts: Iterable[Remembered]) -> Memory:
    """A memory with new facts of a family. Beyond FACTS_MAX its oldest facts are dropped."""
    kept = (*memory.get(family, ()), *facts)[-FACTS_MAX:]
    return {**memory, family: kept} if kept else memory
