"""The session beside the machines that it replaces: the same bytes, verdicts and refusals.

Journals of seasons are compared by their events: what arrived together is now one commit.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest

from goldrush.agents import players, simultaneous, submissions
from goldrush.agents.llm import asker
from goldrush.agents.players import Change, PolicyCheck, Resources, RunContext
from goldrush.agents.roster import Roster, entries_in
from goldrush.agents.worlds.competition import again, check, play, season
from goldrush.agents.worlds.competition import players as seasons
from goldrush.agents.worlds.mining import players as mining
from goldrush.kernel.errors import BadInput, JournalError
from goldrush.kernel.journal import UNIT, Commit, JournalReader
from goldrush.kernel.world import Block
from goldrush.replay.toolkit import toolkit_for
from goldrush.replay.verify import verify
from tests.cli.helpers import ROOT
from tests.journals import commits_of, write
from tests.laws import test_interrupts
from tests.laws.test_interrupts import SEASON, SERVER, Outside
from tests.llm.runs import models, told
from tests.plugins.installed import dist_info

POINTS = {
    "goldrush.worlds": {"commons": "goldrush_commons.toolkit:TOOLKIT"},
    "goldrush.arenas": {"orchard": "goldrush_orchard.rules:ARENA"},
    "goldrush.benches": {"orchard": "goldrush_orchard.bench:BENCH"},
}


class Silent:
    """A user's own policy."""

    def plan(self, seen: Any, draws: Any) -> list[Any]:
        return [("claim", draws.below(9), 1)]


@pytest.fixture(autouse=True)
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dist_info(tmp_path / "installed", POINTS)
    monkeypatch.syspath_prepend(tmp_path / "installed")
    for name in ("commons", "orchard"):
        monkeypatch.syspath_prepend(ROOT / "tests" / "plugins" / name)
    known = test_interrupts.texts

    def texts(messages: Any, schema: Any) -> tuple[str, str]:
        is_fish = "fish" in schema["properties"]
        return ('{"fish": 7}', "{}") if is_fish else known(messages, schema)

    monkeypatch.setattr(test_interrupts, "texts", texts)


@attrs.frozen
class Case:
    world: str
    settings: dict[str, Any]
    roster: str
    change: Change | None = None
    at: int = 0


SOURCE = ROOT / "journals" / "golden" / "baseline.journal"
OWN = "tests.laws.test_both_machines:Silent"
BY_HAND = [
    {"round": 2, "agent": 1, "actions": [["claim", 7, 1]]},
    {"round": 3, "agent": 2, "actions": []},
    {"round": 3, "agent": 3, "actions": []},
]
SPOKEN = {"table": 0, "round": 0, "move": "pass", "words": "by hand"}
OPEN = {**SEASON, "worker_tiers": (0, 0, 0, 0)}
CASES = {
    "scripted": Case("mining", {"rounds": 4}, "raid*2,random,greedy-mine"),
    "models": Case("mining", {"rounds": 4}, "raid,llm:a*3,human,random"),
    "all models": Case("mining", {"rounds": 3}, "llm:a*2,human"),
    "own": Case("mining", {"rounds": 3}, f"llm:a*2,{OWN}*2,human"),
    "replaced": Case(
        "mining", {"rounds": 4}, "raid,llm:a*3,human,random", Change(replace=BY_HAND), 1
    ),
    "replaced scripted": Case("mining", {"rounds": 4}, "raid*4", Change(replace=BY_HAND), 1),
    "external": Case("mining", {"rounds": 3}, "external[name=A],llm:a*2,random,human"),
    "recorded": Case("mining", {"rounds": 3}, "recorded:{source}*2,llm:a*2,human"),
    "commons": Case("commons", {"seasons": 3}, "share,llm:a*2,human,greedy"),
    "commons replaced": Case(
        "commons", {"seasons": 3}, "share,llm:a*2,human,greedy",
        Change(replace=[{"season": 2, "agent": agent, "fish": 1} for agent in (1, 0)]),
        1,
    ),
    "season": Case("competition", SEASON, "scripted"),
    "season models": Case("competition", SEASON, "worker=llm:a,judge=human,therapist=llm:a"),
    "season open": Case("competition", OPEN, "ada=llm:a,ben=human,user=llm:a,assistant=llm:a"),
    "season people": Case("competition", SEASON, "worker=human,admin=llm:a"),
    "season own": Case("competition", SEASON, "ada=tests.llm.seasons:Quiet,judge=llm:a"),
    "season replaced": Case(
        "competition", SEASON, "ada=llm:a,judge=human",
        Change(replace=[{"assignment": 0, "agent": agent, **SPOKEN} for agent in (5, 6)]), -1,
    ),
    "orchard": Case(
        "competition", {**SEASON, "arena": "orchard[hectares=2]"}, "worker=llm:a,judge=human"
    ),
}  # fmt: skip


