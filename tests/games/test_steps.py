"""A submission is known by unit, step and agent, wherever it is named."""

import pytest

import goldrush
from goldrush import phase, policy, setting, within
from goldrush.agents import players
from goldrush.games.double_auction import DoubleAuction
from goldrush.games.fishery import Fishery
from goldrush.games.public_goods import PublicGoods
from goldrush.kernel.errors import BadInput
from goldrush.replay.game.tools import tools_of_game
from tests.games.fisheries import changed, recorded

GIFT = {"event": "gift", "round": 4, "agent": 3, "tokens": 20}
FINES = {"event": "fines", "round": 4, "agent": 3, "points": [1, 0, 0, 0]}


@pytest.fixture(scope="module")
def goods(tmp_path_factory):
    path = tmp_path_factory.mktemp("goods") / "run.journal"
    return goldrush.record(PublicGoods, path, seed=1, rounds=6)


def submissions(run, unit, agent):
    """What an agent submits in a unit, step by step, without what models add."""
    events = [e.fields for e in run.events(agent=agent, first=unit, last=unit)]
    return [e.get("tokens", e.get("points")) for e in events if "source" in e]


@pytest.mark.parametrize("items", [[GIFT], [FINES], [FINES, {**GIFT, "step": 0}]])
def test_a_replaced_submission_replaces_that_of_its_step_alone(goods, items) -> None:
    by_hand = {int(item is FINES): item.get("tokens", item.get("points")) for item in items}
    before = submissions(goods, 4, 3)

    fork = goods.fork(at=3, replace=items)

    assert [by_hand.get(step, before[step]) for step in range(2)] == submissions(fork, 4, 3)
    assert [[4, step, 3] for step in sorted(by_hand)] == next(fork.events("forked"))["replaced"]
    assert fork.verify().holds


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"event": "given"}, "is a 'given' event; give gift or fines ones"),
        ({"round": 7}, "agent 3 in round 7, step 0 cannot be replaced"),
        ({"agent": 4}, "agent 4 is given, who does not exist"),
        ({"tokens": 101}, "integer from 0 to 100 expected, found 101"),
    ],
)
def test_a_submission_that_no_step_has_is_refused(goods, change, says) -> None:
    with pytest.raises(BadInput, match=says):
        goods.fork(at=3, replace=[{**GIFT, **change}])


def test_where_there_is_one_submission_its_event_can_be_left_out() -> None:
    run = goldrush.record(Fishery, seasons=6)

    fork = run.fork(at=3, replace=[{"season": 5, "agent": 2, "fish": 7}])

    assert [7] == [e["fish"] for e in fork.events("asked", agent=2, first=5, last=5)]


@pytest.mark.parametrize("at", [1, 4])
def test_a_submission_of_an_agent_whose_turn_it_is_not_is_refused(tmp_path, at) -> None:
    run = goldrush.record(DoubleAuction, seed=1, turns=9)
    mover = next(e["agent"] for e in run.events("quote", first=5, last=5))
    other = (mover + 1) % 10
    item = {"event": "quote", "turn": 5, "agent": other, "price": 3}
    path = tmp_path / "fork.journal"

    with pytest.raises(BadInput, match=f"agent {other} is replaced in turn 5, step 1, in which"):
        run.fork(at=at, path=path, replace=[item])

    assert not path.exists()
    assert run.fork(at=at, path=path, replace=[{**item, "agent": mover}]).verify().holds


def test_a_recording_gives_each_step_its_submission(goods) -> None:
    again = goldrush.record(PublicGoods, seed=1, rounds=6, roster=f"recorded:{goods.path}*4")

    assert all(submissions(goods, 4, a) == submissions(again, 4, a) for a in range(4))
    assert goldrush.open(again.path, sources=[goods.path]).verify().holds


def test_a_prompt_is_shown_for_each_step_in_which_an_agent_is_asked(goods) -> None:
    run = goldrush.record(DoubleAuction, seed=1, turns=9)
    mover = next(e["agent"] for e in run.events("quote", first=5, last=5))

    assert [0, 1] == [prompt.step for prompt in goods.prompts(4, 2)]
    assert 1 == len(run.prompts(5, mover))
    with pytest.raises(BadInput, match="is not asked in turn 5"):
        run.prompts(5, (mover + 1) % 10)


