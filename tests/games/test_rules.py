"""What the rules of a game are held to, by a game of two steps that draws in both."""

import math
from types import new_class
from typing import Literal

import pytest

import goldrush
from goldrush import Agent, phase, policy, setting, within
from goldrush.games.fishery import Fishery
from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, WriteFailed
from goldrush.kernel.game.draw import Draw
from goldrush.kernel.game.hints import field_of
from goldrush.kernel.game.world import compiled
from goldrush.kernel.world import InvalidInputs
from goldrush.replay.game.tools import tools_of_game
from tests.games.fisheries import changed, recorded


class Gossip(goldrush.Game):
    """Who is told what?"""

    horizon = "days"
    days = setting(4, 1, 100)
    agents = setting(3, 2, 9)

    class State(goldrush.State):
        heard: list[int]
        last: dict[int, list[int]]

    class Word(goldrush.Submission):
        kind: Literal["praise", "blame"]
        of: Agent
        loud: float = within(0.5, 2)

    class Heard(goldrush.Event):
        by: Agent
        weight: float

        def apply(self, state):
            state.heard[self.by] += 1
            state.last[0].append(self.by)

    def start(self):
        return self.State(heard=[0] * self.agents, last={0: []})

    @phase(Word)
    def speak(self, state, asked, draw):
        yield from (self.Heard(word.of, word.loud) for word in asked)
        draw.word("first")

    @phase
    def pass_on(self, state, draw):
        yield self.Heard(draw.below(self.agents, "who"), 2.0)

    @policy
    def any(self, seen, agent, draw):
        return self.Word("blame", draw.below(self.agents, "of"), 1.0)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return goldrush.record(Gossip, tmp_path_factory.mktemp("gossip") / "run.journal", seed=5)


def test_a_game_has_the_setting_of_its_horizon_and_whole_defaults_take_whole_numbers() -> None:
    assert ["seed", "agents", "days"] == [field.name for field in Gossip.settings()]
    with pytest.raises(BadInput, match=r"days is 2\.5"):
        Gossip.configured({"days": 2.5})


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("days", setting(0, 1, 9), "days has the default 0"),
        ("criteria", {"calm": ("it calms down", {"noise": -1})}, "has 'noise'"),
    ],
)
def test_a_default_is_a_valid_value_and_a_criterion_is_of_a_measure(name, value, says) -> None:
    with pytest.raises(BadInput, match=says):
        new_class("Loud", (Gossip,), {}, lambda body: body.__setitem__(name, value))


def test_a_policy_of_a_game_with_settings_can_be_called_by_another() -> None:
    word = Gossip().any(None, 0, Draw((5, "policy")))

    assert ("blame", True) == (word.kind, word.of in range(3))
    assert "any" == Gossip.any.name


class Tide(goldrush.Game):
    """Nobody plays."""

    class State(goldrush.State):
        height: int

    class Rose(goldrush.Event):
        def apply(self, state):
            state.height += 1

    def start(self):
        return self.State(height=0)

    def decide(self, state, draw):
        yield self.Rose()


def test_a_game_that_nobody_plays_has_no_agents() -> None:
    assert ["seed", "rounds"] == [field.name for field in Tide.settings()]
    assert 0 == Tide().agents


class Mixed(goldrush.Game):
    """Events one by one and many at once, in both orders, and none at once."""

    class State(goldrush.State):
        total: int

    class Up(goldrush.Event):
        by: int

        def apply(self, state):
            state.total = 10 * state.total + self.by

    def start(self):
        return self.State(total=0)

    def rise(self, state, draw):
        yield self.Up(1)
        yield self.Up.all([2, 3])
        yield self.Up.all([])
        yield self.Up(4)

    plain = phase(rise)
    lively = phase(live=True)(rise)


def test_events_one_by_one_and_many_at_once_are_applied_in_their_order(tmp_path) -> None:
    run = goldrush.record(Mixed, tmp_path / "a", rounds=1)

    assert 1234_1234 == run.last().state.total
    assert run.verify().holds


def test_columns_of_events_have_one_length() -> None:
    assert [(1, 2), (3, 4)] == Gossip.Heard.all([1, 3], [2.0, 4.0]).rows
    with pytest.raises(ValueError, match="shorter"):
        Gossip.Heard.all([1, 3], [2.0])


def test_keys_of_draws_have_seed_unit_and_step_and_those_of_policies_their_agent(run) -> None:
    words = list(run.events("word"))
    heard = [event["by"] for event in run.events("heard")]

    for unit in range(1, 5):
        ofs = [Draws(5, unit, 0, "policy", agent, "of").below(3) for agent in range(3)]
        assert ofs == [word["of"] for word in words[3 * unit - 3 : 3 * unit]]
        assert Draws(5, unit, 1, "decide", "who").below(3) == heard[4 * unit - 1]
    assert [True] * 8 == [draw.holds for draw in run.audit()]


