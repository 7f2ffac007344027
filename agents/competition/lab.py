"""The mining world as a laboratory: what a conduct is worth, found out by playing it.

A trial is a mining run in memory. It leaves no journal, but its last digest is that of the same run
recorded. Only what an objective needs is counted, by the same functions that measure a journal.
Equal trials are played once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import attrs

from goldrush.agents.mining.players import GAME
from goldrush.agents.mining.policy import Scripted
from goldrush.agents.mining.roster import POLICIES
from goldrush.agents.roster import Entry
from goldrush.agents.submitting import asked
from goldrush.kernel.competition.conduct import OBJECTIVES, Conduct
from goldrush.kernel.competition.config import SeasonConfig
from goldrush.kernel.errors import BadInput, shown
from goldrush.kernel.measures import Value, mean
from goldrush.kernel.mining import MINING
from goldrush.kernel.mining.config import MiningConfig
from goldrush.kernel.mining.events import MINING_SETTLED, RAID_RESOLVED, SUBMITTED
from goldrush.kernel.mining.measures import (
    Basics,
    basics,
    efficiency,
    gini,
    land_of,
    raid_rate,
    turnover,
)
from goldrush.kernel.mining.state import MiningState
from goldrush.kernel.mining.treatments import treated, treatment_named
from goldrush.kernel.world import Block

Key = tuple[Conduct, str, int]
Runs = tuple[tuple[int, int], ...]  # (seed, last digest) of each run

TRIALS_MAX: Final = 100_000  # kept; the oldest is forgotten


@attrs.frozen
class Trial:
    """One run: the value of each objective over it, in the order of OBJECTIVES, and the digest of
    its last state.
    """

    values: tuple[Value, ...]
    digest: int


class Lab:
    """Tries conducts out, each once for a seed. `played` counts the runs."""

    def __init__(self, config: SeasonConfig) -> None:
        self._size = (config.test_agents, config.test_rounds)
        self._trials: dict[Key, Trial] = {}
        self.played = 0

    @property
    def trials(self) -> Mapping[Key, Trial]:
        """Every trial so far, by what was played: conduct, treatment, seed."""
        return self._trials

    def value(
        self, conduct: Conduct, treatment: str, objective: str, seeds: Sequence[int]
    ) -> tuple[Value, Runs]:
        """The tested value of a conduct: the mean of an objective over the runs with these seeds,
        in their order; None where it is undefined in one of them. With the runs it comes from.
        """
        trials = [self._trial(conduct, treatment, seed) for seed in seeds]
        place = list(OBJECTIVES).index(objective)
        total: Value = 0.0
        for trial in trials:  # `sum` of floats is not the same in every Python
            value = trial.values[place]
            total = None if total is None or value is None else total + value
        runs = tuple((seed, trial.digest) for seed, trial in zip(seeds, trials, strict=True))
        return None if total is None else total / len(trials), runs

    def _trial(self, conduct: Conduct, treatment: str, seed: int) -> Trial:
        # Whose treatment a conduct carries does not matter to how it is played under another.
        key = ((*conduct[:3], treatment), treatment, seed)
        trial = self._trials.get(key)
        if trial is None:
            agents, rounds = self._size
            trial = self._trials[key] = played(conduct, treatment, seed, agents, rounds)
            self.played += 1
            if len(self._trials) > TRIALS_MAX:
                del self._trials[next(iter(self._trials))]
        return trial


def played(conduct: Conduct, treatment: str, seed: int, agents: int, rounds: int) -> Trial:
    """Play a conduct under a treatment; the last `agents * share // 10` play the minority.

    Raises BadInput for a conduct that is none: only installed policies are ever played.
    """
    config, entries = setting_of(conduct, treatment, seed, agents, rounds)
    policies = [(_installed(entry.policy), entry) for entry in entries]
    roster = [{"agent": e.agent, "policy": e.policy, "options": {}} for e in entries]
    state = MINING.initial({"config": config.as_dict(), "roster": roster})
    tally = _Tally(config)
    while not MINING.ended(state):
        view, unit = GAME.view(state), GAME.unit(state)
        rows = [asked(GAME, policy, entry, view, unit) for policy, entry in policies]
        inputs = Block([(SUBMITTED, rows)])
        derived = Block(MINING.decide(state, inputs))
        before = state.owner.copy()
        state = MINING.close(MINING.evolve(MINING.evolve(state, inputs), derived))
        tally.add(before, state.owner, derived)
    return Trial(tally.values(state), MINING.digest(state))


def _installed(policy: str) -> Scripted:
    """A policy of a conduct. Conducts stand in journals, so their names are no reason to import."""
    if policy not in POLICIES:
        raise BadInput(f"a conduct has the policy {shown(policy)}", f"take {', '.join(POLICIES)}")
    return POLICIES[policy]()


def setting_of(
    conduct: Conduct, treatment: str, seed: int, agents: int, rounds: int
) -> tuple[MiningConfig, list[Entry]]:
    """The configuration and the roster of a trial, as they would be recorded."""
    majority, minority, share, _ = conduct
    few = agents * share // 10 if minority is not None else 0
    policies = [majority] * (agents - few) + [minority or majority] * few
    config = treated(treatment_named(treatment), {"seed": seed, "rounds": rounds}, agents)
    return config, [Entry(agent, policy) for agent, policy in enumerate(policies)]


class _Tally:
    """Counts a round what the objectives are worked out from."""

    def __init__(self, config: MiningConfig) -> None:
        self._land = land_of(config)
        self._counted: list[Basics] = []

    def add(self, before: Sequence[int | None], after: Sequence[int | None], events: Block) -> None:
        """A round has closed: who owned what before and after it, and what followed."""
        raids, settled = events.rows(RAID_RESOLVED), events.rows(MINING_SETTLED)
        self._counted.append(basics(before, after, raids, settled))

    def values(self, state: MiningState) -> tuple[Value, ...]:
        """The objectives over the run, in order: means over the rounds that define them, and the
        Gini coefficient at the end.
        """
        return (
            mean([efficiency(n, self._land) for n in self._counted]),
            mean([turnover(n) for n in self._counted]),
            gini(state.gold),
            mean([raid_rate(n) for n in self._counted]),
        )
