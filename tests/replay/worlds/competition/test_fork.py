"""A season played anew from an assignment on, and what came of it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import UNIT, JournalReader
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.journal.consequences import consequences
from goldrush.replay.journal.diff import diff
from tests.journals import events_of
from tests.seasons import fork, resume, small

AT = 1


TURN = {"assignment": 3, "table": 0, "round": 0, "agent": 5}


@pytest.fixture(scope="module")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small(tmp_path_factory.mktemp("seasons") / "parent.journal", assignments=5)


def first_proposal(path: Path, assignment: int) -> dict[str, Any]:
    return next(
        e.as_dict()
        for e in events_of(path)
        if e.unit == assignment and e.name == "spoke" and e["move"] == "propose"
    )


def by_hand(said: Mapping[str, Any]) -> dict[str, Any]:
    """The same turn with another idea, as somebody would type it."""
    return {**said, "conduct": "110011001100", "claim": [0.99, None], "words": "by hand"}


@pytest.fixture(scope="module")
def forked(parent: Path) -> Path:
    path = parent.with_name("forked.journal")
    fork(parent, AT, path, replace=[by_hand(first_proposal(parent, 2))])
    return path


def test_a_fork_without_a_change_comes_to_the_same(parent: Path, tmp_path: Path) -> None:
    for at in (-1, 0, 4):
        path = tmp_path / f"{at}.journal"
        fork(parent, at, path)
        names = {"forked"}

        assert [e for e in events_of(path) if e.name not in names] == events_of(parent)


def test_what_is_put_in_by_hand_is_said_in_that_turn(parent: Path, forked: Path) -> None:
    said = first_proposal(parent, 2)
    [spoke] = [
        e
        for e in events_of(forked)
        if (e.name, e.unit) == ("spoke", 2)
        and (e["agent"], e["round"]) == (said["agent"], said["round"])
    ]  # fmt: skip

    assert ("by hand", "110011001100") == (spoke["words"], spoke["conduct"])
    assert [] == measured_at(forked).unsaid


def test_diff_names_the_contribution_and_how_conclusions_and_scores_moved(
    parent: Path, forked: Path
) -> None:
    found = diff(parent, forked)
    came = consequences(found)
    agent = first_proposal(parent, 2)["agent"]

    assert [("submission", 2, str(agent))] == [(c.kind, c.round, c.name) for c in found.causes]
    assert (2, 4) == (came.since, came.until)
    by_agent = [measured_at(path).by_agent["score"] for path in (parent, forked)]
    assert [*zip(*by_agent, strict=True)] == [(each.a, each.b) for each in came.agents]
    assert json.dumps(came.as_dict())


def test_a_fork_that_broke_off_goes_on_with_what_was_put_in(parent: Path, tmp_path: Path) -> None:
    whole, broken = tmp_path / "whole.journal", tmp_path / "broken.journal"
    late = by_hand(first_proposal(parent, 3))
    fork(parent, 0, whole, replace=[late])
    with JournalReader(whole) as reader:
        cut = next(c.after.offset for c in reader if c.kind == "unit" or c.unit == 2)
    broken.write_bytes(whole.read_bytes()[:cut])
    resume(broken)

    assert whole.read_bytes() == broken.read_bytes()


def test_a_fork_with_other_settings_and_another_cast(parent: Path, path: Path) -> None:
    state = fork(
        parent, 2, path, settings={"scoring": "absolute", "assignments": 4},
        roster="ada=tests.replay.worlds.competition.test_fork:Silent",
    )  # fmt: skip
    spoke = [e for e in events_of(path) if e.unit == 3 and e.name == "spoke" and e["agent"] == 5]

    assert ("absolute", 4) == (state.config.scoring, state.assignment)
    assert {None} == {e["move"] for e in spoke}  # which the kernel refuses
    assert all(not e["steps"] or e["steps"][0][0] != "relative"
               for e in events_of(path) if e.name == "scored" and e.unit == 3)  # fmt: skip


class Silent:
    """A worker that says nothing."""

    def __getattr__(self, name: str) -> Any:
        return lambda seen, draws, **told: None


class Mute:
    """Has no method at all."""


def test_a_turn_can_come_until_its_assignment_is_closed(parent: Path, tmp_path: Path) -> None:
    whole, open_ = tmp_path / "whole.journal", tmp_path / "open.journal"
    turns = [{"assignment": at, "table": 1, "round": 0, "agent": 5} for at in (3, 4)]
    fork(parent, 1, whole, replace=[{**turn, "move": "pass"} for turn in turns])
    with JournalReader(whole) as reader:
        [closed] = [c.after.offset for c in reader if c.kind == UNIT and c.unit == 4 and c.digest]
    open_.write_bytes(whole.read_bytes()[:closed])

    assert [(3, 1, 0, 5), (4, 1, 0, 5)] == measured_at(whole).unsaid
    assert [(3, 1, 0, 5)] == measured_at(open_).unsaid


def test_a_fork_of_somebodys_code_needs_trust(parent: Path, tmp_path: Path) -> None:
    own, again, silent = tmp_path / "own.journal", tmp_path / "again.journal", f"{__name__}:Silent"
    fork(parent, 2, own, roster=f"ada={silent}")

    for trust in ([], [f"{__name__}:Other"]):
        with pytest.raises(BadInput, match="--trust"):
            fork(own, 3, again, trust=trust)
    fork(own, 3, again, trust=[silent])
    scored = [[e for e in events_of(path) if e.name == "scored"] for path in (again, own)]

    assert scored[0] == scored[1]


@pytest.mark.parametrize(
    ("at", "what", "says"),
    [
        (5, {}, "give one from -1 to 4"),
        (2, {"settings": {"workers": 7}}, "workers cannot change"),
        (2, {"settings": {"assignments": 2}}, "give 3 or more"),
        (2, {"program": "/bin/true"}, "takes no program"),
        (2, {"roster": "nobody=scripted"}, "names no agent or role"),
        (2, {"replace": [{**TURN, "assignment": 2, "move": "pass"}]}, "assignments 3 to "),
        (
            2, {"replace": [{**TURN, "move": "pass"}] * 2},
            "agent 5 in assignment 3, table 0, round 0 cannot be replaced; .* and each place once",
        ),
        (2, {"replace": [{"assignment": 3, "table": 0, "round": 0, "agent": 0}]}, "0 is none of"),
        (2, {"roster": "judge=tests.replay.worlds.competition.test_fork:Mute"},
         "has no method judge"),
        (2, {"replace": [{**TURN, "move": "dance"}]}, "does not have a valid form"),
    ],
)  # fmt: skip
def test_a_fork_that_cannot_be_is_refused_and_writes_nothing(
    at: int, what: dict[str, Any], says: str, parent: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.journal"

    with pytest.raises(BadInput, match=says):
        fork(parent, at, out, **what)
    assert not out.exists()
