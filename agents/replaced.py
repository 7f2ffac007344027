"""Submissions that a fork replaces: how they are given, and where a run can take them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goldrush.agents.players import Facts
from goldrush.agents.roster import Entry
from goldrush.agents.rounds import Played, Replaced, RoundPlay, RoundPlayers, S, V
from goldrush.kernel.errors import BadInput, BadPlan, PolicyFailed, RulesFailed, format_value
from goldrush.kernel.forking import Replaced as ReplacedPlace
from goldrush.kernel.forking import place_of
from goldrush.kernel.rosters import Config
from goldrush.kernel.world import Block, Row, advance


def replaced_in(forks: Sequence[Facts]) -> Replaced:
    """The replaced submissions of all forks; a later fork overrides an earlier one."""
    replaced: dict[tuple[int, int], dict[int, Row]] = {}
    for facts in forks:
        for unit, step, row in map(place_of, facts["replaced"]):
            replaced.setdefault((unit, step), {})[row[0]] = row
    return replaced


def check_asked(play: RoundPlay[V]) -> None:
    """Raises BadInput for a replaced submission of an agent that is not among those asked."""
    for agent in play.replaced:
        if agent not in play.agents:
            comma = "," if play.players.has_steps else ""
            raise BadInput(
                f"the submission of agent {agent} is replaced in {play.unit}{comma} in which it is "
                "not asked",
                "fork without it",
            )


def check_all_asked(
    players: RoundPlayers[S, V],
    state: S,
    policies: Mapping[int, Played],
    entries: Sequence[Entry],
    replaced: Replaced,
) -> None:
    """Play on in memory up to the last replaced submission, to check them as `check_asked` before
    anything is written. A step that these policies alone do not decide ends it.
    """
    world, state = players.world, players.world.copy(state)
    while not world.ended(state):
        play, inputs = players.play(state, policies, entries, replaced=replaced), Block(())
        if play is not None:
            if (play.number, play.step) > max(replaced):
                return
            check_asked(play)
            asked = [agent for agent in play.agents if agent not in play.replaced]
            if not policies.keys() >= set(asked):
                return
        try:
            if play is not None:
                rows = {**play.replaced, **dict(zip(asked, play.submissions(asked), strict=True))}
                inputs = Block([(play.code, [rows[agent] for agent in play.agents])])
            state, _, _ = advance(world, state, inputs)
        except (PolicyFailed, RulesFailed):  # the run tells it when it comes to it
            return


def several(players: RoundPlayers[S, V], place: str, *, is_replaced: bool) -> BadInput:
    """The error for replaced submissions, or those of `recorded` agents, where a unit has several
    steps: they are known by unit and agent, so one would be that of every step.
    """
    what = f"agents of the {players.world.name} world submit several times in {place}"
    if is_replaced:
        return BadInput(
            f"{what}, so a replaced submission would replace all of them",
            "fork without replaced submissions",
        )
    return BadInput(f"{what}, so `recorded` cannot replay them", "give other policies")


def given_again(
    players: RoundPlayers[S, V], items: Sequence[Mapping[str, object]], config: Config
) -> list[ReplacedPlace]:
    """The submissions that a user gives in place of recorded ones, as a fork's facts hold them.
    Raises BadInput.
    """
    unit, has_steps = players.world.vocabulary.unit, players.has_steps
    replaced: list[tuple[int, int, Row]] = []
    for number, item in enumerate(items, 1):
        where = f"submission {number}"
        code = _code_of(players, item, where)
        event = players.world.events[code]
        see = f"see `{event.name}` in an export"
        keys = ("event", unit, *(["step"] if has_steps else []), *event.fields)
        if not isinstance(item, Mapping) or set(item) - set(keys):
            raise BadInput(
                f"{where} is {format_value(item)}", f"give an object of {', '.join(keys)}"
            )
        if type(at := item.get(unit)) is not int:
            raise BadInput(f"{where} has {unit} {format_value(at)}", "give a whole number")
        try:
            row = players.resubmitted(item, config, code)
        except BadPlan as bad:
            raise BadInput(f"{where}: {bad}", see) from None
        except KeyError as error:
            raise BadInput(f"{where} has no {error.args[0]}", see) from None
        if fault := event.fault(row):
            raise BadInput(f"{where}: {fault}", see)
        step = _step_of(players, item, code, where) if has_steps else 0
        replaced.append((at, step, row))
    replaced.sort(key=lambda placed: (*placed[:2], placed[2][0]))
    return [*replaced] if has_steps else [(number, row) for number, _, row in replaced]


def _code_of(players: RoundPlayers[S, V], item: object, where: str) -> int:
    """The code of the event of a submission that is given. Raises BadInput."""
    codes = {players.world.events[code].name: code for code in players.submitted}
    if not (isinstance(item, Mapping) and "event" in item):
        if len(codes) == 1:
            return players.submitted[0]
        raise BadInput(f"{where} has no event", f"give one: {' or '.join(codes)}")
    name = item["event"]
    if type(name) is not str or name not in codes:
        raise BadInput(
            f"{where} is a {format_value(name)} event", f"give {' or '.join(codes)} ones"
        )
    return codes[name]


def _step_of(players: RoundPlayers[S, V], item: Mapping[str, object], code: int, where: str) -> int:
    """The number of the step of a submission that is given. Raises BadInput."""
    steps = [step for step, submitted in enumerate(players.codes) if submitted == code]
    given = item.get("step", steps[0] if len(steps) == 1 else None)
    if type(given) is not int or given not in steps:
        listed = " or ".join(map(str, steps))
        raise BadInput(f"{where} has step {format_value(given)}", f"give {listed}")
    return given
