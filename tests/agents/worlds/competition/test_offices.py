"""What scripted offices do, at tables made by hand."""

from goldrush.agents.worlds.competition.arenas import bench_of
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.offices import Admin, Judge
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.competition.terms import Phase, Signal
from tests.kernel.worlds.competition.seasons import (
    ADA,
    ADMIN,
    BEN,
    CLEO,
    JUDGE,
    MINERS,
    RAIDERS,
    Season,
    given,
    propose,
    silent,
    support,
)


def seen(season: Season, agent: int) -> SeasonObservation:
    return SeasonObservation(season.state, agent, bench_of(season.config.arena))


def signal(season: Season) -> tuple[str, list[int]]:
    answer = Judge().judge(seen(season.to(Phase.JUDGE), JUDGE), Draws(1, "judge"))
    return answer["signal"], answer["ids"]


def test_the_admin_opens_with_the_objective_that_a_contract_asks_for() -> None:
    season = given().has(ADA, stage=4, interview_from=0)
    before = Admin().open(seen(season, ADMIN), Draws(1, "admin"))
    season.signs(ADA, (("objective", "gini"),)).until(1)
    after = Admin().open(seen(season, ADMIN), Draws(1, "admin"))

    assert seen(season, ADMIN).agenda().key != after["subjects"][0]
    assert "gini" == after["subjects"][0][0]
    assert 1 == len(before["subjects"])


def test_the_judge_redirects_what_is_repeated_in_the_round_that_was_spoken() -> None:
    season = given().says(propose(ADA), propose(BEN), propose(CLEO, RAIDERS))

    assert (Signal.REDIRECT, [1]) == signal(season)
    season.judges("clean").says(propose(ADA, ("raid", None, 0, "scarce")))
    assert Signal.REDIRECT != signal(season)[0]


def test_the_judge_ends_a_table_that_agrees_once_nobody_proposes() -> None:
    season = given().says(propose(ADA, MINERS), support(BEN, 0), support(CLEO, 0))

    assert Signal.CLEAN == signal(season)[0]
    season.judges("clean").says(silent(ADA), silent(BEN), silent(CLEO))
    assert Signal.CONVERGED == signal(season)[0]
