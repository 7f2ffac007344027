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
    from goldrush.replay.mining.environment import parallel_env
    from goldrush.replay.mining.run import MiningRun
    from goldrush.replay.run import Run, record
    from goldrush.replay.run import open as open  # noqa: A004
    from goldrush.replay.study.study import Study, study

# In the order of the reference.
__all__ = [  # noqa: RUF022
    "record", "open", "Run", "MiningRun",
    "study", "Study",
    "parallel_env",
    "Plan", "setting", "integer", "real", "choice", "flag", "Models",
    "GoldrushError", "BadInput", "JournalError", "PolicyFailed",
]  # fmt: skip

_MODULES = {
    "replay.run": ("record", "open", "Run"),
    "replay.mining.run": ("MiningRun",),
    "replay.study.study": ("study", "Study"),
    "replay.mining.environment": ("parallel_env",),
    "kernel.mining.submit": ("Plan",),
    "kernel.settings": ("setting", "integer", "real", "choice", "flag"),
    "agents.llm.models": ("Models",),
    "kernel.errors": ("GoldrushError", "BadInput", "JournalError", "PolicyFailed"),
}
_FROM = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _FROM:
        raise AttributeError(f"module 'goldrush' has no attribute {name!r}")
    found = getattr(import_module(f"goldrush.{_FROM[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
