"""`recorded:JOURNAL`: an agent submits again what the agent of its id submitted there."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest

from goldrush.agents import players
from goldrush.agents.players import Resources
from goldrush.agents.recorded import Recording
from goldrush.agents.roster import Entry
from goldrush.agents.seats import PolicySet
from goldrush.agents.simultaneous import SimultaneousPlayers
from goldrush.agents.worlds.mining.roster import recording
from goldrush.kernel.codec import fingerprint
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, RulesFailed, TornTail
from goldrush.kernel.fold import events
from goldrush.kernel.forking import Forks
from goldrush.kernel.journal import UNIT, Commit, Header, JournalReader, sha256_of
from goldrush.kernel.rosters import setup_of
from goldrush.kernel.settings import configured, integer, setting
from goldrush.kernel.shape import AGENT, INTEGER
from goldrush.kernel.world import Batch, Block, EventType, Past, Row, Vocabulary, World
from goldrush.kernel.worlds.mining.observe import MiningObservation
from goldrush.kernel.worlds.mining.submit import Plan
from goldrush.replay.journal.verify import verify
from tests.journals import commits_of, logged, write
from tests.mining import fork, record

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


def test_a_recorded_agent_submits_what_the_agent_of_its_id_submitted(source: Path) -> None:
    again = replayed(source, "recorded:{}*4")

    assert logged(source, "submitted") == logged(again, "submitted")


def test_a_source_is_read_once_a_run(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(path: str, *rest: Any) -> Recording:
        read.append(path)
        return Recording(path, *rest)

    monkeypatch.setattr("goldrush.agents.worlds.mining.roster.Recording", counted)
    again = replayed(source, "mine*1,recorded:{}*3")
    assert [str(source)] == read

    changed = source.with_name("fork")
    fork(again, 4, changed, roster=f"recorded:{source}*4", sources=[str(source)])
    assert 3 == len(read)  # what the parent needs, and what the new roster names


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


def test_recorded_agents_play_beside_others(source: Path) -> None:
    again = replayed(source, "mine*1,recorded:{}*2,claim*1")

    for agent, same in enumerate((False, True, True, False)):
        first, second = (
            [event["actions"] for event in logged(path, "submitted") if event["agent"] == agent]
            for path in (source, again)
        )
        assert same == (first == second)


def test_a_shorter_run_takes_the_first_rounds(source: Path) -> None:
    again = replayed(source, "recorded:{}*4", rounds=3)

    assert logged(source, "submitted")[:12] == logged(again, "submitted")


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


def test_messages_are_null_where_they_are_not_passed_on(tmp_path: Path) -> None:
    path = tmp_path / "source"
    record(path, SETTINGS | {"communication": True}, f"{__name__}:Talks*2")

    again = replayed(path, "recorded:{}*2")

    assert {None} == {event["say"] for event in logged(again, "submitted")}


def test_two_recordings_can_play_in_one_run(source: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    record(other, SETTINGS | {"seed": 9}, "claim*4")

    again = replayed(source, f"recorded:{{}}*2,recorded:{other}*2")

    for agent, path in enumerate((source, source, other, other)):
        first, second = (
            [event["actions"] for event in logged(where, "submitted") if event["agent"] == agent]
            for where in (path, again)
        )
        assert first == second


def test_a_recording_of_a_recording_plays(source: Path) -> None:
    again = replayed(source, "recorded:{}*4")
    once_more = source.with_name("once more")
    record(once_more, SETTINGS, f"recorded:{again}*4")

    assert logged(source, "submitted") == logged(once_more, "submitted")


def test_the_bytes_do_not_depend_on_where_the_source_lies(source: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    moved.write_bytes(source.read_bytes())

    assert replayed(source, "recorded:{}*4").read_bytes() == _bytes(moved, tmp_path / "there")


def _bytes(source: Path, path: Path) -> bytes:
    record(path, SETTINGS, f"recorded:{source}*4")
    return path.read_bytes()


# What cannot be played is refused before anything is written.


def test_a_source_with_too_few_rounds_is_refused(source: Path) -> None:
    with pytest.raises(BadInput) as refused:
        replayed(source, "recorded:{}*4", rounds=9)

    assert f"{source} holds 8 rounds of submissions" == refused.value.what
    assert "not 9" in refused.value.instead
    assert not source.with_name("again").exists()


def test_a_source_without_the_agent_is_refused(source: Path) -> None:
    with pytest.raises(BadInput) as refused:
        replayed(source, "recorded:{}*5")

    assert f"{source} holds no submissions of agent 4" == refused.value.what
    assert not source.with_name("again").exists()


def test_a_source_is_read_by_agent_not_by_place_in_the_entry(source: Path) -> None:
    with pytest.raises(BadInput, match="no submissions of agent 4"):
        replayed(source, "mine*4,recorded:{}*1")


def test_an_unfinished_source_plays_as_far_as_it_goes(source: Path) -> None:
    end = commits_of(source)[5].end
    source.write_bytes(source.read_bytes()[:end])

    assert 5 == len(recording(source).units)
    replayed(source, "recorded:{}*4", rounds=5)
    with pytest.raises(BadInput, match="holds 5 rounds"):
        replayed(source, "recorded:{}*4", rounds=6)


def test_a_source_with_a_torn_tail_is_refused(source: Path) -> None:
    source.write_bytes(source.read_bytes()[:-1])

    with pytest.raises(TornTail):
        replayed(source, "recorded:{}*4")


# Asked again, recorded agents need their source.


def test_recorded_agents_are_asked_again_where_their_source_is_given(source: Path) -> None:
    again = replayed(source, "recorded:{}*3,mine*1")

    verdict = verify(again, resources=Resources(sources=[str(source)]))

    assert (True, ()) == (verdict.holds, verdict.not_asked)


def test_without_their_source_recorded_agents_are_not_asked_and_named(
    source: Path, tmp_path: Path
) -> None:
    again = replayed(source, "recorded:{}*3,mine*1")
    other = tmp_path / "other"
    record(other, SETTINGS, "claim*4")

    for sources in ([], [str(other)]):
        verdict = verify(again, resources=Resources(sources=sources))

        assert (True, ("recorded (3 agents)",)) == (verdict.holds, verdict.not_asked)


def test_the_digest_in_the_roster_is_that_of_the_source(source: Path) -> None:
    again = replayed(source, "recorded:{}*4")

    assert {sha256_of(source)} == {
        entry["options"]["journal"] for entry in logged(again, "run_started")[0]["roster"]
    }


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


def test_players_of_a_world_must_say_how_they_are_asked() -> None:
    silent = type("Silent", (SimultaneousPlayers,), {"world": WEEK})
    with pytest.raises(TypeError, match=r"ask.*config_of.*resubmitted.*unit.*view"):
        silent()


def eaten(path: Path) -> list[tuple[int, int]]:
    with JournalReader(path) as reader:
        return [
            (event.unit, event["food"]) for event in events(WEEK, reader) if event.name == "ate"
        ]


def test_in_a_world_that_counts_from_0_each_unit_is_replayed_as_it_was(tmp_path: Path) -> None:
    source, again = tmp_path / "source", tmp_path / "again"
    for path, roster in ((source, "hungry*2"), (again, f"recorded:{source}*2")):
        players.record(WEEK, EATERS, path, EATERS.prepare({}, roster, None, Resources()))

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

    vocabulary = attrs.evolve(WEEK.vocabulary, uncounted=(uncounted,))
    world, out = attrs.evolve(WEEK, decide=fails, vocabulary=vocabulary), tmp_path / "out"
    with pytest.raises(RulesFailed):
        players.record(world, EATERS, out, EATERS.prepare({}, None, None, Resources()))

    assert kept == (len(eaten(out)) if out.exists() else None)


REPLACED = players.ForkChange(replace=[{"day": 1, "agent": 0, "food": 99}])


def test_a_replaced_submission_is_one_of_a_unit(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    players.record(WEEK, EATERS, source, EATERS.prepare({}, "hungry*2", None, Resources()))
    players.fork(WEEK, EATERS, source, 0, out, REPLACED)

    assert [(0, 10), (0, 10), (1, 99), (1, 11), (2, 12), (2, 12)] == eaten(out)


def test_a_replaced_submission_that_its_event_cannot_hold_is_refused(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    players.record(WEEK, EATERS, source, EATERS.prepare({}, "hungry*2", None, Resources()))
    change = players.ForkChange(replace=[{"day": 1, "agent": 0, "food": "figs"}])
    with pytest.raises(BadInput, match=r"submission 1: ate\.food: integer expected, found 'figs'"):
        players.fork(WEEK, EATERS, source, 0, out, change)

    assert not out.exists()


def test_where_agents_know_no_forks_there_are_none(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    without = type("Unforkable", (Eaters,), {"forks": None})()
    players.record(WEEK, without, source, without.prepare({}, None, None, Resources()))
    with pytest.raises(BadInput, match="runs of the week world cannot be forked"):
        players.fork(WEEK, without, source, 0, out)

    assert not out.exists()


def test_where_agents_submit_several_times_a_unit_no_submission_is_replaced(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    players.record(WEEK, EATERS, source, EATERS.prepare({"meals": 2}, None, None, Resources()))
    several = "agents of the week world submit several times in a day"
    with pytest.raises(BadInput, match=f"{several}.*; fork without replaced submissions"):
        players.fork(WEEK, EATERS, source, 0, out, REPLACED)

    assert not out.exists()
    players.fork(WEEK, EATERS, source, 0, out, players.ForkChange({"days": 2}))
    assert [(0, 10), (0, 10), (1, 11), (1, 11)] == eaten(out)


def test_where_they_turn_out_to_do_so_after_a_fork_no_journal_is_left(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    players.record(WEEK, EATERS, source, EATERS.prepare({}, None, None, Resources()))
    change = attrs.evolve(REPLACED, settings={"meals": 2})
    with pytest.raises(BadInput, match=r"several times in day 1.*replaced"):
        players.fork(WEEK, EATERS, source, 0, out, change)

    assert not out.exists()


def test_where_agents_submit_several_times_a_unit_no_journal_is_replayed(tmp_path: Path) -> None:
    once, twice = tmp_path / "once", tmp_path / "twice"
    for path, meals in ((once, 1), (twice, 2)):
        players.record(
            WEEK, EATERS, path, EATERS.prepare({"meals": meals}, None, None, Resources())
        )
    with pytest.raises(BadInput, match=f"{twice} has several submissions of agent 0 in day 0; "):
        EATERS.prepare({}, f"recorded:{twice}", None, Resources())
    again = EATERS.prepare({"meals": 2}, f"recorded:{once}", None, Resources())
    with pytest.raises(BadInput, match=r"several times in day 0.*recorded"):
        players.record(WEEK, EATERS, tmp_path / "again", again)


def test_a_recording_has_one_item_a_unit(tmp_path: Path) -> None:
    players.record(WEEK, EATERS, tmp_path / "source", EATERS.prepare({}, None, None, Resources()))
    *before, _ = commits = commits_of(tmp_path / "source")
    write(
        tmp_path / "open",
        (*before[:-1], Commit(UNIT, 3, None, before[-1].blocks)),
        Header("week", 1),
    )

    whole, left_open = (Recording(tmp_path / name, WEEK, (ATE,)) for name in ("source", "open"))

    assert 5 == len(commits)  # the start, three days, the end
    assert [{(0, 0): (0, 10)}, {(0, 0): (0, 11)}, {(0, 0): (0, 12)}] == whole.units
    assert [{(0, 0): (0, 10)}, {(0, 0): (0, 11)}] == left_open.units
    with pytest.raises(BadInput, match="holds 2 days of submissions"):
        left_open.check(0, 3)


def test_where_agents_replay_no_journal_a_source_is_refused(tmp_path: Path) -> None:
    source, out = tmp_path / "source", tmp_path / "out"
    policies = attrs.evolve(Eaters.policy_set, recording=None)
    deaf = type("Deaf", (Eaters,), {"policy_set": policies})()
    run = deaf.prepare({}, None, None, Resources())
    players.record(WEEK, deaf, source, run)
    given = Resources(sources=[str(source)])

    for play in (
        lambda: players.record(WEEK, deaf, out, run, resources=given),
        lambda: players.resume(WEEK, deaf, source, resources=given),
        lambda: players.fork(WEEK, deaf, source, 0, out, resources=given),
    ):
        with pytest.raises(BadInput, match=r"cannot replay a journal; leave --source out"):
            play()
    assert not out.exists()
