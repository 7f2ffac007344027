"""The doctor on small subjects: which repeat, and where the others part, with both values."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import goldrush
from goldrush.kernel.errors import BadInput
from goldrush.replay.repeats import judge
from goldrush.replay.repeats.judge import _MORE_SEEDS
from goldrush.replay.repeats.trace import Way
from goldrush.replay.repeats.verdict import Repeats
from tests.cli.helpers import cold
from tests.replay.repeats import subjects
from tests.replay.worlds.episode import envs

FILE = subjects.__file__
SAME_UNDER_THREE = ("left", "dog")  # in one order under PYTHONHASHSEED 0, 1 and 2
in_child_processes = pytest.mark.turns("subjects of the doctor")  # a third in each turn


@pytest.fixture(autouse=True)
def _no_more_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs under further hash seeds are made only in the test that is about them."""
    monkeypatch.setattr(judge, "_MORE_SEEDS", ())


def judged(subject: Any, **how: Any) -> Repeats:
    """The verdict alone, without causes."""
    return goldrush.repeats(subject, causes=False, **how)


# Those that repeat.


@in_child_processes
@pytest.mark.parametrize(
    ("subject", "kind", "steps"),
    [
        (subjects.Odd, "model", 20),
        (subjects.Walk, "environment", 20),
        (subjects.Together, "parallel environment", 20),
        (envs.Turns, "AEC environment", 20),
        ("CartPole-v1", "environment", 20),
        (subjects.values, "function", 1),
        (subjects.seedless, "function", 1),
    ],
)
def test_what_repeats_is_said_to(
    subject: Callable[..., object] | str, kind: str, steps: int
) -> None:
    verdict = goldrush.repeats(subject, steps=20)

    assert verdict.repeats, str(verdict)
    assert (kind, steps, 4, 3) == (verdict.kind, verdict.steps, verdict.runs, verdict.hash_seeds)
    assert (None if subject is subjects.seedless else 1) == verdict.seed
    assert (True, True if "env" in kind else None) == (verdict.reset_forgets, verdict.resets)
    assert {} == verdict.not_seen


@in_child_processes
def test_a_world_is_recorded() -> None:
    verdict = goldrush.repeats("mining", steps=3, settings={"agents": 4})

    assert ("world", 3, True) == (verdict.kind, verdict.steps, verdict.repeats)


@in_child_processes
def test_a_scenario_of_mesa_is_given_the_seed_and_settings() -> None:
    verdict = goldrush.repeats(subjects.Town, steps=2, settings={"size": 5})

    assert (True, 1) == (verdict.repeats, verdict.seed)
    with pytest.raises(BadInput, match="no setting of TownScenario 'sise'; did you mean size"):
        goldrush.repeats(subjects.Town, settings={"sise": 5})


@in_child_processes
def test_a_model_that_stops_running_is_not_stepped() -> None:
    assert goldrush.repeats(subjects.Stopping, seed=3).steps < 20


@in_child_processes
def test_as_many_values_of_a_generator_are_taken_as_steps() -> None:
    assert goldrush.repeats(subjects.values, seed=9, steps=5).steps == 5


@in_child_processes
def test_an_error_that_every_run_ends_with_is_told() -> None:
    verdict = goldrush.repeats(subjects.failing)

    assert verdict.repeats
    assert "ValueError: no more" in verdict.error
    assert verdict.error in str(verdict)


# Those that repeat, and what else is to be said.


@in_child_processes
@pytest.mark.parametrize("subject", [subjects.Built, subjects.Remembering])
def test_another_subject_of_the_same_process_shows_that_something_is_remembered(
    subject: Callable[..., object],
) -> None:
    verdict = goldrush.repeats(subject, steps=2)

    assert (True, False) == (verdict.repeats, verdict.reset_forgets)
    assert "DOES NOT FORGET" in str(verdict)


@in_child_processes
@pytest.mark.parametrize("error", [True, False])
def test_opposite_orders_of_sets_that_change_the_run_say_nothing_and_this_is_told(
    error: bool,
) -> None:
    verdict = goldrush.repeats(subjects.Refusing, steps=2, settings={"error": error})

    assert (True, {}) == (verdict.repeats, verdict.not_seen)
    assert "Not judged under opposite orders of sets" in str(verdict).splitlines()[1]


@in_child_processes
def test_values_that_are_not_compared_are_those_of_one_step() -> None:
    verdict = goldrush.repeats(subjects.lazy, seed=3)

    assert {"builtins.generator": 1} == verdict.not_seen
    assert "repeats, 1 value not compared" in str(verdict).splitlines()[0]


# The parameter that takes the seed.


@in_child_processes
@pytest.mark.parametrize(
    ("subject", "name", "seed"),
    [
        (subjects.Named, "luck", 1),
        (subjects.NamedReset, None, 1),
        (subjects.LuckyReset, "luck", 1),
        (subjects.LuckyReset, "", None),
        (subjects.Named, None, None),
    ],
)
def test_the_parameter_that_takes_the_seed_can_be_named(
    subject: Callable[..., object], name: str | None, seed: int | None
) -> None:
    verdict = judged(subject, steps=2, seed_parameter=name)

    assert (seed is not None, seed) == (verdict.repeats, verdict.seed)
    assert (seed is None) == ("--seed-parameter" in str(verdict))


def test_a_parameter_for_the_seed_that_is_nowhere_is_refused() -> None:
    with pytest.raises(BadInput, match="takes no parameter luck; name the one that takes the seed"):
        goldrush.repeats(subjects.Repeating, seed_parameter="luck")


