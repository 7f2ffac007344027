"""Measures of a user's own: what a function is given, what it may give, and where it is shown."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest

import goldrush
from goldrush.kernel.errors import BadInput
from goldrush.replay.data.user_functions import user_measures
from goldrush.replay.study.measuring import results_of
from tests.cli.helpers import goldrush as command

SOURCE = '''
import goldrush

def raids(events):
    """raids, a round

    The number of raids that were resolved in a round."""
    return sum(event.name == "raid_resolved" for event in events)

@goldrush.measure("raids in all", total=True)
def every_raid(events):
    return raids(events)

def rich(state):
    return state.gold

@goldrush.measure("plots, in all rounds", total=True)
def plot_rounds(state):
    return [len(plots) for plots in state.plots_of]

def rare(state, events):
    return float(state.round) if state.round % 2 and events else None
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of measures beside a run and a study."""
    folder = tmp_path_factory.mktemp("measured")
    (folder / "own.py").write_text(SOURCE)
    goldrush.record(folder / "run.journal", seed=7, rounds=12, roster="greedy-mine*3,raid*3")
    goldrush.study(
        folder / "study", treatments=["baseline", "scarce"], rosters="greedy-mine*4,raid*6",
        seeds=2, rounds=12, jobs=1,
    )  # fmt: skip
    return folder


def own(folder: Path, *names: str) -> list[str]:
    return [f"{folder / 'own.py'}:{name}" for name in names]


def test_events_and_the_state_are_those_of_each_unit(folder: Path) -> None:
    run = goldrush.open(folder / "run.journal")
    measured = run.measured(own(folder, "raids", "rich", "rare"))
    by_round = [0] * 12
    for event in run.events():
        if event.name == "raid_resolved":
            by_round[event.unit - 1] += 1
    gold = list(run.last().state.gold)

    assert sum(by_round) > 0
    assert by_round == list(measured.values["raids"])
    assert gold == list(measured.by_agent["rich"])
    assert [n if n % 2 else None for n in range(1, 13)] == list(measured.values["rare"])


def test_the_value_of_a_run_is_a_mean_a_last_value_or_a_sum(folder: Path) -> None:
    run = goldrush.open(folder / "run.journal")
    measured = run.measured(own(folder, "raids", "every_raid", "rich", "plot_rounds", "rare"))
    raids, plots = measured.values["raids"], measured.by_agent["plot_rounds"]

    assert measured.of("raids") == pytest.approx(sum(raids) / 12)
    assert measured.of("every_raid") == sum(raids)
    assert measured.compared("every_raid", burn_in=False) == (sum(raids[:6]), sum(raids[6:]))
    # After the burn-in of one round 5 and 6 are left, of which as many are summed.
    assert measured.compared("every_raid") == (sum(raids[1:6]), sum(raids[6:11]))
    assert measured.of("rich") == pytest.approx(sum(measured.by_agent["rich"]) / 6)
    assert measured.of("rare") == 6.0  # of the rounds in which it is defined
    assert sum(plots) == pytest.approx(6 * measured.of("plot_rounds"))


def test_functions_are_given_in_python(folder: Path) -> None:
    run = goldrush.open(folder / "run.journal")

    def poorest(state) -> float:  # type: ignore[no-untyped-def]
        return min(state.gold)

    assert run.measures(poorest)["poorest"] == run.measures([poorest])["poorest"]
    assert run.measures(poorest)["poorest"] == pytest.approx(
        sum(min(run.at(n).state.gold) for n in range(1, 13)) / 12
    )
    study = goldrush.Study.open(folder / "study")
    assert "poorest" in study.table(measures=poorest).column_names
    known = run.measured(own(folder, "raids")).known["raids"]
    assert ("raids, a round", True) == (known.title, "resolved in a round" in known.definition)
    with pytest.raises(BadInput, match="two measures are called raids"):
        user_measures(own(folder, "raids", "raids"))


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return 'many'", "wrong in round 1 gives 'many'"),
        ("return float('nan')", "wrong in round 1 gives nan"),
        ("return [1, 2]", r"wrong in round 1 gives \[1, 2\]"),
        ("return 1 / (state.round - 3)", "wrong in round 3 failed: wrong, .*:2: ZeroDivi"),
        ("return 1 if state.round < 2 else state.gold", "wrong in round 2 gives .*always"),
        ("state.gold[0] += state.round == 7\n    return 1", "wrong in round 7 changed the state"),
        ("raise SystemExit(0)", "wrong in round 1 failed"),
    ],
)
def test_a_measure_that_gives_no_number_is_one_clear_error(
    folder: Path, tmp_path: Path, body: str, says: str
) -> None:
    (tmp_path / "wrong.py").write_text(f"def wrong(state):\n    {body}\n")
    with pytest.raises(BadInput, match=says):
        goldrush.open(folder / "run.journal").measures(f"{tmp_path / 'wrong.py'}:wrong")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("none.py:raids", "none.py cannot be read"),
        ("own.py", "names no function; it has raids, every_raid"),
        ("odd.py:takes_all", "takes plan; its parameters are state, events"),
        ("odd.py:gini", "the world has a measure gini"),
    ],
)
def test_what_is_no_measure_is_refused_before_anything_is_read(
    folder: Path, given: str, says: str
) -> None:
    (folder / "odd.py").write_text("def takes_all(plan): ...\ndef gini(state): ...\n")
    with pytest.raises(BadInput, match=says):
        goldrush.open(folder / "run.journal").measures(f"{folder}/{given}")
    with pytest.raises(BadInput, match=says):
        results_of(folder / "study", users=user_measures(f"{folder}/{given}"))


def test_what_it_prints_is_no_output(folder: Path) -> None:
    (folder / "loud.py").write_text("def loud(state):\n    print('hello')\n    return 1\n")
    told = command("measure", "run.journal", "--measure", "loud.py:loud", "--json", cwd=folder)

    assert 1 == json.loads(told.out)[0]["run"]["loud"]
    assert 12 == told.err.count("hello")


def test_worker_processes_run_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also processes that begin afresh, as on macOS."""
    monkeypatch.setattr("goldrush.replay.workers.SERIAL_MAX", 0)
    monkeypatch.setattr("goldrush.replay.study.measuring.read_kept", lambda *given: None)
    users = user_measures(own(folder, "every_raid"))
    alone = results_of(folder / "study", jobs=1, users=users)
    before = multiprocessing.get_start_method()
    multiprocessing.set_start_method("spawn", force=True)
    try:
        shared = results_of(folder / "study", jobs=2, users=users)
    finally:
        multiprocessing.set_start_method(before, force=True)

    assert [[run.run for run in runs] for runs in alone.by_cell.values()] == [
        [run.run for run in runs] for runs in shared.by_cell.values()
    ]


def test_values_of_own_measures_are_never_cached(folder: Path, tmp_path: Path) -> None:
    """They may depend on files that no cache knows of."""
    path, other = tmp_path / "one.py", tmp_path / "value.txt"
    path.write_text(
        "import pathlib\n\ndef one(state):\n"
        f"    return int(pathlib.Path({str(other)!r}).read_text())\n"
    )
    values = []
    for value in ("1", "2"):
        other.write_text(value)
        results = results_of(folder / "study", jobs=1, users=user_measures(f"{path}:one"))
        values.append(next(iter(results.by_cell.values()))[0].run["one"])

    assert [1, 2] == values
