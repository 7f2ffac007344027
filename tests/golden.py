"""The golden journals: one small run a treatment, and a fork of the baseline's with all that a fork
can change. `python -m tests.golden` adds missing ones.
"""

from pathlib import Path

from agents.mining import record
from kernel.mining.treatments import TREATMENTS
from replay.fork import fork

FOLDER = Path(__file__).resolve().parents[1] / "journals" / "golden"
SETTINGS = {"seed": 0, "rounds": 20}
FORKED = "forked"


def fork_baseline(out: Path) -> None:
    """The fork: other settings (more of the past is shown), other agents, a plan by hand."""
    fork(
        path_of("baseline"),
        10,
        out,
        settings={"authority": "punish", "detection": 0.5, "visibility": 8},
        roster="random*5,raid*5",
        replace=[{"round": 14, "agent": 3, "actions": [["raid", 20, 1], ["claim", 20, 1]]}],
    )


def path_of(name: str) -> Path:
    """Where the golden journal of that name is kept."""
    return FOLDER / f"{name}.journal"


def write_missing() -> None:
    """Record the golden journals that do not exist; never overwrite one."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for treatment in TREATMENTS:
        if not path_of(treatment).exists():
            record(path_of(treatment), SETTINGS, None, treatment)
    if not path_of(FORKED).exists():
        fork_baseline(path_of(FORKED))


if __name__ == "__main__":
    write_missing()
