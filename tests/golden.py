"""The golden journals: one small run a treatment. `python -m tests.golden` adds missing ones."""

from pathlib import Path

from agents.mining import record
from kernel.mining.treatments import TREATMENTS

FOLDER = Path(__file__).resolve().parents[1] / "journals" / "golden"
SETTINGS = {"seed": 0, "rounds": 20}


def path_of(treatment: str) -> Path:
    """Where the golden journal of a treatment is kept."""
    return FOLDER / f"{treatment}.journal"


def write_missing() -> None:
    """Record the golden journals that do not exist; never overwrite one."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for treatment in TREATMENTS:
        if not path_of(treatment).exists():
            record(path_of(treatment), SETTINGS, None, treatment)


if __name__ == "__main__":
    write_missing()
