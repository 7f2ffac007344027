"""`recorded:JOURNAL`: an agent submits again what the agent of its id submitted there."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest
from msgspec.structs import replace

from goldrush.agents import players
from goldrush.agents.players import Resources
from goldrush.agents.recorded import Recording
from goldrush.agents.roster import Entry
from goldrush.agents.seats import PolicySet
from goldrush.agents.simultaneous import SimultaneousPlayers
from goldrush.agents.worlds.mining.roster import recording
from goldrush.kernel.codec import fingerprint
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, RulesFailed
from goldrush.kernel.fold import events
from goldrush.kernel.forking import Forks
from goldrush.kernel.journal import UNIT, Commit, Header, JournalReader
from goldrush.kernel.rosters import setup_of
from goldrush.kernel.settings import configured, integer, setting
from goldrush.kernel.shape import AGENT, INTEGER
from goldrush.kernel.world import Batch, Block, EventType, Past, Row, Vocabulary, World
from goldrush.kernel.worlds.mining.observe import MiningObservation
from goldrush.kernel.worlds.mining.submit import Plan
from goldrush.replay.journal.verify import verify
from tests.journals import commits_of, logged, write
from tests.mining import record

SETTINGS: dict[str, Any] = {"rows": 3, "cols": 4, "rounds": 8, "seed": 3}
MIX = "raid*1,greedy-mine*1,random*2"


class Talks:
    """Says something, remembers something, and submits what is cut and what is null."""

    def plan(self, seen: MiningObservation, draws: Draws) -> Plan:
        said = " ".join(message.text for message in seen.messages)
        items = [("mine", 2**70, 1), *[("claim", draws.below(12), 1)] * 1_001]
        return Plan(items, say=f"round {seen.round} {said}"[:100], memo=(seen.memo or "") + ".")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    record(path, SETTINGS, MIX)
    return path


def replayed(source: Path, roster: str, **settings: Any) -> Path:
    path = source.with_name("again")
    record(path, SETTINGS | settings, roster.format(source))
    return path


def test_where_everything_else_is_the_same_so_is_all_that_follows(source: Path) -> None:
    again = replayed(source, "recorded:{}*4")

    def derived(path: Path) -> list[dict[str, Any]]:
        return [e for e in logged(path) if e["event"] not in ("run_started", "round_closed")]

    assert derived(source) == derived(again)


def test_under_other_rules_the_same_submissions_come_to_something_else(source: Path) -> None:
    again = replayed(source, "recorded:{}*4", seed=4, truce=3, rows=2)

    assert logged(source, "submitted") == logged(again, "submitted")
    assert logged(source, "claim_drawn") != logged(again, "claim_drawn")
    assert "off-grid" in str(logged(again, "pruned"))


def test_memos_errors_and_items_that_were_no_actions_are_submitted_again(tmp_path: Path) -> None:
    path = tmp_path / "source"
    record(path, SETTINGS | {"communication": True}, f"{__name__}:Talks*2")

    again = replayed(path, "recorded:{}*2", communication=True)

    assert logged(path, "submitted") == logged(again, "submitted")
    first = logged(again, "submitted")[0]
    assert ("overflow", None, "round 1 ", ".") == (
        first["error"],
        first["actions"][0],
        first["say"],
        first["memo"],
    )


def test_an_unfinished_source_plays_as_far_as_it_goes_and_no_other_agents(source: Path) -> None:
    end = commits_of(source)[5].end
    source.write_bytes(source.read_bytes()[:end])

    assert 5 == len(recording(source).units)
    with pytest.raises(BadInput, match="holds 5 rounds"):
        replayed(source, "recorded:{}*4", rounds=6)
    with pytest.raises(BadInput, match="holds no submissions of agent 4"):
        replayed(source, "mine*4,recorded:{}*1", rounds=5)
    assert not source.with_name("again").exists()
    replayed(source, "recorded:{}*4", rounds=5)


# Asked again, recorded agents need their source.


def test_recorded_agents_are_asked_again_only_where_their_source_is_given(
    source: Path, tmp_path: Path
) -> None:
    again, other = replayed(source, "recorded:{}*3,mine*1"), tmp_path / "other"
    record(other, SETTINGS, "claim*4")

    not_asked = ("recorded (3 agents)",)
    for sources, expected in (([], not_asked), ([other], not_asked), ([source], ())):
        verdict = verify(again, resources=Resources(sources=[*map(str, sources)]))

        assert (True, expected) == (verdict.holds, verdict.not_asked)


# A world whose first unit is 0, and whose units may have several steps.


@attrs.frozen
class Config:
    seed: int = setting(0, integer(0, 9))
    days: int = setting(3, integer(1, 9))
    agents: int = setting(1, integer(1, 9))
    meals: int = setting(1, integer(1, 3))

    def as_dict(self) -> dict[str, Any]:
        return attrs.asdict(self)


@attrs.frozen
class Week:
    """`meals`: of the day under way."""

    config: Config
    roster: Sequence[Mapping[str, Any]]
    day: int = 0
    meals: int = 0


ATE, DIGESTED = range(2)
EVENTS = (
    EventType("ate", {"agent": AGENT, "food": INTEGER}, is_input=True),
    EventType("digested", {"food": INTEGER}),
)
FORKS = Forks(
    Config, partial(configured, Config), [EVENTS[ATE]], "days", Vocabulary("day", first=0)
)


def branched(state: Week, facts: Mapping[str, Any], past: Past) -> Week:
    config, roster = FORKS.forked(state.config, facts, state.day)
    return attrs.evolve(state, config=config, roster=roster or state.roster)


WEEK: World[Week] = World(
    "week",
    1,
    EVENTS,
    initial=lambda setup: Week(*setup_of(setup, partial(configured, Config))),
    decide=lambda state, inputs: [(DIGESTED, [(row[1],) for row in inputs.rows(ATE)])],
    evolve=lambda state, block: attrs.evolve(state, meals=state.meals + len(block.rows(DIGESTED))),
    unit_done=lambda state: state.meals == state.config.meals * state.config.agents,
    close=lambda state: attrs.evolve(state, day=state.day + 1, meals=0),
    ended=lambda state: state.day == state.config.days,
    digest=lambda state: fingerprint((state.config.as_dict(), state.day)),
    fork=branched,
    show_fork=FORKS.show,
    vocabulary=FORKS.vocabulary,
)


class Hungry:
    """Eats another food each day."""

    def eat(self, state: Week) -> int:
        return 10 + state.day


class Eaters(SimultaneousPlayers[Week, Week]):
    """Those who eat in that world."""

    world = WEEK
    policy_set = PolicySet(
        "week",
        {"hungry": Hungry},
        "hungry",
        agents=1,
        agents_max=9,
        method="eat",
        recording=lambda path: Recording(path, WEEK, (ATE,)),
    )
    codes = (ATE,)
    horizon = "days"
    forks = FORKS

    def config_of(self, settings: Mapping[str, Any]) -> Config:
        return configured(Config, settings)

    def unit(self, state: Week) -> int:
        return state.day

    def view(self, state: Week) -> Week:
        return state

    def ask(self, policy: Any, entry: Entry, view: Week) -> Row:
        return entry.agent, policy.eat(view)

    def resubmitted(self, item: Mapping[str, Any], config: Any, code: int) -> Row:
        return item["agent"], item["food"]


EATERS = Eaters()


def eaten(path: Path) -> list[tuple[int, int]]:
    with JournalReader(path) as reader:
        return [
            (event.unit, event["food"]) for event in events(WEEK, reader) if event.name == "ate"
        ]


@pytest.fixture
def week(tmp_path: Path) -> Callable[..., Path]:
    """Records that world under a name."""

    def played(name: str, roster: str | None = None, of: Eaters = EATERS, **settings: int) -> Path:
        run = of.prepare(settings, roster, None, Resources())
        players.record(WEEK, of, tmp_path / name, run)
        return tmp_path / name

    return played


def test_in_a_world_that_counts_from_0_each_unit_is_replayed_as_it_was(
    week: Callable[..., Path],
) -> None:
    source = week("source", "hungry*2")
    again = week("again", f"recorded:{source}*2")

    assert [(day, 10 + day) for day in range(3) for _ in range(2)] == eaten(source)
    assert eaten(source) == eaten(again)


@pytest.mark.parametrize(
    ("uncounted", "day", "kept"),
    [(DIGESTED + 1, 0, None), (DIGESTED + 1, 1, 1), (ATE, 1, None), (ATE, 2, 2)],
)
def test_a_rule_that_fails_removes_no_more_than_a_first_unit_that_does_not_count(
    tmp_path: Path, uncounted: int, day: int, kept: int | None
) -> None:
    def fails(state: Week, inputs: Block) -> list[Batch]:
        if state.day == day:
            raise RulesFailed("no way", "mend it")
        return WEEK.decide(state, inputs)

    vocabulary = replace(WEEK.vocabulary, uncounted=(uncounted,))
    world, out = replace(WEEK, decide=fails, vocabulary=vocabulary), tmp_path / "out"
    with pytest.raises(RulesFailed):
        players.record(world, EATERS, out, EATERS.prepare({}, None, None, Resources()))

    assert kept == (len(eaten(out)) if out.exists() else None)


REPLACED = players.ForkChange(replace=[{"day": 1, "agent": 0, "food": 99}])


def test_a_replaced_submission_is_one_of_a_unit(week: Callable[..., Path], tmp_path: Path) -> None:
    source, out = week("source", "hungry*2"), tmp_path / "out"
    players.fork(WEEK, EATERS, source, 0, out, REPLACED)

    assert [(0, 10), (0, 10), (1, 99), (1, 11), (2, 12), (2, 12)] == eaten(out)


FIGS = players.ForkChange(replace=[{"day": 1, "agent": 0, "food": "figs"}])


@pytest.mark.parametrize(
    ("settings", "change", "says"),
    [
        ({}, FIGS, r"submission 1: ate\.food"),
        ({"meals": 2}, REPLACED, "several times in day 1"),
        ({}, replace(REPLACED, settings={"meals": 2}), "several times in day 1"),
    ],
    ids=["no value of its event", "of several a unit", "of several after the fork"],
)
def test_a_submission_that_cannot_be_replaced_is_refused_and_leaves_no_journal(
    settings: dict[str, int], change: players.ForkChange, says: str, week: Callable[..., Path],
    tmp_path: Path,
) -> None:  # fmt: skip
    source, out = week("source", **settings), tmp_path / "out"
    with pytest.raises(BadInput, match=says):
        players.fork(WEEK, EATERS, source, 0, out, change)

    assert not out.exists()


def test_where_agents_know_no_forks_there_are_none(
    week: Callable[..., Path], tmp_path: Path
) -> None:
    without = type("Unforkable", (Eaters,), {"forks": None})()
    source = week("source", None, without)
    with pytest.raises(BadInput, match="cannot be forked"):
        players.fork(WEEK, without, source, 0, tmp_path / "out")

    assert not (tmp_path / "out").exists()


def test_where_agents_submit_several_times_a_unit_no_journal_is_replayed(
    week: Callable[..., Path],
) -> None:
    once, twice = week("once"), week("twice", meals=2)
    for roster, meals in ((f"recorded:{twice}", 1), (f"recorded:{once}", 2)):
        with pytest.raises(BadInput, match=r"several times in day 0.*recorded"):
            week("again", roster, meals=meals)


def test_a_unit_left_open_is_not_replayed(week: Callable[..., Path], tmp_path: Path) -> None:
    *before, _ = commits = commits_of(week("source"))
    left_open = (*before[:-1], Commit(UNIT, 3, None, before[-1].blocks))
    found = Recording(write(tmp_path / "open", left_open, Header("week", 1)), WEEK, (ATE,))

    assert 5 == len(commits)  # the start, three days, the end
    assert [{(0, 0): (0, 10)}, {(0, 0): (0, 11)}] == found.units
    with pytest.raises(BadInput, match="holds 2 days of submissions"):
        found.check(0, 3)
