"""What must not pass: policies and worlds that know more than they are shown, forged journals.

`verify` that finds nothing is worth as much as what it would have found. Here every level is shown
something that only it can see, and a journal that is forged with right checksums up to the level
below. Each forgery is checked to be as good as it claims: the levels under it hold.
"""

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import pytest

from goldrush.agents.players import Resources, RunContext
from goldrush.agents.worlds.mining.players import MINING_PLAYERS, MiningPlayers
from goldrush.kernel import fold, run
from goldrush.kernel.codec import pack
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import UnsupportedJournal
from goldrush.kernel.journal import END, START, UNIT, Commit, Header, JournalReader, JournalWriter
from goldrush.kernel.world import Batch, Block, Row, World
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import MINING_SETTLED, SUBMITTED
from goldrush.kernel.worlds.mining.observe import MiningObservation
from goldrush.kernel.worlds.mining.state import MiningState
from goldrush.kernel.worlds.mining.submit import Plan
from goldrush.replay.journal.verify import Break, Verdict, verify
from tests.journals import commits_of, write
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


class PlansByHash:
    """Does the same all day, and something else in the next process."""

    def plan(self, seen: MiningObservation, draws: Draws) -> list[Any]:
        return [("claim", hash("a string"), 1)]


class GivesUp:
    """Plays while it is recorded, and raises when it is asked again."""

    def plan(self, seen: MiningObservation, draws: Draws) -> list[Any]:
        if OUTSIDE["count"] and seen.round == 2:
            raise RuntimeError("no more")
        return []


