"""The arenas of a season, told a second time for the oracle: what their conducts are, naively.

Written from the page of the rules alone, as the oracle is.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import msgpack
import xxhash

MINING_POLICIES = [
    "random", "greedy-mine", "defend-then-mine", "tit-for-tat-raid", "claim", "raid", "defend",
    "mine",
]  # fmt: skip
MINING_TREATMENTS = [
    "baseline", "truce-0", "defense-pointwise", "stamina-8", "stamina-12", "cap-2", "cap-4",
    "agents-20", "history-1", "history-all", "alpha-rich", "stamina-mixed", "communication",
    "authority-adjudicate", "authority-punish", "scarce", "scarce-20",
]  # fmt: skip
LOCI, READ = 12, 5  # bits of a conduct of `nk`, and how many of them a locus reads
BAR_RANK = 2_458  # of the 4,096 in ascending order
DIAL_MAX = 9


class Arena:
    """An arena as a season's configuration records it: `mining`, `nk`, or the `dial` of the tests,
    whose conducts are the numbers from 0 to 9.
    """

    def __init__(self, record: dict[str, Any]) -> None:
        self.name = record["name"]
        self.options = record["options"]
        self.subjects = [list(subject) for subject in record["subjects"]]

    def is_subject(self, value: Any) -> bool:
        return value in [[objective, treatment] for objective, _, treatment, _ in self.subjects]

    def objectives(self) -> list[str]:
        return [subject[0] for subject in self.subjects]

    def is_up(self, objective: str) -> bool:
        return [objective, "up"] in [subject[:2] for subject in self.subjects]

    def treatments(self) -> list[str]:
        """All that a conduct can be tried under, each once."""
        if self.name == "mining":
            return MINING_TREATMENTS
        return list(dict.fromkeys(subject[2] for subject in self.subjects))

    def is_treatment(self, value: Any) -> bool:
        return value in self.treatments()

    def is_canonical(self, conduct: Any, treatment: str) -> bool:
        """Whether this is a conduct, written in the one way, for a subject of this treatment."""
        if self.name == "mining":
            return is_mining_conduct(conduct, treatment)
        if self.name == "nk":
            return isinstance(conduct, str) and len(conduct) == LOCI and set(conduct) <= {"0", "1"}
        return is_int(conduct) and 0 <= conduct <= DIAL_MAX

    def distance(self, one: Any, other: Any) -> int:
        """0, 1, or 2 for two and more."""
        if self.name == "dial":
            return min(2, abs(int(one) - int(other)))
        different = [a != b for a, b in zip(one, other, strict=True)]
        return min(2, different.count(True))

    def bar(self, treatment: str) -> Any:
        """The conduct whose tested value a claim must be better than."""
        if self.name == "mining":
            return ["greedy-mine", None, 0, treatment]
        if self.name == "nk":
            return nk_bar(self.options["landscape"], treatment, self.options["drift"])
        return 0


def is_mining_conduct(value: Any, treatment: str) -> bool:
    if not isinstance(value, list) or len(value) != 4:
        return False
    majority, minority, share, where = value
    if majority not in MINING_POLICIES or where != treatment or not is_int(share):
        return False
    if minority is None:
        return bool(share == 0)
    return minority in MINING_POLICIES and minority != majority and 1 <= share <= 5


@functools.cache  # which spares minutes and decides nothing
def nk_values(landscape: int, treatment: str, drift: float) -> Mapping[str, float]:
    """What each conduct of `nk` is worth without noise: the mean of the entries of its loci."""
    family, generation = map(int, treatment.split("."))
    entries = []
    for locus in range(LOCI):
        h = generation
        while h and word(["drift", landscape, family, h, locus], 0) >= int(drift * 2**64):
            h -= 1
        key = ["landscape", landscape, family, h, locus]
        entries.append([(word([*key, p], 0) >> 11) * 2.0**-53 for p in range(2**READ)])
    values = {}
    for number in range(2**LOCI):
        twice = number | number << LOCI  # the last bits are followed by the first
        total = 0.0
        for locus in range(LOCI):
            total += entries[locus][twice >> locus & 2**READ - 1]
        values[f"{number:0{LOCI}b}"[::-1]] = total / LOCI
    return values


def nk_bar(landscape: int, treatment: str, drift: float) -> str:
    """The conduct of rank 2,458 of all, from the worst up; equals by their bits."""
    values = nk_values(landscape, treatment, drift)
    return sorted(values, key=lambda conduct: (values[conduct], conduct))[BAR_RANK - 1]


def is_int(value: Any) -> bool:
    return type(value) is int


def word(key: list[Any], i: int) -> int:
    """The i-th 64-bit word under a key."""
    return xxhash.xxh3_64_intdigest(msgpack.packb(key), seed=i)