# Those that do not repeat.


@in_child_processes
@pytest.mark.parametrize(
    ("subject", "step", "path"),
    [
        (subjects.Returning, 1, "step()['drawn']"),
        (subjects.Seedless, 0, "drawn"),
        (subjects.Drawing, 1, "observation of b"),
        (subjects.clock, 1, "now"),
    ],
)
def test_what_differs_under_one_hash_seed_is_found_at_its_step(
    subject: Callable[..., object], step: int, path: str
) -> None:
    verdict = judged(subject, steps=9)
    found = verdict.difference

    assert found is not None
    assert (step, path, [0, 0]) == (found.step, found.path, [way.hash_seed for way in found.ways])
    assert float(found.a) != float(found.b)
    assert (None if subject is subjects.Seedless else 1) == verdict.seed


@in_child_processes
def test_an_environment_that_draws_from_its_own_space_is_not_seeded_by_the_check() -> None:
    assert not judged(subjects.Sampling, steps=20).repeats


@in_child_processes
def test_a_run_that_goes_on_longer_differs_at_its_end() -> None:
    found = judged(subjects.longer, steps=2000).difference

    assert found is not None
    assert "the end of the run" == found.path
    assert {found.a, found.b} == {
        f"ends before step {found.step}", f"goes on with step {found.step}",
    }  # fmt: skip


@in_child_processes
def test_a_set_whose_order_matters_is_found_under_another_hash_seed() -> None:
    found = judged(subjects.InOrderOfSet, settings={"agents": 4}).difference

    assert found is not None
    assert (3, "agents[2].wealth") == (found.step, found.path)
    assert found.ways[0].hash_seed < found.ways[1].hash_seed
    assert {found.a, found.b} <= {str(3 + ord(c)) for c in "aeo"}
    assert ["agents"] == list(found.names)


@in_child_processes
def test_a_set_that_only_further_hash_seeds_turn_round_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judge, "_MORE_SEEDS", _MORE_SEEDS)
    library = tmp_path / "site-packages"
    library.mkdir()
    (library / "firsts.py").write_text("def first(items):\n    return next(iter(items))\n")
    (tmp_path / "town.py").write_text(
        "import sys\n"
        f"sys.path.append({str(library)!r})\n"
        "from firsts import first\n"
        "def town(seed):\n"
        f"    return first({{*{SAME_UNDER_THREE}}})\n"
    )
    verdict = judged(f"{tmp_path / 'town.py'}:town")
    found = verdict.difference

    assert (9, 8) == (verdict.runs, verdict.hash_seeds)
    assert found is not None
    assert (Way(0), True) == (found.ways[0], found.ways[1].hash_seed in _MORE_SEEDS)


@in_child_processes
@pytest.mark.parametrize("network", [False, True])
def test_a_subject_connects_to_other_machines_where_that_is_allowed(network: bool) -> None:
    verdict = judged(subjects.dialing, network=network)

    assert ([] if network else ["192.0.2.1"]) == list(verdict.kept_from)
    assert network == ("192.0.2.1, which --network allows" not in str(verdict))


# Those that cannot be judged.


@in_child_processes
@pytest.mark.parametrize(
    ("target", "message"),
    [
        (lambda seed: seed, "has no name in a file; give a class or a function"),
        (f"{FILE}:Agent", "cannot be made: missing a required argument: 'number'"),
        (f"{FILE}:Space", "has no method step"),
        (f"{FILE}:failing_at_once", "ValueError: no more"),
        (f"{FILE}:ending", "ended its process with code 3"),
        (f"{FILE}:Printing", "could not be judged: nothing of it was compared"),
        (f"{FILE}:Spoiling", "could not be judged: it writes into the file of its trace"),
    ],
)
def test_what_cannot_be_judged_is_refused_by_one_line(target: str, message: str) -> None:
    with pytest.raises(BadInput) as refused:
        goldrush.repeats(target)

    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_run_that_takes_too_long_is_ended() -> None:
    with pytest.raises(BadInput, match=r"takes longer than 0\.1 seconds"):
        goldrush.repeats(subjects.slow, timeout=0.1)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"settings": {"size": object()}}, "give values that JSON has"),
        ({"steps": 0}, "give 1 to"),
    ],
)
def test_values_that_another_process_cannot_be_given_are_refused(
    how: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        goldrush.repeats(subjects.sized, **how)


# Its doors.


@in_child_processes
def test_a_suite_asserts_it_by_a_fixture(tmp_path: Path) -> None:
    (tmp_path / "test_model.py").write_text(
        "import sys, time\n"
        "def same(seed, size): return seed * size\n"
        "def clock(seed): return time.time_ns()\n"
        "def test_nothing_is_imported_before(assert_repeats):\n"
        "    assert 'goldrush.replay' not in sys.modules\n"
        "def test_same(assert_repeats): assert_repeats(same, seed=3, settings={'size': 2})\n"
        "def test_clock(assert_repeats): assert_repeats(clock)\n"
    )
    ran = cold("-q", cwd=tmp_path, front=("-m", "pytest", "-p", "goldrush.pytest_plugin"))

    assert (1, "") == (ran.code, ran.err)
    assert "1 failed, 2 passed" in ran.out
    assert "test_model:clock: DOES NOT REPEAT from step 0 on (1 step of a function" in ran.out
    assert "pytest_plugin.py" not in ran.out