class Machine:
    """Records, resumes and forks with the old or the new machine, asked by `outside`."""

    def __init__(self, case: Case, *, is_new: bool, seed: int) -> None:
        self.outside = Outside(seed)
        self.case, self.is_new = case, is_new
        self.how: dict[str, Any] = {
            "models": models(SERVER, patience=10**6, concurrency=8, warn=lambda line: None),
            "resources": Resources(people=self.outside.person, policies={0: Silent()}),
        }
        roster = case.roster.format(source=SOURCE)
        prepare = toolkit_for(case.world).players
        assert prepare is not None
        self.players = prepare
        self.run = prepare.prepare(case.settings, roster, None, self.how["models"])
        self.world = toolkit_for(case.world).world(self.run.setup)
        if is_new:
            self.players = attrs.evolve(
                prepare, start_agents=start_season if case.world == "competition" else start_game
            )

    def _patched(self) -> pytest.MonkeyPatch:
        patch = pytest.MonkeyPatch()
        patch.setattr(asker, "Client", lambda concurrency: self.outside)
        return patch

    def act(
        self, what: Callable[..., Any], *args: Any, **more: Any
    ) -> tuple[str | None, list[str]]:
        """Its refusal, and the prompts that were answered."""
        patch = self._patched()
        self.outside.asked, self.outside.inquiries = [], []
        try:
            what(self.world, self.players, *args, **self.how, **more)
        except (BadInput, JournalError) as error:
            return str(error), self.outside.answered
        finally:
            patch.undo()
        return None, self.outside.answered

    def record(self, path: Path) -> Any:
        return self.act(players.record, path, self.run)

    def resume(self, path: Path) -> Any:
        more = {"trust": self.run.trust, "sources": self.run.sources}
        return self.act(players.resume, path, **more)

    def fork(self, parent: Path, out: Path) -> Any:
        change, at = self.case.change, self.case.at
        return self.act(players.fork, parent, at, out, change, trust=self.run.trust)


def start_game(context: RunContext[Any]) -> Any:
    """As simultaneous._start_agents."""
    game = game_of(context.state)
    recordings = [game.policy_set.recording(path) for path in context.sources]
    objects = context.resources.policies
    roster = Roster(entries_in(context.state.roster), recordings, context.trust, objects)
    return submissions.session_of(game, roster, context)


def game_of(state: Any) -> Any:
    if hasattr(state, "season"):
        from goldrush_commons.players import GAME  # type: ignore[import-not-found]

        return GAME
    return mining.GAME


def start_season(context: RunContext[Any]) -> Any:
    """As competition.players._start_agents."""
    patch = pytest.MonkeyPatch()
    made: dict[str, Any] = {}
    patch.setattr(season, "Season", lambda tests, replaced, **how: made.update(how, tests=tests))
    seasons._start_agents(context)
    patch.undo()
    return play.session_of(context, made["tests"], made["chosen"])


def new_check(game: Any, state: Any, forks: Any, trust: Any, recordings: Any, policies: Any) -> Any:
    roster = Roster(entries_in(state.roster), recordings, trust, policies)
    found: PolicyCheck = submissions.check_of(game, roster, forks)

    class Adapted:
        entries = [found.ask]
        replaced = None
        not_asked, unknown, pending = found.not_asked, found.unknown, found.pending

        def __call__(self, *given: Any) -> Any:
            assert found.ask is not None
            return found.ask(*given)

    return Adapted()


class NewSeasonCheck(again.SeasonAgain):
    @property
    def pending(self) -> Any:
        return partial(self.__call__, is_whole=False)


def verdicts(path: Path, trust: Sequence[str] = ()) -> tuple[dict[str, Any], dict[str, Any]]:
    """Of the old and the new machine."""
    how: dict[str, Any] = {"trust": trust, "resources": Resources(policies={0: Silent()})}
    how["sources"] = [str(SOURCE)] if trust or len(str(path)) % 2 else []
    old = verify(path, **how).as_dict()
    patch = pytest.MonkeyPatch()
    patch.setattr(simultaneous, "AgentsCheck", new_check)
    patch.setattr(check, "SeasonCheck", NewSeasonCheck)
    try:
        return old, verify(path, **how).as_dict()
    finally:
        patch.undo()


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]


def same(one: Path, other: Path, *, as_events: bool) -> None:
    if as_events:
        assert told(one) == told(other)
        assert digests(one) == digests(other)
    else:
        assert one.read_bytes() == other.read_bytes()


def digests(path: Path) -> list[int]:
    return [c.digest for c in commits_of(path) if c.digest is not None]


