"""The games of goldrush.games keep the laws of worlds, and come out as published."""

from statistics import mean

import pytest

import goldrush
from goldrush.games.double_auction import DoubleAuction
from goldrush.games.epidemic import Epidemic
from goldrush.games.fishery import Fishery
from goldrush.games.public_goods import PublicGoods
from goldrush.replay.find import tools_for
from goldrush.testing import WorldLaws


class TestFishery(WorldLaws):
    world = "goldrush.games.fishery:Fishery"
    settings = {"seasons": 4}


class TestPublicGoods(WorldLaws):
    world = "goldrush.games.public_goods:PublicGoods"
    settings = {"rounds": 3}
    roster = "reciprocal*2,fearful,selfish"


class TestDoubleAuction(WorldLaws):
    world = "goldrush.games.double_auction:DoubleAuction"
    settings = {"turns": 12}


class TestEpidemic(WorldLaws):
    world = "goldrush.games.epidemic:Epidemic"
    settings = {"days": 5, "people": 30}


def test_games_have_nothing_to_remark() -> None:
    games = (Fishery, PublicGoods, DoubleAuction, Epidemic)

    starts = [goldrush.record(world=game).at(0).state for game in games]

    assert [[]] * 4 == [
        tools_for(game).checks(start) for game, start in zip(games, starts, strict=True)
    ]


@pytest.mark.parametrize(
    ("roster", "settings", "agents"),
    [
        (["share", "greedy", "random"], {}, 3),
        ("share,greedy,random", {"agents": 7}, 7),
        (None, {}, 5),
    ],
)
def test_a_roster_of_names_is_an_agent_each_behind_every_door(
    tmp_path, roster, settings, agents
) -> None:
    of = {"seasons": 2, **settings}
    run = goldrush.record(Fishery, roster=roster, **of)
    rosters = {"asked": "mixed" if roster is None else roster}
    goldrush.study(
        tmp_path, world=Fishery, treatments=["baseline"], rosters=rosters, seeds=1, jobs=1, **of
    )
    [path] = tmp_path.rglob("*.journal")
    studied = goldrush.open(path, world=Fishery)

    assert [agents] * 2 == [len(each.last().state.landed) for each in (run, studied)]


def measured(game, name, seeds=5, **settings):
    """The mean of a measure over runs that differ in their seed."""
    return mean(
        goldrush.record(game, seed=seed, **settings).measures()[name] for seed in range(seeds)
    )


@pytest.mark.turns("published figures")
def test_an_epidemic_of_two_infections_a_person_reaches_four_fifths() -> None:
    assert 0.799 == pytest.approx(measured(Epidemic, "attack", 10), abs=0.0005)


@pytest.mark.turns("published figures")
def test_half_the_contacts_nearly_end_it() -> None:
    assert 0.097 == pytest.approx(
        measured(Epidemic, "attack", 10, treatment="distance"), abs=0.0005
    )


@pytest.mark.turns("published figures")
def test_traders_who_know_nothing_but_their_limit_realise_nearly_all_gains() -> None:
    constrained = measured(DoubleAuction, "efficiency", 20, roster="constrained*10")
    unconstrained = measured(DoubleAuction, "efficiency", 20, roster="unconstrained*10")

    assert 0.929 == pytest.approx(constrained, abs=0.0005)
    assert -0.131 == pytest.approx(unconstrained, abs=0.0005)


def test_who_can_be_fined_gives_more() -> None:
    roster = "reciprocal*2,fearful*2"
    fined = goldrush.record(PublicGoods, seed=1, roster=roster)
    not_fined = goldrush.record(PublicGoods, seed=1, roster=roster, treatment="no-fines")

    assert [44, 20] == [sum(run.last().state.gifts) for run in (fined, not_fined)]  # of 80
