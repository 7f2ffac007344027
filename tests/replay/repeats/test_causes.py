"""The doctor names each specimen's causes: kind, file and line, confirmed, and nothing else.

A specimen marks its lines: `# cause: KIND` (confirmed), `# suspect: KIND`, `# within: KIND` (the
line of the subject that led to a cause in a library).
"""

import os
import random
import re
from functools import partial
from pathlib import Path

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import goldrush
from goldrush.kernel.errors import BadInput
from goldrush.replay.repeats import diagnose
from goldrush.replay.repeats.diagnose import RUNS_MAX, diagnosed
from goldrush.replay.repeats.judge import run_once
from goldrush.replay.repeats.sightings import Sightings, home_of, package_of
from goldrush.replay.repeats.trace import Order, Place, Sighting, Trace, Way
from goldrush.replay.repeats.verdict import Repeats
from tests.faults.sampling import ALL

NONE = Repeats("model:Model", {}, "model", seed=1, steps=3, runs=0)
in_child_processes = pytest.mark.turns("specimens of the doctor")  # a third in each turn
SPECIMENS = Path(__file__).parent / "specimens"
ALONE = sorted(
    path.stem for path in SPECIMENS.glob("*.py") if path.stem not in ("listed_files", "repeats")
)


def marked(name: str, mark: str) -> set[Place]:
    """The places that a specimen, or the library that it takes, marks."""
    paths = [SPECIMENS / f"{name}.py"]
    if "drawing" in paths[0].read_text():
        paths.append(SPECIMENS / "site-packages" / "drawing.py")
    return {
        Place(found[1], str(path), number)
        for path in paths
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (found := re.search(rf"# {mark}: (\S+)", line))
    }


def named(verdict: Repeats, *, confirmed: bool) -> set[Place]:
    return {cause.place for cause in verdict.causes if cause.is_confirmed == confirmed}


@pytest.fixture
def _few_controls(monkeypatch: pytest.MonkeyPatch) -> None:
    """The marks of a specimen are the control; where all is tried, runs are made as elsewhere."""
    if not ALL:
        monkeypatch.setattr(diagnose, "_CONTROLS", 4)
        monkeypatch.setattr(diagnose, "_AGAIN", 1)


def looked_into(name: str) -> Repeats:
    """The causes of a specimen, without the runs that show that it does not repeat."""
    order = Order(f"{SPECIMENS / name}.py:Model", steps=3)
    return diagnosed(attrs.evolve(NONE, target=order.target), run_once, order, (Way(0), Way(1)))


@in_child_processes
@pytest.mark.usefixtures("_few_controls")
@pytest.mark.parametrize("name", ALONE)
def test_the_causes_of_a_specimen_are_named_and_nothing_else(name: str) -> None:
    if "numpy" in name:
        pytest.importorskip("numpy", reason="needs goldrush-sim[stats]")
    verdict = looked_into(name)

    assert marked(name, "cause") == named(verdict, confirmed=True), str(verdict)
    assert marked(name, "suspect") == named(verdict, confirmed=False), str(verdict)
    assert marked(name, "within") == {cause.within for cause in verdict.causes} - {None}
    assert ("unseen" == name) == bool(verdict.unexplained)
    assert not any(cause.is_joint for cause in verdict.causes)


@in_child_processes
@pytest.mark.usefixtures("_few_controls")
def test_what_is_suspicious_in_a_model_that_repeats_is_innocent() -> None:
    pytest.importorskip("numpy", reason="needs goldrush-sim[stats]")
    verdict = looked_into("repeats")

    assert goldrush.repeats(verdict.target, steps=3).repeats
    assert () == verdict.causes
    assert len(verdict.innocent) > 7
    assert "repeats while it is watched" in verdict.unexplained
    assert "of unknown effect on the result" in str(verdict)


@in_child_processes
@pytest.mark.usefixtures("_few_controls")
def test_the_order_of_files_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import os\n"
        "real = os.listdir\n"
        "os.listdir = lambda path: sorted(real(path), key=hash)\n"
    )  # fmt: skip
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    verdict = looked_into("listed_files")

    assert marked("listed_files", "cause") == named(verdict, confirmed=True), str(verdict)
    assert () == tuple(cause for cause in verdict.causes if not cause.is_confirmed)


