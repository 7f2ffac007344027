"""What happened in a season: who rose, who fell, who left, and what was concluded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.llm.failures import Failures
from goldrush.kernel import fold
from goldrush.kernel.competition import COMPETITION
from goldrush.kernel.competition.conduct import described
from goldrush.kernel.competition.fork import turn_of
from goldrush.kernel.competition.state import WORKER, Agent, SeasonState
from goldrush.kernel.journal import FORK, JournalReader
from goldrush.kernel.world import Event
from goldrush.replay.forged import reader_of
from goldrush.replay.usage import failures_in


@attrs.frozen
class Standing:
    """A worker at the end: `first_rank` is that on the first leaderboard that it stands on, `rank`
    that on the last one (None: it is gone, or was never posted). `total` is what it scored, over
    `sat` roundtables.
    """

    agent: int
    name: str
    status: str
    class_: str
    sparks: int
    first_rank: int | None
    rank: int | None
    rolling: int
    total: int
    sat: int


@attrs.frozen
class Concluded:
    """A conduct that roundtables concluded on: for which objective, how often, and how often the
    admin adopted it.
    """

    objective: str
    conduct: str
    treatment: str
    times: int
    adopted: int


@attrs.frozen
class Summary:
    """Counts over a season. `left`: what became of whom, in order: (assignment, name, what).

    `mean_total`: of all scores recorded, of 12; `ties`: conclusions that were drawn; `models`:
    answers of language models, `failures`: what became of those of each; `unsaid`: (assignment,
    table, round, agent) of what was put in by hand for a turn that never came.
    """

    path: str
    bytes: int
    assignments: int
    finished: bool
    config: Mapping[str, Any]
    tables: int
    concluded: int
    ties: int
    adopted: int
    refused: Mapping[str, int]
    mean_total: float | None
    workers: Sequence[Standing]
    left: Sequence[tuple[int, str, str]]
    conclusions: Sequence[Concluded]
    forks: Sequence[Event]
    models: int
    failures: Sequence[Failures]
    unsaid: Sequence[tuple[int, int, int, int]]

    def as_dict(self) -> dict[str, Any]:
        """The summary for JSON."""
        forks = [event.as_dict() for event in self.forks]
        return {**attrs.asdict(self), "forks": forks}


@reader_of
def summarise(path: str | Path) -> Summary:
    """Read a season's journal and count. Raises what reading a journal raises."""
    with JournalReader(path) as reader:
        counting = _Counting()
        state: SeasonState | None = None
        closed = 0
        under_way = fold.Steps(COMPETITION.arrange)
        for commit, now in fold.states(COMPETITION, reader):
            state = now
            if commit.digest is not None:
                closed = commit.unit
            counting.settings = now.config.as_dict()
            if commit.kind == FORK:
                counting.by_hand |= {
                    (at, *turn_of(row)) for at, row in (commit.setup or {})["replaced"]
                }
            for event in fold.commit_events(COMPETITION, reader, commit, under_way):
                counting.add(event)
        assert state is not None
        return counting.summary(state, str(path), reader, closed)


