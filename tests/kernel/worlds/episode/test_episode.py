"""Episodes: what holds whatever is done to a subject, and whatever a forger writes."""

import copy
import json
import pickle
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.kernel.errors import BadInput, MalformedEvents
from goldrush.kernel.fold import fold
from goldrush.kernel.journal import END, Header, JournalReader, sha256_of
from goldrush.kernel.run import fork
from goldrush.kernel.walk import DERIVED, DIGESTS, NotDerived, Walk
from goldrush.kernel.world import Batch, Block, World
from goldrush.kernel.worlds.episode.events import ACTED, CHANGED, CLOSED, RESET
from goldrush.kernel.worlds.episode.state import EpisodeState, drawn_seed
from goldrush.kernel.worlds.episode.subject import (
    AEC,
    ENVIRONMENT,
    MODEL,
    PARALLEL,
    VECTOR,
    past_of,
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


@pytest.mark.parametrize("form", [None, 2, 4])
def test_recordings_of_another_form_are_refused_by_name(form: int | None) -> None:
    setup: dict[str, Any] = setup_of(ENVIRONMENT, 1)
    setup["subject"] |= {"recording": form}
    if form is None:
        del setup["subject"]["recording"]

    with pytest.raises(BadInput, match="recorded in another form; record it anew"):
        world_on(partial(Scripted, ENVIRONMENT, 1)).initial(setup)


@given(runs(), st.data())
def test_folding_in_pieces_gives_the_same_state(
    kept: Path, run: tuple[str, int, list[list[Batch]]], data: st.DataObject
) -> None:
    kind, agents, units = run
    world = world_on(partial(Scripted, kind, agents))
    recorded(kept, world, setup_of(kind, agents), units)
    commits = commits_of(kept)
    cut = data.draw(st.integers(1, len(commits) - 1))
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
        fork(world_on(make), parent, at, lambda s: facts, lambda *_: ask, out, force=True)

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
        fork(world_on(make), parent, 2, lambda s: facts, lambda *_: lambda s: [], out)

    values = [
        row[3]
        for commit in commits_of(out)
        for block in commit.blocks[1::2]
        for row in block.rows(6)
    ]

    assert [b - a for a, b in pairwise(values)] == [1, 100, 100, 100]
    assert walked(out, world_on(make)).state.config.parameters == {"growth": 100}


def test_an_environment_takes_no_other_parameters_while_it_runs(path: Path) -> None:
    world = world_on(partial(Scripted, PARALLEL, 2))
    recorded(path, world, setup_of(PARALLEL, 2), units_of(PARALLEL, 2, [1], 1))
    with JournalReader(path, hashed=True) as parent:
        facts = {"parent": parent.sha256(), "changes": {"n": 1}, "roster": None, "replaced": ()}
        with pytest.raises(BadInput, match="n cannot change while an environment runs"):
            fork(world, parent, 2, lambda s: facts, lambda *_: list, path.with_suffix(".fork"))


WRONG: list[list[Batch]] = [
    [],
    [(ACTED, [(0, 1), (0, 1)])],
    [(ACTED, [(1, 1), (0, 1)])],
    [(ACTED, [(5, 1)])],
    [(ACTED, [(None, 1)])],
    [(CHANGED, [("growth", 1)])],
    [(RESET, [(1, False, None), (2, False, None)])],
    [(RESET, [(1, False, None)]), (ACTED, [(0, 1)])],
    [(CLOSED, [(), ()])],
]


@pytest.mark.parametrize("inputs", WRONG)
def test_inputs_that_no_recorder_writes_are_refused(path: Path, inputs: list[Batch]) -> None:
    world = world_on(partial(Scripted, PARALLEL, 2))
    recorded(path, world, setup_of(PARALLEL, 2), units_of(PARALLEL, 2, [1], 1)[:2])
    commits = commits_of(path)
    commits[2].blocks[0] = Block(inputs)
    write(path, commits, Header("episode", 1))

    with pytest.raises(MalformedEvents):
        walked(path, world)


def test_nothing_but_a_reset_follows_the_end_of_an_episode(path: Path) -> None:
    world = world_on(partial(Scripted, PARALLEL, 2))
    units = units_of(PARALLEL, 2, [1], 1)
    recorded(path, world, setup_of(PARALLEL, 2), units)
    commits = commits_of(path)
    commits[1].blocks[0] = commits[2].blocks[0]  # a step before the first reset
    write(path, commits, Header("episode", 1))

    with pytest.raises(MalformedEvents, match="a reset is needed"):
        walked(path, world)


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
    | st.just(("scalar", "<i8", b"\3\0\0\0\0\0\0\0"))
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


@pytest.mark.parametrize(
    "value",
    [
        (), ("array",), ("array", "<f4", (2,), b"\0" * 7), ("array", "<f4", [2], b"\0" * 8),
        ("array", "|O8", (1,), b"\0" * 8), ("array", "<f4", (-2, -1), b"\0" * 8),
        ("scalar", "<f4", b"\0" * 8), ("int", "12"), ("int", "0" * 30), ("tuple", [1]),
        ("dict", ((1, 2, 3),)), ("dict", (1,)), ("else", 1), (1, 2), {}, [1], ("tuple", (object,)),
        ("int", "9" * 5000), ("array", "<f4", (1,) * 3000, b"\0" * 4),
        ("array", "|u1", (0, 10**18, 10**18), b""), ("array", "<M8[zz]", (1,), b"\0" * 8),
        ("scalar", "<f16", b"\0" * 16), ("scalar", "<U1", b"\xff" * 4),
        ("array", "<f0", (1,), b""), ("array", "<f9", (1,), b"\0" * 9),
    ],
)  # fmt: skip
def test_forged_values_are_refused(value: Any) -> None:
    assert not VALUE.holds(value)


def test_a_long_past_can_be_copied_and_pickled() -> None:
    past = past_of(bytes([number % 256]) for number in range(5_000))

    assert [*pickle.loads(pickle.dumps(past))] == [*copy.deepcopy(past)] == [*past]
    assert next(iter(past or ())) == bytes([4_999 % 256])


def test_a_seed_that_is_called_drawn_must_be_the_one_that_is_drawn(path: Path) -> None:
    world = world_on(partial(Scripted, PARALLEL, 2))
    drawn = drawn_seed(world.initial(setup_of(PARALLEL, 2)))
    recorded(path, world, setup_of(PARALLEL, 2), [[(RESET, [(drawn, True, None)])]])
    assert walked(path, world).state.resets == 1

    commits = commits_of(path)
    commits[1].blocks[0] = Block([(RESET, [(drawn + 1, True, None)])])
    write(path, commits, Header("episode", 1))

    with pytest.raises(MalformedEvents, match="is the seed that is drawn"):
        walked(path, world)


@pytest.mark.parametrize(("kind", "agents"), [(MODEL, 1), (PARALLEL, 0)])
def test_models_have_no_agents_and_environments_some(kind: str, agents: int) -> None:
    with pytest.raises(BadInput, match="a model has none, an environment at least one"):
        world_on(Scripted).initial(setup_of(kind, agents))


def test_a_value_within_values_has_a_bounded_depth() -> None:
    value: Any = 1
    for _ in range(100):
        value = ("list", (value,))

    assert not VALUE.holds(value)


def test_shown_arrays_have_their_shape() -> None:
    small = ("array", "<i2", (2, 2), b"\1\0\2\0\3\0\4\0")
    large = ("array", "|u1", (84, 84, 3), bytes(84 * 84 * 3))

    assert shown(small) == [[1, 2], [3, 4]]
    assert shown(large) == "uint8[84, 84, 3]"
    assert shown(("scalar", "<f4", b"\0\0\xc0\x7f")) == "nan"
