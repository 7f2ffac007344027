"""What `why` says would have happened happens in the fork that it gives."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.kernel.world import RecordedEvent
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.why import Explanation
from goldrush.replay.worlds.mining.why import explained
from tests.golden import path_of
from tests.laws.test_forks import changes_of, few, runs
from tests.mining import fork


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("why")


@few
@given(st.data())
def test_what_would_have_happened_happens_in_the_fork(folder: Path, data: st.DataObject) -> None:
    run = data.draw(runs())
    change = data.draw(changes_of(run, plans=8))
    parent, path, out = run.recorded(folder / "parent"), folder / "path", folder / "out"
    fork(parent, run.at, path, force=True, **change.given)
    everything = list(explained(path))
    told = [one for one in everything if one.change is not None]
    incidents = [e for e in log(path) if _is_incident(e)]

    assert len(everything) == sum(len(e.fields.get("removed", "-")) for e in incidents)
    assert all(one.change for one in everything if one.kind in ("blocked raid", "contested claim"))
    for one in everything:
        if one.unit - 1 == run.at:
            continue  # the fork changed the settings after the state
        if one.kind == "capture":
            assert (one.change is not None) == _could_hold(path, one)
        if one.change is not None:
            plan, staminas = one.change.submissions[0], rebuild(path, one.unit - 1).state.staminas
            assert sum(points for _, _, points in plan["actions"]) <= staminas[plan["agent"]]
    if told:
        kind = data.draw(st.sampled_from(sorted({one.kind for one in told})))
        one = data.draw(st.sampled_from([one for one in told if one.kind == kind]))
        fork(path, one.unit - 1, out, replace=one.change.submissions, force=True)
        events = list(log(out, Query(one.unit, one.unit)))

        assert _came_true(one, [event for event in events if event.unit == one.unit])


def test_every_raid_that_points_stopped_would_have_captured_with_one_point_less(
    folder: Path,
) -> None:
    path, out = path_of("defense-pointwise"), folder / "out"
    blocked = [one for one in explained(path) if one.kind == "blocked raid"]

    assert len(blocked) == 33
    for one in blocked[:8]:
        assert one.change is not None
        fork(path, one.unit - 1, out, replace=one.change.submissions, force=True)

        assert _came_true(one, list(log(out, Query(one.unit, one.unit))))


def _is_incident(event: RecordedEvent) -> bool:
    """Whether something has to be said of an event."""
    return event.name in ("raid_resolved", "pruned") or (
        event.name == "claim_drawn" and len(event["claimants"]) > 1
    )


def _could_hold(path: Path, capture: Explanation) -> bool:
    """Whether the owner of a captured plot could have defended it: it had it and the stamina."""
    [raid] = [
        event
        for event in log(path, Query(capture.unit, capture.unit, names=["raid_resolved"]))
        if event["plot"] == capture.location
    ]
    before = rebuild(path, capture.unit - 1).state
    owner = raid["owner"]
    raiders = len({*raid["raiders"]} - {owner})
    needed = raiders if before.config.defense == "pointwise" else 1
    return before.owner[raid["plot"]] == owner and before.staminas[owner] >= needed


def _came_true(one: Explanation, events: list[RecordedEvent]) -> bool:
    """Whether the round came out as the change says."""
    assert one.change is not None
    claims, raids, pruned = (
        [e for e in events if e.name == name and e[of] == which]
        for name, of, which in (
            ("claim_drawn", "plot", one.location),
            ("raid_resolved", "plot", one.location),
            ("pruned", "agent", one.change.agent),
        )
    )
    if pruned:
        return False
    if one.kind == "capture":
        return [raid["outcome"] for raid in raids] == ["blocked"]
    if one.kind == "blocked raid":
        given_back = [e["remedy"] == "restored" for e in events if e.name == "ruled"
                      and e["plot"] == one.location] == [True]  # fmt: skip
        says = "given back by the authority" in one.change.text
        return [raid["outcome"] for raid in raids] == ["captured"] and given_back == says
    if one.kind == "contested claim":
        [winner] = [claim["winner"] for claim in claims]
        return one.change.text.startswith(f"agent {winner} would have won")
    if one.kind == "void raid":
        return [claim["winner"] for claim in claims] == [one.change.agent]
    return False
