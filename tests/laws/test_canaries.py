"""What must not pass: policies and worlds that know more than they are shown, forged journals.

`verify` that finds nothing is worth as much as what it would have found. Here every level is shown
something that only it can see, and a journal that is forged with right checksums up to the level
below. Each forgery is checked to be as good as it claims: the levels under it hold.
"""

import copy
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from goldrush.agents.players import Resources, RunContext
from goldrush.agents.worlds.mining.players import MINING_PLAYERS, MiningPlayers
from goldrush.kernel import fold, run
from goldrush.kernel.codec import pack
from goldrush.kernel.draws import Draws
from goldrush.kernel.journal import END, UNIT, Commit, Header, JournalReader, JournalWriter
from goldrush.kernel.world import Batch, Block, Row, World
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import MINING_SETTLED
from goldrush.kernel.worlds.mining.observe import MiningObservation
from goldrush.kernel.worlds.mining.state import MiningState
from goldrush.kernel.worlds.mining.submit import Plan
from goldrush.replay.journal.verify import Break, Verdict, verify
from tests.journals import commits_of, played_again, refolded, write
from tests.mining import prepare, record

INTEGRITY, FOLD, DERIVE, DECIDE = 1, 2, 3, 4
ROUNDS = 6
SETTINGS = {"rows": 3, "cols": 3, "rounds": ROUNDS, "seed": 7}
MIX = "greedy-mine*2,raid*1,defend-then-mine*1"

# What lies outside every state; policies and worlds below should not look at it, and do.
OUTSIDE = {"count": 0}


# Policies that are no functions of what they are shown.


class Honest:
    """Counts rounds as it should, in its memo."""

    def plan(self, seen: MiningObservation, draws: Draws) -> Plan:
        count = int(seen.memo or 0)
        return Plan([("claim", count, 1), ("mine", draws.below(9), 1)], memo=str(count + 1))


class Settler:
    """Claims a plot of its own while there are any, so that nothing is ever pruned."""

    def plan(self, seen: MiningObservation, draws: Draws) -> list[Any]:
        return [("claim", plot, 1) for plot in seen.unowned[seen.agent : seen.agent + 1]]


class KeepsState:
    """Counts rounds in itself."""

    def __init__(self) -> None:
        self.count = 0

    def plan(self, seen: MiningObservation, draws: Draws) -> list[Any]:
        self.count += 1
        return [("claim", self.count, 1)]


class DrawsElsewhere:
    """Takes its luck from Python's own generator."""

    def plan(self, seen: MiningObservation, draws: Draws) -> list[Any]:
        return [("claim", int(random.random() * 2**53), 1)]


class RemembersWhatItWasShown:
    """Keeps an observation, and reads the next round from it."""

    def __init__(self) -> None:
        self.first: MiningObservation | None = None

    def plan(self, seen: MiningObservation, draws: Draws) -> list[Any]:
        self.first = self.first or seen
        return [("claim", 100 + self.first.round - self.first.agents, 1), ("claim", id(self), 1)]


class GivesUp:
    """Plays while it is recorded, and raises when it is asked again."""

    def plan(self, seen: MiningObservation, draws: Draws) -> list[Any]:
        if OUTSIDE["count"] and seen.round == 2:
            raise RuntimeError("no more")
        return []