def test_a_step_has_its_draws_its_events_and_its_end_in_this_order(run) -> None:
    names = [event.name for event in run.events(first=2, last=2)]

    assert ["speak", "pass_on"] == [
        event["step"] for event in run.events("step_ended", first=2, last=2)
    ]
    assert names == [
        *["word"] * 3, "drawn", *["heard"] * 3, "step_ended",
        "drawn", "heard", "step_ended", "day_closed",
    ]  # fmt: skip


def test_the_default_move_has_the_first_choice_and_the_lowest_number() -> None:
    move = Gossip.Word.default()

    assert ("praise", 0, 0.5) == (move.kind, move.of, move.loud)


UNIONS = [
    ("list[int] | str | None", ["abc", [1, 2], None, "", []]),
    ("list[int] | dict[int, int]", [{1: 2}, [1], {}]),
    ("dict[int, list[int]] | list[list[int]]", [{1: [2]}, [[1], []]]),
    ("list[tuple[int, int]] | int", [[(1, 2)], 3, []]),
]


@pytest.mark.parametrize(("hint", "values"), UNIONS, ids=[hint for hint, _ in UNIONS])
def test_a_union_holds_a_value_as_the_member_that_it_is_of(tmp_path, hint, values) -> None:
    game = changed(
        tmp_path, "        stock: float\n", f"        stock: float\n        more: {hint}\n"
    )
    for value in values:
        state = game.State(stock=1.0, landed=[], more=value)
        thawed = game.State.of_plain(unpack(pack(state.plain())))
        for each in (state.more, state.plain()[1], thawed.more):
            assert (value, type(value)) == (each, type(each))
        if isinstance(value, list | dict):
            assert state.more is not value


@pytest.mark.parametrize(
    ("hint", "value"), [(list[int] | None, ["x"]), (dict[str, int] | list[list[int]], [["x"]])]
)
def test_what_is_the_only_list_or_dict_of_a_union_is_not_searched(hint, value) -> None:
    """Else one with items of another type would stay as it is."""
    convert = field_of(hint, "field").copy

    assert (value, None) == (convert(value), convert(None))
    assert value is not convert(value)


@pytest.mark.parametrize(
    "hint",
    ["list[int] | tuple[int, int]", "list[int] | list[str]", "dict[str, int] | dict[int, int]"],
)
def test_a_union_of_two_lists_or_dicts_is_refused(tmp_path, hint) -> None:
    more = f"        stock: float\n        more: {hint}\n"
    with pytest.raises(BadInput, match="give it one list or tuple, and one dict, at most"):
        changed(tmp_path, "        stock: float\n", more)


@pytest.mark.parametrize("value", ["2.0**64", "1e300", "-1e19"])
def test_an_event_holds_large_floats(tmp_path, value) -> None:
    game = changed(tmp_path, "self.Regrown(wanted * share,", f"self.Regrown({value},")
    run = recorded(game, tmp_path / "run.journal", seasons=3)
    assert run.verify().holds
    assert [eval(value)] * 3 == [event.fields["caught"] for event in run.events("regrown")]


def test_a_whole_number_is_held_as_an_integer_and_read_as_a_float() -> None:
    event = Gossip.Heard(1, 2.0)

    assert (int, float) == (type(event[1]), type(event.weight))


@pytest.mark.parametrize(
    ("value", "hint", "expected"),
    [
        (math.nan, float, False), (1, float, True), (1.0, int, False), (True, int, False),
        (True, float, False), (-1, Agent, False), ([1, True], list[int], False),
        ({1: [2]}, dict[int, list[int]], True), ((1, 2), tuple[int, ...], True),
        ((1, 2), tuple[int], False), (None, int | None, True), ("c", Literal["a", "b"], False),
    ],
)  # fmt: skip
def test_a_value_of_a_state_is_of_its_type(value, hint, expected) -> None:
    assert expected is field_of(hint, "field").holds(value)


@pytest.mark.parametrize(
    ("hint", "text"),
    [("list[str]", "abc"), ("list[Literal['a', 'b']] | None", "ab")],
)
def test_a_list_of_texts_in_an_event_takes_no_text_apart(tmp_path, hint, text) -> None:
    game = changed(
        tmp_path,
        "import goldrush\n", "import goldrush\nfrom typing import Literal\n",
        "class Regrown(goldrush.Event):\n", f"class Regrown(goldrush.Event):\n        by: {hint}\n",
        "self.Regrown(", f"self.Regrown({text!r}, ",
    )  # fmt: skip
    with pytest.raises(WriteFailed, match=f"regrown.by: .* expected, found {text!r}"):
        recorded(game, tmp_path / "run.journal")


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"heard": [1], "last": {}, "more": 1}, "State is made with heard, last, more; give heard"),
        ({"heard": [None], "last": {}}, r"State.heard\[0\] is None; it must be int"),
    ],
)
def test_a_state_has_its_fields_and_no_others_of_their_types(fields, says) -> None:
    with pytest.raises(BadInput, match=says):
        Gossip.State(**fields)


