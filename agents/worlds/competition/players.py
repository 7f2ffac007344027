"""The `Players` of seasons, and functions that prepare them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from goldrush.agents.llm.models import Models
from goldrush.agents.llm.question import AnswerFields, Question
from goldrush.agents.players import (
    Facts,
    ForkChange,
    Players,
    PolicyCheck,
    PreparedRun,
    ResolvedChange,
    Resources,
    RunContext,
)
from goldrush.agents.roster import Roster
from goldrush.agents.seats import (
    check_people,
    distinct_models,
    is_outside,
    with_models_resolved,
)
from goldrush.agents.session import asked_by_unit
from goldrush.agents.trust import check_trust, import_names
from goldrush.agents.worlds.competition.arenas import (
    KINDS,
    NoProgram,
    arena_record,
    bench_of,
    bench_type,
    opened_tests,
    rules_of,
)
from goldrush.agents.worlds.competition.bench import Tests, guessing
from goldrush.agents.worlds.competition.cast import (
    CATALOGUE,
    POLICY_SET,
    SCRIPTED,
    cast_of,
    check_playable,
    is_own,
)
from goldrush.agents.worlds.competition.seats import Seat, answer_in, short_schema
from goldrush.agents.worlds.competition.treatments import TREATMENTS
from goldrush.agents.worlds.competition.versions import PROMPT
from goldrush.kernel.errors import BadInput
from goldrush.kernel.settings import check_setting
from goldrush.kernel.treatments import treatment_named
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.competition.config import SeasonConfig, config_of
from goldrush.kernel.worlds.competition.events import CODES, Answered
from goldrush.kernel.worlds.competition.state import SeasonState, initial
from goldrush.kernel.worlds.competition.terms import OFFICES, Role, Status

if TYPE_CHECKING:
    from goldrush.agents.session import Session


def configured(
    settings: Mapping[str, Any],
    resources: Resources = Resources(),
) -> SeasonConfig:
    """The configuration of a season. The setting `arena` may be an Arena, its record, or text (see
    arenas.arena_record). Raises BadInput for invalid settings or options.
    """
    arena = settings.get("arena")
    if arena is None or isinstance(arena, str):
        assignments = settings.get("assignments", 40)
        # An arena may list subjects for each assignment, and an option of it may take the seed.
        check_setting(SeasonConfig, "assignments", assignments)
        seed = settings.get("seed", 0)
        check_setting(SeasonConfig, "seed", seed)
        arena = arena_record(arena, assignments, resources.program, seed)
    return config_of({**settings, "arena": arena})


def prepared(config: SeasonConfig, cast: Sequence[Seat] | None = None) -> PreparedRun:
    """A season that is ready to begin. Raises BadInput for an invalid cast or policy."""
    cast = list(cast or cast_of(config.workers))
    trust = import_names(seat.policy for seat in cast)
    run = PreparedRun({"config": config.as_dict()}, Roster(cast, trust=trust), "cast")
    initial(run.setup, rules_of(config.arena))  # refuses an invalid cast
    check_playable(cast, trust)
    return run


PLAYED: Final = 12  # assignments, at most, that are played for an estimate


class SeasonPlayers(Players[SeasonState]):
    """The players of seasons."""

    policy_set = POLICY_SET
    answers = AnswerFields((CODES[Answered],), answer_in, "ordinal", PROMPT)
    policies = CATALOGUE
    horizon = "assignments"
    prompt = PROMPT
    takes_program = True
    kinds = KINDS

    def prepare(
        self, settings: Mapping[str, object], roster: str | None, treatment: str | None,
        resources: Resources,
    ) -> PreparedRun:  # fmt: skip
        treated = treatment_named(TREATMENTS, treatment).settings
        config = configured({**treated, **settings}, resources)
        parts = () if roster is None else [roster]
        return prepared(config, cast_of(config.workers, parts, resources.models, config.seed))

    def asks(self, policy: str, agents: int | None = None) -> str:
        return ",".join(f"{role}={policy}" for role in (*OFFICES, Role.USER, Role.WORKER))

    def questions(self, run: PreparedRun, resources: Resources) -> Iterator[Sequence[Question]]:
        """See Players. Test programs are not run: values are drawn in place of tests."""
        from goldrush.agents.worlds.competition.play import SeasonPlay
        from goldrush.agents.worlds.competition.script import Scripts

        # A stand-in keeps the options of the model whose seat it has, and newcomers inherit them.
        entries = [
            replace(seat, policy=SCRIPTED) if is_outside(seat.policy) else seat
            for seat in run.roster.entries
        ]
        setup = replace(run, roster=Roster(entries)).setup
        arena = config_of(run.facts["config"]).arena
        world = competition(rules_of(arena))
        with Tests(arena, lambda: guessing(bench_of(arena, resources.program))) as tests:
            play_of = partial(SeasonPlay, scripts=Scripts(tests), trust=run.roster.trust)
            yield from asked_by_unit(world, world.initial(setup), play_of, PLAYED)

    def resolve_models(self, roster: Roster, facts: Facts, models: Models | None) -> Roster:
        return replace(roster, entries=with_models_resolved(roster.entries, models, short_schema))

    def start_agents(self, context: RunContext[SeasonState]) -> Session[SeasonState]:
        from goldrush.agents.worlds.competition.play import session_of

        state, resources = context.state, context.resources
        for agent in state.agents.values():
            if is_own(agent.policy):
                check_trust(agent.policy, resources.trust, agent.name)
        seats = [Seat.of(agent) for agent in state.agents.values() if agent.status != Status.GONE]
        for seat in seats:
            if is_outside(seat.policy):
                PROMPT.check(seat.options)
        if context.probe:
            with_models_resolved(seats, resources.models, short_schema)
        tests = opened_tests(state.arena, resources.program, resources.jobs)
        if not state.assignment and (remark := tests.bench.remark()) is not None:
            (resources.models or Models()).warn(remark)
        check_people(seats, resources.people)
        return session_of(context, tests, distinct_models(seats))

    def policy_check(
        self, resources: Resources
    ) -> Callable[[SeasonState, Sequence[Facts]], PolicyCheck]:
        return partial(_check_of, resources)

    def resolve_change(
        self, state: SeasonState, change: ForkChange, resources: Resources
    ) -> ResolvedChange:
        from goldrush.agents.worlds.competition.change import changed_by

        return changed_by(state, change, resources)


def _check_of(resources: Resources, state: SeasonState, forks: Sequence[Facts]) -> PolicyCheck:
    # All acts of agents depend on tests: without them no agent can be asked.
    what = f"all agents, whose acts depend on tests of the arena {state.arena.name}"
    try:  # `verify` gets a program for several journals, of which some take none
        program = resources.program if bench_type(state.arena.name).program else None
        tests = opened_tests(state.arena, program, resources.jobs)
    except NoProgram:
        return PolicyCheck(None, [f"{what}, made by a program (--test)"])
    except BadInput as error:
        return PolicyCheck(None, unknown=[f"{error.what} ({error.instead})"])
    if not tests.bench.deterministic:
        tests.close()
        return PolicyCheck(None, [f"{what}, which are not deterministic"])
    from goldrush.agents.worlds.competition.check import SeasonCheck

    again = SeasonCheck(state, tests, forks, resources.trust)
    return PolicyCheck(
        again, again.not_asked, again.unknown, partial(again, is_whole=False), tests.close,
        unjudged=again.unjudged,
    )  # fmt: skip


SEASON_PLAYERS: Final = SeasonPlayers()
