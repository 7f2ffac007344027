"""The summary of a run: its headline, and its measures over the run and in the last unit."""

from pathlib import Path

from goldrush.replay.data.run_data import measured_at
from goldrush.replay.find import tools_at
from goldrush.replay.outcome import outcome_of
from goldrush.replay.summary import summarise
from goldrush.replay.text import format_number
from tests.mining import record


def test_a_summary_has_the_outcome_and_the_measures_of_the_run(path: Path) -> None:
    record(path, {"rounds": 40, "truce": 0}, "raid*3,claim*3,random*4")
    run, summary = measured_at(path), summarise(path)
    told = summary.as_dict()

    assert path.stat().st_size == summary.outline.bytes == told["bytes"]
    assert (40, True) == (told["rounds"], told["finished"])
    assert {name: run.of(name) for name in run.known} == told["run"]
    assert {name: values[39] for name, values in run.values.items()} == told["last"]
    assert outcome_of(tools_at(path), run).as_dict() == told["outcome"]


def test_its_text_has_a_row_for_each_chosen_measure(path: Path) -> None:
    record(path, {"rounds": 12}, "raid*5,claim*5")
    run = measured_at(path)
    _, sentences, standings, table = str(summarise(path)).split("\n\n")
    head, *rows = table.splitlines()
    chosen = [run.known[name] for name in tools_at(path).measures.of_runs]

    assert outcome_of(tools_at(path), run).sentences == sentences.splitlines()
    assert 3 == len(standings.splitlines())
    assert ["measure", "run", "last", "round"] == head.split()
    assert sorted(measure.column for measure in chosen) == [each.column for each in chosen]
    for measure, row in zip(chosen, rows, strict=True):
        last = run.values[measure.name][-1] if measure.by_unit else None
        assert row.startswith(measure.title)
        assert row.split()[-2:] == [format_number(of, 4) for of in (run.of(measure.name), last)]
