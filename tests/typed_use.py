"""What a user writes, for a type checker: `mypy --strict tests/typed_use.py`."""

from pathlib import Path

import gymnasium

import goldrush
from goldrush.kernel.worlds.mining.observe import MiningObservation


class Hawk:
    def plan(self, seen: MiningObservation, draws: goldrush.Draws) -> list[tuple[str, int, int]]:
        others = [p for p, owner in enumerate(seen.owners) if owner not in (None, seen.agent)]
        return [("raid", plot, 1) for plot in others[:3]]


hawk: goldrush.Policy = Hawk()
run = goldrush.record(seed=7, treatment="scarce", roster=["greedy-mine", hawk, Hawk])
lines: list[str] = goldrush.open(run.path).log(plot=17, agent=3)
verdict: goldrush.Verdict = run.fork(at=50, roster="raid*3").verify(policies={1: hawk})
difference: goldrush.Diff = run.diff(run)
study: goldrush.Study = goldrush.study("study", treatments={"harsh": {"alpha": 0.5}}, seeds=2)
rows: int = study.table().num_rows
reason: str = study.verdicts().reason
path: Path = run.figure("gold").save("gold.pdf", width="single")
rises: goldrush.Figure = study.figure("answer")
low: str | float | None = rises.data[0]["low"]
captions: dict[str, str] = study.figures() | run.figures()
version: str = goldrush.__version__
says: str = goldrush.policies()["raid"].text + goldrush.settings("competition")["seed"].range
changed: list[str] = [*goldrush.treatments()["scarce"].settings]
env: gymnasium.Env[int, int] = goldrush.wrap(gymnasium.make, "run.journal", id="CartPole-v1")
level: int = goldrush.wrap("CartPole-v1", "run.journal").run.verify().level