class _Counting:
    """Counts events, one after the other."""

    def __init__(self) -> None:
        self.settings: Mapping[str, Any] = {}
        self.by_hand: set[tuple[int, int, int, int]] = set()  # whose turn has not come
        self._names: dict[int, str] = {}
        self._events: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._conclusions: Counter[tuple[str, str, str]] = Counter()
        self._adopted: Counter[tuple[str, str, str]] = Counter()
        self._totals: list[int] = []
        self._sat: Counter[int] = Counter()
        self._first: dict[int, int] = {}
        self._last: dict[int, tuple[int, int]] = {}
        self._left: list[tuple[int, str, str]] = []
        self._forks: list[Event] = []
        self._subjects: Sequence[Any] = ()
        self._concluded: tuple[str, str, str] | None = None
        self._ties = 0

    def add(self, event: Event) -> None:
        """Count one event."""
        self._events[event.name] += 1
        count = _COUNTED.get(event.name)
        if count is not None:
            count(self, event)

    def started(self, event: Event) -> None:
        self._names = {entry["ordinal"]: entry["name"] for entry in event["cast"]}

    def forked(self, event: Event) -> None:
        self._forks.append(event)

    def refused(self, event: Event) -> None:
        self._refused[event["code"]] += 1

    def opened(self, event: Event) -> None:
        self._subjects = event["subjects"]

    def seated(self, event: Event) -> None:
        self._sat.update(event["participants"])

    def concluded(self, event: Event) -> None:
        self._ties += bool(event["tied"])
        self._concluded = None
        if event["proposal"] is not None:
            objective, treatment = self._subjects[event["table"]]
            self._concluded = (objective, described(tuple(event["conduct"])), treatment)
            self._conclusions[self._concluded] += 1

    def adopted(self, event: Event) -> None:
        if event["adopted"] is True and self._concluded is not None:
            self._adopted[self._concluded] += 1

    def spoke(self, event: Event) -> None:
        self.by_hand.discard((event.unit, event["table"], event["round"], event["agent"]))

    def scored(self, event: Event) -> None:
        self._totals.append(event["total"])

    def posted(self, event: Event) -> None:
        self._last = {}
        for rank, agent, rolling, _ in event["rows"]:
            self._first.setdefault(agent, rank)
            self._last[agent] = (rank, rolling)

    def faced(self, event: Event) -> None:
        self._leave(event, f"faces elimination ({event['cause']})")

    def relegated(self, event: Event) -> None:
        self._leave(event, "is benched")

    def returned(self, event: Event) -> None:
        self._leave(event, "returns")

    def deleted(self, event: Event) -> None:
        self._leave(event, "is deleted")

    def joined(self, event: Event) -> None:
        self._names[event["ordinal"]] = event["name"]
        self._left.append((event.unit, event["name"], "joins"))

    def _leave(self, event: Event, what: str) -> None:
        self._left.append((event.unit, self._names[event["agent"]], what))

    def summary(self, state: SeasonState, path: str, reader: JournalReader, closed: int) -> Summary:
        """The counts, with the state at the end."""
        conclusions = [
            Concluded(objective, conduct, treatment, times, self._adopted[key])
            for key, times in self._conclusions.most_common()
            for objective, conduct, treatment in [key]
        ]
        return Summary(
            path=path,
            bytes=reader.size,
            assignments=closed,
            finished=reader.ended,
            config=self.settings,
            tables=self._events["roundtable_opened"],
            concluded=sum(self._conclusions.values()),
            ties=self._ties,
            adopted=sum(self._adopted.values()),
            refused=dict(self._refused),
            mean_total=sum(self._totals) / len(self._totals) if self._totals else None,
            workers=self._standings(state),
            left=self._left,
            conclusions=conclusions,
            forks=self._forks,
            models=self._events["answered"],
            failures=failures_in(path) if self._events["answered"] else (),
            unsaid=sorted(turn for turn in self.by_hand if turn[0] < closed),
        )

    def _standings(self, state: SeasonState) -> list[Standing]:
        workers = [agent for agent in state.agents.values() if agent.role == WORKER]
        standings = []
        for agent in workers:
            rank, rolling = self._last.get(agent.ordinal, (None, 0))
            standings.append(
                Standing(
                    agent=agent.ordinal,
                    name=agent.name,
                    status=agent.status,
                    class_=agent.class_,
                    sparks=agent.sparks,
                    first_rank=self._first.get(agent.ordinal),
                    rank=rank,
                    rolling=rolling,
                    total=agent.all_time,
                    sat=self._sat[agent.ordinal],
                )
            )
        return sorted(standings, key=lambda s: (s.rank is None, s.rank or s.agent))


_COUNTED: Final[Mapping[str, Callable[[_Counting, Event], None]]] = {
    "season_started": _Counting.started,
    "forked": _Counting.forked,
    "refused": _Counting.refused,
    "assignment_opened": _Counting.opened,
    "roundtable_opened": _Counting.seated,
    "concluded": _Counting.concluded,
    "adopted": _Counting.adopted,
    "spoke": _Counting.spoke,
    "scored": _Counting.scored,
    "leaderboard_posted": _Counting.posted,
    "elimination_faced": _Counting.faced,
    "relegated": _Counting.relegated,
    "returned": _Counting.returned,
    "deleted": _Counting.deleted,
    "joined": _Counting.joined,
}


def agent_as_dict(agent: Agent) -> dict[str, Any]:
    """One of the cast for JSON."""
    fields = attrs.asdict(agent, recurse=False)
    contract = fields.pop("contract")
    return {
        **{("class" if name == "class_" else name): value for name, value in fields.items()},
        "contract": None if contract is None else attrs.asdict(contract),
    }
