"""The golden journals: one small run a treatment, a fork of the baseline's with all that a fork can
change, and a run of a real language model. `python -m tests.golden` adds missing ones.

The last one cannot be made again byte for byte, for a model is asked only once: it shows that what
was recorded then can be read for ever.
"""

from pathlib import Path

from agents.llm.models import Endpoint, Model, Models
from agents.mining import record
from kernel.mining.treatments import TREATMENTS
from replay.fork import fork
from tests.llm import local

FOLDER = Path(__file__).resolve().parents[1] / "journals" / "golden"
SETTINGS = {"seed": 0, "rounds": 20}
FORKED = "forked"
MODELS = "language-models"

NAMES = {*TREATMENTS, FORKED, MODELS}


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


def record_models(out: Path) -> None:
    """Talkative models and scripted miners on a map that is too small for them."""
    asked = Model("smollm2", local.MODEL, temperature=0.7, max_tokens=220, seed=11)
    settings = {"seed": 0, "rounds": 6, "rows": 4, "cols": 4, "stamina": 5}
    with local.local_model() as address:
        known = {asked.name: (asked, Endpoint(base_url=address))}
        models = Models(known=known, concurrency=2)
        record(out, settings, "llm:smollm2*3,greedy-mine,raid", "communication", models=models)


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
    if not path_of(MODELS).exists():
        record_models(path_of(MODELS))


if __name__ == "__main__":
    write_missing()