@pytest.mark.parametrize(
    ("policy", "round"),
    [(KeepsState, 2), (DrawsElsewhere, 1), (RemembersWhatItWasShown, 1)],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_policy_that_is_no_function_of_what_it_is_shown_breaks_level_4(
    tmp_path: Path, policy: type, round: int
) -> None:
    path = played_by(policy, tmp_path)

    assert verify(path, DERIVE).holds
    broken = break_of(verify(path, resources=Resources(trust=[named(policy)])))
    assert (DECIDE, True) == (broken.level, f"round {round}, commit {round} " in broken.where)
    for event in (broken.expected, broken.found):
        assert f'"round": {round}, "agent": 2, ' in event


@pytest.mark.parametrize(("policy", "not_asked"), [(Honest, []), (KeepsState, ["KeepsState"])])
def test_who_is_trusted_is_asked_and_who_is_not_is_named(
    tmp_path: Path, policy: type, not_asked: list[str]
) -> None:
    path = played_by(policy, tmp_path)

    verdict = verify(path, resources=Resources(trust=[named(Honest)]))

    assert verdict.holds
    assert not_asked == [name.split(":")[1].split()[0] for name in verdict.not_asked]


@pytest.mark.parametrize(
    ("policies", "changes", "expected"),
    [
        ("greedy-mine*2", {}, True),
        ("greedy-mine,{own}", {}, False),
        ("greedy-mine*2", {"leaves_state": False}, False),
    ],
)
def test_a_state_is_shown_without_a_copy_only_to_policies_that_leave_it(
    policies: str, changes: dict[str, Any], expected: bool
) -> None:
    _, roster = prepare({}, policies.format(own=named(Honest)))

    players = type("Changed", (MiningPlayers,), changes)()
    assert expected is players.roster_check(roster).leaves_state


def test_a_policy_that_raises_when_asked_again_breaks_level_4(tmp_path: Path) -> None:
    OUTSIDE["count"] = 0
    path = played_by(GivesUp, tmp_path)
    OUTSIDE["count"] = 1

    broken = break_of(verify(path, resources=Resources(trust=[named(GivesUp)])))

    assert DECIDE == broken.level
    assert broken.where.startswith("round 2, commit 2 ")
    assert "of agent 2 failed in round 2: GivesUp.plan, " in broken.found
    assert broken.found.endswith(": RuntimeError: no more")


# Worlds that are no functions of state and events.


def luck_in_decide(state: MiningState, inputs: Block) -> list[Batch]:
    """Settles by how often it was called."""
    OUTSIDE["count"] += 1
    settled = [(0, 0, 1, OUTSIDE["count"])]
    return [b for b in MINING.decide(state, inputs) if b[0] != MINING_SETTLED] + [
        (MINING_SETTLED, settled)
    ]


def gift_in_decide(state: MiningState, inputs: Block) -> list[Batch]:
    """Changes the state, which is for events to do."""
    state.gold[0] += 1.0
    return list(MINING.decide(state, inputs))


def luck_in_evolve(state: MiningState, block: Block) -> MiningState:
    """Pays for how often it was called."""
    OUTSIDE["count"] += 1
    state = MINING.evolve(state, block)
    state.gold[0] += OUTSIDE["count"]
    return state


def luck_in_close(state: MiningState) -> MiningState:
    OUTSIDE["count"] += 1
    state.gold[0] += OUTSIDE["count"]
    return MINING.close(state)


@pytest.mark.parametrize(
    ("changes", "level"),
    [
        ({"decide": luck_in_decide}, DERIVE),
        ({"decide": gift_in_decide}, FOLD),
        ({"evolve": luck_in_evolve}, FOLD),
        ({"close": luck_in_close}, FOLD),
    ],
    ids=["decides by luck", "decide changes the state", "evolve", "close"],
)
def test_a_world_that_hangs_on_something_outside_breaks_its_level(
    tmp_path: Path, changes: dict[str, Any], level: int
) -> None:
    world = replace(MINING, **changes)
    path = played_in(world, tmp_path)

    assert verify(path, level - 1, world=world).holds
    broken = break_of(verify(path, level, world=world))
    assert (level, True) == (broken.level, broken.where.startswith("round 1, commit 1 "))


# Forged journals, with right checksums.


@pytest.fixture
def original(tmp_path: Path) -> Path:
    path = tmp_path / "original"
    record(path, SETTINGS, MIX)
    return path


def test_all_events_of_the_journal_are_counted(original: Path) -> None:
    with JournalReader(original) as reader:
        events = sum(1 for _ in fold.events(MINING, reader))

    for level in (INTEGRITY, FOLD, DERIVE, DECIDE):
        assert events == verify(original, level).events


Forge = Callable[[list[Commit]], list[Commit]]


def wrong_digest(round: int) -> Forge:
    def forge(commits: list[Commit]) -> list[Commit]:
        commits[round].digest = (commits[round].digest or 0) ^ 1
        return commits

    return forge


def in_round_3(change: Callable[[Block, Block], Sequence[Block]]) -> Forge:
    """Other blocks, made of the inputs and of what followed; the digests are right."""

    def forge(commits: list[Commit]) -> list[Commit]:
        inputs, derived = commits[3].blocks
        commits[3].blocks = list(change(inputs, derived))
        return redigested(commits)

    return forge


def submitted_in_round_3(change: Callable[[Sequence[Row]], list[Row]]) -> Forge:
    """Other submissions; what follows and the digests are derived again."""

    def inputs(unit: int, batches: Sequence[Batch]) -> Sequence[Batch]:
        return [(c, change(rows)) for c, rows in batches] if unit == 3 else batches

    def forge(commits: list[Commit]) -> list[Commit]:
        return played_again(commits, replace(MINING, decide=judged), inputs=inputs)

    return forge


def in_the_setup(name: str, change: Callable[[Any], object]) -> Forge:
    def forge(commits: list[Commit]) -> list[Commit]:
        setup = copy.deepcopy(commits[0].setup or {})
        change(setup[name])
        commits[0].setup = setup
        return redigested(commits)

    return forge


def numbered(*units: int) -> Forge:
    def forge(commits: list[Commit]) -> list[Commit]:
        for commit, unit in zip(commits, units, strict=True):
            commit.unit = unit
        return commits

    return forge


def one_round_more(commits: list[Commit]) -> list[Commit]:
    *rounds, end = commits
    end.unit += 1
    return redigested([*rounds, Commit(UNIT, ROUNDS + 1, 0, rounds[-1].blocks), end])


def richer(inputs: Block, derived: Block) -> list[Block]:
    *front, (plot, agent, stamina, gold) = derived.rows(MINING_SETTLED)
    rows = [*front, (plot, agent, stamina, gold + 1)]
    return [inputs, Block([(c, rows if c == MINING_SETTLED else r) for c, r in derived])]


def cut_up(inputs: Block, derived: Block) -> list[Block]:
    batches = [(code, [row]) for code, rows in derived for row in rows]
    return [inputs, Block(batches, pack(batches))]


def idle(rows: Sequence[Row]) -> list[Row]:
    return [rows[0], (1, (), *rows[1][2:]), *rows[2:]]


# A forgery, the level that it breaks, where, and what is found there.
FORGED: dict[str, tuple[Forge, int, str, str]] = {
    "the digest of the start": (wrong_digest(0), FOLD, "round 0, commit 0 ", ""),
    "a digest": (wrong_digest(1), FOLD, "round 1, commit 1 ", ""),
    "the last digest": (wrong_digest(ROUNDS), FOLD, f"round {ROUNDS}, commit {ROUNDS} ", ""),
    "gold": (in_round_3(richer), DERIVE, "round 3, commit 3 ", '"gold": '),
    "other batches": (in_round_3(cut_up), DERIVE, "commit 3 ", "the same events, cut up"),
    "a seed": (in_the_setup("config", lambda c: c.update(seed=8)), DERIVE, "round ", ""),
    "a plan": (submitted_in_round_3(idle), DECIDE, "round 3, commit 3 ", '1, "actions": []'),
    "a policy": (in_the_setup("roster", lambda r: r[2].update(policy="mine")), DECIDE, "", ""),
    "a missing round": (lambda c: [*c[:3], *c[4:]], INTEGRITY, "commit 3 ", ""),
    "one number for all": (numbered(*[0] * (ROUNDS + 2)), INTEGRITY, "commit 1 ", ""),
    "an end of another round": (
        numbered(*range(ROUNDS + 1), ROUNDS + 1), INTEGRITY, f"commit {ROUNDS + 1} ", "",
    ),
    "a round behind the end": (lambda c: [*c, c[-2]], INTEGRITY, f"commit {ROUNDS + 2} ", ""),
    "two starts": (lambda c: [c[0], *c], INTEGRITY, "commit 1 ", ""),
    "no start": (lambda c: c[1:], INTEGRITY, "commit 0 ", ""),
    "an end too early": (
        lambda c: [*c[:-2], Commit(END, ROUNDS - 1)], DERIVE, f"commit {ROUNDS} ", "run_ended",
    ),
    "a round after the last": (one_round_more, DERIVE, f"commit {ROUNDS + 1} ", "another round"),
}  # fmt: skip


@pytest.mark.parametrize(("forge", "level", "at", "found"), FORGED.values(), ids=FORGED)
def test_a_forgery_breaks_its_level_and_none_below(
    original: Path, forge: Forge, level: int, at: str, found: str
) -> None:
    forged = written(original, forge(commits_of(original)))

    broken = break_of(verify(forged, level))
    assert (level, True, True) == (broken.level, at in broken.where, found in broken.found)
    assert all(
        verify(forged, other).holds is (other < level) for other in range(INTEGRITY, DECIDE + 1)
    )


# Rounds that no recorder could have written, though what is derived follows from what is submitted.
# The policies are of their own kind and not asked, so that only levels 1 to 3 can tell.


def in_order(*agents: int) -> Forge:
    return submitted_in_round_3(lambda rows: [rows[agent] for agent in agents])


def never_judged(commits: list[Commit]) -> list[Commit]:
    """Levels 3 and 4 may not pass over what level 2 folds, nor the other way round."""
    commits[3].blocks = [*commits[3].blocks, commits[1].blocks[0]]
    return commits


UNASKED: dict[str, Forge] = {
    "no submissions": in_round_3(lambda inputs, derived: []),
    "nothing that follows": in_round_3(lambda inputs, derived: [inputs]),
    "out of order": in_order(1, 0, 2, 3),
    "one twice for another": in_order(0, 0, 2, 3),
    "one twice": in_order(0, 1, 2, 3, 3),
    "the first missing": in_order(1, 2, 3),
    "the last missing": in_order(0, 1, 2),
    "inputs that were never judged and not counted": never_judged,
    "inputs that were never judged": lambda commits: redigested(never_judged(commits)),
}


@pytest.mark.parametrize("forge", UNASKED.values(), ids=UNASKED)
def test_a_round_that_no_recorder_could_have_written_does_not_hold(
    tmp_path: Path, forge: Forge
) -> None:
    path = tmp_path / "unasked"
    record(path, SETTINGS, f"{named(Settler)}*4")

    forged = written(path, forge(commits_of(path)))
    for level in (DERIVE, DECIDE):
        assert "commit 3 " in break_of(verify(forged, level)).where


# Playing and forging.


def named(policy: type) -> str:
    return f"{policy.__module__}:{policy.__qualname__}"


def played_by(policy: type, folder: Path) -> Path:
    """A journal in which agent 2 has this policy and the others are beyond doubt."""
    folder.mkdir(exist_ok=True)
    path = folder / "journal"
    record(path, SETTINGS, f"greedy-mine*2,{named(policy)}*1,random*1")
    return path


def played_in(world: World[MiningState], folder: Path) -> Path:
    """A journal played in a world of its own, by policies that are beyond doubt."""
    path = folder / "journal"
    config, roster = prepare(SETTINGS, MIX)
    setup = {"config": config.as_dict(), "roster": roster.as_setup()}
    ask = MINING_PLAYERS.start_agents(RunContext(world.initial(setup)))
    with JournalWriter(path, Header(world.name, world.rules)) as journal:
        run.last_of(run.steps(world, setup, journal, ask=ask))
    return path


def break_of(verdict: Verdict) -> Break:
    assert verdict.broken is not None
    return verdict.broken


def written(original: Path, commits: Sequence[Commit]) -> Path:
    """A journal with these commits under right checksums, beside the original."""
    with JournalReader(original) as reader:
        header = reader.header
    path = original.with_name("forged")
    write(path, commits, header)
    return path


def redigested(commits: Sequence[Commit]) -> list[Commit]:
    """The same commits with the digests that follow from their events."""
    return [*refolded(MINING, commits)]


def judged(state: MiningState, inputs: Block) -> Sequence[Batch]:
    """What follows from inputs, or nothing if the world will not judge them."""
    try:
        return list(MINING.decide(state, inputs))
    except fold.REFUSED:
        return []
