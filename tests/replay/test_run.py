"""Runs as Python objects: that each method is the tool it stands for."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import goldrush
import goldrush.testing
from goldrush.kernel.errors import BadInput
from goldrush.replay.data.measures import Measured
from tests import mining

ROOT = Path(__file__).resolve().parents[2]


class Hawk:
    """Raids the three first plots of others."""

    def plan(self, seen: Any, draws: Any) -> list[Any]:
        others = [plot for plot, owner in enumerate(seen.owners) if owner not in (None, seen.agent)]
        return [("raid", plot, 1) for plot in others[:3]]


@pytest.fixture(scope="module")
def run() -> goldrush.Run:
    return goldrush.record(seed=7, rounds=12, roster=["greedy-mine"] * 3 + ["random*3"])


def test_nothing_is_imported_before_it_is_used() -> None:
    script = (
        "import sys, goldrush; before = {'attrs', 'click', 'openai', 'numpy'} & set(sys.modules);"
        "assert not before, before; goldrush.BadInput; assert 'goldrush.replay' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=ROOT)


def test_every_public_name_is_there_and_none_hides_a_room() -> None:
    rooms = {"kernel", "replay", "agents", "cli", "testing"}
    names = set(goldrush.__all__)

    assert not rooms & names
    assert names <= set(dir(goldrush))
    seen = {name for face in (goldrush, goldrush.testing) for name in dir(face)}
    assert not {"Any", "TYPE_CHECKING", "import_module", "partial", "attrs"} & seen
    assert "__version__" in dir(goldrush)
    assert all(getattr(goldrush, name).__doc__ for name in names)
    with pytest.raises(AttributeError, match="no attribute 'claim'"):
        goldrush.claim  # noqa: B018


def test_the_same_arguments_are_the_same_bytes(run: goldrush.Run, tmp_path: Path) -> None:
    path = tmp_path / "again.journal"
    goldrush.record(path, seed=7, rounds=12, roster="greedy-mine*3,random*3")

    assert run.path.read_bytes() == path.read_bytes()


def test_a_run_is_as_long_as_its_closed_rounds_and_ends_with_the_last(run: goldrush.Run) -> None:
    assert 12 == len(run) == run.units == run.last().round


def test_a_temporary_journal_goes_with_its_run() -> None:
    run = goldrush.record(rounds=1)
    path = run.path
    assert path.exists()

    del run

    assert not path.parent.exists()


def test_events_are_narrowed_down(run: goldrush.Run) -> None:
    claims = list(run.events("claim_drawn", first=1, last=1, agent=2))

    assert {2, 3} == {event.unit for event in run.events(first=2, last=3)}
    assert claims
    assert all(event.unit == 1 and 2 in event["claimants"] for event in claims)
    assert len(claims) == len(run.log("claim_drawn", agent=2, first=1, last=1))
    assert run.log(agent=[1, 2]) == run.log(agent=range(1, 3)) == run.log(agent=iter({1, "2"}))
    assert run.log(plot=[12, 13]) == run.log(plot={12, (1, 3)}) == run.log(plot=range(12, 14))
    assert run.log(plot=(1, 2)) == run.log(plot=12) != run.log(plot=[1, 2])
    assert [] == run.log(agent=[]) == run.log(plot=iter(())) == run.log(agent=1, plot=set())
    assert run.audit(1, claims[0]["plot"])[0].holds
    with pytest.raises(BadInput, match="no agent 99; give one from 0 to"):
        list(run.events(agent=99))


def test_measures_and_tables_are_those_of_the_tools(run: goldrush.Run) -> None:
    measured = run.measured()

    assert isinstance(measured, Measured)
    assert run.measures()["turnover"] == measured.of("turnover")
    assert ["events", "rounds", "measures", "agents", "spells"] == run.tables()
    events = run.table()
    assert events.num_rows == run.verify().events
    assert events.column("event").to_pylist()[:2] == ["run_started", "submitted"]
    with pytest.raises(BadInput, match="no table 'plots'"):
        run.table("plots")


def test_objects_are_external_and_verified_when_given_back() -> None:
    class Eagle(Hawk): ...

    run = goldrush.record(seed=1, rounds=4, roster=["greedy-mine", Eagle(), Eagle()])

    assert ("external (2 agents)",) == tuple(run.verify().not_asked)
    given = run.verify(policies={1: Eagle, 2: Eagle()})
    assert given.holds
    assert not given.not_asked
    assert "greedy-mine,external[name=Eagle]*2" in repr(run)


def test_an_importable_class_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_policies.py").write_text(
        "import attrs\nfrom goldrush import integer, setting\n"
        "@attrs.frozen\nclass Claimer:\n    first: int = setting(0, integer(0, 99))\n"
        "    def plan(self, seen, draws):\n        return [('claim', self.first, 1)]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    from own_policies import Claimer  # type: ignore[import-not-found]

    run = goldrush.record(tmp_path / "own.journal", rounds=3, roster=[Claimer(first=4), Claimer()])

    assert "own_policies:Claimer[first=4],own_policies:Claimer" in repr(run)
    assert not run.verify().not_asked
    opened = goldrush.open(run.path)
    assert opened.verify().not_asked
    assert not goldrush.open(run.path, trust="own_policies:Claimer").verify().not_asked


@pytest.mark.parametrize(
    ("policies", "match"),
    [
        ({0: Hawk()}, "agent 0 is not external; external agents: 1, 2"),
        ({1: 5}, "agent 1 is '5'; give an object with a method `plan`"),
        ([Hawk()], "give the object of each external agent"),
    ],
)
def test_objects_of_no_external_agent_are_refused(
    policies: Any, match: str, tmp_path: Path
) -> None:
    class Eagle(Hawk): ...

    run = goldrush.record(rounds=2, roster=["greedy-mine", Eagle, Eagle()])
    with pytest.raises(BadInput, match=match):
        run.verify(policies=policies)
    with pytest.raises(BadInput, match=match):
        run.fork(1, tmp_path / "fork.journal", policies=policies)
    assert not (tmp_path / "fork.journal").exists()


def test_a_planned_run_is_estimated_and_then_recorded_as_any_other(tmp_path: Path) -> None:
    [asked] = goldrush.Run.plan(rounds=3, roster="llm:small*2,raid*2").estimate()
    planned = goldrush.Run.plan(rounds=3, roster="raid*4", treatment="scarce")

    assert ("small", 6) == (asked.model, asked.questions)
    assert [] == [*planned.estimate()]
    assert [] == [*tmp_path.iterdir()]
    run = planned.record(tmp_path / "run.journal")
    mining.record(tmp_path / "other.journal", {"rounds": 3}, "raid*4", "scarce")
    assert (tmp_path / "other.journal").read_bytes() == run.path.read_bytes()


def test_a_fork_takes_submissions_from_a_file(run: goldrush.Run, tmp_path: Path) -> None:
    """A file as export writes it; the last submission of the run is replaced by its first."""
    first, *_, last = run.events("submitted", agent=0)
    replaced = {**last.as_dict(), "actions": first["actions"]}
    (tmp_path / "submissions.jsonl").write_text(f"{json.dumps(replaced)}\n")

    path = tmp_path / "submissions.jsonl"
    listed, of_file, without = (run.fork(10, replace=given) for given in ([replaced], path, ()))

    assert listed.path.read_bytes() == of_file.path.read_bytes()
    assert without.path.read_bytes() != of_file.path.read_bytes()


def test_what_breaks_off_stays_and_is_named() -> None:
    class Fails(Hawk):
        def plan(self, seen: Any, draws: Any) -> list[Any]:
            assert seen.round < 3
            return []

    with pytest.raises(goldrush.PolicyFailed) as failed:
        goldrush.record(rounds=5, roster=[Fails()])
    [note] = failed.value.__notes__
    path = Path(note.partition(" is in ")[2])
    try:
        assert goldrush.open(path).info().units == 2
    finally:
        path.unlink()
        path.parent.rmdir()


def test_a_journal_lives_as_long_as_anything_made_of_its_run() -> None:
    events = goldrush.record(rounds=1).events()
    assert next(events).name == "run_started"
    kept = copy.deepcopy(goldrush.record(rounds=1))
    assert kept.verify().holds
    opened = goldrush.open(kept.path, trust="a:B", sources="a.journal", ask=lambda inquiry: "")
    copied = pickle.loads(pickle.dumps(opened))
    needed = copied.resources
    assert (kept.path, ("a:B",), ("a.journal",)) == (copied.path, needed.trust, needed.sources)


@pytest.mark.parametrize(
    ("ask", "match"),
    [
        (lambda run: run.at("3"), "the unit is '3'"),
        (lambda run: run.log(plot=7.5), "the place is '7.5'"),
        (lambda run: run.log(agent=["0", 1.5]), "agent is '1.5'"),
        (lambda run: goldrush.record(roster=Hawk()), "give text, or a list"),
        (lambda run: goldrush.record(roster="external*4"), "put the object in the list"),
        (lambda run: goldrush.open(None), "the path is None; give a str or a Path"),
        (lambda run: goldrush.open(run.path, sources=5), "a source is 5"),
    ],
)
def test_odd_arguments_are_refused_in_a_line(
    run: goldrush.Run, ask: Callable[[Any], Any], match: str
) -> None:
    with pytest.raises(BadInput, match=match):
        ask(run)
