"""Measures of a user's own: what a function is given, what it may give, and where it is shown."""

from __future__ import annotations

import csv
import json
import multiprocessing
from pathlib import Path

import pytest

import goldrush
from goldrush.kernel.errors import BadInput
from goldrush.replay.data.user_functions import user_measures
from goldrush.replay.study.measuring import results_of
from goldrush.replay.text import TABLE_DIGITS, format_number
from tests.cli.helpers import goldrush as command
from tests.pages import unpacked

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


def test_its_name_and_docstring_are_its_title_and_definition(folder: Path) -> None:
    known = goldrush.open(folder / "run.journal").measured(own(folder, "raids", "rich")).known

    assert known["raids"].title == "raids, a round"
    assert known["raids"].definition == "The number of raids that were resolved in a round."
    assert known["rich"].title == "rich"


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


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return 'many'", "measure wrong in round 1 gives 'many'; it must give a finite number"),
        ("return float('nan')", "measure wrong in round 1 gives nan"),
        ("return 10 ** 400", "measure wrong in round 1 gives 1000"),
        ("import numpy\n    return numpy.array(3.0)", "measure wrong in round 1 failed: TypeError"),
        ("return object()", "measure wrong in round 1 gives <object"),
        ("return {'a': 1}", "measure wrong in round 1 gives {'a': 1}"),
        ("return [1, 2]", r"measure wrong in round 1 gives \[1, 2\]"),
        ("return [0, 1, 2, 3, 4, 'x']", "measure wrong in round 1 gives .*'x'"),
        ("return 1 / (state.round - 3)", "measure wrong in round 3 failed: wrong, .*:2: ZeroDivi"),
        ("return 1 if state.round < 2 else state.gold", "measure wrong in round 2 gives .*always"),
        ("state.gold[0] += 1\n    return 1", "measure wrong in round 1 changed the state"),
        ("state.owner[0] = 5\n    return 1", "measure wrong in round 1 changed the state"),
        ("raise SystemExit(0)", "measure wrong in round 1 failed"),
    ],
)
def test_a_measure_that_gives_no_number_is_one_clear_error(
    folder: Path, tmp_path: Path, body: str, says: str
) -> None:
    (tmp_path / "wrong.py").write_text(f"def wrong(state):\n    {body}\n")
    with pytest.raises(BadInput, match=says):
        goldrush.open(folder / "run.journal").measures(f"{tmp_path / 'wrong.py'}:wrong")


def test_a_measure_that_changes_the_state_in_any_round_is_named() -> None:
    def wrong(state):
        state.gold[0] += state.round == 17
        return state.gold[0]

    with pytest.raises(BadInput, match="measure wrong in round 17 changed the state"):
        goldrush.record(rounds=18, seed=7, roster="raid*9").measures(wrong)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("none.py:raids", "none.py cannot be read"),
        ("own.py:raid", "no function in .*'raid'; .*raids"),
        ("own.py", "names no function; it has raids, every_raid"),
        ("broken.py:f", "broken.py:1 cannot be run"),
        ("odd.py:takes_all", "measure takes_all takes plan; its parameters are state, events"),
        ("odd.py:nothing", "measure nothing takes nothing"),
        ("odd.py:seed", "a measure cannot be called seed"),
        ("odd.py:gini", "the world has a measure gini"),
        ("odd.py:gold", "the world has a measure gold"),
    ],
)
def test_what_is_no_measure_is_refused_before_anything_is_read(
    folder: Path, given: str, says: str
) -> None:
    (folder / "broken.py").write_text("def f(:\n")
    (folder / "odd.py").write_text(
        "def takes_all(plan): ...\ndef nothing(): ...\ndef seed(state): ...\n"
        "def gini(state): ...\ndef gold(state): ...\n"
    )
    with pytest.raises(BadInput, match=says):
        goldrush.open(folder / "run.journal").measures(f"{folder}/{given}")
    with pytest.raises(BadInput, match=says):
        results_of(folder / "study", users=user_measures(f"{folder}/{given}"))


def test_two_of_one_name_are_refused(folder: Path) -> None:
    with pytest.raises(BadInput, match="two measures are called raids"):
        user_measures(own(folder, "raids", "raids"))


