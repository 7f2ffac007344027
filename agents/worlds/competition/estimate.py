"""Estimates of questions, tokens and costs of the models in a season, before it begins.

The first PLAYED assignments are played with drawn values in place of tests; the other assignments
are extrapolated from the last LIKE of these. Models talk differently from stand-ins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import attrs

from goldrush.agents import estimate
from goldrush.agents.llm.budget import Estimate
from goldrush.agents.llm.models import Models
from goldrush.agents.llm.question import AROUND_MAX, Question
from goldrush.agents.players import PreparedRun, Resources
from goldrush.agents.seats import is_outside
from goldrush.agents.worlds.competition.arenas import bench_of, rules_of
from goldrush.agents.worlds.competition.bench import ALONE, Bench, Run, Tests
from goldrush.agents.worlds.competition.cast import SCRIPTED
from goldrush.agents.worlds.competition.play import SeasonPlay
from goldrush.agents.worlds.competition.script import Scripts
from goldrush.agents.worlds.competition.seats import models_in
from goldrush.agents.worlds.competition.versions import PROMPT
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.competition.arena import Arena, Conduct
from goldrush.kernel.worlds.competition.config import config_of
from goldrush.kernel.worlds.competition.state import SeasonState

PLAYED: Final = 12  # assignments, at most
LIKE: Final = 4  # assignments that are extrapolated


def estimates(prepared: PreparedRun, resources: Resources) -> list[Estimate]:
    """The estimate of each model in a cast. Test programs are not run. Raises BadInput as the
    season.
    """
    config, cast = config_of(prepared.facts["config"]), prepared.roster.entries
    chosen = models_in(cast)

    def most_in(name: str, questions: int) -> int:
        return questions * (PROMPT.longest + AROUND_MAX)

    return estimate.estimates(
        chosen, resources.models or Models(), config.assignments,
        lambda: questions(prepared, resources), _like_the_last, most_in,
    )  # fmt: skip


def questions(prepared: PreparedRun, resources: Resources) -> Iterator[Sequence[Question]]:
    """The questions to the models of a season in each of its first assignments. Test programs are
    not run.
    """
    config = config_of(prepared.facts["config"])
    # A stand-in keeps the options of the model whose seat it has, and newcomers inherit them.
    seats = [
        attrs.evolve(seat, policy=SCRIPTED) if is_outside(seat.policy) else seat
        for seat in prepared.roster.entries
    ]
    arena = config.arena
    world = competition(rules_of(arena))
    setup = {"config": config.as_dict(), "cast": [seat.as_dict() for seat in seats]}
    state = world.initial(setup)
    with Tests(arena, lambda: _guessing(arena, resources)) as tests:
        scripts = Scripts(tests)

        def play_of(state: SeasonState) -> SeasonPlay:
            return SeasonPlay(state, scripts, prepared.roster.trust)

        yield from estimate.asked_by_unit(world, state, play_of, PLAYED)


def _like_the_last(amounts: Sequence[int], left: int) -> int:
    like = amounts[-LIKE:]
    return round(left * sum(like) / len(like))


def _guessing(arena: Arena, resources: Resources) -> Bench:
    """The bench of an arena with drawn values in place of runs."""

    def test(conduct: Conduct, treatment: str, objective: str, seed: int) -> Run:
        word = Draws(objective, treatment, repr(conduct), seed).word()
        return word / 2**64, word

    bench = bench_of(arena, resources.program)
    return attrs.evolve(bench, test=test, together=None, deterministic=False, at_once=ALONE)
