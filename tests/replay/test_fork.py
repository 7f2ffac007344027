"""Forks of mining runs: the parent's bytes, what changes, the rest played anew; and resumed."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from goldrush.agents.players import Resources
from goldrush.kernel import files
from goldrush.kernel.errors import (
    BadInput,
    MalformedEvents,
)
from goldrush.kernel.journal import (
    FORK,
    FORKS_MAX,
    UNIT,
    Commit,
)
from goldrush.kernel.worlds.mining.config import ALL
from goldrush.kernel.worlds.mining.treatments import TREATMENTS
from goldrush.replay.arguments import submissions_in
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.verify import verify
from tests.journals import commits_of, damaged, logged, write
from tests.mining import fork, record, resume

ROUNDS = 9
SETTINGS = {"rounds": ROUNDS, "rows": 4, "cols": 4, "seed": 3}
ROSTER = "raid,claim,greedy-mine,tit-for-tat-raid,random*2"
AGENTS = 6
FIXED_BY = ("agents-20", "scarce", "scarce-20")  # treatments that change the grid or the agents


def after(path: Path, round: int) -> list[dict[str, Any]]:
    """The events after a round, but for forks."""
    return [e for e in logged(path) if e.get("round", 0) > round and e["event"] != "forked"]


def claims(round: int, agent: int, *plots: int, **more: Any) -> dict[str, Any]:
    """A submission to be put in by hand."""
    return {
        "round": round,
        "agent": agent,
        "actions": [["claim", plot, 1] for plot in plots],
        **more,
    }


def submissions(path: Path) -> dict[tuple[int, int], dict[str, Any]]:
    return {(e["round"], e["agent"]): e for e in logged(path, "submitted")}


@pytest.fixture(scope="module")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journals") / "parent.journal"
    record(path, SETTINGS, ROSTER)
    return path


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "fork.journal"


@pytest.fixture
def visitor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A policy of somebody's own, by name."""
    (tmp_path / "visiting.py").write_text(
        "class Visitor:\n"
        "    def plan(self, seen, draws):\n"
        "        return [('raid', plot, 1) for plot in draws.shuffled(seen.others)[:3]]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    yield "visiting:Visitor"
    sys.modules.pop("visiting", None)


# What a fork is.


# Treatments.


@pytest.mark.parametrize("treatment", [name for name in TREATMENTS if name not in FIXED_BY])
def test_forked_at_its_start_under_a_treatment_a_run_is_one_recorded_under_it(
    parent: Path, out: Path, treatment: str
) -> None:
    fork(parent, 0, out, treatment=treatment)
    record(out.with_name("recorded"), SETTINGS, ROSTER, treatment)

    assert after(out, 0) == after(out.with_name("recorded"), 0)


# Rosters.


def test_recorded_agents_of_the_parent_play_on_where_their_journal_is_given(
    parent: Path, out: Path
) -> None:
    played = out.with_name("played")
    record(played, SETTINGS, f"recorded:{parent}*6")
    with pytest.raises(BadInput, match="give that journal"):
        fork(played, 4, out)
    refused = not out.exists()
    fork(played, 4, out, sources=[str(parent)])

    assert refused
    assert after(out, 4) == after(played, 4)
    assert verify(out, resources=Resources(sources=[str(parent)])).holds


def test_a_recording_that_is_played_is_not_overwritten(parent: Path, out: Path) -> None:
    record(out, SETTINGS, ROSTER)
    before = out.read_bytes()
    with pytest.raises(BadInput, match="is a journal that `recorded` agents replay"):
        fork(parent, 4, out, roster=f"recorded:{out}", force=True)

    assert out.read_bytes() == before


def test_a_policy_of_somebodys_own_in_the_parent_plays_only_where_it_is_trusted(
    out: Path, visitor: str
) -> None:
    theirs = out.with_name("theirs")
    record(theirs, SETTINGS, f"{visitor}*2,raid*4")
    with pytest.raises(BadInput, match="allow it with trust"):
        fork(theirs, 4, out)
    refused = not out.exists()
    fork(theirs, 4, out, trust=[visitor])
    fork(theirs, 4, out.with_name("without"), roster="claim*6")

    assert refused
    assert after(out, 4) == after(theirs, 4)
    assert verify(out.with_name("without")).holds


# Submissions put in by hand.


def test_a_submission_by_hand_is_cleaned_as_an_agents_is(parent: Path, out: Path) -> None:
    items = [None, ["claim", 2**70, 1], ["raid", 1, 1], None, *[["mine", 0, 1]] * 1000]
    item = {"round": 5, "agent": 0, "actions": items, "say": "a\x1bb", "error": "no-json"}
    silent = {"round": 6, "agent": 0, "actions": [], "error": "refusal", "source": {"model": "x"}}
    fork(parent, 4, out, settings={"communication": True}, replace=[item, silent])
    found = submissions(out)

    assert found[5, 0]["actions"][:4] == [None, None, ["raid", 1, 1], None]
    assert (len(found[5, 0]["actions"]), found[5, 0]["error"]) == (1000, "overflow")
    assert found[5, 0]["say"] == "ab"
    assert (found[6, 0]["error"], found[6, 0]["source"]) == ("refusal", None)
    assert verify(out).holds


@pytest.mark.parametrize(
    ("items", "says"),
    [
        ([claims(4, 0, 1)], "round 4"),
        ([claims(10, 0, 1)], "round 10"),
        ([claims(5, 0, 1), claims(5, 0, 1)], "each place once"),
        ([claims(5, AGENTS, 1)], "agent is 6; it must be from 0 to 5"),
        ([{**claims(5, 0), "round": "5"}], "has round '5'"),
        ([{**claims(5, 0), "actions": [["claim", 0, 1.0]]}], "item 0 is"),
        ([claims(5, 0, memo="x" * 2001)], "memo must be text"),
        ([claims(5, 0, gold=5)], "submission 1 is"),
        ([claims(5, 0, event="pruned")], "is a 'pruned' event"),
    ],
)
def test_what_is_no_submission_of_a_round_to_come_is_refused(
    parent: Path, out: Path, items: list[Any], says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        fork(parent, 4, out, replace=items)

    assert not out.exists()


def test_submissions_are_read_from_lines() -> None:
    """A line ends where JSON lines say: text may hold other separators as they are."""
    one, two = claims(5, 0, 1, memo="a\u2028b\x85c"), claims(6, 1, 2)
    lines = [json.dumps(item, ensure_ascii=False) for item in (one, two)]

    assert submissions_in("\n\n".join([*lines, ""]), "x") == [one, two]


@pytest.mark.parametrize("text", ["", '{"a": 1}\n{', "[" * 100_000])
def test_text_that_holds_no_submissions_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="some lines"):
        submissions_in(text, "some lines")


# Forks of forks.


def actions(path: Path, round: int, agent: int) -> list[Any]:
    found: list[Any] = submissions(path)[round, agent]["actions"]
    return found


@pytest.fixture
def first(parent: Path, tmp_path: Path) -> Path:
    """A fork at round 3 with submissions put in for rounds 5 and 8."""
    path = tmp_path / "first.journal"
    fork(parent, 3, path, replace=[claims(8, 1, 2), claims(5, 0, 1)])
    return path


def test_of_two_submissions_for_one_place_that_of_the_later_fork_goes_first(
    first: Path, out: Path
) -> None:
    fork(first, 4, out, replace=[claims(8, 1, 3)])
    third = out.with_name("third")
    fork(out, 6, third)

    assert actions(out, 5, 0) == [["claim", 1, 1]]
    assert actions(out, 8, 1) == actions(third, 8, 1) == [["claim", 3, 1]]
    assert all(verify(path, 4).holds for path in (first, out, third))


# Parents of all sorts.


@pytest.mark.parametrize("torn", [False, True])
def test_damage_behind_the_fork_does_not_matter_where_the_record_is_read_again(
    parent: Path, out: Path, torn: bool
) -> None:
    broken = damaged(parent, out.with_name("damaged"), 10)
    if torn:
        broken.write_bytes(parent.read_bytes()[: commits_of(parent)[8].end + 20])
    fork(broken, 8, out, settings={"visibility": ALL})

    assert verify(out).holds


def test_a_run_that_breaks_off_inside_its_fork_is_not_taken_for_its_parents(
    parent: Path, out: Path
) -> None:
    """Cut behind the byte that says FORK, with and without zeros in place of the rest."""
    whole = out.with_name("whole")
    fork(parent, 5, whole, settings={"stamina": 3})
    [place] = [commit for commit in commits_of(whole) if commit.kind == FORK]
    data = whole.read_bytes()
    for cut in range(place.offset + 13, place.end, 3):
        for zeros in (0, 1, place.end - cut, 500):
            left = data[:cut] + bytes(zeros)
            if left[: place.end] == data[: place.end]:
                continue  # the rest of it was zeros: it is whole
            out.write_bytes(left)
            with pytest.raises(BadInput, match="ends inside a fork"):
                resume(out)
            with pytest.raises(BadInput, match="ends inside a fork"):
                fork(out, 5, out.with_name("again"))

            assert left == out.read_bytes()
            assert not out.with_name("again").exists()
            assert (broken := verify(out, 1).broken) is not None
            assert not broken.torn


def test_a_parent_whose_digest_its_events_do_not_give_is_refused(parent: Path, out: Path) -> None:
    whole = commits_of(parent)
    false = Commit(UNIT, 4, (whole[4].digest or 0) ^ 1, whole[4].blocks)
    path = write(out.with_name("forged"), [*whole[:4], false])
    with pytest.raises(MalformedEvents, match="but its events give"):
        fork(path, 4, out)

    assert not out.exists()


# Resumed.


def cuts(path: Path) -> list[int]:
    """Where to cut a fork's file: at each commit boundary behind the fork, and inside commits."""
    commits = commits_of(path)
    forked = max(commit.index for commit in commits if commit.kind == FORK)
    places = [commit.end for commit in commits[forked:-1]]
    return [place + more for place in places for more in (0, 1, 11, 15)]


def test_a_fork_of_a_fork_with_submissions_pending_from_both_is_resumed(
    first: Path, out: Path
) -> None:
    fork(first, 6, out, replace=[claims(8, 0, 3), claims(9, 5, 4)], settings={"visibility": 3})
    data = out.read_bytes()
    for cut in cuts(out):
        out.write_bytes(data[:cut])
        resume(out)

        assert out.read_bytes() == data, cut


# Who is asked when a fork is verified.


def test_who_was_not_asked_before_the_fork_and_after_it_is_told(out: Path, visitor: str) -> None:
    theirs, none, more = (out.with_name(name) for name in ("theirs", "none", "more"))
    record(theirs, SETTINGS, f"{visitor}*2,raid*4")
    fork(theirs, 5, none, roster="raid*6")
    fork(theirs, 5, more, roster=f"{visitor}*3,raid*3")
    fork(theirs, 5, out, trust=[visitor], settings={"stamina": 5})
    two, three = f"{visitor} (2 agents)", f"{visitor} (3 agents)"

    assert [verify(path).not_asked for path in (none, more, out)] == [(two,), (two, three), (two,)]
    trusting = Resources(trust=[visitor])
    for path in (none, more, out):
        assert () == verify(path, resources=trusting).not_asked
    assert all(4 in (v.level, v.level_in_part) for v in map(verify, (none, more, out)))


def test_a_plan_put_in_by_hand_is_checked_whoever_can_be_asked(out: Path, visitor: str) -> None:
    theirs = out.with_name("theirs")
    record(theirs, SETTINGS, f"{visitor}*6")
    fork(theirs, 5, out, trust=[visitor], replace=[claims(7, 2, 3)])
    assert (verify(out).holds, verify(out).level_in_part) == (True, 4)
    commits = commits_of(out)
    [place] = [n for n, commit in enumerate(commits) if commit.kind == FORK]
    facts = commits[place].setup or {}
    [(round, row)] = facts["replaced"]
    another = (round, (row[0], ((2, 4, 1),), *row[2:]))
    commits[place].setup = {**facts, "replaced": [another]}
    broken = verify(write(out, commits)).broken

    assert (broken.level, "round 7" in broken.where) == (4, True)


def test_an_agent_that_plays_on_wrongly_after_a_fork_breaks_level_4(
    parent: Path, out: Path
) -> None:
    fork(parent, 5, out, settings={"stamina": 5})
    other = out.with_name("other")
    fork(parent, 5, other, settings={"stamina": 5}, replace=[claims(7, 0)])
    one, two = commits_of(out), commits_of(other)
    write(out, [*two[:6], one[6], *two[7:]])  # the fork does not say what was put in
    broken = verify(out).broken

    assert verify(out, 3).holds
    assert (broken.level, "round 7" in broken.where, "submitted" in broken.where) == (4, True, True)


@pytest.mark.parametrize(
    "facts",
    [
        {"parent": "x" * 64}, {"changes": {"rows": 5}}, {"roster": ()}, {"more": 1},
        {"replaced": ((5, (0, (), None, None, None, None)),)}, {"note": b"bytes"},
    ],
)  # fmt: skip
def test_a_fork_that_the_world_does_not_take_breaks_level_2_and_is_no_event(
    parent: Path, out: Path, facts: dict[str, Any]
) -> None:
    fork(parent, 5, out)
    whole = commits_of(out)
    false = Commit(FORK, 5, whole[6].digest, setup={**(whole[6].setup or {}), **facts})
    write(out, [*whole[:6], false, *whole[7:]])
    for level in (2, 3, 4):
        broken = verify(out, level).broken

        assert (broken.level, "commit 6" in broken.where) == (2, True)
    with pytest.raises(MalformedEvents, match="commit 6"):
        rebuild(out, 7)


# What is refused leaves nothing.


@pytest.mark.parametrize(
    ("at", "changes", "says"),
    [
        (-1, {}, "there is no round -1"),
        (ROUNDS + 1, {}, "has no closed round 10; give one from 0 to 9"),
        (4, {"settings": {"rounds": 3}}, "forked at 4"),
        (4, {"settings": {"rows": 5}}, "rows cannot change"),
    ],
)
def test_what_is_refused_leaves_no_file_and_keeps_one_that_was_there(
    parent: Path, out: Path, at: int, changes: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        fork(parent, at, out, **changes)
    none_made = not out.exists()
    out.write_bytes(files.JOURNAL)
    with pytest.raises(BadInput, match=says):
        fork(parent, at, out, force=True, **changes)

    assert none_made
    assert out.read_bytes() == files.JOURNAL


def test_a_run_can_be_forked_so_often_and_no_more(parent: Path, out: Path) -> None:
    whole = commits_of(parent)
    fork(parent, 2, out)
    once = commits_of(out)
    again = [*whole[:3], *[once[3]] * (FORKS_MAX - 1)]
    fork(write(out.with_name("almost"), again), 2, out.with_name("last"))
    full = write(out.with_name("full"), [*whole[:3], *[once[3]] * FORKS_MAX])
    with pytest.raises(BadInput, match=f"has {FORKS_MAX} forks"):
        fork(full, 2, out.with_name("more"))

    assert verify(out.with_name("last")).holds
    assert not out.with_name("more").exists()