@pytest.mark.parametrize(
    ("target", "file", "package"),
    [
        ("town/model.py:Model", "town/.venv/lib/site-packages/networkx/graph.py", "networkx"),
        ("mesa.examples.town.model:Model", "lib/site-packages/mesa/examples/town/agents.py", ""),
        ("mesa.examples.town.model:Model", "lib/site-packages/mesa/agent.py", "mesa"),
        ("model:Model", "lib/site-packages/numpy/random/__init__.py", "std"),
        ("model:Model", os.__file__, "std"),
    ],
)
def test_a_subject_is_in_the_folder_of_its_module_and_its_libraries_are_not(
    target: str, file: str, package: str
) -> None:
    assert package == package_of(os.path.abspath(file), home_of(target))


def test_a_place_is_known_by_the_step_of_its_first_call() -> None:
    sightings = Sightings()
    for sightings.step in (1, 2):
        sightings.is_fixed("clock", "time.time")

    assert [1] == [sighting.first_step for sighting in sightings.all()]


PLACES = [
    *(Place("clock", "/town/model.py", line) for line in range(1, 20)),
    *(Place("id", "/lib/site-packages/links/graph.py", line) for line in range(1, 20)),
]


def passing(passed: set[Place], guilty: set[Place], joint: set[Place], order: Order) -> Trace:
    """A run that differs by hash seed unless all guilty places are fixed, and a joint one is."""
    seen = [Sighting(place, None, "", 0) for place in passed]
    fixes = set(order.fixes or ())
    differs = not guilty <= fixes or (len(joint) > 1 and not joint & fixes)
    return Trace(rows=[{"value": order.way.hash_seed if differs else 0}], sightings=seen)


SETS = st.sets(st.sampled_from(PLACES))


@given(SETS, SETS, SETS)
@example(set(), set(PLACES), set())  # more than the runs suffice for
@example(set(PLACES[:4]), {PLACES[0]}, {PLACES[1], PLACES[2]})
def test_every_guilty_place_is_told_and_no_innocent_one_is_confirmed(
    others: set[Place], guilty: set[Place], joint: set[Place]
) -> None:
    joint -= guilty
    joint = joint if len(joint) > 1 else set()
    passed = others | guilty | joint
    run = partial(passing, passed, guilty, joint)
    verdict = diagnosed(NONE, run, Order("model:Model"), (Way(0), Way(1)))
    confirmed, suspected = named(verdict, confirmed=True), named(verdict, confirmed=False)

    assert confirmed <= guilty | joint <= confirmed | suspected
    assert {cause.place for cause in verdict.causes if cause.is_joint} <= joint
    assert passed == confirmed | suspected | set(verdict.innocent)
    assert verdict.runs_for_causes <= RUNS_MAX
    if 0 < len(guilty) + len(joint) < 4:
        assert (guilty | joint, "") == (confirmed, verdict.unexplained)


def differing_now_and_then(share: float, rng: random.Random, order: Order) -> Trace:
    """A run that passes three innocent places, and differs by a source that nobody watches."""
    seen = [Sighting(place, None, "", 0) for place in PLACES[18:21]]
    return Trace(rows=[{"luck": int(rng.random() < share)}], sightings=seen)


@pytest.mark.parametrize("share", [0.05, 0.1, 0.3, 0.5])
def test_no_place_is_confirmed_by_a_source_that_is_not_watched(share: float) -> None:
    confirmed, judged = 0, 200
    for number in range(judged):
        run = partial(differing_now_and_then, share, random.Random(number))
        verdict = diagnosed(NONE, run, Order("model:Model"), (Way(0), Way(1)))
        confirmed += any(cause.is_confirmed for cause in verdict.causes)

    assert confirmed <= judged / 50


def test_a_subject_that_cannot_be_watched_is_not_explained() -> None:
    def run(order: Order) -> Trace:
        raise BadInput("a run takes longer than 3 seconds", "take fewer steps")

    verdict = diagnosed(NONE, run, Order("model:Model"), (Way(0), Way(1)))

    assert () == verdict.causes
    assert "while it is watched, a run takes longer than 3 seconds" in verdict.unexplained
