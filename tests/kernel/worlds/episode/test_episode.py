"""Episodes: what holds whatever is done to a subject, and whatever a forger writes."""

import json
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.kernel.errors import BadInput, MalformedEvents, UnsupportedSetup
from goldrush.kernel.fold import fold
from goldrush.kernel.journal import END, Header, JournalReader, sha256_of
from goldrush.kernel.run import fork_steps, last_of
from goldrush.kernel.walk import DERIVED, DIGESTS, NotDerived, Walk
from goldrush.kernel.world import Batch, Block, InvalidInputs, World
from goldrush.kernel.worlds.episode.config import AEC, ENVIRONMENT, MODEL, PARALLEL, VECTOR, About
from goldrush.kernel.worlds.episode.events import (
    ACTED,
    ARRAY,
    CHANGED,
    CLOSED,
    GAVE,
    RESET,
    TURN,
)
from goldrush.kernel.worlds.episode.state import (
    EpisodeState,
    close,
    drawn_seed,
    evolve,
    initial,
)
from goldrush.kernel.worlds.episode.values import VALUE, digest_of, shown
from goldrush.kernel.worlds.episode.world import episode_world
from tests.journals import commits_of, write
from tests.kernel.worlds.episode.scripted import (
    LENGTH,
    Scripted,
    recorded,
    reset,
    setup_of,
    world_on,
)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the examples of a law record, one after the other."""
    return tmp_path_factory.mktemp("episodes") / "run.journal"


KINDS = st.sampled_from([ENVIRONMENT, PARALLEL, AEC, MODEL])


def units_of(kind: str, agents: int, actions: list[int], episodes: int) -> list[list[Batch]]:
    """The inputs of whole episodes, in which the same actions come again and again."""
    units: list[list[Batch]] = []
    for episode in range(episodes):
        units.append(reset(episode))
        for step in range(LENGTH):
            given = actions[(step + episode) % len(actions)]
            if kind == MODEL:
                units.append([(CHANGED, [("growth", given)])] if given % 2 else [])
                continue
            acting = [step % agents] if kind == AEC else range(agents)
            units.append([(ACTED, [(agent, given + agent) for agent in acting])])
    return units


def walked(path: Path, world: World[EpisodeState], mode: int = DERIVED) -> Walk[EpisodeState]:
    with JournalReader(path) as reader:
        walk = Walk(world, reader, mode)
        for _ in walk:
            pass
    return walk


@st.composite
def runs(draw: st.DrawFn) -> tuple[str, int, list[list[Batch]]]:
    kind, agents = draw(KINDS), draw(st.integers(1, 3))
    agents = 1 if kind == ENVIRONMENT else 0 if kind == MODEL else agents
    actions = draw(st.lists(st.integers(-5, 5), min_size=1, max_size=5))
    return kind, agents, units_of(kind, agents, actions, 1 if kind == MODEL else 2)


@given(runs(), st.integers(1, 2 * LENGTH))
def test_a_change_of_the_subject_is_found_at_its_step(
    kept: Path, run: tuple[str, int, list[list[Batch]]], at: int
) -> None:
    kind, agents, units = run
    recorded(kept, world_on(partial(Scripted, kind, agents)), setup_of(kind, agents), units)

    walk = walked(kept, world_on(partial(Scripted, kind, agents)))

    assert walk.state.unit == len(units)
    number = at + (at - 1) // LENGTH  # resets count as well
    if number >= len(units):
        return
    with pytest.raises(NotDerived) as error:
        walked(kept, world_on(partial(Scripted, kind, agents, added_at=at)))
    assert error.value.where.startswith(f"step {number},")
    assert "observation" in error.value.expected


@pytest.mark.parametrize(
    ("kind", "agents", "sha256"),
    [
        (PARALLEL, 2, "4d8ef9efdd4fa2ae31ff52d077e718103549e3eedf49e551235e931a410be4ea"),
        (AEC, 2, "a39d16261dd3b5434db621a5b671e20205bfd65d36d1efc909315c45d10a0613"),
        (MODEL, 0, "8fc1b600afc6f7def61b36cbbdc3586b5cdf52f3075bba937965e2d92a4f6bf9"),
    ],
)
def test_the_same_inputs_give_the_same_bytes(
    path: Path, kind: str, agents: int, sha256: str
) -> None:
    units = units_of(kind, agents, [1, 4, -3], 1 if kind == MODEL else 2)
    recorded(path, world_on(partial(Scripted, kind, agents)), setup_of(kind, agents), units)

    assert sha256_of(path) == sha256  # of rules version 1, whose journals stay readable


def test_further_resets_are_not_counted_among_the_steps(path: Path) -> None:
    world = world_on(partial(Scripted, ENVIRONMENT, 1))
    recorded(path, world, setup_of(ENVIRONMENT, 1, steps=5), units_of(ENVIRONMENT, 1, [1], 3))

    assert (7, True) == (walked(path, world).state.unit, commits_of(path)[-1].kind == END)


@given(runs(), st.data())
def test_folding_in_pieces_gives_the_same_state(
    kept: Path, run: tuple[str, int, list[list[Batch]]], data: st.DataObject
) -> None:
    kind, agents, units = run
    world = world_on(partial(Scripted, kind, agents))
    recorded(kept, world, setup_of(kind, agents), units)
    commits = commits_of(kept)
    cut = data.draw(st.integers(1, len(units)))
    state = walked_to(kept, world, cut)
    inputs, derived = commits[cut].blocks
    events = [(code, [row]) for block in (inputs, derived) for code, rows in block for row in rows]

    whole = fold(world, state, [inputs, derived])
    pieces = fold(world, state, [Block([event]) for event in events])

    assert world.digest(world.close(whole)) == world.digest(world.close(pieces))
    assert whole.shown == pieces.shown


def walked_to(path: Path, world: World[EpisodeState], commits: int) -> EpisodeState:
    with JournalReader(path) as reader:
        walk = Walk(world, reader, commits=commits_of(path)[:commits])
        for _ in walk:
            pass
    return walk.state


@given(st.integers(0, 2 * LENGTH), st.integers(-3, 3))
def test_a_fork_goes_on_from_its_step_with_another_subject(
    kept: Path, at: int, given_action: int
) -> None:
    make = partial(Scripted, PARALLEL, 2)
    world = world_on(make)
    recorded(kept, world, setup_of(PARALLEL, 2), units_of(PARALLEL, 2, [1, 2], 3))
    out = kept.with_suffix(".fork")

    def ask(state: EpisodeState) -> list[Batch]:
        if state.unit > at + 3:
            return [(CLOSED, [()])]
        if state.is_over:
            return reset(9)
        return [(ACTED, [(agent, given_action) for agent in state.acting])]

    with JournalReader(kept, hashed=True) as parent:
        facts = {"parent": parent.sha256(), "changes": {}, "roster": None, "replaced": ()}
        world = world_on(make)
        last_of(
            fork_steps(world, parent, at, lambda s: facts, out, None, lambda *_: ask, force=True)
        )

    assert walked(out, world_on(make)).state.is_closed
    with pytest.raises(NotDerived):
        walked(out, world_on(partial(Scripted, PARALLEL, 2, added_at=1)))


def test_a_fork_of_a_model_sets_its_attributes_before_the_next_step(path: Path) -> None:
    make = partial(Scripted, MODEL, 0)
    recorded(path, world_on(make), setup_of(MODEL, 0), units_of(MODEL, 0, [2], 1))
    out = path.with_suffix(".fork")
    with JournalReader(path, hashed=True) as parent:
        facts = {
            "parent": parent.sha256(), "changes": {"growth": 100}, "roster": None, "replaced": (),
        }  # fmt: skip
        world = world_on(make)
        last_of(fork_steps(world, parent, 2, lambda s: facts, out, ask_of=lambda *_: lambda s: []))

    values = [
        row[3]
        for commit in commits_of(out)
        for block in commit.blocks[1::2]
        for row in block.rows(6)
    ]

    assert [b - a for a, b in pairwise(values)] == [1, 100, 100, 100]
    assert walked(out, world_on(make)).state.config.parameters == {"growth": 100}


# Inputs and setups that no recorder writes.


def begun(kind: str, agents: int, **config: int) -> EpisodeState:
    """The state after the first reset of a subject of which nothing is given."""
    return after(episode_world().initial(setup_of(kind, agents, **config)), reset(1), is_over=False)


def after(
    state: EpisodeState, inputs: Sequence[Batch], *derived: Batch, is_over: bool | None = None
) -> EpisodeState:
    """The state after a unit of these events."""
    turn = [] if is_over is None else [(TURN, [((), is_over)])]
    world = episode_world()
    return world.close(fold(world, state, [Block(inputs), Block([*derived, *turn])]))


ACTION = [(ACTED, [(None, 1)])]


@pytest.mark.parametrize(
    ("kind", "agents", "inputs"),
    [
        (PARALLEL, 2, []), (PARALLEL, 2, [(ACTED, [(0, 1), (0, 1)])]),
        (PARALLEL, 2, [(ACTED, [(1, 1), (0, 1)])]), (PARALLEL, 2, [(ACTED, [(2, 1)])]),
        (PARALLEL, 2, ACTION), (PARALLEL, 2, [(CHANGED, [("growth", 1)])]),
        (PARALLEL, 2, [(RESET, [(1, False, None), (2, False, None)])]),
        (PARALLEL, 2, [*reset(1), (ACTED, [(0, 1)])]), (PARALLEL, 2, [(CLOSED, [(), ()])]),
        (VECTOR, 2, [(ACTED, [(0, 1)])]), (MODEL, 0, ACTION),
    ],
)  # fmt: skip
def test_inputs_that_no_recorder_writes_are_refused(
    kind: str, agents: int, inputs: list[Batch]
) -> None:
    world, state = world_on(partial(Scripted, kind, agents)), begun(kind, agents)

    with pytest.raises(InvalidInputs):
        world.decide(state, Block(inputs))


def test_nothing_but_a_reset_follows_the_end_of_an_episode_or_waits_without_its_outcome() -> None:
    world = world_on(partial(Scripted, VECTOR, 2))

    with pytest.raises(InvalidInputs):
        world.decide(after(begun(VECTOR, 2), ACTION, is_over=True), Block(ACTION))
    assert None is not world.pending_fault(begun(VECTOR, 2), Block(ACTION))
    assert None is world.pending_fault(begun(VECTOR, 2), Block([]))


def test_a_forged_action_is_found_in_a_journal(path: Path) -> None:
    world = world_on(partial(Scripted, PARALLEL, 2))
    recorded(path, world, setup_of(PARALLEL, 2), units_of(PARALLEL, 2, [1], 1))
    commits = commits_of(path)
    commits[1].blocks[0] = commits[2].blocks[0]  # a step before the first reset
    write(path, commits, Header("episode", 1))

    with pytest.raises(MalformedEvents):
        walked(path, world)


def test_a_seed_that_is_called_drawn_follows_from_the_seed_before_it() -> None:
    world = world_on(partial(Scripted, PARALLEL, 2))
    states = [world.initial(setup_of(PARALLEL, 2, seed=seed)) for seed in (1, 7)]
    drawn = [drawn_seed(state) for state in states]
    states.append(after(states[1], [(RESET, [(drawn[1], True, None)])]))

    assert 3 == len({*drawn, drawn_seed(states[2])})
    assert (7, 1) == (states[2].seeded, states[2].resets)
    assert [drawn[0]] * 3 == [drawn_seed(after(state, reset(1))) for state in states]
    for state in states:
        assert world.decide(state, Block([(RESET, [(drawn_seed(state), True, None)])]))
        with pytest.raises(InvalidInputs):
            world.decide(state, Block([(RESET, [(drawn_seed(state) + 1, True, None)])]))


def subject_with(**changed: Any) -> dict[str, Any]:
    """A setup of two parallel agents whose subject has these fields, at their places."""
    setup: Any = setup_of(PARALLEL, 2)
    fields = setup["subject"] | changed
    names = [*attrs.fields_dict(About), *changed]
    return setup | {"subject": {name: fields[name] for name in names if name in fields}}


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": MODEL}, {"agents": ()}, {"agents": ("a", "a")}, {"seed_parameter": None},
        {"report": ()}, {"autoreset": "SameStep"},
        {"versions": {"python": 3}}, {"versions": None}, {"colour": "red"}, {"values": 1},
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_subject_is_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        episode_world().initial(subject_with(**changed))


@pytest.mark.parametrize("form", [None, 2, 4])
def test_recordings_of_another_form_are_not_supported(form: int | None) -> None:
    with pytest.raises(UnsupportedSetup):
        episode_world().initial(subject_with(recording=form))


def test_a_subject_has_all_its_facts() -> None:
    whole = subject_with()
    for name in whole["subject"]:
        short = {other: value for other, value in whole["subject"].items() if other != name}
        with pytest.raises(BadInput):
            episode_world().initial(whole | {"subject": short})


def test_the_configuration_is_whole_and_its_parameters_are_encoded() -> None:
    setup = setup_of(PARALLEL, 2)
    for config in ({"seed": 0}, {"steps": 0, "seed": 0}, {"seed": 0, "steps": 0, "size": [1]}):
        with pytest.raises(BadInput):
            episode_world().initial(setup | {"config": config})


# What is told of a subject without running it.


def gave(*rows: tuple[int, float, bool]) -> Batch:
    return (GAVE, [(agent, reward, is_end, False) for agent, reward, is_end in rows])


def test_rewards_add_up_in_a_step_and_returns_in_an_episode() -> None:
    state = begun(PARALLEL, 2)
    state = after(state, ACTION, gave((0, 1.0, False), (0, 2.0, False), (1, 5.0, False)))
    assert (3.0, 5.0) == state.rewards
    state = after(state, ACTION, gave((0, 4.0, False)))

    assert ((4.0, 0.0), (7.0, 5.0)) == (state.rewards, state.returns)
    assert (0.0, 0.0) == after(state, reset(2)).returns


@pytest.mark.parametrize(
    ("autoreset", "returns", "finished"),
    [("NextStep", (2.0, 3.0), ()), ("", (2.0, 3.0), ()), ("Disabled", (1.0, 3.0), (0,))],
)
def test_of_a_vector_each_environment_has_its_own_episode(
    autoreset: str, returns: tuple[float, float], finished: tuple[int, ...]
) -> None:
    setup = subject_with(kind=VECTOR, autoreset=autoreset)
    state = after(episode_world().initial(setup), reset(1), is_over=False)
    state = after(state, ACTION, gave((0, 1.0, True), (1, 1.0, False)))
    assert (0,) == state.finished

    state = after(state, ACTION, gave((0, 2.0, False), (1, 2.0, False)))

    assert (returns, finished) == (state.returns, state.finished)
    masked = ("dict", (("reset_mask", ("array", "|b1", (2,), b"\1\0")),))
    state = after(state, [(RESET, [(1, False, masked)])])
    assert ((0.0, 3.0), ()) == (state.returns, state.finished)


def test_only_vectors_have_finished_environments() -> None:
    assert () == after(begun(PARALLEL, 2), ACTION, gave((0, 1.0, True))).finished
    assert "NextStep" == About().known_autoreset


def test_values_are_shown_for_the_unit_in_which_they_were_given() -> None:
    arrays = [(None, "a", 1, None), (0, "b", 2, 5)]
    state = after(begun(PARALLEL, 2), ACTION, (ARRAY, arrays))

    assert {(0, "b"): 5} == state.shown
    assert {} == after(state, ACTION).shown


def forked(state: EpisodeState, **facts: Any) -> EpisodeState:
    world = episode_world()
    assert world.fork is not None
    known = {"parent": "ab" * 32, "changes": {}, "roster": None, "replaced": ()}
    return world.fork(world.copy(state), known | facts, lambda first: ())


def test_a_fork_changes_steps_and_the_parameters_of_models() -> None:
    state = begun(MODEL, 0)
    changed = forked(state, changes={"steps": 9, "growth": 100})

    assert ({"growth": 100}, 9) == (changed.config.parameters, changed.config.steps)
    assert changed.chain != state.chain
    roster = begun(PARALLEL, 2).roster
    assert roster == forked(begun(PARALLEL, 2), changes={"steps": 9}).roster


@pytest.mark.parametrize(
    ("state", "changes"),
    [
        (begun(PARALLEL, 2), {"growth": 1}), (begun(PARALLEL, 2), {"seed": 1}),
        (after(begun(PARALLEL, 2), ACTION), {"steps": 1}),
        (after(begun(PARALLEL, 2), [(CLOSED, [()])]), {}),
    ],
)  # fmt: skip
def test_what_a_fork_cannot_change_is_refused(state: EpisodeState, changes: Any) -> None:
    with pytest.raises(BadInput):
        forked(state, changes=changes)


def test_without_its_code_an_episode_is_folded_and_not_judged(path: Path) -> None:
    world = world_on(partial(Scripted, VECTOR, 2))
    recorded(path, world, setup_of(VECTOR, 2), [reset(1), [(ACTED, [(None, 3)])]])
    absent = episode_world(missing="it is not here")

    assert walked(path, absent, DIGESTS).state.unit == 2
    with pytest.raises(Exception, match="it is not here"):
        walked(path, absent)


ENCODED = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=5)
    | st.binary(max_size=5)
    | st.just(("array", "<f4", (2, 1), b"\0\0\x80\x3f\0\0\0\0"))
    | st.just(("array", "|u1", (0, 3), b""))
    | st.sampled_from([("scalar", "<i8", b"\3" + bytes(7)), ("scalar", "<U1", b"a\0\0\0")])
    | st.just(("int", "-1234567890123456789012"))
    | st.just(("type", "module.Class")),
    lambda inner: st.builds(
        lambda form, items: (form, tuple(items)), st.sampled_from(["tuple", "list"]),
        st.lists(inner, max_size=3),
    )
    | st.lists(st.tuples(st.text(max_size=3), inner), max_size=2).map(lambda p: ("dict", tuple(p))),
    max_leaves=6,
)  # fmt: skip


@given(ENCODED)
def test_encoded_values_are_valid_and_can_be_shown_as_json(value: Any) -> None:
    assert VALUE.holds(value)
    assert 0 <= digest_of(value) < 1 << 64
    json.dumps(shown(value), allow_nan=False)


def nested(depth: int) -> Any:
    """A list in so many others."""
    return ("list", (nested(depth - 1),)) if depth else 1


@pytest.mark.parametrize(
    "value",
    [
        (), ("array",), ("array", "<f4", (2,), b"\0" * 7), ("array", "<f4", [2], b"\0" * 8),
        ("array", "|O8", (1,), b"\0" * 8), ("array", "<f4", (-2, -1), b"\0" * 8),
        ("scalar", "<f4", b"\0" * 8), ("int", "12"), ("int", "9" * 5000), ("tuple", [1]),
        ("dict", ((1, 2, 3),)), ("else", 1), {}, [1], ("tuple", (object,)), nested(20),
        ("array", "<f4", (1,) * 3000, b"\0" * 4), ("array", "|u1", (0, 2**40, 2**40), b""),
        ("scalar", "<U1", b"\xff" * 4), ("array", "<f9", (1,), b"\0" * 9),
    ],
)  # fmt: skip
def test_forged_values_are_refused(value: Any) -> None:
    assert not VALUE.holds(value)


def test_states_that_part_have_each_their_own_past() -> None:
    first = close(initial(setup_of(MODEL, 0)))
    other = attrs.evolve(first)
    for state, seed in (first, 1), (other, 2):
        close(evolve(state, Block(reset(seed))))

    assert first.done[0] == other.done[0]
    assert [*first.done[1:]] == [Block(reset(1)).packed]
    assert [*other.done[1:]] == [Block(reset(2)).packed]


def test_shown_arrays_have_their_shape() -> None:
    small = ("array", "|u1", (1, 2, 3), b"\1\2\3\4\5\6")
    large = ("array", "|u1", (84, 84, 3), bytes(84 * 84 * 3))

    assert shown(small) == [[[1, 2, 3], [4, 5, 6]]]
    assert shown(large) == "uint8[84, 84, 3]"
    assert VALUE.holds(("scalar", "<U1", b"a\0\0\0"))
    assert shown(("scalar", "<f4", b"\0\0\xc0\x7f")) == "nan"
