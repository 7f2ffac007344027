"""What the roundtables talk about: subjects, conducts, claims, and when a claim holds.

A conduct says how miners should play: a policy for most of them, perhaps another for the rest,
under a treatment of the mining world. One world does not import the other: policies and treatments
are names here, and what a conduct is worth comes in from outside, as a test.
"""

from __future__ import annotations

from typing import Any, Final

from goldrush.kernel.competition.config import SeasonConfig
from goldrush.kernel.draws import Draws

# What a season can be about, and whether more of it is better.
OBJECTIVES: Final = {"efficiency": True, "turnover": False, "gini": False, "raid_rate": False}
POLICIES: Final = (
    "random", "greedy-mine", "defend-then-mine", "tit-for-tat-raid", "claim", "raid", "defend",
    "mine",
)  # fmt: skip
BAR_POLICY: Final = "greedy-mine"
TREATMENTS: Final = (
    "baseline", "truce-0", "defense-pointwise", "stamina-8", "stamina-12", "cap-2", "cap-4",
    "agents-20", "history-1", "history-all", "alpha-rich", "stamina-mixed", "communication",
    "authority-adjudicate", "authority-punish", "scarce", "scarce-20",
)  # fmt: skip
SHARE_MAX: Final = 5  # tenths of the miners

# (objective, treatment); (majority, minority or None, share in tenths, treatment); (value, edge or
# None). The treatment of a conduct is its subject's.
Subject = tuple[str, str]
Conduct = tuple[str, str | None, int, str]
Claim = tuple[float, str | None]

BASE, EDGE = PARTS = ("base", "edge")


def is_subject(value: Any) -> bool:
    """Whether this is an objective under a treatment."""
    return (
        type(value) is tuple
        and len(value) == 2
        and type(value[0]) is str
        and value[0] in OBJECTIVES
        and type(value[1]) is str
        and value[1] in TREATMENTS
    )


def is_conduct_shaped(value: Any) -> bool:
    """Whether this has the four fields of a conduct, canonical or not."""
    return (
        type(value) is tuple
        and len(value) == 4
        and type(value[0]) is str
        and (value[1] is None or type(value[1]) is str)
        and type(value[2]) is int
        and type(value[3]) is str
    )


def is_canonical(conduct: Conduct, treatment: str) -> bool:
    """Whether a conduct is written in the one way, under this treatment: known policies that
    differ, and share 0 exactly when there is no minority.
    """
    majority, minority, share, under = conduct
    if majority not in POLICIES or under != treatment or not 0 <= share <= SHARE_MAX:
        return False
    if minority is None:
        return share == 0
    return minority in POLICIES and minority != majority and share > 0


def is_claim(value: Any, treatment: str) -> bool:
    """Whether this is a number and, where there is an edge, another treatment."""
    if type(value) is not tuple or len(value) != 2 or type(value[0]) not in (int, float):
        return False
    edge = value[1]
    return edge is None or (type(edge) is str and edge in TREATMENTS and edge != treatment)


def bar_conduct(treatment: str) -> Conduct:
    """What the bar is the tested value of."""
    return (BAR_POLICY, None, 0, treatment)


def distance(one: Conduct, other: Conduct) -> int:
    """In how many of its four fields a conduct differs from another."""
    return sum(a != b for a, b in zip(one, other, strict=True))


def described(conduct: Conduct) -> str:
    """A conduct in words, without its treatment: `greedy-mine`, `greedy-mine with 2/10 raid`."""
    majority, minority, share, _ = conduct
    return majority if minority is None else f"{majority} with {share}/10 {minority}"


def aimed(objective: str) -> str:
    """An objective in words, with what is better: `gini (less is better)`."""
    return f"{objective} ({'more' if OBJECTIVES[objective] else 'less'} is better)"


def at_least_as_good(objective: str, value: float | None, than: float | None) -> bool:
    """Whether a tested value is at least as good as another. Without a value nothing holds."""
    if value is None or than is None:
        return False
    return value >= than if OBJECTIVES[objective] else value <= than


def tested_under(conduct: Conduct, claim: Claim, part: str) -> str:
    """The treatment under which a part of a claim is tested."""
    return claim[1] if part == EDGE and claim[1] is not None else conduct[3]


def seeds_of_tests(config: SeasonConfig, assignment: int, table: int) -> tuple[int, ...]:
    """The seeds of the runs in which the claims of a table are tested.

    Drawn with key `[seed, assignment, table, 0, "test"]`, one word a seed. They are 2^52 or more:
    whoever tries a conduct out on smaller seeds never meets them.
    """
    draws = Draws(config.seed, assignment, table, 0, "test")
    return tuple(1 << 52 | draws.word() >> 12 for _ in range(config.test_seeds))