def test_a_copy_of_a_state_shares_nothing_that_changes() -> None:
    state = Gossip.State(heard=[1], last={0: [2]})
    state.config, state.roster, state.unit, state.step, state.source, state.head = [None] * 6
    copied = state.copy()
    copied.heard.append(9)
    copied.last[0].append(9)

    assert ([1], {0: [2]}) == (state.heard, state.last)


def started(game, **settings):
    """The rules of a game, and a state at its start."""
    tools = tools_of_game(game)
    config = game.configured(settings)
    roster = [{"agent": a, "policy": "any", "options": {}} for a in range(config.agents)]
    source = {"sha256": None, "text": None}
    setup = {"config": config.as_dict(), "source": source, "roster": roster}
    return tools.players.world, compiled(game).initial(setup)


def test_the_digest_is_of_the_unit_the_settings_and_every_field() -> None:
    world, state = started(Gossip)
    digests = [world.digest(state)]
    state.heard[0] += 1
    digests.append(world.digest(state))
    state.last[0].append(1)
    digests.append(world.digest(state))
    state.unit += 1
    digests += [world.digest(state), world.digest(started(Gossip, seed=1)[1])]

    assert 5 == len(set(digests))


def test_a_submission_names_agents_that_are_there() -> None:
    rules = compiled(Gossip)
    _, state = started(Gossip)

    def decided(of):
        rows = [(agent, 0, of, 1, None, None) for agent in range(3)]
        return rules.decide(state, goldrush.kernel.world.Block([(0, rows)]))

    assert decided(2)
    with pytest.raises(InvalidInputs, match="names an agent that the run does not have"):
        decided(3)


def test_a_submission_is_no_event_that_rules_yield(tmp_path) -> None:
    rules = "        left = max(0.0"
    game = changed(tmp_path, rules, f"        yield asked[0]\n{rules}")

    with pytest.raises(BadInput, match=r"yields Asked.*; yield its events: Landed, Regrown"):
        goldrush.record(game)


def test_over_ends_a_run_when_a_unit_has_closed(tmp_path) -> None:
    game = changed(tmp_path, "return state.stock < 1", "return state.unit == 3")

    assert 3 == goldrush.record(game).info().units
    assert 7 == goldrush.record(Fishery, seasons=7, roster="share*5").info().units


@pytest.mark.parametrize(
    "facts", [{"changes": {}}, {"source": {"sha256": None, "text": None}, "changes": {}}]
)
def test_a_fork_has_the_source_at_last(facts) -> None:
    rules = compiled(Gossip)
    _, state = started(Gossip)

    with pytest.raises(BadInput, match=r"it has parent, .*, replaced, source"):
        rules.fork(rules.forks(), state, facts, lambda first: ())


def test_a_fork_plays_the_source_that_it_records() -> None:
    rules = compiled(Gossip)
    _, state = started(Gossip)
    sha256 = "ab" * 32
    facts = {"parent": "cd" * 32, "changes": {}, "roster": None, "replaced": [],
             "source": {"sha256": sha256, "text": None}}  # fmt: skip

    forked = rules.fork(rules.forks(), state, facts, lambda first: ())

    assert sha256 == forked.source


@pytest.mark.parametrize(
    "source",
    [
        {"sha256": "ab" * 32, "text": "x"}, {"text": None}, {"sha256": "ab", "text": None}, None,
    ],
)  # fmt: skip
def test_a_setup_has_the_hash_of_its_source(source) -> None:
    config = Gossip().as_dict()

    with pytest.raises(BadInput, match="the source is"):
        compiled(Gossip).initial({"config": config, "source": source, "roster": []})


def test_a_prompt_has_no_seed_and_its_schema_the_last_agent(run) -> None:
    [prompt] = run.prompts(2, 1)
    players = tools_of_game(Gossip).players
    _, state = started(Gossip)
    schema = players.prompts(players.view(state)).schema(0)

    assert '"days": 4' in prompt.question.messages[0]["content"]
    assert "seed" not in prompt.question.messages[0]["content"]
    assert {"type": "integer", "minimum": 0, "maximum": 2} == schema["properties"]["of"]
