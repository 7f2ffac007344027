"""Event-sourced multi-agent simulations: recorded, replayed, compared, verified.

What a user of the library needs stands here; the names are imported when they are first used.

- `record`, `open`: a run, played or read from its journal, as a `Run` (of mining a `MiningRun`).
- `study`, `Study`: many runs, compared.
- `parallel_env`: the mining world as an environment of PettingZoo.
- `Plan`, `setting` and its rules: what policies of one's own are made of.
- `GoldrushError` and its children: what is raised, each with what to do instead.

    >>> import goldrush
    >>> run = goldrush.record(seed=7, rounds=20, roster="greedy-mine*8,raid*2")
    >>> run.verify().holds
    True

The rooms below are for who extends it: `goldrush.kernel` records and folds, `goldrush.agents`
plays, `goldrush.replay` reads what was recorded, `goldrush.cli` is the command `goldrush`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goldrush.agents.llm.models import Models
    from goldrush.kernel.errors import BadInput, GoldrushError, JournalError, PolicyFailed
    from goldrush.kernel.mining.submit import Plan
    from goldrush.kernel.settings import choice, flag, integer, real, setting
    from goldrush.replay.mining.run import MiningRun
    from goldrush.replay.run import Run, record
    from goldrush.replay.run import open as open  # noqa: A004
    from goldrush.replay.study.study import Study, study

_FROM = {
    "record": "replay.run",
    "open": "replay.run",
    "Run": "replay.run",
    "MiningRun": "replay.mining.run",
    "study": "replay.study.study",
    "Study": "replay.study.study",
    "Models": "agents.llm.models",
    "Plan": "kernel.mining.submit",
    "setting": "kernel.settings",
    "integer": "kernel.settings",
    "real": "kernel.settings",
    "choice": "kernel.settings",
    "flag": "kernel.settings",
    "GoldrushError": "kernel.errors",
    "BadInput": "kernel.errors",
    "JournalError": "kernel.errors",
    "PolicyFailed": "kernel.errors",
}

# `import *` must not hide Python's own `open`.
__all__ = [
    "BadInput",
    "GoldrushError",
    "JournalError",
    "MiningRun",
    "Models",
    "Plan",
    "PolicyFailed",
    "Run",
    "Study",
    "choice",
    "flag",
    "integer",
    "real",
    "record",
    "setting",
    "study",
]


def __getattr__(name: str) -> Any:
    if name not in _FROM:
        raise AttributeError(f"module 'goldrush' has no attribute {name!r}")
    found = getattr(import_module(f"goldrush.{_FROM[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_FROM})
