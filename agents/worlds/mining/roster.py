"""The policies that rosters of mining runs can name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from goldrush.agents.recorded import Recording
from goldrush.agents.roster import PolicySet
from goldrush.agents.worlds.mining.baselines import (
    DefendThenMine,
    GreedyMine,
    Random,
    TitForTatRaid,
)
from goldrush.agents.worlds.mining.policy import Scripted
from goldrush.agents.worlds.mining.prompt import VERSION
from goldrush.agents.worlds.mining.specialists import Claimer, Defender, Miner, Raider
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import AGENTS_MAX
from goldrush.kernel.worlds.mining.events import SUBMITTED

POLICIES: Final[Mapping[str, Callable[[], Scripted]]] = {
    "random": Random,
    "greedy-mine": GreedyMine,
    "defend-then-mine": DefendThenMine,
    "tit-for-tat-raid": TitForTatRaid,
    "claim": Claimer,
    "raid": Raider,
    "defend": Defender,
    "mine": Miner,
}
AGENTS_DEFAULT: Final = 10
ROSTER_DEFAULT: Final = "greedy-mine*3,defend-then-mine*3,tit-for-tat-raid*2,random*2"
MIXES: Final = {"portrait": "llm*4,claim*4,raid*4,defend*4,mine*3"}


def recording(path: str | Path) -> Recording:
    """The submissions of a mining journal. Raises BadInput, JournalError if it cannot be read."""
    return Recording(path, MINING, SUBMITTED)


POLICY_SET: Final = PolicySet(
    world=MINING.name,
    policies=POLICIES,
    default=ROSTER_DEFAULT,
    agents=AGENTS_DEFAULT,
    agents_max=AGENTS_MAX,
    method="plan",
    mixes=MIXES,
    prompt=VERSION,
    recording=recording,
)