def test_commands_show_it_wherever_measures_are_shown(folder: Path) -> None:
    def run(*words: str) -> str:
        ran = command(*words, cwd=folder)
        assert ran.code == 0, ran.err
        return ran.out

    asked = ("--measure", "own.py:raids")
    value = goldrush.open(folder / "run.journal").measures(own(folder, "raids"))["raids"]
    [line] = [x for x in run("measure", "run.journal", *asked).splitlines() if "a round" in x]
    assert line.split()[3] == format_number(value, TABLE_DIGITS)
    found = json.loads(run("measure", "run.journal", *asked, "--json"))[0]
    assert found["run"]["raids"] == value
    rows = csv.DictReader(
        run("export", "run.journal", "--format", "csv", "--table", "rounds", *asked).splitlines()
    )
    assert 12 == sum(1 for row in rows if float(row["raids"]) >= 0)
    assert "raids, a round" in run("measure", "study", *asked)
    run("view", "run.journal", "--out", "run.html", *asked)
    assert "raids, a round" in unpacked((folder / "run.html").read_text(), "page").decode()
    said = run("report", "study", "--outcome", "raids", *asked)
    assert "the outcome is raids, a round, as mean over the rounds." in said
    assert "raids, a round" in (folder / "study" / "report.html").read_text()


def test_measures_of_agents_are_shown_by_policy(folder: Path) -> None:
    ran = command("measure", "run.journal", "--measure", "own.py:rich", cwd=folder)
    *_, table = ran.out.split("\n\n")
    measured = goldrush.open(folder / "run.journal").measured()
    gold = [
        sum(measured.by_agent["gold"][agent] for agent in some) / 3
        for some in ((0, 1, 2), (3, 4, 5))
    ]  # type: ignore[misc]
    rows = {line.split()[0]: line.split()[1:] for line in table.splitlines()[1:]}

    assert ["3", format_number(gold[0], TABLE_DIGITS)] == rows["greedy-mine"][:2]
    assert ["3", format_number(gold[1], TABLE_DIGITS)] == rows["raid"][:2]
    assert all(row[1] == row[3] for row in rows.values())  # gold, plots, and gold again


def test_what_it_prints_is_no_output(folder: Path) -> None:
    (folder / "loud.py").write_text("def loud(state):\n    print('hello')\n    return 1\n")
    ran = command("measure", "run.journal", "--json", "--measure", "loud.py:loud", cwd=folder)

    assert json.loads(ran.out)[0]["run"]["loud"] == 1
    assert 12 == ran.err.count("hello")


def test_worker_processes_run_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also processes that begin afresh, as on macOS."""
    monkeypatch.setattr("goldrush.agents.workers.SERIAL_MAX", 0)
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


def test_a_declared_measure_of_a_file_is_found_there_by_other_processes(tmp_path: Path) -> None:
    file = tmp_path / "its_declared.py"
    file.write_text(
        "import goldrush\n\n\n@goldrush.measure('seized', total=True)\n"
        "def seized(events):\n    return [len(events)]\n"
    )
    [measure] = user_measures(f"{file}:seized")
    [same] = user_measures(measure.declared)

    assert [f"{file}:seized"] * 2 == [measure.location, same.location]


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


def test_a_list_that_only_some_runs_give_is_undefined_in_the_others(
    folder: Path, tmp_path: Path
) -> None:
    path = tmp_path / "some.py"
    path.write_text("def some(state):\n    return state.gold if state.config.seed else None\n")
    out = tmp_path / "report.html"
    wanted = ["--measure", f"{path}:some", "--outcome", "some", "--out", out]
    ran = command("report", "study", *wanted, cwd=folder)

    assert (0, True) == (ran.code, out.is_file()), ran.err


def test_games_have_them_too() -> None:
    fishery = goldrush.record("goldrush.games.fishery:Fishery", seed=1)

    def stock(state) -> float:  # type: ignore[no-untyped-def]
        return state.stock

    with pytest.raises(BadInput, match="the world has a measure stock"):
        fishery.measures(stock)

    def twice(state) -> float:  # type: ignore[no-untyped-def]
        return 2 * state.stock

    found = fishery.measures(twice)
    assert found["twice"] == pytest.approx(2 * found["stock"])
