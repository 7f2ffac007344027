"""Event-sourced multi-agent simulations: recorded, replayed, compared, verified.

The public API. Names are imported when they are first used.

- `record`, `open`: a run, played or read from its journal, as a `Run`.
- `study`, `Study`: many runs, compared; `Figure`: what `figure` of a run or a study returns.
- `wrap`: an environment of Gymnasium or PettingZoo, or a model, so that it leaves a journal, as a
  `RecordedEnv` or a `RecordedModel`.
- `repeats`: whether a model, an environment or a world repeats from its seed, as `Repeats`.
- `note`, `outside`, `caller`, `tape`: what a program of one's own that asks models says while it
  is recorded, and recording a part of one.
- `policies`, `treatments`, `settings`: what can be named in a world.
- `Game`, `State`, `Event`, `Submission`, `Observation`, `Agent`, `setting`, `within`, `phase`,
  `policy`, `measure`: a world of one's own, in one class.
- `Policy`, `Draws`, `Plan`, `setting` and its rules: the parts of a user-defined policy of mining.
- `GoldrushError` and its children: each message says what to do instead.

    >>> import goldrush
    >>> run = goldrush.record(seed=7, rounds=20, roster="greedy-mine*8,raid*2")
    >>> run.verify().holds
    True

The packages below are for extensions: `goldrush.kernel` records and folds, `goldrush.agents`
plays, `goldrush.replay` reads what was recorded, `goldrush.cli` is the command `goldrush`.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goldrush.agents.llm.models import Models
    from goldrush.agents.worlds.mining.policy import Policy
    from goldrush.inside import NotRecorded, caller, note, outside
    from goldrush.kernel.draws import Draws
    from goldrush.kernel.errors import (
        BadInput,
        GoldrushError,
        JournalError,
        NotAJournal,
        PolicyFailed,
        RunStopped,
        UnsupportedJournal,
        WriteFailed,
    )
    from goldrush.kernel.game.game import Game, measure, phase, policy, setting
    from goldrush.kernel.game.hints import Agent, within
    from goldrush.kernel.game.records import Event, Observation, State, Submission
    from goldrush.kernel.settings import choice, flag, integer, real
    from goldrush.kernel.worlds.mining.submit import Plan
    from goldrush.replay.catalogue import policies, settings, treatments
    from goldrush.replay.journal.diff import Diff
    from goldrush.replay.journal.rebuild import Rebuilt
    from goldrush.replay.journal.verify import Verdict
    from goldrush.replay.repeats.judge import repeats
    from goldrush.replay.repeats.verdict import Repeats
    from goldrush.replay.report.figure import Figure
    from goldrush.replay.run import Run
    from goldrush.replay.study.backend import RunFailed, WorkersLost
    from goldrush.replay.study.study import Study, study
    from goldrush.replay.worlds.episode.recorded import RecordedEnv, RecordedModel
    from goldrush.replay.worlds.episode.wrap import wrap
    from goldrush.taping import tape

    record, open = Run.record, Run.open
    __version__: str

# In the order of the reference.
__all__ = [  # noqa: RUF022
    "record", "open", "Run",
    "Rebuilt", "Verdict", "Diff",
    "wrap", "RecordedEnv", "RecordedModel", "repeats", "Repeats",
    "study", "Study", "Figure", "policies", "treatments", "settings",
    "note", "outside", "caller", "tape",
    "Game", "State", "Event", "Submission", "Observation", "Agent", "setting", "within",
    "phase", "policy", "measure",
    "Policy", "Draws", "Plan", "integer", "real", "choice", "flag",
    "Models",
    "GoldrushError", "BadInput", "JournalError", "NotAJournal", "UnsupportedJournal",
    "PolicyFailed", "RunStopped", "WriteFailed", "RunFailed", "WorkersLost", "NotRecorded",
]  # fmt: skip

_MODULES = {
    "replay.run": ("record", "open", "Run"),
    "replay.journal.rebuild": ("Rebuilt",),
    "replay.journal.verify": ("Verdict",),
    "replay.journal.diff": ("Diff",),
    "replay.worlds.episode.wrap": ("wrap",),
    "replay.worlds.episode.recorded": ("RecordedEnv", "RecordedModel"),
    "replay.repeats.judge": ("repeats",),
    "replay.repeats.verdict": ("Repeats",),
    "replay.study.study": ("study", "Study"),
    "replay.report.figure": ("Figure",),
    "replay.study.backend": ("RunFailed", "WorkersLost"),
    "replay.catalogue": ("policies", "treatments", "settings"),
    "version": ("__version__",),
    "kernel.draws": ("Draws",),
    "kernel.worlds.mining.submit": ("Plan",),
    "kernel.game.game": ("Game", "setting", "phase", "policy", "measure"),
    "kernel.game.records": ("State", "Event", "Submission", "Observation"),
    "kernel.game.hints": ("Agent", "within"),
    "kernel.settings": ("integer", "real", "choice", "flag"),
    "kernel.errors": (
        "GoldrushError", "BadInput", "JournalError", "NotAJournal", "UnsupportedJournal",
        "PolicyFailed", "RunStopped", "WriteFailed",
    ),
    "agents.llm.models": ("Models",),
    "agents.worlds.mining.policy": ("Policy",),
    "inside": ("note", "outside", "caller", "NotRecorded"),
    "taping": ("tape",),
}  # fmt: skip
_FROM = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _FROM:
        raise AttributeError(f"module 'goldrush' has no attribute {name!r}")
    import_module("goldrush.version")  # before what another `goldrush` may lie over
    found = getattr(import_module(f"goldrush.{_FROM[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    modules = (name for name, value in globals().items() if isinstance(value, ModuleType))
    return sorted({*__all__, "__version__", *modules})