def test_a_run_that_broke_off_within_a_unit_goes_on_to_the_same_bytes(goods, tmp_path) -> None:
    whole = goods.path.read_bytes()
    tools = tools_of_game(PublicGoods)
    for cut in range(len(whole) - 600, len(whole), 41):
        path = tmp_path / "cut.journal"
        path.write_bytes(whole[:cut])

        players.resume(tools.world({}), tools.players, path)

        assert whole == path.read_bytes()


def test_a_fixed_setting_cannot_be_changed_by_a_fork(tmp_path) -> None:
    fixed = changed(tmp_path, "setting(1000.0, 10, 1e6)", "setting(1000.0, 10, 1e6, fixed=True)")
    run = recorded(fixed, tmp_path / "run.journal", seasons=3)

    with pytest.raises(BadInput, match="capacity"):
        run.fork(1, tmp_path / "fork.journal", capacity=500.0)
    assert not (tmp_path / "fork.journal").exists()
    assert run.fork(1, tmp_path / "fork.journal", growth=1.0).verify().holds


class Pairs(goldrush.Game):
    """Pairs meet one after the other, and what they have is spread evenly."""

    class State(goldrush.State):
        owned: list[float]

    class Met(goldrush.Event):
        one: int
        other: int
        each: float

        def apply(self, state):
            state.owned[self.one] = state.owned[self.other] = self.each

    def start(self):
        return self.State(owned=[float(2**i) for i in range(6)])

    def decide(self, state, draw):
        held = list(state.owned)
        for turn in range(20):
            one, other = draw.sample(range(6), 2, "meet", turn)
            held[one] = held[other] = (held[one] + held[other]) / 2
            yield self.Met(one, other, held[one])


class LivePairs(Pairs):
    """As Pairs, without a copy of `apply`."""

    @phase(live=True)
    def decide(self, state, draw):
        for turn in range(20):
            one, other = draw.sample(range(6), 2, "meet", turn)
            yield self.Met(one, other, (state.owned[one] + state.owned[other]) / 2)


class Forgetful(Pairs):
    """Changes the state that it sees, which no event does."""

    @phase(live=True)
    def decide(self, state, draw):
        yield self.Met(0, 1, 3.0)
        state.owned[2] = 0.5


def test_a_live_state_has_the_changes_of_the_events_before(tmp_path) -> None:
    copied, live = (
        goldrush.record(each, tmp_path / f"{each.name}.journal", rounds=9, seed=4)
        for each in (Pairs, LivePairs)
    )

    assert [unit.state.owned for unit in copied] == [unit.state.owned for unit in live]
    assert live.verify().holds
    assert live.fork(at=4).verify().holds


class Notes(goldrush.Game):
    """Agents leave notes, which their submissions put into the state."""

    agents = setting(3, 1, 9)

    class State(goldrush.State):
        notes: list[int]
        read: list[int]

    class Note(goldrush.Submission):
        value: int = within(0, 99)

        def apply(self, state):
            state.notes[self.agent] = self.value

    class Read(goldrush.Event):
        notes: list[int]

        def apply(self, state):
            state.read = self.notes

    def start(self):
        return self.State(notes=[0] * self.agents, read=[])

    @phase(Note)
    def reading(self, state, asked, draw):
        yield self.Read(state.notes)

    @policy
    def count(self, seen, agent, draw):
        return self.Note(seen.notes[agent] + agent)


class LiveNotes(Notes):
    """As Notes, read when they have been left."""

    @phase(Notes.Note, live=True)
    def reading(self, state, asked, draw):
        yield self.Read(state.notes)


@pytest.mark.parametrize(("game", "read"), [(Notes, [0, 3, 6]), (LiveNotes, [0, 4, 8])])
def test_submissions_change_the_state_before_the_events_that_follow(tmp_path, game, read) -> None:
    run = goldrush.record(game, tmp_path / "run.journal", rounds=4)

    last = run.at(4).state
    assert ([0, 4, 8], read) == (last.notes, last.read)
    assert run.verify().holds
    assert run.fork(at=2, path=tmp_path / "fork.journal").at(4).state.notes == last.notes


def test_a_change_of_a_live_state_that_no_event_makes_is_a_mistake(tmp_path) -> None:
    with pytest.raises(
        BadInput, match=r"`decide` changed the state: owned\[2\] was 4.0 and is 0.5"
    ):
        goldrush.record(Forgetful, tmp_path / "run.journal", rounds=9)