@pytest.mark.parametrize(
    ("policy", "round"),
    [
        (KeepsState, 2),
        (DrawsElsewhere, 1),
        (RemembersWhatItWasShown, 1),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_a_policy_that_is_no_function_of_what_it_is_shown_breaks_level_4(
    tmp_path: Path, policy: type, round: int
) -> None:
    path = played_by(policy, tmp_path)

    assert verify(path, DERIVE).holds
    broken = break_of(verify(path, resources=Resources(trust=[named(policy)])))
    assert (DECIDE, f"round {round}, commit {round} ") == (
        broken.level,
        broken.where[: len(f"round {round}, commit {round} ")],
    )
    assert broken.where.endswith("submitted")
    for event in (broken.expected, broken.found):
        assert f'"round": {round}, "agent": 2, ' in event


def test_a_policy_that_remembers_by_its_memo_holds_at_level_4(tmp_path: Path) -> None:
    verdict = verify(played_by(Honest, tmp_path), resources=Resources(trust=[named(Honest)]))

    assert (True, ()) == (verdict.holds, verdict.not_asked)


def test_a_policy_that_is_not_trusted_is_not_asked_and_named(tmp_path: Path) -> None:
    verdict = verify(played_by(KeepsState, tmp_path))

    assert (True, (f"{named(KeepsState)} (1 agent)",)) == (verdict.holds, verdict.not_asked)


def test_where_nobody_can_be_asked_the_verdict_is_one_of_level_3(
    path: Path, tmp_path: Path
) -> None:
    record(path, SETTINGS, f"{named(KeepsState)}*3")
    trusting = Resources(trust=[named(Honest)])

    assert [DERIVE, DECIDE] == [
        verify(path).level,
        verify(played_by(Honest, tmp_path / "other"), resources=trusting).level,
    ]


def test_who_is_given_to_be_asked_is_asked(original: Path) -> None:
    config, roster = prepare(SETTINGS, MIX)
    nothing = [(agent, (), None, None, None, None) for agent in range(4)]

    setup = {"config": config.as_dict(), "roster": roster.as_setup()}
    assert verify(
        original, ask=MINING_PLAYERS.start_agents(RunContext(MINING.initial(setup)))
    ).holds
    broken = break_of(verify(original, ask=lambda state: [(SUBMITTED, nothing)]))
    assert (DECIDE, True) == (broken.level, broken.where.startswith("round 1, commit 1 "))


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


def test_a_policy_that_plans_by_hash_is_found_by_a_process_with_another_hash_seed(
    tmp_path: Path,
) -> None:
    path = played_by(PlansByHash, tmp_path)
    asked = (
        "import sys; from goldrush.replay.journal.verify import verify; "
        "from goldrush.agents.players import Resources; "
        "print(verify(sys.argv[1], resources=Resources(trust=[sys.argv[2]])).broken)"
    )
    here = Path(__file__)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join((str(here.parent), str(here.parents[2]))),
        "PYTHONHASHSEED": "12345" if os.environ.get("PYTHONHASHSEED") != "12345" else "54321",
    }

    found = subprocess.run(
        [sys.executable, "-c", asked, str(path), named(PlansByHash)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert found.startswith("level 4 (decide) breaks at round 1, commit 1 ")


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


def test_a_world_that_decides_by_something_outside_breaks_level_3(tmp_path: Path) -> None:
    world = attrs.evolve(MINING, decide=luck_in_decide)
    path = played_in(world, tmp_path)

    assert verify(path, FOLD, world=world).holds
    broken = break_of(verify(path, DERIVE, world=world))
    assert DERIVE == broken.level
    assert broken.where.startswith("round 1, commit 1 ")
    assert broken.where.endswith("mining_settled")


@pytest.mark.parametrize(
    "world",
    [
        attrs.evolve(MINING, evolve=luck_in_evolve),
        attrs.evolve(MINING, close=luck_in_close),
        attrs.evolve(MINING, decide=gift_in_decide),
    ],
    ids=["evolve", "close", "decide changes the state"],
)
def test_a_world_whose_state_hangs_on_something_outside_breaks_level_2(
    tmp_path: Path, world: World[MiningState]
) -> None:
    path = played_in(world, tmp_path)

    assert verify(path, INTEGRITY, world=world).holds
    broken = break_of(verify(path, FOLD, world=world))
    assert FOLD == broken.level
    assert broken.where.startswith("round 1, commit 1 ")


def test_a_journal_of_other_rules_is_refused_by_the_world(tmp_path: Path) -> None:
    path = played_in(attrs.evolve(MINING, rules=3), tmp_path)

    with pytest.raises(UnsupportedJournal, match="rules 3"):
        verify(path)


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


@pytest.mark.parametrize("round", [0, 1, ROUNDS])
def test_a_wrong_digest_breaks_level_2(original: Path, round: int) -> None:
    commits = commits_of(original)
    right = commits[round].digest
    assert right is not None
    commits[round].digest = right ^ 1

    forged = written(original, commits)

    assert verify(forged, INTEGRITY).holds
    broken = assert_broken(forged, FOLD, at=f"round {round}, commit {round} ")
    assert (f"digest {right:016x}", f"{right ^ 1:016x}") == (broken.expected, broken.found)


def test_a_changed_gold_breaks_level_3_though_the_digests_were_recomputed(original: Path) -> None:
    commits = commits_of(original)
    inputs, derived = commits[3].blocks
    *front, (plot, agent, stamina, gold) = derived.rows(MINING_SETTLED)
    richer = [*front, (plot, agent, stamina, gold + 1)]
    commits[3].blocks = (inputs, replaced(derived, MINING_SETTLED, richer))

    forged = written(original, redigested(commits))

    assert verify(forged, FOLD).holds
    broken = break_of(verify(forged, DERIVE))
    assert DERIVE == broken.level
    assert broken.where.startswith("round 3, commit 3 ")
    assert broken.where.endswith("mining_settled")
    assert f'"plot": {plot}, "agent": {agent}, "stamina": {stamina}, ' in broken.found
    assert broken.found.endswith(f'"gold": {float(gold + 1)}}}')
    assert broken.expected.endswith(f'"gold": {float(gold)}}}')


def test_derived_events_cut_into_other_batches_break_level_3(original: Path) -> None:
    commits = commits_of(original)
    inputs, derived = commits[3].blocks
    batches = [(code, [row]) for code, rows in derived for row in rows]
    commits[3].blocks = (inputs, Block(batches, pack(batches)))

    broken = break_of(verify(written(original, redigested(commits)), DERIVE))

    assert (DERIVE, "the same events, cut up") == (broken.level, broken.found)


def test_a_plan_changed_breaks_level_4_though_all_else_was_derived_again(original: Path) -> None:
    commits = commits_of(original)
    commits[4].blocks = (with_actions(commits[4].blocks[0], 1, ()), Block([]))

    forged = written(original, rederived(commits))

    assert verify(forged, DERIVE).holds
    broken = break_of(verify(forged, DECIDE))
    assert DECIDE == broken.level
    assert broken.where.startswith("round 4, commit 4 ")
    assert broken.where.endswith("submitted")
    assert '"agent": 1, "actions": []' in broken.found
    assert '"agent": 1, "actions": [["' in broken.expected


def test_a_roster_changed_breaks_level_4_though_the_digests_were_recomputed(original: Path) -> None:
    commits = commits_of(original)
    roster = [dict(entry) for entry in commits[0].setup["roster"]]
    roster[2]["policy"] = "mine"
    commits[0].setup = {**commits[0].setup, "roster": roster}

    forged = written(original, redigested(commits))

    assert verify(forged, DERIVE).holds
    assert DECIDE == break_of(verify(forged, DECIDE)).level


def test_a_seed_changed_breaks_level_3_though_the_digests_were_recomputed(original: Path) -> None:
    commits = commits_of(original)
    config = {**commits[0].setup["config"], "seed": 8}
    commits[0].setup = {**commits[0].setup, "config": config}

    forged = written(original, redigested(commits))

    assert verify(forged, FOLD).holds
    assert DERIVE == break_of(verify(forged, DERIVE)).level


# Rounds that are missing, too many, or out of their order.


def numbered(commits: list[Commit], *units: int) -> list[Commit]:
    for commit, unit in zip(commits, units, strict=True):
        commit.unit = unit
    return commits


ROUND = range(ROUNDS + 1)
OUT_OF_PLACE: dict[str, tuple[Callable[[list[Commit]], list[Commit]], int]] = {
    "a missing round": (lambda c: [*c[:3], *c[4:]], 3),
    "one number for all": (lambda c: numbered(c, *[0] * len(c)), 1),
    "an end of another round": (lambda c: numbered(c, *ROUND, ROUNDS + 1), ROUNDS + 1),
    "a round once more behind the end": (lambda c: [*c, c[-2]], ROUNDS + 2),
    "two starts": (lambda c: [c[0], *c], 1),
    "no start": (lambda c: c[1:], 0),
}


@pytest.mark.parametrize(("forge", "at"), OUT_OF_PLACE.values(), ids=OUT_OF_PLACE)
def test_commits_out_of_place_do_not_hold(
    original: Path, forge: Callable[[list[Commit]], list[Commit]], at: int
) -> None:
    forged = written(original, forge(commits_of(original)))

    assert_broken(forged, FOLD, at=f"commit {at} ")


def test_an_end_too_early_does_not_hold(original: Path) -> None:
    *rounds, _, _ = commits_of(original)

    forged = written(original, [*rounds, Commit(END, ROUNDS - 1)])

    broken = assert_broken(forged, DERIVE, at=f"commit {ROUNDS} ")
    assert ("another round", "run_ended") == (broken.expected, broken.found)


def test_a_round_after_the_last_does_not_hold(original: Path) -> None:
    *rounds, end = commits_of(original)
    again = Commit(UNIT, ROUNDS + 1, blocks=rounds[-1].blocks)
    end.unit += 1

    forged = written(original, redigested([*rounds, again, end]))

    broken = assert_broken(forged, DERIVE, at=f"commit {ROUNDS + 1} ")
    assert ("run_ended", "another round") == (broken.expected, broken.found)


@pytest.mark.parametrize("first", [1, 4])
def test_submissions_committed_before_they_are_judged_hold(original: Path, first: int) -> None:
    """As answers of models are, so that a crash never pays for them twice."""
    commits = commits_of(original)
    whole = commits[3]
    inputs, derived = whole.blocks
    rows = inputs.rows(SUBMITTED)
    parts = [Block([(SUBMITTED, part)] if part else []) for part in (rows[:first], rows[first:])]
    commits[3:4] = [
        Commit(UNIT, 3, None, [parts[0]]),
        Commit(UNIT, 3, whole.digest, [parts[1], derived]),
    ]

    forged = written(original, commits)

    for level in (INTEGRITY, FOLD, DERIVE, DECIDE):
        assert (None, ROUNDS) == (verify(forged, level).broken, verify(forged, level).rounds)


# Rounds that no recorder could have written, though what is derived follows from what is submitted.
# The policies are of their own kind and not asked, so that only levels 1 to 3 can tell.


@pytest.fixture
def unasked(tmp_path: Path) -> Path:
    path = tmp_path / "unasked"
    record(path, SETTINGS, f"{named(Settler)}*4")
    return path


ORDERS = [
    *[(0, 0, 2, 3), (1, 0, 2, 3), (0, 1, 2, 3, 3), (1, 2, 3), (0, 1, 2)],
]


def test_a_round_without_submissions_or_without_what_follows_does_not_hold(unasked: Path) -> None:
    for count in (0, 1):
        commits = commits_of(unasked)
        commits[3].blocks = commits[3].blocks[:count]

        assert_broken(written(unasked, redigested(commits)), DERIVE, at="commit 3 ")


@pytest.mark.parametrize("order", ORDERS)
def test_submissions_missing_twice_or_out_of_agent_order_do_not_hold(
    unasked: Path, order: Sequence[int]
) -> None:
    commits = commits_of(unasked)
    rows = commits[3].blocks[0].rows(SUBMITTED)
    commits[3].blocks = (Block([(SUBMITTED, [rows[agent] for agent in order])]), Block([]))

    assert_broken(written(unasked, rederived(commits)), DERIVE, at="commit 3 ")


@pytest.mark.parametrize("counted", [True, False], ids=["counted", "not counted"])
def test_inputs_that_were_never_judged_do_not_hold(unasked: Path, counted: bool) -> None:
    """Levels 3 and 4 may not pass over what level 2 folds, nor the other way round."""
    commits = commits_of(unasked)
    last = commits[ROUNDS]
    last.blocks = (*last.blocks, commits[1].blocks[0])
    if counted:
        redigested(commits)

    assert_broken(written(unasked, commits), DERIVE, at=f"commit {ROUNDS} ")


def test_inputs_in_a_longer_encoding_do_not_hold(unasked: Path) -> None:
    commits = commits_of(unasked)
    inputs, derived = commits[3].blocks
    assert inputs.packed[0] == 0x91  # an array of 1, which can be said in two bytes more
    longer = Block(inputs.batches, b"\xdc\x00\x01" + inputs.packed[1:])
    commits[3].blocks = (longer, derived)

    forged = written(unasked, redigested(commits))

    assert verify(forged, FOLD).holds
    assert_broken(forged, DERIVE, at="commit 3 ")


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
        run.record(world, setup, ask, journal)
    return path


def break_of(verdict: Verdict) -> Break:
    assert verdict.broken is not None
    return verdict.broken


def assert_broken(path: Path, level: int, *, at: str) -> Break:
    """A break in this place, whether the check is to go as far as `level` or further."""
    for upto in range(level, DECIDE + 1):
        broken = verify(path, upto).broken
        assert broken is not None
        assert at in broken.where
    assert broken is not None
    return broken


def written(original: Path, commits: Sequence[Commit]) -> Path:
    """A journal with these commits under right checksums, beside the original."""
    with JournalReader(original) as reader:
        header = reader.header
    path = original.with_name("forged")
    write(path, commits, header)
    return path


def redigested(commits: list[Commit]) -> list[Commit]:
    """The same commits with the digests that follow from their events."""
    return refolded(commits, lambda state, blocks: blocks)


def rederived(commits: list[Commit]) -> list[Commit]:
    """The same commits with the derived events that follow from their inputs, and the digests."""

    def again(state: MiningState, blocks: Sequence[Block]) -> Iterator[Block]:
        for inputs in blocks[::2]:
            yield inputs
            yield judged(state, inputs)

    return refolded(commits, again)


def judged(state: MiningState, inputs: Block) -> Block:
    """What follows from inputs, or nothing if the world will not judge them."""
    try:
        return Block(MINING.decide(state, inputs))
    except fold.REFUSED:
        return Block([])


def refolded(
    commits: list[Commit],
    blocks_of: Callable[[MiningState, Sequence[Block]], Iterator[Block] | Sequence[Block]],
) -> list[Commit]:
    assert commits[0].setup is not None
    state = MINING.initial(commits[0].setup)
    for commit in commits:
        if commit.kind == END:
            continue
        if commit.kind != START:
            folded = []
            for block in blocks_of(state, commit.blocks):
                state = MINING.evolve(state, block)
                folded.append(block)
            commit.blocks = folded
            state = MINING.close(state)
        commit.digest = MINING.digest(state)
    return commits


def replaced(block: Block, code: int, rows: list[Row]) -> Block:
    """The block with other rows in place of those of one type."""
    return Block([(c, rows if c == code else kept) for c, kept in block])


def with_actions(inputs: Block, agent: int, actions: tuple[Any, ...]) -> Block:
    """The submissions with other actions for one agent."""
    rows = inputs.rows(SUBMITTED)
    rows[agent] = (agent, actions, *rows[agent][2:])
    return Block([(SUBMITTED, rows)])
