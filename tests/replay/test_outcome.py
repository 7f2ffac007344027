"""The outcome of a run, held against its events; colours of policies."""

from itertools import groupby, pairwise
from pathlib import Path

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.kernel.errors import BadInput
from goldrush.kernel.measures import mean
from goldrush.replay.colours import GREY, hues_of
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.outcome import standings_of
from goldrush.replay.policies import TURN, beside, last_of, played
from goldrush.replay.run import Run
from goldrush.replay.studies import NO_STUDIES
from tests.golden import path_of
from tests.journals import commits_of

LABELS = st.lists(st.sampled_from("abcdefghijkl"), max_size=20)


def test_an_unfinished_run_says_nothing_of_its_end(tmp_path: Path) -> None:
    [sixth] = [c for c in commits_of(path_of("baseline")) if c.unit == 6 and c.digest]
    path = tmp_path / "stopped.journal"
    path.write_bytes(path_of("baseline").read_bytes()[: sixth.end])
    headline = Run(path).outcome().headline

    assert headline.startswith("After 6 of 20 rounds, ")
    assert " have " in headline
    assert "end" not in headline.replace("defend", "")
    assert "owner was" not in headline


def test_a_headline_has_the_last_change_of_an_owner(tmp_path: Path) -> None:
    run = Run.record(tmp_path / "claimed.journal", seed=1, rounds=8, roster="claim*3")
    rounds = [event.unit for event in run.events() if event.name == "claim_drawn"]
    last = max(rounds)

    assert min(rounds) < last < 8
    assert run.outcome().headline.endswith(f"The last change of owner was in round {last}.")


def test_what_agents_had_before_a_fork_is_not_put_down_to_their_new_policy() -> None:
    parent, fork = Run(path_of("baseline")), Run(path_of("forked"))
    rosters = (rebuild(run.path, 20).state.roster for run in (parent, fork))
    both = zip(*([entry["policy"] for entry in roster] for roster in rosters), strict=True)
    expected = [old if old == new else f"{old} → {new}" for old, new in both]

    assert expected == list(fork.outcome().policies)
    assert {one.policy for one in fork.outcome().standings} == set(expected)
    assert "random → raid" in fork.outcome().headline


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=3, max_size=3), min_size=1, max_size=5))
def test_what_an_agent_plays_is_told_in_order_and_each_change_once(rosters: list[str]) -> None:
    for agent, label in enumerate(played(rosters)):
        labels = label.split(TURN)
        assert all(one != other for one, other in pairwise(labels))
        assert labels == [one for one, _ in groupby(roster[agent] for roster in rosters)]
        assert last_of(label) == rosters[-1][agent]


@given(st.lists(LABELS, min_size=2, max_size=3))
def test_agents_of_two_runs_are_compared_with_themselves_if_there_are_as_many(
    rosters: list[list[str]],
) -> None:
    size = min(map(len, rosters))
    a, b, c = (rosters[at % len(rosters)][:size] for at in range(3))
    fork = played([a, b])
    other = played([a, c])

    assert (fork, fork) == beside(a, fork) == beside(fork, a)
    labels, same = beside(fork, other)
    assert labels == same
    for label, one, two in zip(labels, fork, other, strict=True):
        assert label in {one, two, f"{one} | {two}"}
        assert (label in (one, two)) or last_of(label) == label
    assert ([*a, "x"], a) == beside([*a, "x"], a)


def test_any_measure_can_be_the_outcome(tmp_path: Path) -> None:
    run = Run.record(tmp_path / "run.journal", seed=3, rounds=60, roster="greedy-mine*4,raid")
    whole = run.outcome("efficiency")

    assert whole.standings == []
    assert run.measures()["efficiency"] == whole.value
    assert whole.headline.startswith("Efficiency: ")
    with pytest.raises(BadInput, match="there is no measure 'silver'"):
        run.outcome("silver")


def test_a_run_without_a_closed_unit_has_no_outcome(tmp_path: Path) -> None:
    journal, path = path_of("baseline"), tmp_path / "cut.journal"
    path.write_bytes(journal.read_bytes()[: commits_of(journal)[0].end])  # START alone

    assert "No round is closed yet." == Run(path).outcome().headline


@given(st.lists(st.none() | st.floats(-1e9, 1e9), min_size=1, max_size=12), st.data())
def test_standings_hold_each_agent_once_and_in_order(
    values: list[float | None], data: st.DataObject
) -> None:
    policies = data.draw(
        st.lists(st.sampled_from("abc"), min_size=len(values), max_size=len(values))
    )
    standings = standings_of(values, policies)

    assert list(range(len(values))) == sorted(n for one in standings for n in one.agents)
    means = [one.mean for one in standings]
    assert [value for value in means if value is not None] == sorted(
        (value for value in means if value is not None), reverse=True
    )
    for one in standings:
        assert {one.policy} == {policies[agent] for agent in one.agents}
        assert mean([values[agent] for agent in one.agents]) == one.mean


# Colours


@given(LABELS, st.lists(st.sampled_from("abcdef"), unique=True))
def test_a_known_policy_has_the_same_hue_beside_any_others(
    labels: list[str], order: list[str]
) -> None:
    null = order[-1] if order else ""
    studies = attrs.evolve(NO_STUDIES, policies=order, null=null)
    hues = hues_of(labels, studies)

    assert set(labels) == set(hues)
    for label in set(labels) & set(order):
        assert hues_of([label], studies) == {label: hues[label]}
        assert (hues[label] == GREY) == (label == null)
    others = [hues[label] for label in dict.fromkeys(labels) if label not in order]
    for label in labels:
        assert hues[label] == hues_of([*labels, f"z → {label}"], studies)[f"z → {label}"]
    known = {hues[label] for label in hues if label in order}
    room = GREY - len(known - {GREY})
    assert len(set(others[:room])) == len(others[:room])
    assert known.isdisjoint(others) or room == 0