@pytest.mark.parametrize("seed", range(3))
def test_both_record_resume_and_judge_the_same(case: Case, seed: int, tmp_path: Path) -> None:
    old, new = (Machine(case, is_new=is_new, seed=seed) for is_new in (False, True))
    one, other = tmp_path / "old.journal", tmp_path / "new.journal"
    if case.change is None:
        assert old.record(one)[0] is None
        assert new.record(other)[0] is None
    else:
        parent = tmp_path / "parent.journal"
        old.record(parent)
        assert old.fork(parent, one)[0] is None
        assert new.fork(parent, other)[0] is None
    is_season = case.world == "competition"
    same(one, other, as_events=is_season)
    trust = old.run.trust
    commits = commits_of(one)
    for trusted in (trust, ()):
        a, b = verdicts(one, trusted)
        assert a == b
        assert a["broken"] is None
    for commit in random.Random(seed).sample(commits[:-1], min(len(commits) - 1, 12)):
        cuts = [tmp_path / f"{name}-cut.journal" for name in ("old", "new")]
        for cut in cuts:
            cut.write_bytes(one.read_bytes()[: commit.end])
        a, b = verdicts(cuts[0], trust)
        assert a == b
        assert a["broken"] is None
        a, b = verdicts(cuts[0])
        assert a == b
        refused = old.resume(cuts[0]), new.resume(cuts[1])
        assert sorted(refused[0][1]) == sorted(refused[1][1])
        assert refused[0][0] == refused[1][0]
        same(*cuts, as_events=is_season)


def forged(commits: list[Commit], seed: int) -> Iterator[tuple[str, list[Commit]]]:
    """Journals with one input changed, left out or repeated; cut behind it, or not."""
    chance = random.Random(seed)
    places = [
        (at, index)
        for at, c in enumerate(commits)
        if c.kind == UNIT
        for index in range(0, len(c.blocks), 2)
        if c.blocks[index].batches
    ]
    for at, index in chance.sample(places, min(25, len(places))):
        rows = [(code, row) for code, rows in commits[at].blocks[index] for row in rows]
        which = chance.randrange(len(rows))
        code, row = rows[which]
        rows[which : which + 1] = chance.choice(
            [[], [(code, row)] * 2, [(code, other(row, chance))], [(code, other(row, chance))]]
        )
        blocks = list(commits[at].blocks)
        blocks[index] = Block([(code, [row]) for code, row in rows])
        kept = blocks[: index + 1] if chance.random() < 0.7 else blocks
        digest = commits[at].digest if len(kept) == len(blocks) else None
        last = Commit(UNIT, commits[at].unit, digest, kept)
        yield f"{at} {index} {which} {row}", [*commits[:at], last]


def other(row: Any, chance: random.Random) -> Any:
    at = chance.randrange(len(row))
    value = row[at]
    if isinstance(value, dict):
        name = chance.choice(list(value))
        return (*row[:at], {**value, name: chance.choice([None, "x", 3])}, *row[at + 1 :])
    new = chance.choice([None, "", "x", 0, 1, 2, (), True])
    return (*row[:at], new, *row[at + 1 :])


def rough(verdict: dict[str, Any]) -> dict[str, Any]:
    """A verdict without the event that was expected, which depends on where a step is left."""
    broken = verdict["broken"]
    return {**verdict, "broken": broken and (broken["level"], broken["where"].partition(" at ")[0])}


def is_foreign(last: Commit, machine: Machine) -> bool:
    """Whether a journal ends with inputs of scripted agents that no recorder commits early."""
    if len(last.blocks) % 2 == 0:
        return False
    rows = [(code, row) for code, rows in last.blocks[-1] for row in rows]
    if machine.case.world == "competition":
        return bool(rows) and rows[-1][0] != play.ANSWERED
    policies = {entry["agent"]: entry["policy"] for entry in machine.run.setup["roster"]}
    return any(policies.get(row[0], "llm") not in ("llm", "human") for _, row in rows)


@pytest.mark.parametrize("seed", range(3))
def test_both_judge_forged_journals_the_same(case: Case, seed: int, tmp_path: Path) -> None:
    machine = Machine(case, is_new=False, seed=seed)
    one = tmp_path / "one.journal"
    if case.change is None:
        machine.record(one)
    else:
        machine.record(tmp_path / "parent.journal")
        machine.fork(tmp_path / "parent.journal", one)
    commits = commits_of(one)
    header = JournalReader(one).header
    different = []
    for number, (what, wrong) in enumerate(forged(commits, seed)):
        path = tmp_path / f"{number}.journal"
        write(path, [Commit(c.kind, c.unit, c.digest, c.blocks, c.setup) for c in wrong], header)
        a, b = verdicts(path, machine.run.trust)
        is_early = is_foreign(wrong[-1], machine)
        if is_early:  # what is new: nobody but models and people commits early
            assert b["broken"] is not None
        elif rough(a) != rough(b):
            different.append((what, path.name, a["broken"], b["broken"]))
        resumed = []
        for is_new in (False, True):
            cut = tmp_path / f"{number}-{is_new}.journal"
            cut.write_bytes(path.read_bytes())
            who = Machine(case, is_new=is_new, seed=seed)
            resumed.append((who.resume(cut), cut))
        (x, p), (y, q) = resumed
        if is_early:
            assert y[0] is not None
        elif (x[0] is None) != (y[0] is None):
            different.append(("resume", what, x[0], y[0]))
        elif x[0] is None and told(p) != told(q):
            different.append(("resumed", what))
    assert [] == different
